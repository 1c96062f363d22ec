//! The digests of a shard of a larger copy: as soon as a block is durable, its value belongs to the tree of the whole.
use crate::core::hash_tree::{HashTree, Subtree};
use crate::core::{BlockDigest, DigestedBlock, Error, Extent, ExtentSet, Kind, Result, byte_count, locked};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Most values that one checkpoint records: of more, those of the longest parts.
const VALUES_MAX: usize = 300;

/// Collects the values of the blocks of a shard. Offsets count from its first byte, those of values from the first byte
/// of the whole.
pub(crate) struct ShardDigests {
    /// The bytes of the shard in the whole.
    shard: Extent,
    block_bytes: u64,
    values: Mutex<Values>,
}

#[derive(Default)]
struct Values {
    /// Of blocks that are recorded as durable.
    tree: HashTree,
    recorded: ExtentSet,
    /// Of blocks that may not be durable yet, by offset.
    pending: BTreeMap<u64, ValuedBlock>,
}

/// A block, and its value in the tree of the whole, which one of zeros has too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValuedBlock {
    pub(crate) block: DigestedBlock,
    value: BlockDigest,
}

/// What a checkpoint may claim: these bytes, which are whole blocks, and their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DurableValues {
    pub(crate) bytes: ExtentSet,
    pub(crate) values: Vec<Subtree>,
}

impl ShardDigests {
    /// Those of `shard` in blocks of `block_bytes`, of which earlier attempts recorded `values`.
    ///
    /// # Errors
    /// Io if those values are no parts of the shard.
    pub(crate) fn new(shard: Extent, block_bytes: u64, values: &[Subtree]) -> Result<Self> {
        let mut known = Values::default();
        for value in values {
            let extent = Extent::new(value.offset_bytes, value.len_bytes);
            let is_within = extent.intersection(&shard) == Some(extent);
            if !is_within || known.tree.add(*value).is_err() {
                let what = format!(
                    "the record of an earlier attempt has a digest of {} bytes at {} that cannot be",
                    extent.len, extent.offset
                );
                return Err(Error::new(Kind::Io, what));
            }
            known.recorded.insert(Extent::new(extent.offset - shard.offset, extent.len));
        }
        Ok(ShardDigests { shard, block_bytes, values: Mutex::new(known) })
    }

    /// Adds whole blocks. Zeros have no digest in a copy: their values are computed here.
    pub(crate) fn add(&self, DigestedBlock { extent, digest }: DigestedBlock) {
        let mut at = extent.offset;
        while at < extent.end() {
            let extent = Extent::new(at, self.block_bytes.min(extent.end() - at));
            at = extent.end();
            let value = digest.unwrap_or_else(|| Subtree::of_zeros(self.placed(extent)).value);
            let mut values = locked(&self.values);
            if !values.recorded.overlaps(extent) {
                values.pending.insert(extent.offset, ValuedBlock { block: DigestedBlock { extent, digest }, value });
            }
        }
    }

    /// The blocks that were not recorded and are durable now, ascending.
    pub(crate) fn ready(&self, durable: &ExtentSet) -> Vec<ValuedBlock> {
        let values = locked(&self.values);
        values.pending.values().filter(|pending| durable.contains(pending.block.extent)).copied().collect()
    }

    /// Records blocks that are [`ready`](Self::ready), and returns all that is recorded.
    pub(crate) fn record(&self, ready: &[ValuedBlock]) -> DurableValues {
        let mut values = locked(&self.values);
        for ValuedBlock { block: DigestedBlock { extent, .. }, value } in ready {
            values.pending.remove(&extent.offset);
            if values.tree.add(Subtree::at(self.placed(*extent), *value)).is_ok() {
                values.recorded.insert(*extent);
            }
        }
        self.longest(values.tree.parts().collect())
    }

    /// The values of the complete shard.
    ///
    /// # Errors
    /// Io if a block has none.
    pub(crate) fn complete(&self) -> Result<Vec<Subtree>> {
        let values = locked(&self.values);
        if values.recorded.contains(Extent::new(0, self.shard.len)) {
            return Ok(values.tree.parts().collect());
        }
        let what = format!(
            "the digest of the shard is unknown: {} of {} have one",
            values.recorded.total_bytes(),
            byte_count(self.shard.len)
        );
        Err(Error::new(Kind::Io, what))
    }

    /// Where a block is in the whole.
    fn placed(&self, block: Extent) -> Extent {
        Extent::new(self.shard.offset + block.offset, block.len)
    }

