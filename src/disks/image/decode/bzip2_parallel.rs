//! bzip2 by libbz2-rs, several blocks at a time: each is decoded as a stream of its own.
use super::bzip2_blocks::{Bits, HEADER_BYTES, Piece, STREAM, Splitter, is_stream};
use super::part::{Decoder, Step};
use super::threads::Threads;
use crate::disks::image::fault::Fault;
use bzip2::{Decompress, Status};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, TryRecvError};

/// Blocks at a time: with their contents and decoders, they have 256 MiB at most.
const BLOCKS_MAX: usize = 24;

/// Bytes of a block at most: 900,001 symbols of at most 20 bits, with the tables before them.
const BLOCK_BYTES_MAX: usize = 2_500_000;

/// Bytes of content that a thread makes of a block. Only one that is repetition alone has more, up to 46 MB, which are
/// made when they are read.
const CONTENT_BYTES_MAX: usize = 4 << 20;

/// The content of a block, as far as a thread made it.
struct Content {
    bytes: Vec<u8>,
    rest: Option<Rest>,
}

/// What makes the rest of the content of a block.
struct Rest {
    decoder: Decompress,
    stream: Vec<u8>,
}

type Decoded = Result<Content, Fault>;

/// A piece of the file, in order.
enum UnderWay {
    Block { block: Block, decoded: Receiver<Decoded> },
    End { end: Bits, ends_at: u64, is_followed: bool },
}

/// What may be a block.
struct Block {
    bits: Bits,
    /// That of its stream.
    level: u8,
    /// Bytes of the file up to its end.
    ends_at: u64,
}

/// Consecutive streams.
pub(super) struct Blocks {
    splitter: Splitter,
    /// That of the stream that is read; `None`: between streams.
    level: Option<u8>,
    /// What may be the end of a stream, until it is known what follows.
    end: Option<Bits>,
    under_way: VecDeque<UnderWay>,
    content: Content,
    returned: usize,
    /// The checksum of the blocks of this stream that were decoded.
    checksum: u32,
    threads: Threads<Decoded>,
    /// Bytes that were used, and the first of them that are decoded.
    used: u64,
    decoded_to: u64,
    is_first: bool,
    /// What comes next is no stream.
    is_over: bool,
    /// Why the first block that is under way could not be decoded, before it was found to be longer.
    suspect: Option<Fault>,
    /// Reported by the next call, when the input of this one was consumed.
    failed: Option<Fault>,
}

impl Blocks {
    pub(super) fn new() -> Blocks {
        Blocks::with(Splitter::new())
    }

    fn with(splitter: Splitter) -> Blocks {
        Blocks {
            splitter,
            level: None,
            end: None,
            under_way: VecDeque::new(),
            content: Content { bytes: Vec::new(), rest: None },
            returned: 0,
            checksum: 0,
            threads: Threads::new(BLOCKS_MAX),
            used: 0,
            decoded_to: 0,
            is_first: true,
            is_over: false,
            suspect: None,
            failed: None,
        }
    }

    /// Reads from `input`, as many pieces as may be under way, and returns the number of bytes.
    fn read(&mut self, input: &[u8]) -> Result<usize, Fault> {
        let mut used = 0;
        while !self.is_over && self.under_way.len() < self.threads.most() {
            let rest = &input[used..];
            let Some(level) = self.level else {
                // The next call has the whole header, as `needed` requires.
                if used > 0 && rest.len() < HEADER_BYTES {
                    break;
                }
                used += self.read_header(rest)?;
                continue;
            };
            let (taken, piece) = self.splitter.take(rest);
            used += taken;
            self.used += taken as u64;
            match piece {
                Some(Piece::Block(bits)) => {
                    let ends_at = self.used - self.splitter.open().bytes.len() as u64;
                    let block = self.decode(Block { bits, level, ends_at });
                    self.under_way.push_back(block);
                }
                Some(Piece::End(end)) => (self.level, self.end) = (None, Some(end)),
                None if self.splitter.open().bytes.len() > BLOCK_BYTES_MAX => {
                    self.suspect.get_or_insert_with(|| Fault::corrupt("a block is too long"));
                    self.is_over = true;
                }
                None => break,
            }
        }
        Ok(used)
    }

