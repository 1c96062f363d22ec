//! The test pattern: blocks that contain their own address, so that lost, swapped, torn and stale writes are detected.
//!
//! A block starts with a mark of 48 bytes: `haulpat1`, address, run, sequence, block size, and a check word of these,
//! eight bytes each, little-endian. The rest is pseudo-random and depends on the mark only: no disk can compress or
//! deduplicate it, and no two addresses or runs have the same content.
mod conclude;
mod inspector;
#[cfg(test)]
mod inspector_tests;
mod judge;
mod mark;
mod surveyor;
#[cfg(test)]
mod tests;
mod words;

pub use inspector::Inspector;
pub use judge::Verdict;
use mark::MARK_WORDS;
pub use mark::{Mark, PATTERN_BLOCK_BYTES_MIN};
pub use surveyor::Surveyor;
use words::Words;

/// One run of the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    block_bytes: u32,
    run: u64,
    sequence: u64,
}

impl Pattern {
    /// The pattern with blocks of `block_bytes`; `None` unless that is a multiple of 64 and at least
    /// [`PATTERN_BLOCK_BYTES_MIN`]. Later runs on a disk have larger numbers, such as the time in seconds. The sequence
    /// counts earlier writes of each block in the same run.
    pub fn new(block_bytes: u32, run: u64, sequence: u64) -> Option<Self> {
        let possible = Mark { address: 0, run, sequence, block_bytes }.is_possible();
        possible.then_some(Pattern { block_bytes, run, sequence })
    }

    /// Block size, in bytes.
    pub fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    /// Number of the run.
    pub fn run(&self) -> u64 {
        self.run
    }

    fn mark(&self, address: u64) -> Mark {
        Mark { address, run: self.run, sequence: self.sequence, block_bytes: self.block_bytes }
    }

    /// Fills `buffer` with the blocks that belong at byte `offset`. Panics unless the buffer has whole blocks.
    pub fn fill(&self, buffer: &mut [u8], offset: u64) {
        let block_bytes = self.block_bytes as usize;
        assert!(buffer.len().is_multiple_of(block_bytes), "a pattern fills whole blocks");
        let mut address = offset;
        for block in buffer.chunks_exact_mut(block_bytes) {
            let mark = self.mark(address);
            let (words, _) = block.as_chunks_mut::<8>();
            let (head, rest) = words.split_at_mut(MARK_WORDS);
            for (bytes, word) in head.iter_mut().zip(mark.words()) {
                *bytes = word.to_le_bytes();
            }
            let mut from = Words::after_mark(&mark);
            for bytes in rest {
                *bytes = from.next_word().to_le_bytes();
            }
            address = address.wrapping_add(u64::from(self.block_bytes));
        }
    }

    /// Checks the blocks in `buffer`, read at byte `offset`, and reports the offset and verdict of each that is not
    /// good. Panics unless the buffer has whole blocks. Allocates nothing.
    pub fn judge(&self, buffer: &[u8], offset: u64, mut found: impl FnMut(u64, Verdict)) {
        let block_bytes = self.block_bytes as usize;
        assert!(buffer.len().is_multiple_of(block_bytes), "a pattern is checked in whole blocks");
        let mut address = offset;
        for block in buffer.chunks_exact(block_bytes) {
            match self.judge_block(block, address) {
                Verdict::Good => {}
                verdict => found(address, verdict),
            }
            address = address.wrapping_add(u64::from(self.block_bytes));
        }
    }

    /// Checks one block, read at byte `offset`. Panics unless it has the block size.
    pub fn judge_block(&self, block: &[u8], offset: u64) -> Verdict {
        assert_eq!(block.len(), self.block_bytes as usize, "one block is checked");
        judge::verdict(block, &self.mark(offset))
    }
}
