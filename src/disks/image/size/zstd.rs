//! The sizes in the headers of zstd frames.
use super::content_size::{BLOCKS_MAX, ContentSize};
use crate::disks::image::detect::{ZstdFrame, skippable};
use crate::disks::image::read_at::ReadAt;
use std::io;

/// What the frames of a file contain: exact if each has its size, and the blocks of all could be followed to the end of
/// the file.
pub(super) fn content_size(file: &impl ReadAt, stored_bytes: u64) -> io::Result<ContentSize> {
    let (mut at, mut bytes, mut left) = (0, 0u64, BLOCKS_MAX);
    while at < stored_bytes && left > 0 {
        let mut head = [0; ZstdFrame::HEADER_MAX];
        let len = file.read_full_at(&mut head, at)?;
        left -= 1;
        if let Some(skipped) = skippable(&head[..len]) {
            at += skipped;
            continue;
        }
        let frame = ZstdFrame::parse(&head[..len]);
        let Some((frame, content)) = frame.and_then(|frame| Some((frame, frame.content_bytes?))) else {
            return Ok(ContentSize::at_least(bytes));
        };
        let Some(sum) = bytes.checked_add(content).filter(|&sum| i64::try_from(sum).is_ok()) else {
            return Ok(ContentSize::default());
        };
        bytes = sum;
        let blocks_at = at + frame.header_bytes as u64;
        let Some(end) = end_of_blocks(file, blocks_at, &mut left)? else { break };
        at = end + if frame.has_checksum { 4 } else { 0 };
    }
    Ok(if at == stored_bytes { ContentSize::exact(bytes) } else { ContentSize::at_least(bytes) })
}

/// Where the last block of a frame ends; `None`: too many are left, or one is damaged.
fn end_of_blocks(file: &impl ReadAt, mut at: u64, left: &mut u32) -> io::Result<Option<u64>> {
    while *left > 0 {
        *left -= 1;
        let mut head = [0; 3];
        if file.read_full_at(&mut head, at)? < head.len() {
            return Ok(None);
        }
        let value = u64::from(head[0]) | u64::from(head[1]) << 8 | u64::from(head[2]) << 16;
        let (is_last, kind, size) = (value & 1 == 1, value >> 1 & 3, value >> 3);
        at += 3 + match kind {
            // One byte that is repeated.
            1 => 1,
            3 => return Ok(None),
            _ => size,
        };
        if is_last {
            return Ok(Some(at));
        }
    }
    Ok(None)
}
