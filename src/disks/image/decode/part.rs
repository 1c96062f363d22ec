//! A decoder of one part of a compressed file, and what comes after it.
use crate::disks::image::detect::skippable;
use crate::disks::image::fault::Fault;
use crate::disks::image::input::Input;

/// What one call of a decoder did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::disks::image) struct Step {
    /// Bytes of the input that were used.
    pub(in crate::disks::image) used: usize,
    /// Bytes of the output that were made.
    pub(in crate::disks::image) made: usize,
    /// The part of the file that the decoder was opened for has ended.
    pub(in crate::disks::image) is_end: bool,
}

/// The decoder of one part of a compressed file that can be decoded by itself: a stream, a frame, a member.
pub(in crate::disks::image) trait Decoder: Send {
    /// Decodes some of `input` into `out`, which is not empty. `is_last`: no input follows.
    fn step(&mut self, input: &[u8], out: &mut [u8], is_last: bool) -> Result<Step, Fault>;

    /// Bytes that the input of the next call has to have, unless the file ends before.
    fn needed(&self) -> usize {
        1
    }

    /// Bytes that were used and not decoded yet: damage is in the first of them.
    fn undecoded(&self) -> u64 {
        0
    }
}

/// What follows in a compressed file.
pub(in crate::disks::image) enum Next {
    /// A part with this decoder.
    Part(Box<dyn Decoder>),
    /// Nothing.
    End,
    /// Something else, which the program of the format ignores with a warning.
    Garbage,
}

/// Skips frames with user data.
pub(super) fn skip_frames(input: &mut Input) -> Result<(), Fault> {
    loop {
        let head = input.peek(8).map_err(Fault::Read)?;
        let Some(bytes) = skippable(head) else { return Ok(()) };
        if !input.skip(bytes).map_err(Fault::Read)? {
            return Err(Fault::Truncated);
        }
    }
}
