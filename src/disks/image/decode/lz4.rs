//! LZ4 frames: the blocks by lz4_flex, the frame around them here, so that an end in the middle of it is noticed.
use super::part::{Decoder, Next, Step, skip_frames};
use crate::disks::image::detect::{Lz4Frame, xxh32};
use crate::disks::image::fault::Fault;
use crate::disks::image::input::Input;
use crate::disks::image::read_at::u32_at;
use lz4_flex::block;
use std::hash::Hasher;
use twox_hash::XxHash32;

/// Bytes of earlier blocks that a linked one may refer to.
const LINKED_BYTES: usize = 64 << 10;

/// A block whose data is its content has this bit in its size.
const IS_STORED: u32 = 1 << 31;

/// The next frame with content. Anything but a frame is an error, as in lz4.
pub(super) fn next(input: &mut Input) -> Result<Next, Fault> {
    skip_frames(input)?;
    let head = input.peek(Lz4Frame::HEADER_MAX).map_err(Fault::Read)?;
    if head.is_empty() {
        return Ok(Next::End);
    }
    let Some(frame) = Lz4Frame::parse(head) else {
        let is_short =
            head.len() < Lz4Frame::HEADER_MAX && [4, 0x22, 0x4d, 0x18].starts_with(&head[..head.len().min(4)]);
        return Err(if is_short { Fault::Truncated } else { Fault::corrupt("what follows is no LZ4 frame") });
    };
    if frame.needs_dictionary {
        return Err(Fault::Unsupported("LZ4 frames with a dictionary".to_owned()));
    }
    input.consume(frame.header_bytes);
    Ok(Next::Part(Box::new(Lz4::new(frame))))
}

/// What the collected bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    /// The size of a block, or the end mark.
    Size,
    /// A block, with its checksum.
    Block(u32),
    /// The checksum of the content.
    Checksum,
}

struct Lz4 {
    frame: Lz4Frame,
    awaited: Awaited,
    /// Bytes of what is awaited.
    collected: Vec<u8>,
    /// Before `from`, content that a linked block may refer to; up to `to`, content that was not given out.
    content: Vec<u8>,
    from: usize,
    to: usize,
    made_bytes: u64,
    hasher: XxHash32,
    /// Bytes of the block or number that is damaged.
    undecoded_bytes: usize,
}

impl Lz4 {
    fn new(frame: Lz4Frame) -> Self {
        let content = vec![0; LINKED_BYTES + frame.block_bytes_max];
        let hasher = XxHash32::with_seed(0);
        let (awaited, collected) = (Awaited::Size, Vec::new());
        Lz4 { frame, awaited, collected, content, from: 0, to: 0, made_bytes: 0, hasher, undecoded_bytes: 0 }
    }

    /// Bytes of what is awaited.
    fn awaited_bytes(&self) -> usize {
        match self.awaited {
            Awaited::Size | Awaited::Checksum => 4,
            Awaited::Block(size) => (size & !IS_STORED) as usize + if self.frame.has_block_checksums { 4 } else { 0 },
        }
    }

    /// Works on what was awaited; true at the end of the frame.
    fn on_collected(&mut self) -> Result<bool, Fault> {
        let number = u32_at(&self.collected, 0).unwrap_or(0);
        match self.awaited {
            Awaited::Size if number == 0 => {
                if self.frame.content_bytes.is_some_and(|bytes| bytes != self.made_bytes) {
                    return Err(Fault::corrupt("the content has not the size in the frame header"));
                }
                self.awaited = Awaited::Checksum;
                return Ok(!self.frame.has_checksum);
            }
            Awaited::Size if (number & !IS_STORED) as usize > self.frame.block_bytes_max => {
                return Err(Fault::corrupt("a block is larger than the frame header allows"));
            }
            Awaited::Size => self.awaited = Awaited::Block(number),
            Awaited::Block(size) => {
                self.decode(size)?;
                self.awaited = Awaited::Size;
            }
            Awaited::Checksum if number == self.hasher.finish() as u32 => return Ok(true),
            Awaited::Checksum => return Err(Fault::corrupt("the checksum of the content is wrong")),
        }
        Ok(false)
    }

    fn decode(&mut self, size: u32) -> Result<(), Fault> {
        let len = (size & !IS_STORED) as usize;
        let (data, check) = self.collected.split_at(len);
        if self.frame.has_block_checksums && u32_at(check, 0) != Some(xxh32(data)) {
            return Err(Fault::corrupt("the checksum of a block is wrong"));
        }
        let kept = if self.frame.is_linked { self.to.min(LINKED_BYTES) } else { 0 };
        self.content.copy_within(self.to - kept..self.to, 0);
        let (earlier, room) = self.content.split_at_mut(kept);
        let room = &mut room[..self.frame.block_bytes_max];
        let made = if size & IS_STORED != 0 {
            room[..len].copy_from_slice(data);
            len
        } else {
            let made = block::decompress_into_with_dict(data, room, earlier);
            made.map_err(|error| Fault::corrupt(error.to_string()))?
        };
        if self.frame.has_checksum {
            self.hasher.write(&room[..made]);
        }
        self.made_bytes += made as u64;
        (self.from, self.to) = (kept, kept + made);
        Ok(())
    }
}

impl Decoder for Lz4 {
    fn step(&mut self, input: &[u8], out: &mut [u8], is_last: bool) -> Step {
        let mut step = Step::default();
        loop {
            let len = (self.to - self.from).min(out.len() - step.made);
            out[step.made..step.made + len].copy_from_slice(&self.content[self.from..self.from + len]);
            self.from += len;
            step.made += len;
            if step.made == out.len() || self.from < self.to {
                return step;
            }
            let missing = self.awaited_bytes() - self.collected.len();
            let len = missing.min(input.len() - step.used);
            self.collected.extend_from_slice(&input[step.used..step.used + len]);
            step.used += len;
            if len < missing {
                return step.or_truncated(is_last);
            }
            match self.on_collected() {
                Ok(is_end) => step.is_end = is_end,
                Err(fault) => {
                    (step.fault, self.undecoded_bytes) = (Some(fault), self.collected.len());
                    return step;
                }
            }
            self.collected.clear();
            if step.is_end {
                return step;
            }
        }
    }

    fn undecoded(&self) -> u64 {
        self.undecoded_bytes as u64
    }
}
