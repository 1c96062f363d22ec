//! What follows in a zstd file, and which decoder it gets.
use super::part::{Next, skip_frames};
use super::zstd_frames;
use super::zstd_stream::Zstd;
use crate::disks::image::detect::ZstdFrame;
use crate::disks::image::fault::{Fault, MEMORY_MAX_BYTES};
use crate::disks::image::input::Input;

/// The next frame with content. Anything but a frame is an error, as in zstd.
pub(super) fn next(input: &mut Input) -> Result<Next, Fault> {
    skip_frames(input)?;
    let head = input.peek(ZstdFrame::HEADER_MAX).map_err(Fault::Read)?;
    if head.is_empty() {
        return Ok(Next::End);
    }
    let Some(frame) = ZstdFrame::parse(head) else {
        let is_short = head.len() < ZstdFrame::HEADER_MAX && is_zstd(head);
        return Err(if is_short { Fault::Truncated } else { Fault::corrupt("what follows is no zstd frame") });
    };
    if frame.window_bytes > MEMORY_MAX_BYTES {
        // A single segment has the size of its content as its window: a decoder of a stream needs that much.
        return Err(Fault::Memory(Some(frame.window_bytes)));
    }
    if zstd_frames::is_moderate(&frame) {
        return Ok(Next::Part(Box::new(zstd_frames::Frames::new())));
    }
    Ok(Next::Part(Box::new(Zstd::new()?)))
}

/// The magic number, or the beginning of it.
fn is_zstd(head: &[u8]) -> bool {
    let magic = [0x28, 0xb5, 0x2f, 0xfd];
    let len = head.len().min(magic.len());
    head[..len] == magic[..len]
}
