//! Blocks of a copy and their digests.
use super::{BlockDigest, Extent, HashKind};

/// That each block of a copy is digested by itself, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockDigests {
    /// With what; one that [`BlockDigest::is_made_by`] is true of.
    pub kind: HashKind,
    /// Bytes of a block. Blocks begin at multiples of it, counted from the first byte of the copy; a power of two.
    pub block_bytes: u64,
}

/// What bytes of a copy were: a block, or zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestedBlock {
    /// Which bytes, counted from the first byte of the copy. One block, which is shorter than the others only at the
    /// end of what was digested; or, of zeros, one block or more.
    pub extent: Extent,
    /// Of these bytes; `None`: they are zeros.
    pub digest: Option<BlockDigest>,
}
