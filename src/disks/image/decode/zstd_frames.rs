//! zstd frames of moderate size, decoded by several threads: each is read as a whole, and decoded beside the next ones.
use super::part::{Decoder, Step};
use super::threads::Threads;
use super::zstd_stream::{STEP_BYTES, Zstd};
use crate::disks::image::detect::ZstdFrame;
use crate::disks::image::fault::Fault;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, TryRecvError};
use zstd::bulk::Decompressor;

/// Bytes of content of a frame that is decoded as a whole. Smaller ones would wait longer for a thread than they take.
const CONTENT_BYTES: std::ops::RangeInclusive<u64> = 64 << 10..=16 << 20;

/// Bytes by which a frame may be longer than its content: headers of blocks, and then some.
const OVERHEAD_BYTES: usize = 1 << 20;

/// Frames at a time: with their content, they have 256 MiB at most.
const FRAMES_MAX: usize = 7;

/// Whether the frame with this header is decoded here.
pub(super) fn is_moderate(frame: &ZstdFrame) -> bool {
    frame.content_bytes.is_some_and(|bytes| CONTENT_BYTES.contains(&bytes))
}

/// What is in a frame.
struct Decoded {
    content: Vec<u8>,
    /// Bytes of the frame that were used for it.
    used: usize,
    /// Why nothing follows.
    fault: Option<Fault>,
}

/// A frame that is decoded.
struct UnderWay {
    stored_bytes: usize,
    content: Receiver<Decoded>,
}

/// Consecutive frames of moderate size.
pub(super) struct Frames {
    reading: Option<Reading>,
    under_way: VecDeque<UnderWay>,
    /// Content of the frame before those, of which some was returned.
    content: Vec<u8>,
    returned: usize,
    /// What comes next is no such frame.
    is_over: bool,
    /// Why nothing follows the content.
    failed: Option<Fault>,
    /// Bytes of the frame that failed, from the damage on.
    failed_bytes: usize,
    threads: Threads<Decoded>,
}

/// The frame that is read.
struct Reading {
    bytes: Vec<u8>,
    content_bytes: usize,
    has_checksum: bool,
    /// Where the header of the next block is; `None`: the last one was found, and this many bytes are all.
    next_block: Option<usize>,
    /// Bytes that are known to belong to it.
    known: usize,
}

impl Reading {
    fn new(frame: &ZstdFrame) -> Reading {
        let content_bytes = frame.content_bytes.unwrap_or(0) as usize;
        let header = frame.header_bytes;
        Reading {
            bytes: Vec::with_capacity(content_bytes / 2),
            content_bytes,
            has_checksum: frame.has_checksum,
            next_block: Some(header),
            known: header + 3,
        }
    }