    /// Reads the header of a stream, if one follows.
    fn read_header(&mut self, input: &[u8]) -> Result<usize, Fault> {
        let is_stream = is_stream(input);
        if let Some(end) = self.end.take() {
            let is_followed = !is_stream && !input.is_empty();
            self.under_way.push_back(UnderWay::End { end, ends_at: self.used, is_followed });
        }
        if !is_stream {
            self.is_over = true;
            let is_short = input.len() < HEADER_BYTES;
            return match self.is_first {
                true if is_short => Err(Fault::Truncated),
                true => Err(Fault::corrupt("a stream does not begin with a block")),
                false => Ok(0),
            };
        }
        (self.level, self.is_first) = (Some(input[STREAM.len()]), false);
        self.splitter.begin();
        let used = STREAM.len() + 1;
        self.used += used as u64;
        Ok(used)
    }

    fn decode(&mut self, block: Block) -> UnderWay {
        let stream = block.bits.to_stream(block.level);
        let usual_bytes = usize::from(block.level - b'0') * 100_000;
        let decoded = self.threads.start(self.under_way.len(), move || decoded(stream, usual_bytes));
        UnderWay::Block { block, decoded }
    }

    /// Takes the next piece, if it is decoded, or once it is.
    fn take_piece(&mut self, waits: bool) -> Result<(), Fault> {
        let decoded = match self.under_way.front() {
            Some(UnderWay::Block { decoded, .. }) => match decoded.try_recv() {
                Err(TryRecvError::Empty) if !waits => return Ok(()),
                Err(TryRecvError::Empty) => decoded.recv().ok(),
                decoded => decoded.ok(),
            },
            _ => None,
        };
        match self.under_way.pop_front() {
            None => Ok(()),
            Some(UnderWay::End { end, .. }) if end.checksum() != std::mem::take(&mut self.checksum) => {
                Err(Fault::corrupt("the checksum of a stream is wrong"))
            }
            Some(UnderWay::End { ends_at, .. }) => {
                self.decoded_to = ends_at;
                Ok(())
            }
            Some(UnderWay::Block { block, .. }) => {
                match decoded.unwrap_or_else(|| Err(Fault::corrupt("its decoder ended"))) {
                    Ok(content) => {
                        self.checksum = self.checksum.rotate_left(1) ^ block.bits.checksum();
                        (self.content, self.returned, self.suspect) = (content, 0, None);
                        self.decoded_to = block.ends_at;
                        Ok(())
                    }
                    Err(fault) => self.lengthen(block, fault),
                }
            }
        }
    }

    /// What ends a block that cannot be decoded may be a part of it.
    fn lengthen(&mut self, block: Block, fault: Fault) -> Result<(), Fault> {
        let fault = self.suspect.take().unwrap_or(fault);
        match self.under_way.pop_front() {
            Some(UnderWay::Block { block: next, .. })
                if block.bits.bytes.len() + next.bits.bytes.len() <= BLOCK_BYTES_MAX =>
            {
                let longer = self.decode(Block { bits: block.bits.join(&next.bits), ..next });
                self.under_way.push_front(longer);
            }
            Some(UnderWay::End { end, is_followed: true, .. }) => {
                (self.is_over, self.level) = (false, Some(block.level));
                self.splitter.go_on_with(block.bits.join(&end));
            }
            None if self.end.is_some() => {
                // What follows is known soon.
                let again = self.decode(block);
                self.under_way.push_front(again);
                return Ok(());
            }
            None if self.level.is_some() && !self.is_over => {
                let open = block.bits.join(self.splitter.open());
                self.splitter.go_on_with(open);
            }
            _ => return Err(fault),
        }
        self.suspect = Some(fault);
        Ok(())
    }

