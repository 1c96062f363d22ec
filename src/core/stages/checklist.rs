//! What blocks should be, held against what they are.
use crate::core::{BlockDigest, DigestedBlock, Extent, ExtentSet, HashKind};

/// The digests of a copy: what its bytes should be.
#[derive(Clone, Debug)]
pub struct Checklist {
    kind: HashKind,
    /// Ascending, without gaps or overlap.
    pieces: Vec<DigestedBlock>,
}

impl Checklist {
    /// Of pieces that speak of every byte once, in any order.
    pub fn new(kind: HashKind, mut pieces: Vec<DigestedBlock>) -> Self {
        pieces.sort_unstable_by_key(|piece| piece.extent.offset);
        Checklist { kind, pieces }
    }

    /// Whether `found`, as [`super::Digester`] tells it, is what it should be. Where it says that bytes are zeros, or
    /// should be, any pieces may cover them. Gives the extents that are not.
    pub fn differing(&self, found: &DigestedBlock) -> Vec<Extent> {
        let mut wrong: Vec<Extent> = Vec::new();
        let mut next = self.pieces.partition_point(|piece| piece.extent.end() <= found.extent.offset);
        let mut at = found.extent.offset;
        while at < found.extent.end() {
            let Some(piece) = self.pieces.get(next).filter(|piece| piece.extent.offset <= at) else {
                // Nothing is known of these bytes: they were never part of the copy.
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
            // The maker of the pieces may have digested zeros like other bytes.
            (Some(should), None) => should == BlockDigest::of_zeros(self.kind, piece.extent.len),
            (None, Some(is)) => is == BlockDigest::of_zeros(self.kind, found.extent.len),
        }
    }
}

/// The blocks, of `block_bytes` each, that a sample of `per_million` takes of `len` bytes: one out of each of as many
/// equal parts, where `pick` says, which is given a number of choices and gives a number below; and the first and the
/// last.
pub fn sample(len: u64, block_bytes: u64, per_million: u32, mut pick: impl FnMut(u64) -> u64) -> Vec<Extent> {
    let blocks = len.div_ceil(block_bytes);
    let wanted = (u128::from(blocks) * u128::from(per_million)).div_ceil(1_000_000).min(u128::from(blocks)) as u64;
    let border = |part: u64| (u128::from(part) * u128::from(blocks) / u128::from(wanted.max(1))) as u64;
    let mut chosen = ExtentSet::new();
    let mut take = |block: u64| {
        let offset = block * block_bytes;
        chosen.insert(Extent::new(offset, block_bytes.min(len - offset)));
    };
    for part in 0..wanted {
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

    const KIND: HashKind = HashKind::Blake3;

    fn block(offset: u64, len: u64, byte: Option<u8>) -> DigestedBlock {
        let digest = byte.map(|byte| BlockDigest::of(KIND, &vec![byte; len as usize]));
        DigestedBlock { extent: Extent::new(offset, len), digest }
    }

    #[test]
    fn blocks_zeros_and_what_reaches_beyond_are_told_apart() {
        let pieces = vec![block(192, 10, Some(0)), block(0, 64, Some(1)), block(64, 128, None)];
        let list = Checklist::new(KIND, pieces);
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
        fn a_sample_is_of_the_asked_size_spread_and_within(
            len in 1u64..5_000, per_million in 1u32..=1_000_000, seed: u64,
        ) {
            let mut state = seed;
            let sample = sample(len, 8, per_million, |choices| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) % choices
            });
            let blocks = len.div_ceil(8);
            let chosen: u64 = sample.iter().map(|extent| extent.len.div_ceil(8)).sum();
            let wanted = (blocks * u64::from(per_million)).div_ceil(1_000_000);
            prop_assert!(chosen >= wanted.min(blocks) && chosen <= wanted + 2, "{chosen} of {blocks}");
            prop_assert_eq!(sample[0].offset, 0);
            prop_assert_eq!(sample.last().unwrap().end(), len);
            // No stretch of two parts is without a block.
            let widest = sample.windows(2).map(|pair| pair[1].offset - pair[0].end()).max().unwrap_or(0);
            prop_assert!(widest <= 2 * 8 * blocks.div_ceil(wanted), "{widest}");
        }
    }
}
