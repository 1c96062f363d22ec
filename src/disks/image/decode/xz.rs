//! xz by liblzma, whose threads decode blocks in parallel where a stream has several.
use super::part::{Decoder, Next, Step};
use super::xz_blocks::{Blocks, STREAM_HEADER_BYTES};
use crate::disks::image::fault::{Fault, MEMORY_MAX_BYTES};
use crate::disks::image::input::Input;
use liblzma::stream::{Action, Error, MtStreamBuilder, Status, Stream};
use std::io::Read;
use std::thread;

/// Threads of a decoder, at most; each needs the memory of a block.
const THREADS_MAX: usize = 8;

/// A limit that no file reaches.
const NO_LIMIT_BYTES: u64 = 1 << 40;

/// Bytes with the headers of a stream and of its first block, of the usual length.
const HEADS_BYTES: usize = 64;

/// Bytes at a time of the search for damage.
const SEARCH_BYTES: usize = 64 << 10;

const MAGIC: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];

/// The next stream. Between streams may be zeros, in multiples of four; anything else is an error, as in xz.
pub(super) fn next(input: &mut Input, is_first: bool) -> Result<Next, Fault> {
    let mut padding = 0u64;
    while !is_first && input.peek(4).map_err(Fault::Read)? == [0; 4] {
        input.consume(4);
        padding += 4;
    }
    let head = input.peek(HEADS_BYTES).map_err(Fault::Read)?;
    match head {
        [] => Ok(Next::End),
        _ if head.starts_with(&MAGIC) => Ok(Next::Part(Box::new(Xz::new(decoder()?, head)))),
        _ if head.len() < MAGIC.len() && MAGIC.starts_with(head) => Err(Fault::Truncated),
        _ if padding > 0 && head.len() < 4 && head.iter().all(|byte| *byte == 0) => {
            Err(Fault::corrupt("the padding is no multiple of 4 bytes"))
        }
        _ => Err(Fault::corrupt("what follows is no xz stream")),
    }
}

fn decoder() -> Result<Stream, Fault> {
    let threads = thread::available_parallelism().map_or(1, |count| count.get().min(THREADS_MAX));
    let mut builder = MtStreamBuilder::new();
    builder.threads(threads as u32).memlimit_threading(MEMORY_MAX_BYTES).memlimit_stop(MEMORY_MAX_BYTES);
    builder.decoder().map_err(|error| fault(error, &[]))
}

fn fault(error: Error, head: &[u8]) -> Fault {
    match error {
        Error::MemLimit => Fault::Memory(needed(head)),
        Error::Mem => Fault::Unsupported("a decoder for which this machine has no memory".to_owned()),
        Error::Options => Fault::Unsupported("the filters or options of this xz file".to_owned()),
        Error::UnsupportedCheck | Error::NoCheck => Fault::Unsupported("the integrity check of this file".to_owned()),
        Error::Format => Fault::corrupt("it has no xz header"),
        other => Fault::corrupt(other.to_string()),
    }
}

/// The memory that a stream with these first bytes needs, by its first block: the smallest limit that its decoder
/// accepts. The parallel one does not report it.
fn needed(head: &[u8]) -> Option<u64> {
    let mut stream = Stream::new_stream_decoder(MEMORY_MAX_BYTES, 0).ok()?;
    if stream.process(head, &mut [0], Action::Run) != Err(Error::MemLimit) {
        return None;
    }
    stream.set_memlimit(NO_LIMIT_BYTES).ok()?;
    let (mut refused, mut accepted) = (MEMORY_MAX_BYTES, NO_LIMIT_BYTES);
    while accepted - refused > 1 << 18 {
        let limit = refused + (accepted - refused) / 2;
        match stream.set_memlimit(limit) {
            Ok(()) => accepted = limit,
            Err(_) => refused = limit,
        }
    }
    (refused > MEMORY_MAX_BYTES).then_some(accepted)
}

struct Xz {
    stream: Stream,
    /// Its first bytes.
    head: Vec<u8>,
    blocks: Blocks,
    /// After damage: bytes from the beginning of the block that is decoded again, and where the search ends.
    undecoded_bytes: u64,
    search_bytes: u64,
}

impl Xz {
    fn new(stream: Stream, head: &[u8]) -> Xz {
        Xz { stream, head: head.to_vec(), blocks: Blocks::new(), undecoded_bytes: 0, search_bytes: 0 }
    }
}

impl Decoder for Xz {
    fn step(&mut self, input: &[u8], out: &mut [u8], is_last: bool) -> Step {
        let before = (self.stream.total_in(), self.stream.total_out());
        let action = if is_last { Action::Finish } else { Action::Run };
        let result = self.stream.process(input, out, action);
        let (total_in, total_out) = (self.stream.total_in(), self.stream.total_out());
        let used = (total_in - before.0) as usize;
        let made = (total_out - before.1) as usize;
        self.blocks.follow(&input[..used], total_out);
        let fault = match result {
            Err(error) => Some(fault(error, &self.head)),
            Ok(Status::MemNeeded) if is_last && made == 0 => Some(Fault::Truncated),
            Ok(_) => None,
        };
        if let (Some(Fault::Corrupt(_)), Some((block, end))) = (&fault, self.blocks.failed(total_out)) {
            (self.undecoded_bytes, self.search_bytes) = (total_in - block.stored_at, end - block.content_at);
        }
        Step { used, made, is_end: matches!(result, Ok(Status::StreamEnd)), fault }
    }

    fn undecoded(&self) -> u64 {
        self.undecoded_bytes
    }

    /// By a decoder without threads, which uses no more than it decodes.
    fn find_damage(&self, from: &mut dyn Read) -> Option<u64> {
        let mut stream = Stream::new_stream_decoder(MEMORY_MAX_BYTES, 0).ok()?;
        stream.process(self.head.get(..STREAM_HEADER_BYTES)?, &mut [], Action::Run).ok()?;
        let (mut input, mut out) = (vec![0; SEARCH_BYTES], vec![0; SEARCH_BYTES]);
        while let len @ 1.. = from.read(&mut input).ok()? {
            let mut used = 0;
            while used < len {
                let before = stream.total_in();
                match stream.process(&input[used..len], &mut out, Action::Run) {
                    Ok(Status::StreamEnd) => return None,
                    Ok(_) if stream.total_out() > self.search_bytes => return None,
                    Ok(_) => used += (stream.total_in() - before) as usize,
                    Err(_) => return Some(stream.total_in() - STREAM_HEADER_BYTES as u64),
                }
            }
        }
        None
    }
}
