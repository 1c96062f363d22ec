//! Where the blocks of an xz stream begin, by their headers: a decoder with threads has read beyond what it decoded.
use std::collections::VecDeque;

/// Bytes of the header of a stream.
pub(super) const STREAM_HEADER_BYTES: usize = 12;

/// Bytes of the check of a block, by the kind of check in the header of the stream.
const CHECK_BYTES: [u64; 16] = [0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64];

/// A block whose header states its sizes. Only such blocks are decoded by threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Its first byte in the stream.
    pub(super) stored_at: u64,
    /// Where its content begins and ends.
    pub(super) content_at: u64,
    pub(super) content_end: u64,
}

/// The blocks of a stream whose content was not given out yet.
pub(super) struct Blocks {
    /// Bytes of the stream before those that come next.
    position: u64,
    /// Where the next header is; `None`: no block follows, or its place is unknown.
    header_at: Option<u64>,
    /// Bytes of that header.
    header: Vec<u8>,
    check_bytes: u64,
    content_end: u64,
    blocks: VecDeque<Block>,
}

impl Blocks {
    pub(super) fn new() -> Blocks {
        let (position, header_at, header) = (0, Some(0), Vec::new());
        Blocks { position, header_at, header, check_bytes: 0, content_end: 0, blocks: VecDeque::new() }
    }

    /// The next bytes of the stream; content before `given_out` is of no interest any more.
    pub(super) fn follow(&mut self, bytes: &[u8], given_out: u64) {
        let from = self.position;
        self.position += bytes.len() as u64;
        while let Some(at) = self.header_at {
            let next = at + self.header.len() as u64;
            if next >= self.position {
                break;
            }
            self.header.push(bytes[(next - from) as usize]);
            self.on_header(at);
        }
        while self.blocks.front().is_some_and(|block| block.content_end < given_out) {
            self.blocks.pop_front();
        }
    }

    /// Examines what is there of the header at `at`.
    fn on_header(&mut self, at: u64) {
        let len = if at == 0 { STREAM_HEADER_BYTES } else { (usize::from(self.header[0]) + 1) * 4 };
        if self.header.len() < len && self.header[0] != 0 {
            return;
        }
        let header = std::mem::take(&mut self.header);
        if at == 0 {
            self.check_bytes = CHECK_BYTES[usize::from(header[7] & 15)];
            self.header_at = Some(len as u64);
            return;
        }
        self.header_at = sizes(&header).and_then(|(stored, content)| {
            let content_end = self.content_end.checked_add(content)?;
            self.blocks.push_back(Block { stored_at: at, content_at: self.content_end, content_end });
            self.content_end = content_end;
            at.checked_add(len as u64 + self.check_bytes)?.checked_add(stored.checked_next_multiple_of(4)?)
        });
    }

    /// The block that failed after `made` bytes of content, or the one before it, and where the content of both ends.
    pub(super) fn failed(&self, made: u64) -> Option<(Block, u64)> {
        let mut blocks = self.blocks.iter().skip_while(|block| block.content_end < made);
        let block = *blocks.next()?;
        Some((block, blocks.next().map_or(block.content_end, |next| next.content_end)))
    }
}

/// The sizes of a block's data and content in its header; `None`: it is the index, or does not state both.
fn sizes(header: &[u8]) -> Option<(u64, u64)> {
    if header[0] == 0 || header[1] & 0xc0 != 0xc0 {
        return None;
    }
    let mut rest = &header[2..];
    Some((number(&mut rest)?, number(&mut rest)?))
}

/// A number of seven bits in each byte, the lowest first.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use liblzma::stream::{Check, MtStreamBuilder};
    use std::io::Read;

    #[test]
    fn blocks_are_found_in_pieces_of_any_size() {
        let content: Vec<u8> = (0..1_000_000u64).map(|at| (at * at / 7 % 251) as u8).collect();
        let stream = MtStreamBuilder::new().threads(2).block_size(300_000).preset(0).check(Check::Crc64).encoder();
        let mut file = Vec::new();
        liblzma::read::XzEncoder::new_stream(&content[..], stream.unwrap()).read_to_end(&mut file).unwrap();
        let all = |piece: usize, given_out: u64| {
            let mut blocks = Blocks::new();
            file.chunks(piece).for_each(|bytes| blocks.follow(bytes, given_out));
            blocks
        };
        let whole = all(file.len(), 0).blocks;
        let ends: Vec<u64> = whole.iter().map(|block| block.content_end).collect();
        assert_eq!(ends, [300_000, 600_000, 900_000, 1_000_000]);
        assert_eq!((whole[0].stored_at, whole[0].content_at), (12, 0));
        for piece in [1, 7, 4096] {
            assert_eq!(all(piece, 0).blocks, whole);
        }
        for block in &whole {
            let at = block.stored_at as usize;
            assert_eq!(file[at + 1] & 0xc0, 0xc0, "a block begins at {at}");
        }
        let blocks = all(4096, 600_001);
        assert_eq!(blocks.blocks.len(), 2);
        assert_eq!(blocks.failed(900_000), Some((whole[2], 1_000_000)));
        assert_eq!(blocks.failed(900_001), Some((whole[3], 1_000_000)));
        assert_eq!(blocks.failed(1_000_001), None);
    }
}