    /// Returns content that was made, and makes what is missing of it.
    fn return_some(&mut self, out: &mut [u8]) -> Result<usize, Fault> {
        let bytes = &self.content.bytes[self.returned..];
        let made = bytes.len().min(out.len());
        out[..made].copy_from_slice(&bytes[..made]);
        self.returned += made;
        let Some(rest) = self.content.rest.as_mut().filter(|_| made == 0) else { return Ok(made) };
        let before = rest.decoder.total_out();
        let used = rest.decoder.total_in() as usize;
        let status = rest.decoder.decompress(&rest.stream[used..], out).map_err(fault)?;
        let made = (rest.decoder.total_out() - before) as usize;
        match status {
            Status::StreamEnd if rest.decoder.total_in() as usize == rest.stream.len() => self.content.rest = None,
            _ if made == 0 || status == Status::StreamEnd => return Err(Fault::corrupt("a block has a wrong end")),
            _ => {}
        }
        Ok(made)
    }

    fn is_returned(&self) -> bool {
        self.returned == self.content.bytes.len() && self.content.rest.is_none()
    }
}

impl Decoder for Blocks {
    fn step(&mut self, input: &[u8], out: &mut [u8], is_last: bool) -> Result<Step, Fault> {
        if let Some(fault) = self.failed.take() {
            return Err(fault);
        }
        let used = self.read(input)?;
        let mut result = Ok(0);
        if self.is_returned() {
            let waits = self.is_over || is_last || self.under_way.len() == self.threads.most();
            result = self.take_piece(waits).map(|()| 0);
        }
        match result.and_then(|_| self.return_some(out)) {
            Ok(made) if made > 0 || !self.under_way.is_empty() || !self.is_returned() => {
                return Ok(Step { used, made, is_end: false });
            }
            Ok(_) => {}
            Err(fault) => {
                (self.failed, self.is_over) = (Some(fault), true);
                return Ok(Step { used, ..Step::default() });
            }
        }
        if let Some(fault) = self.suspect.take_if(|_| self.is_over || is_last) {
            self.failed = Some(fault);
        } else if is_last && self.level.is_some() {
            // Its place is the end of the file.
            self.decoded_to = self.used;
            return Err(Fault::Truncated);
        }
        Ok(Step { used, made: 0, is_end: self.is_over && self.failed.is_none() })
    }

    fn needed(&self) -> usize {
        if self.level.is_none() && !self.is_over { HEADER_BYTES } else { 1 }
    }

    fn undecoded(&self) -> u64 {
        self.used - self.decoded_to
    }
}

fn fault(error: bzip2::Error) -> Fault {
    Fault::corrupt(error.to_string().trim_start_matches("bzip2: "))
}

/// Decodes a stream of one block, whose content usually has at most `usual_bytes`.
fn decoded(stream: Option<Vec<u8>>, usual_bytes: usize) -> Decoded {
    let stream = stream.ok_or_else(|| Fault::corrupt("a block is too short"))?;
    let mut decoder = Decompress::new(false);
    let mut bytes = Vec::with_capacity(usual_bytes);
    loop {
        let before = (decoder.total_in() as usize, bytes.len());
        let status = decoder.decompress_vec(&stream[before.0..], &mut bytes).map_err(fault)?;
        match status {
            Status::StreamEnd if decoder.total_in() as usize == stream.len() => {
                return Ok(Content { bytes, rest: None });
            }
            Status::StreamEnd => return Err(Fault::corrupt("a block has a wrong end")),
            _ if bytes.len() >= CONTENT_BYTES_MAX => {
                return Ok(Content { bytes, rest: Some(Rest { decoder, stream }) });
            }
            _ if bytes.len() == bytes.capacity() => bytes.reserve(CONTENT_BYTES_MAX - bytes.len()),
            _ if (decoder.total_in() as usize, bytes.len()) == before => {
                return Err(Fault::corrupt("a block is incomplete"));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "bzip2_tests.rs"]
mod tests;
