//! The digests of blocks on their way into the journal: it records those of durable blocks with each checkpoint.
use crate::core::{BlockDigests, DigestedBlock, ExtentSet, Plan, locked};
use crate::job::block_grid::Grid;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Whole blocks that were digested and are not in the journal yet.
pub(crate) struct JournalDigests {
    how: BlockDigests,
    grid: Grid,
    pending: Mutex<BTreeMap<u64, DigestedBlock>>,
}

impl JournalDigests {
    /// `None`: a resumed copy could not use them.
    pub(crate) fn of(plan: &Plan) -> Option<Arc<Self>> {
        let how = plan.digest_blocks.filter(|_| plan.records_digests())?;
        let grid = Grid { block_bytes: how.block_bytes, len: plan.len? };
        Some(Arc::new(JournalDigests { how, grid, pending: Mutex::default() }))
    }

    /// Adds a block, or the whole blocks of a run of zeros.
    pub(crate) fn add(&self, block: DigestedBlock) {
        if let Some(block) = self.grid.whole(block) {
            locked(&self.pending).insert(block.extent.offset, block);
        }
    }

    /// How the blocks are digested.
    pub(crate) fn how(&self) -> BlockDigests {
        self.how
    }

    /// Removes the blocks that are `durable`, and returns them.
    pub(crate) fn take(&self, durable: &ExtentSet) -> Vec<DigestedBlock> {
        let mut pending = locked(&self.pending);
        let ready: Vec<_> = pending.values().filter(|block| durable.contains(block.extent)).copied().collect();
        pending.retain(|_, block| !durable.contains(block.extent));
        ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{BlockDigest, BlockHash, Extent};

    #[test]
    fn only_whole_durable_blocks_are_recorded_and_each_once() {
        let how = BlockDigests { hash: BlockHash::Blake3Tree, block_bytes: 64, from_bytes: 0 };
        let grid = Grid { block_bytes: 64, len: 300 };
        let digests = JournalDigests { how, grid, pending: Mutex::default() };
        let digest = Some(BlockDigest::blake3(b"any"));
        let block = |offset, len, digest| DigestedBlock { extent: Extent::new(offset, len), digest };
        digests.add(block(0, 64, digest));
        digests.add(block(64, 40, digest));
        digests.add(block(130, 130, None));
        digests.add(block(256, 44, digest));
        let durable = |extents: &[(u64, u64)]| extents.iter().map(|&(at, len)| Extent::new(at, len)).collect();
        assert_eq!(digests.take(&durable(&[(0, 63)])), []);
        let zeros = block(192, 64, None);
        assert_eq!(digests.take(&durable(&[(0, 256)])), [block(0, 64, digest), zeros]);
        assert_eq!(digests.take(&durable(&[(0, 300)])), [block(256, 44, digest)], "the last block may be shorter");
    }
}