    /// Takes bytes of `input` that belong to the frame, and returns their number, and what is wrong.
    fn take(&mut self, input: &[u8]) -> (usize, Option<Fault>) {
        let mut used = 0;
        loop {
            let some = (self.known - self.bytes.len()).min(input.len() - used);
            self.bytes.extend_from_slice(&input[used..used + some]);
            used += some;
            let Some(at) = self.next_block.filter(|_| self.bytes.len() == self.known) else {
                return (used, None);
            };
            let head = [0, 1, 2].map(|byte| u32::from(self.bytes[at + byte]));
            let value = head[0] | head[1] << 8 | head[2] << 16;
            let (is_last, kind, size) = (value & 1 == 1, value >> 1 & 3, (value >> 3) as usize);
            let block = match kind {
                // One byte that is repeated.
                1 => 1,
                3 => return (used, Some(Fault::corrupt("a block has a reserved type"))),
                _ => size,
            };
            let end = at + 3 + block;
            self.next_block = (!is_last).then_some(end);
            self.known = end
                + if !is_last {
                    3
                } else if self.has_checksum {
                    4
                } else {
                    0
                };
            if self.known > self.content_bytes + OVERHEAD_BYTES {
                return (used, Some(Fault::corrupt("a frame is much longer than its content")));
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.next_block.is_none() && self.bytes.len() == self.known
    }
}

impl Frames {
    pub(super) fn new() -> Frames {
        let (reading, under_way, content, returned) = (None, VecDeque::new(), Vec::new(), 0);
        let (is_over, failed, failed_bytes, threads) = (false, None, 0, Threads::new(FRAMES_MAX));
        Frames { reading, under_way, content, returned, is_over, failed, failed_bytes, threads }
    }

    /// Reads frames from `input`, as many as may be under way, and returns the number of bytes.
    fn read(&mut self, input: &[u8], is_last: bool) -> usize {
        let mut used = 0;
        while !self.is_over && self.under_way.len() < self.threads.most() {
            let rest = &input[used..];
            let Some(reading) = &mut self.reading else {
                match ZstdFrame::parse(rest).filter(is_moderate) {
                    Some(frame) => self.reading = Some(Reading::new(&frame)),
                    // The next call has the whole header, as `needed` requires.
                    None if used > 0 && rest.len() < ZstdFrame::HEADER_MAX => break,
                    None => self.is_over = true,
                }
                continue;
            };
            let (taken, damage) = reading.take(rest);
            used += taken;
            let fault = damage.or_else(|| (is_last && !reading.is_complete()).then_some(Fault::Truncated));
            if fault.is_none() && !reading.is_complete() {
                break;
            }
            self.is_over = fault.is_some();
            if let Some(Reading { bytes, content_bytes, .. }) = self.reading.take() {
                self.decode(bytes, content_bytes, fault);
            }
        }
        used
    }

    /// Decodes a frame, or the beginning of one after which is this fault.
    fn decode(&mut self, frame: Vec<u8>, content_bytes: usize, fault: Option<Fault>) {
        let stored_bytes = frame.len();
        let work = move || match fault {
            None => decoded(&frame, content_bytes),
            Some(fault) => decoded_in_order(&frame, content_bytes, fault),
        };
        let content = self.threads.start(self.under_way.len(), work);
        self.under_way.push_back(UnderWay { stored_bytes, content });
    }

    /// Takes the content of the next frame, if it is decoded, or once it is.
    fn take_content(&mut self, waits: bool) {
        let Some(next) = self.under_way.front() else { return };
        let decoded = match next.content.try_recv() {
            Err(TryRecvError::Empty) if !waits => return,
            Err(TryRecvError::Empty) => next.content.recv().ok(),
            decoded => decoded.ok(),
        };
        let ended = || Decoded { content: Vec::new(), used: 0, fault: Some(Fault::corrupt("its decoder ended")) };
        let Decoded { content, used, fault } = decoded.unwrap_or_else(ended);
        if fault.is_some() {
            (self.is_over, self.failed, self.failed_bytes) = (true, fault, next.stored_bytes - used);
        }
        (self.content, self.returned) = (content, 0);
        self.under_way.pop_front();
    }
}

impl Decoder for Frames {
    fn step(&mut self, input: &[u8], out: &mut [u8], is_last: bool) -> Step {
        let used = self.read(input, is_last);
        if self.returned == self.content.len() {
            let fault = self.failed.take();
            if fault.is_some() {
                return Step { used, fault, ..Step::default() };
            }
            let waits = self.is_over || is_last || self.under_way.len() == self.threads.most();
            self.take_content(waits);
        }
        let rest = &self.content[self.returned..];
        let made = rest.len().min(out.len());
        out[..made].copy_from_slice(&rest[..made]);
        self.returned += made;
        let is_empty = self.under_way.is_empty() && self.returned == self.content.len() && self.failed.is_none();
        Step { used, made, is_end: self.is_over && is_empty && made == 0, fault: None }
    }

    fn needed(&self) -> usize {
        if self.reading.is_none() && !self.is_over { ZstdFrame::HEADER_MAX } else { 1 }
    }

    fn undecoded(&self) -> u64 {
        let under_way = self.under_way.iter().map(|frame| frame.stored_bytes).sum::<usize>();
        let reading = self.reading.as_ref().map_or(0, |reading| reading.bytes.len());
        (self.failed_bytes + under_way + reading) as u64
    }
}

fn decoded(frame: &[u8], content_bytes: usize) -> Decoded {
    let content = Decompressor::new().and_then(|mut decoder| decoder.decompress(frame, content_bytes));
    let fault = match content {
        Ok(content) if content.len() == content_bytes => return Decoded { content, used: frame.len(), fault: None },
        Ok(_) => Fault::corrupt("a frame has another size than its header states"),
        Err(error) => Fault::corrupt(error.to_string()),
    };
    decoded_in_order(frame, content_bytes, fault)
}

/// What is before the damage in a frame, which decoding it as a whole does not tell. `fault`: why it is damaged,
/// if nothing else is found.
fn decoded_in_order(frame: &[u8], content_bytes: usize, mut fault: Fault) -> Decoded {
    let (mut content, mut used) = (Vec::new(), 0);
    let mut out = vec![0; STEP_BYTES];
    if let Ok(mut decoder) = Zstd::new() {
        while content.len() <= content_bytes {
            let step = decoder.step(&frame[used..], &mut out, used == frame.len());
            used += step.used;
            content.extend_from_slice(&out[..step.made]);
            match step.fault {
                None if !step.is_end => continue,
                None | Some(Fault::Truncated) => {}
                Some(found) => fault = found,
            }
            break;
        }
    }
    content.truncate(content_bytes);
    Decoded { content, used, fault: Some(fault) }
}
