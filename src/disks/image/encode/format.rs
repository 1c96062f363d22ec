//! What a format has around the content of its frames.
use std::io;
use std::thread;

/// Memory for all threads that compress.
const MEMORY_BYTES: u64 = 512 << 20;

/// A frame that was compressed.
#[derive(Clone, Debug, Default)]
pub(in crate::disks::image) struct Frame {
    /// The bytes to write.
    pub(super) bytes: Vec<u8>,
    /// Its size as the format lists it.
    pub(super) listed_bytes: u32,
}

/// Compresses one frame after another, each by itself.
pub(in crate::disks::image) trait Encoder {
    /// # Errors
    /// No memory or thread is left.
    fn encode(&mut self, content: &[u8]) -> io::Result<Frame>;
}

/// A format that consists of frames.
pub(in crate::disks::image) trait Format: Send + Sync {
    /// What comes before the first frame.
    fn header(&self) -> &'static [u8];

    /// The beginning of something that comes after a frame, until another frame or the trailer replaces it: a file that
    /// was not completed ends there, and each program that reads it reports an incomplete file.
    fn unfinished(&self) -> &'static [u8];

    /// Bytes of a frame with this listed size.
    fn stored_bytes(&self, listed_bytes: u32) -> u64 {
        listed_bytes.into()
    }

    /// What comes after the last frame; of each frame its listed size and the bytes of its content.
    fn trailer(&self, frames: &[(u32, u32)]) -> Vec<u8>;

    /// Memory of an encoder, with a frame and its content.
    fn encoder_bytes(&self) -> u64;

    /// # Errors
    /// No memory is left.
    fn encoder(&self) -> io::Result<Box<dyn Encoder>>;
}

/// How many threads compress: one for each processor, as far as the memory is sufficient.
pub(super) fn threads(format: &dyn Format) -> usize {
    let most = usize::try_from(MEMORY_BYTES / format.encoder_bytes()).unwrap_or(1).max(1);
    thread::available_parallelism().map_or(1, |count| count.get().min(most))
}
