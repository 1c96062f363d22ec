//! xz: one stream of blocks with an index. Each block is compressed as a stream of its own, of which only the block is
//! kept: header, index and footer are those of all blocks.
use super::format::{Encoder, Format, Frame};
use crate::disks::image::crc32::crc32;
use liblzma::stream::{Action, Check, Filters, LzmaOptions, MtStreamBuilder, Status};
use std::io;

/// The header of a stream whose blocks have CRC64 checksums, as xz writes it.
const HEADER: [u8; 12] = [0xfd, b'7', b'z', b'X', b'Z', 0, 0, 4, 0xe6, 0xd6, 0xb4, 0x46];

/// The flags in header and footer.
const FLAGS: [u8; 2] = [0, 4];

const EDGE_BYTES: usize = 12;

/// The largest dictionary: that of a whole block.
const DICTIONARY_BYTES_MAX: u32 = 16 << 20;

/// Bytes of the dictionary of each level.
const DICTIONARY_LOG: [u32; 10] = [18, 20, 21, 22, 22, 23, 23, 24, 25, 26];

pub(super) struct Xz {
    pub(super) level: u32,
}

impl Xz {
    fn dictionary_bytes(&self) -> u32 {
        let log = DICTIONARY_LOG.get(self.level as usize).copied().unwrap_or(23);
        (1 << log).min(DICTIONARY_BYTES_MAX)
    }
}

impl Format for Xz {
    fn header(&self) -> &'static [u8] {
        &HEADER
    }

    /// A stream without its index is incomplete.
    fn unfinished(&self) -> &'static [u8] {
        &[]
    }

    fn stored_bytes(&self, listed_bytes: u32) -> u64 {
        u64::from(listed_bytes).next_multiple_of(4)
    }

    fn trailer(&self, frames: &[(u32, u32)]) -> Vec<u8> {
        let mut index = vec![0];
        // A stream without content has no block.
        let blocks = || frames.iter().filter(|(listed_bytes, _)| *listed_bytes > 0);
        push_number(&mut index, blocks().count() as u64);
        for (listed_bytes, content_bytes) in blocks() {
            push_number(&mut index, (*listed_bytes).into());
            push_number(&mut index, (*content_bytes).into());
        }
        index.resize(index.len().next_multiple_of(4), 0);
        let sum = crc32(&index);
        index.extend_from_slice(&sum.to_le_bytes());
        let mut end = ((index.len() / 4 - 1) as u32).to_le_bytes().to_vec();
        end.extend_from_slice(&FLAGS);
        index.extend_from_slice(&crc32(&end).to_le_bytes());
        index.extend_from_slice(&end);
        index.extend_from_slice(b"YZ");
        index
    }

    fn encoder_bytes(&self) -> u64 {
        // As the manual of xz states, with a block and its content.
        u64::from(self.dictionary_bytes()) * 23 / 2 + (40 << 20)
    }

    fn encoder(&self) -> io::Result<Box<dyn Encoder>> {
        let mut options = LzmaOptions::new_preset(self.level)?;
        options.dict_size(self.dictionary_bytes());
        Ok(Box::new(XzEncoder { options }))
    }
}

/// A number of seven bits in each byte, the lowest first.
fn push_number(to: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

struct XzEncoder {
    options: LzmaOptions,
}

impl Encoder for XzEncoder {
    fn encode(&mut self, content: &[u8]) -> io::Result<Frame> {
        let mut filters = Filters::new();
        filters.lzma2(&self.options);
        // The encoder with threads writes the sizes of a block into its header, which decoders with threads need.
        let mut builder = MtStreamBuilder::new();
        builder.threads(1).block_size(content.len().max(1) as u64).filters(filters).check(Check::Crc64);
        let mut stream = builder.encoder()?;
        let mut bytes = Vec::with_capacity(content.len() + content.len() / 1024 + 1024);
        let mut rest = content;
        loop {
            let before = stream.total_in();
            let status = stream.process_vec(rest, &mut bytes, Action::Finish)?;
            rest = &rest[(stream.total_in() - before) as usize..];
            match status {
                Status::StreamEnd => break,
                _ if bytes.len() == bytes.capacity() => bytes.reserve(1 << 20),
                _ => {}
            }
        }
        block_of(bytes)
    }
}

/// The only block of a stream, or none of an empty one.
fn block_of(mut stream: Vec<u8>) -> io::Result<Frame> {
    let wrong = || io::Error::other("internal error in haul: an xz stream has not exactly one block");
    let footer = stream.len().checked_sub(EDGE_BYTES).filter(|at| *at >= EDGE_BYTES).ok_or_else(wrong)?;
    let size = stream[footer + 4..footer + 8].try_into().map(u32::from_le_bytes).map_err(|_| wrong())?;
    let index = footer.checked_sub((size as usize + 1) * 4).filter(|at| *at >= EDGE_BYTES).ok_or_else(wrong)?;
    let listed_bytes = match stream[index..footer] {
        [0, 0, ..] => 0,
        [0, 1, ref sizes @ ..] => number(sizes).ok_or_else(wrong)?,
        _ => return Err(wrong()),
    };
    if (listed_bytes as usize).next_multiple_of(4) != index - EDGE_BYTES || stream[..EDGE_BYTES] != HEADER {
        return Err(wrong());
    }
    stream.truncate(index);
    stream.drain(..EDGE_BYTES);
    Ok(Frame { bytes: stream, listed_bytes })
}

fn number(bytes: &[u8]) -> Option<u32> {
    let mut value = 0u64;
    for (at, byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return u32::try_from(value).ok();
        }
    }
    None
}
