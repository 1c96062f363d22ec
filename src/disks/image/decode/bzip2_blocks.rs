//! The blocks of bzip2 streams. They begin at any bit, with a mark of 48 bits that the data of a block may contain too,
//! by chance: what lies between two marks is a block only if it can be decoded.

/// The header of a stream, without its level.
pub(super) const STREAM: [u8; 3] = *b"BZh";

/// Bytes of the header of a stream with the mark after it.
pub(super) const HEADER_BYTES: usize = 10;

const MARK_BITS: usize = 48;
const BLOCK: u64 = 0x3141_5926_5359;
const END: u64 = 0x1772_4538_5090;

/// Bits of a mark and the checksum after it: those of a block, or of a stream at its end.
const MARK_AND_CHECKSUM_BITS: usize = MARK_BITS + 32;

/// Some bits of a file: from one bit of the first byte to one of the last.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits {
    pub(super) bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Bits {
    /// With those that follow it directly.
    pub(super) fn join(mut self, next: &Bits) -> Bits {
        self.bytes.truncate(self.end / 8);
        let before = self.bytes.len() * 8;
        self.bytes.extend_from_slice(&next.bytes);
        self.end = before + next.end;
        self
    }

    /// The checksum after its mark.
    pub(super) fn checksum(&self) -> u32 {
        let at = self.start + MARK_BITS;
        (at..at + 32).fold(0, |value, at| value << 1 | u32::from(self.bytes[at / 8] >> (7 - at % 8) & 1))
    }

    /// A stream with this block only; `None`: it is shorter than any.
    pub(super) fn to_stream(&self, level: u8) -> Option<Vec<u8>> {
        (self.end - self.start >= MARK_AND_CHECKSUM_BITS).then_some(())?;
        let mut to = Writer { bytes: Vec::with_capacity(self.bytes.len() + 16), bits: 0, count: 0 };
        to.bytes.extend_from_slice(&STREAM);
        to.bytes.push(level);
        for (number, byte) in self.bytes.iter().enumerate() {
            let [from, until] = [self.start, self.end].map(|at| at.saturating_sub(number * 8).min(8));
            to.push(u64::from(*byte) >> (8 - until) & ((1 << (until - from)) - 1), until - from);
        }
        to.push(END >> 24, 24);
        to.push(END & 0xff_ffff, 24);
        to.push(self.checksum().into(), 32);
        to.push(0, 7);
        Some(to.bytes)
    }
}

/// Writes bits to bytes, the highest first.
struct Writer {
    bytes: Vec<u8>,
    bits: u64,
    count: usize,
}

impl Writer {
    fn push(&mut self, value: u64, count: usize) {
        self.bits = self.bits << count | value;
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.bits >> self.count) as u8);
        }
    }
}

/// A mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Block,
    End,
}

/// What was found in a stream.
#[derive(Debug)]
pub(super) enum Piece {
    /// What may be a block.
    Block(Bits),
    /// What may be the end of the stream, with its checksum.
    End(Bits),
}

/// Whether a stream, or garbage, begins with `input`.
pub(super) fn is_stream(input: &[u8]) -> bool {
    let Some((header, mark)) = input.get(..HEADER_BYTES).and_then(|head| head.split_at_checked(4)) else {
        return false;
    };
    let mark = mark.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
    header.starts_with(&STREAM) && (b'1'..=b'9').contains(&header[3]) && [BLOCK, END].contains(&mark)
}

/// Splits streams at the marks.
pub(super) struct Splitter {
    marks: Vec<(u64, Mark)>,
    /// For each value of the last byte but one: how many bits may follow a mark in the last one, as a set of bits.
    may_end: [u8; 256],
    /// What follows the last piece.
    open: Bits,
    /// The mark with which that begins, once it is complete.
    mark: Option<Mark>,
    /// The last eight bytes.
    window: u64,
}

impl Splitter {
    pub(super) fn new() -> Splitter {
        Splitter::with_marks(vec![(BLOCK, Mark::Block), (END, Mark::End)])
    }

    /// Finds these marks as well, as if they were in the data by chance.
    #[cfg(test)]
    pub(super) fn with_false_marks(block: u64, end: u64) -> Splitter {
        Splitter::with_marks(vec![(BLOCK, Mark::Block), (END, Mark::End), (block, Mark::Block), (end, Mark::End)])
    }

    fn with_marks(marks: Vec<(u64, Mark)>) -> Splitter {
        let mut may_end = [0; 256];
        for (mark, _) in &marks {
            for behind in 0..8 {
                may_end[(mark >> (8 - behind) & 0xff) as usize] |= 1 << behind;
            }
        }
        Splitter { marks, may_end, open: Bits::default(), mark: None, window: 0 }
    }

    /// Begins a stream, after its header.
    pub(super) fn begin(&mut self) {
        (self.open, self.mark, self.window) = (Bits::default(), None, 0);
    }

    /// What follows the last piece.
    pub(super) fn open(&self) -> &Bits {
        &self.open
    }

    /// Goes on with a block that begins with `bits`: a mark in it was none.
    pub(super) fn go_on_with(&mut self, bits: Bits) {
        self.window = bits.bytes.iter().rev().take(8).rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        (self.open, self.mark) = (bits, Some(Mark::Block));
    }

    /// Takes bytes of `input` until a piece is complete; returns their number.
    pub(super) fn take(&mut self, input: &[u8]) -> (usize, Option<Piece>) {
        for (used, byte) in input.iter().enumerate() {
            self.open.bytes.push(*byte);
            self.open.end = self.open.bytes.len() * 8;
            let before = self.window as u8;
            self.window = self.window << 8 | u64::from(*byte);
            let piece = match self.mark {
                Some(Mark::End) if self.open.end - self.open.start >= MARK_AND_CHECKSUM_BITS => {
                    Some(Piece::End(std::mem::take(&mut self.open)))
                }
                Some(Mark::End) => None,
                _ if self.may_end[usize::from(before)] != 0 => self.cut(before),
                _ => None,
            };
            if piece.is_some() {
                return (used + 1, piece);
            }
        }
        (input.len(), None)
    }

    /// Ends the piece before a mark that ends in the last byte, if there is one.
    fn cut(&mut self, before: u8) -> Option<Piece> {
        let ends = (0..8).filter(|behind| self.may_end[usize::from(before)] & 1 << behind != 0);
        let found =
            ends.flat_map(|behind| self.marks.iter().map(move |mark| (behind, *mark))).find(|(behind, mark)| {
                let is_complete = self.open.end >= self.open.start + MARK_BITS + behind;
                is_complete && self.window >> behind & ((1 << MARK_BITS) - 1) == mark.0
            });
        let (behind, (_, mark)) = found?;
        let at = self.open.end - behind - MARK_BITS;
        if at == self.open.start {
            self.mark = Some(mark);
            return None;
        }
        let rest = Bits { bytes: self.open.bytes[at / 8..].to_vec(), start: at % 8, end: self.open.end - at / 8 * 8 };
        let mut block = std::mem::replace(&mut self.open, rest);
        block.bytes.truncate(at.div_ceil(8));
        block.end = at;
        self.mark = Some(mark);
        Some(Piece::Block(block))
    }
}
