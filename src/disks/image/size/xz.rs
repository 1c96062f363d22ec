//! The size in the indexes of xz streams, from the last stream to the first.
use super::content_size::ContentSize;
use crate::disks::image::crc32::crc32;
use crate::disks::image::read_at::{ReadAt, u32_at};
use std::io;

/// Bytes of the header and of the footer of a stream.
const EDGE_BYTES: u64 = 12;

/// Larger indexes are not read: 16 MiB describe a million blocks.
const INDEX_BYTES_MAX: u64 = 16 << 20;

/// Streams that are followed.
const STREAMS_MAX: u32 = 4096;

/// What the streams of a file contain.
pub(super) fn content_size(file: &impl ReadAt, stored_bytes: u64) -> io::Result<ContentSize> {
    let mut end = stored_bytes;
    let mut bytes = 0u64;
    for _ in 0..STREAMS_MAX {
        end = without_padding(file, end)?;
        let Some((begin, content)) = last_stream(file, end)? else { break };
        let Some(sum) = bytes.checked_add(content).filter(|&sum| i64::try_from(sum).is_ok()) else { break };
        bytes = sum;
        end = begin;
        if end == 0 {
            return Ok(ContentSize::exact(bytes));
        }
    }
    Ok(ContentSize::default())
}

/// The end of the stream before the zeros that end at `end`.
fn without_padding(file: &impl ReadAt, mut end: u64) -> io::Result<u64> {
    let mut part = [0; 4096];
    while end >= 4 {
        let len = end.min(part.len() as u64);
        let len = len - len % 4;
        if file.read_full_at(&mut part[..len as usize], end - len)? < len as usize {
            return Ok(end);
        }
        let zeros = part[..len as usize].rchunks(4).take_while(|four| **four == [0; 4]).count() as u64 * 4;
        end -= zeros;
        if zeros < len {
            break;
        }
    }
    Ok(end)
}

/// Where the stream that ends at `end` begins, and the bytes of its content; `None`: there is none, or it is damaged.
fn last_stream(file: &impl ReadAt, end: u64) -> io::Result<Option<(u64, u64)>> {
    let mut footer = [0; EDGE_BYTES as usize];
    let Some(footer_at) = end.checked_sub(EDGE_BYTES) else { return Ok(None) };
    if file.read_full_at(&mut footer, footer_at)? < footer.len() || footer[10..] != *b"YZ" {
        return Ok(None);
    }
    let (Some(check), Some(backward)) = (u32_at(&footer, 0), u32_at(&footer, 4)) else { return Ok(None) };
    let index_bytes = (u64::from(backward) + 1) * 4;
    let index_at = footer_at.checked_sub(index_bytes);
    let Some(index_at) = index_at.filter(|_| check == crc32(&footer[4..10]) && index_bytes <= INDEX_BYTES_MAX) else {
        return Ok(None);
    };
    let mut index = vec![0; index_bytes as usize];
    if file.read_full_at(&mut index, index_at)? < index.len() {
        return Ok(None);
    }
    let Some((stored, content)) = sums(&index) else { return Ok(None) };
    let begin = index_at.checked_sub(stored).and_then(|blocks_at| blocks_at.checked_sub(EDGE_BYTES));
    Ok(begin.map(|begin| (begin, content)))
}

/// The bytes of all blocks in the file, padding included, and of their content.
fn sums(index: &[u8]) -> Option<(u64, u64)> {
    let (records, check) = index.split_at(index.len().checked_sub(4)?);
    if u32_at(check, 0)? != crc32(records) || *records.first()? != 0 {
        return None;
    }
    let mut rest = &records[1..];
    let count = number(&mut rest)?;
    let (mut stored, mut content) = (0u64, 0u64);
    for _ in 0..count {
        let unpadded = number(&mut rest)?;
        stored = stored.checked_add(unpadded.checked_next_multiple_of(4)?)?;
        content = content.checked_add(number(&mut rest)?)?;
    }
    (rest.len() < 4 && rest.iter().all(|byte| *byte == 0)).then_some((stored, content))
}

/// A number of seven bits in each byte, the lowest first; at most nine bytes.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for at in 0..9 {
        let byte = *rest.get(at)?;
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            *rest = &rest[at + 1..];
            return (at == 0 || byte != 0).then_some(value);
        }
    }
    None
}
