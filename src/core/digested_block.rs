//! Blocks of a copy and their digests.
use super::{BlockDigest, BlockHash, Extent, HashKind};

/// The parameters of per-block digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockDigests {
    /// The algorithm.
    pub hash: BlockHash,
    /// Block size in bytes, a power of two. Blocks begin at multiples of it, counted from the first byte of the copy.
    pub block_bytes: u64,
    /// Where the copy begins in the whole to whose tree the digests belong, a multiple of the block size: 0 unless it
    /// is a shard.
    pub from_bytes: u64,
}

impl BlockDigests {
    /// Whether the digest of the whole among `kinds` follows from those of the blocks: a BLAKE3 then needs no second
    /// digest of all bytes in their order.
    pub fn give(&self, kinds: &[HashKind]) -> bool {
        self.hash == BlockHash::Blake3Tree && kinds.contains(&HashKind::Blake3)
    }
}

/// A block of a copy and its digest, or a run of zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestedBlock {
    /// The bytes, counted from the first byte of the copy. One block, which may be shorter at the end of the digested
    /// data, or one or more blocks of zeros.
    pub extent: Extent,
    /// The digest of these bytes; `None` for zeros.
    pub digest: Option<BlockDigest>,
}
