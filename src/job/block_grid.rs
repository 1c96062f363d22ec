//! The borders of the blocks that are digested.
use crate::core::{DigestedBlock, Extent};

/// The borders of blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) block_bytes: u64,
    /// Bytes of the copy.
    pub(crate) len: u64,
}

impl Grid {
    /// The part of a reported block that consists of whole blocks: a digest is kept or dropped, zeros are
    /// trimmed.
    pub(crate) fn whole(self, block: DigestedBlock) -> Option<DigestedBlock> {
        let Grid { block_bytes, len } = self;
        let start = block.extent.offset.next_multiple_of(block_bytes);
        let end = block.extent.end();
        let end = if end == len { end } else { end - end % block_bytes };
        let extent = Extent::new(start, end.checked_sub(start).filter(|&len| len > 0)?);
        (block.digest.is_none() || extent == block.extent).then_some(DigestedBlock { extent, ..block })
    }
}