    fn longest(&self, mut parts: Vec<Subtree>) -> DurableValues {
        if parts.len() > VALUES_MAX {
            parts.sort_unstable_by_key(|part| std::cmp::Reverse(part.len_bytes));
            parts.truncate(VALUES_MAX);
            parts.sort_unstable_by_key(|part| part.offset_bytes);
        }
        let bytes = parts.iter().map(|part| Extent::new(part.offset_bytes - self.shard.offset, part.len_bytes));
        DurableValues { bytes: bytes.collect(), values: parts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::BlockHash;
    use crate::core::hash_tree::merge;

    const BLOCK: u64 = 64 << 10;

    fn block(bytes: &[u8], shard: Extent, number: u64) -> DigestedBlock {
        let extent = Extent::new(number * BLOCK, BLOCK.min(shard.len - number * BLOCK));
        let at = (shard.offset + extent.offset) as usize;
        let bytes = &bytes[at..at + extent.len as usize];
        let digest = BlockHash::Blake3Tree.digest(at as u64, bytes);
        DigestedBlock { extent, digest: bytes.iter().any(|byte| *byte > 0).then_some(digest) }
    }

    #[test]
    fn attempts_at_all_shards_give_the_digest_of_the_whole() {
        let len = 11 * BLOCK + 77;
        let mut bytes: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
        bytes[5 * BLOCK as usize..7 * BLOCK as usize].fill(0);
        let mut all = Vec::new();
        for shard in [Extent::new(6 * BLOCK, len - 6 * BLOCK), Extent::new(0, 6 * BLOCK)] {
            let blocks = shard.len.div_ceil(BLOCK);
            let first = ShardDigests::new(shard, BLOCK, &[]).unwrap();
            [0, 1, 3].iter().for_each(|number| first.add(block(&bytes, shard, *number)));
            let durable: ExtentSet =
                [Extent::new(0, 2 * BLOCK - 1), Extent::new(3 * BLOCK, BLOCK)].into_iter().collect();
            let ready = first.ready(&durable);
            assert_eq!(ready.iter().map(|ready| ready.block.extent.offset).collect::<Vec<_>>(), [0, 3 * BLOCK]);
            let kept = first.record(&ready);
            assert_eq!(kept.bytes.iter().collect::<Vec<_>>(), [Extent::new(0, BLOCK), Extent::new(3 * BLOCK, BLOCK)]);
            assert!(first.complete().is_err());
            // It was killed; the next continues.
            let second = ShardDigests::new(shard, BLOCK, &kept.values).unwrap();
            (0..blocks).rev().for_each(|number| second.add(block(&bytes, shard, number)));
            let all_durable: ExtentSet = [Extent::new(0, shard.len)].into_iter().collect();
            assert_eq!(second.ready(&all_durable).len() as u64, blocks - 2, "what is recorded stays as it is");
            second.record(&second.ready(&all_durable));
            all.extend(second.complete().unwrap());
        }
        assert_eq!(merge(all, len), Some(BlockDigest::blake3(&bytes)));
    }

    #[test]
    fn a_run_of_zeros_has_the_values_of_its_places() {
        let shard = Extent::new(4 * BLOCK, 3 * BLOCK + 5);
        let digests = ShardDigests::new(shard, BLOCK, &[]).unwrap();
        let whole = Extent::new(0, shard.len);
        digests.add(DigestedBlock { extent: whole, digest: None });
        digests.record(&digests.ready(&[whole].into_iter().collect()));
        let values = digests.complete().unwrap();
        let before = (0..4).map(|number| Subtree::of(Extent::new(number * BLOCK, BLOCK), [&[1; BLOCK as usize][..]]));
        let bytes = [vec![1; 4 * BLOCK as usize], vec![0; shard.len as usize]].concat();
        assert_eq!(merge(before.chain(values), shard.end()), Some(BlockDigest::blake3(&bytes)));
    }

    #[test]
    fn a_record_with_too_many_values_claims_the_longest_parts() {
        let shard = Extent::new(0, 4000 * BLOCK);
        let digests = ShardDigests::new(shard, BLOCK, &[]).unwrap();
        let value = Some(BlockDigest::blake3(b"any"));
        let parts = (0..1000).map(|number| Extent::new((4 * number + 1) * BLOCK, BLOCK));
        let blocks: Vec<_> = parts.map(|extent| DigestedBlock { extent, digest: value }).collect();
        let pair =
            [8, 9].map(|number| DigestedBlock { extent: Extent::new((4 * number + 2) * BLOCK, BLOCK), digest: value });
        blocks.iter().chain(&pair).for_each(|block| digests.add(*block));
        let kept = digests.record(&digests.ready(&[Extent::new(0, shard.len)].into_iter().collect()));
        assert_eq!(kept.values.len(), VALUES_MAX);
        assert_eq!(kept.bytes.total_bytes(), kept.values.iter().map(|value| value.len_bytes).sum::<u64>());
    }

    #[test]
    fn values_of_another_shard_are_refused() {
        let value = Subtree::at(Extent::new(0, BLOCK), BlockDigest::blake3(b"any"));
        assert!(ShardDigests::new(Extent::new(BLOCK, BLOCK), BLOCK, &[value]).is_err());
        assert!(ShardDigests::new(Extent::new(0, 2 * BLOCK), BLOCK, &[value, value]).is_err());
        assert!(ShardDigests::new(Extent::new(0, 2 * BLOCK), BLOCK, &[value]).is_ok());
    }
}
