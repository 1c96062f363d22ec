//! The sizes in the headers of LZ4 frames.
use super::content_size::{BLOCKS_MAX, ContentSize};
use crate::disks::image::detect::{Lz4Frame, skippable};
use crate::disks::image::read_at::{ReadAt, u32_at};
use std::io;

/// What the frames of a file contain: exact if each has its size, and the blocks of all could be followed to the end of
/// the file.
pub(super) fn content_size(file: &impl ReadAt, stored_bytes: u64) -> io::Result<ContentSize> {
    let (mut at, mut bytes, mut left) = (0, 0u64, BLOCKS_MAX);
    while at < stored_bytes && left > 0 {
        let mut head = [0; Lz4Frame::HEADER_MAX];
        let len = file.read_full_at(&mut head, at)?;
        left -= 1;
        if let Some(skipped) = skippable(&head[..len]) {
            at += skipped;
            continue;
        }
        let frame = Lz4Frame::parse(&head[..len]);
        let Some((frame, content)) = frame.and_then(|frame| Some((frame, frame.content_bytes?))) else {
            return Ok(ContentSize::at_least(bytes));
        };
        let Some(sum) = bytes.checked_add(content).filter(|&sum| i64::try_from(sum).is_ok()) else {
            return Ok(ContentSize::default());
        };
        bytes = sum;
        let Some(end) = end_of_blocks(file, &frame, at + frame.header_bytes as u64, &mut left)? else { break };
        at = end + if frame.has_checksum { 4 } else { 0 };
    }
    Ok(if at == stored_bytes { ContentSize::exact(bytes) } else { ContentSize::at_least(bytes) })
}

/// Where the end mark of a frame ends; `None`: too many blocks are left, or one is damaged.
fn end_of_blocks(file: &impl ReadAt, frame: &Lz4Frame, mut at: u64, left: &mut u32) -> io::Result<Option<u64>> {
    while *left > 0 {
        *left -= 1;
        let mut head = [0; 4];
        let len = file.read_full_at(&mut head, at)?;
        let Some(size) = u32_at(&head[..len], 0) else { return Ok(None) };
        at += 4;
        if size == 0 {
            return Ok(Some(at));
        }
        at += u64::from(size & 0x7fff_ffff) + if frame.has_block_checksums { 4 } else { 0 };
    }
    Ok(None)
}
