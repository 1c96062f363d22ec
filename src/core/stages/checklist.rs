//! Compares digests of blocks with the expected digests.
use crate::core::{BlockHash, DigestedBlock, Extent, ExtentSet};

/// The expected digests of a copy.
#[derive(Clone, Debug)]
pub struct Checklist {
    hash: BlockHash,
    /// Ascending, without gaps or overlap.
    pieces: Vec<DigestedBlock>,
}

impl Checklist {
    /// A checklist of `pieces` that cover every byte once, in any order.
    pub fn new(hash: BlockHash, mut pieces: Vec<DigestedBlock>) -> Self {
        pieces.sort_unstable_by_key(|piece| piece.extent.offset);
        Checklist { hash, pieces }
    }

    /// The extents of `found` that differ from the expected content. If either side is zeros, the extents of blocks may
    /// differ.
    pub fn differing(&self, found: &DigestedBlock) -> Vec<Extent> {
        let mut wrong: Vec<Extent> = Vec::new();
        let mut next = self.pieces.partition_point(|piece| piece.extent.end() <= found.extent.offset);
        let mut at = found.extent.offset;
        while at < found.extent.end() {
            let Some(piece) = self.pieces.get(next).filter(|piece| piece.extent.offset <= at) else {
                // These bytes were not part of the copy.
                wrong.push(Extent::new(at, found.extent.end() - at));
                break;
            };
            let end = piece.extent.end().min(found.extent.end());
            if !self.is_same(piece, found) {
                wrong.push(Extent::new(at, end - at));
            }
            (at, next) = (end, next + 1);
        }
        wrong
    }

    fn is_same(&self, piece: &DigestedBlock, found: &DigestedBlock) -> bool {
        match (piece.digest, found.digest) {
            (None, None) => true,
            (Some(should), Some(is)) => piece.extent == found.extent && should == is,
            // Zeros may have been digested like other data when the checklist was made.
            (Some(should), None) => self.hash.is_of_zeros(should, piece.extent.len),
            (None, Some(is)) => self.hash.is_of_zeros(is, found.extent.len),
        }
    }
}

/// Selects a sample of `per_million` of the blocks of `len` bytes, each of `block_bytes`: the first, the last, and one
/// from each of equally long parts. `pick(n)` returns a random number below `n`.
pub fn sample(len: u64, block_bytes: u64, per_million: u32, mut pick: impl FnMut(u64) -> u64) -> Vec<Extent> {
    let blocks = len.div_ceil(block_bytes);
    let count = (u128::from(blocks) * u128::from(per_million)).div_ceil(1_000_000).min(u128::from(blocks)) as u64;
    let border = |part: u64| (u128::from(part) * u128::from(blocks) / u128::from(count.max(1))) as u64;
    let mut chosen = ExtentSet::new();
    let mut take = |block: u64| {
        let offset = block * block_bytes;
        chosen.insert(Extent::new(offset, block_bytes.min(len - offset)));
    };
    for part in 0..count {
        let (from, to) = (border(part), border(part + 1));
        take(from + pick(to - from));
    }
    if blocks > 0 {
        take(0);
        take(blocks - 1);
    }
    chosen.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HASH: BlockHash = BlockHash::Blake3;

    fn block(offset: u64, len: u64, byte: Option<u8>) -> DigestedBlock {
        let digest = byte.map(|byte| HASH.digest(offset, &vec![byte; len as usize]));
        DigestedBlock { extent: Extent::new(offset, len), digest }
    }

    #[test]
    fn matching_zero_and_overlapping_blocks_are_distinguished() {
        let pieces = vec![block(192, 10, Some(0)), block(0, 64, Some(1)), block(64, 128, None)];
        let list = Checklist::new(HASH, pieces);
        let differing = |found: DigestedBlock| list.differing(&found);
        assert!(differing(block(0, 64, Some(1))).is_empty());
        assert_eq!(differing(block(0, 64, Some(2))), [Extent::new(0, 64)]);
        assert_eq!(differing(block(0, 64, None)), [Extent::new(0, 64)]);
        assert!(differing(block(64, 64, None)).is_empty() && differing(block(128, 74, None)).is_empty());
        assert_eq!(differing(block(64, 64, Some(7))), [Extent::new(64, 64)]);
        assert!(differing(block(192, 10, Some(0))).is_empty());
        assert_eq!(differing(block(0, 202, None)), [Extent::new(0, 64)]);
        assert_eq!(differing(block(192, 20, Some(0))), [Extent::new(192, 10), Extent::new(202, 10)]);
    }

    proptest! {
        #[test]
        fn a_sample_has_the_requested_size_and_is_spread_over_the_copy(
            len in 1u64..5_000, per_million in 1u32..=1_000_000, seed: u64,
        ) {
            let mut state = seed;
            let sample = sample(len, 8, per_million, |choices| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) % choices
            });
            let blocks = len.div_ceil(8);
            let chosen: u64 = sample.iter().map(|extent| extent.len.div_ceil(8)).sum();
            let count = (blocks * u64::from(per_million)).div_ceil(1_000_000);
            prop_assert!(chosen >= count.min(blocks) && chosen <= count + 2, "{chosen} of {blocks}");
            prop_assert_eq!(sample[0].offset, 0);
            prop_assert_eq!(sample.last().unwrap().end(), len);
            // Any two consecutive parts contain a sampled block.
            let widest = sample.windows(2).map(|pair| pair[1].offset - pair[0].end()).max().unwrap_or(0);
            prop_assert!(widest <= 2 * 8 * blocks.div_ceil(count), "{widest}");
        }
    }
}
