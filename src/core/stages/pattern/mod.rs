//! The test pattern: blocks that say where they belong, so that a disk that loses, swaps, tears or ages them is caught.
//!
//! A block is a mark of 48 bytes (`haulpat1`, its address, run, sequence, its length, and a check of these, each eight
//! bytes, little-endian), then bytes that follow from the mark and look random: no disk can compress or share them, and
//! no two addresses or runs have the same.
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

/// One writing of the pattern: what its blocks hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    block_bytes: u32,
    run: u64,
    sequence: u64,
}

impl Pattern {
    /// The pattern of blocks of `block_bytes`, which is a multiple of 64 and at least [`PATTERN_BLOCK_BYTES_MIN`];
    /// `None` of another length. Of two runs over one disk the later has the larger number, as the seconds of the clock
    /// are; within a run the sequence counts how often each block was written before.
    pub fn new(block_bytes: u32, run: u64, sequence: u64) -> Option<Self> {
        let possible = Mark { address: 0, run, sequence, block_bytes }.is_possible();
        possible.then_some(Pattern { block_bytes, run, sequence })
    }

    /// Bytes of a block.
    pub fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    /// The run that its blocks carry.
    pub fn run(&self) -> u64 {
        self.run
    }

    fn mark(&self, address: u64) -> Mark {
        Mark { address, run: self.run, sequence: self.sequence, block_bytes: self.block_bytes }
    }

    /// Fills `buffer` with the blocks that belong at byte `offset` and behind. Panics unless it is whole blocks.
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
            let mut from = Words::behind_mark(&mark);
            for bytes in rest {
                *bytes = from.next_word().to_le_bytes();
            }
            address = address.wrapping_add(u64::from(self.block_bytes));
        }
    }

    /// Judges the blocks in `buffer`, read from byte `offset` on, and reports each that is not good: its own offset and
    /// what is wrong. Panics unless the buffer is whole blocks. Allocates nothing.
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

    /// Judges one block, read from byte `offset`. Panics on another length than a block's.
    pub fn judge_block(&self, block: &[u8], offset: u64) -> Verdict {
        assert_eq!(block.len(), self.block_bytes as usize, "one block is checked");
        judge::verdict(block, &self.mark(offset))
    }
}
