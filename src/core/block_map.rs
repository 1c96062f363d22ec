//! Which parts of an image have data, and their checksums.
use super::{Extent, HashKind};

/// A range of an image that has data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedRange {
    /// Its bytes in the image.
    pub extent: Extent,
    /// The digest of its bytes in hexadecimal, lower case; `None`: the map has none.
    pub digest: Option<Box<str>>,
}

/// A block map: which parts of an image have data. The others may have any content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockMap {
    /// Path or address of the map, for messages.
    pub address: String,
    /// Version of its format, as it states it.
    pub version: String,
    /// Bytes of the image.
    pub image_bytes: u64,
    /// Granularity of the ranges.
    pub block_bytes: u64,
    /// Algorithm of the digests; `None`: the map has no digests.
    pub algorithm: Option<HashKind>,
    /// Ascending, without overlaps.
    pub ranges: Vec<MappedRange>,
}

impl BlockMap {
    /// Bytes of all ranges.
    pub fn mapped_bytes(&self) -> u64 {
        self.ranges.iter().map(|range| range.extent.len).sum()
    }

    /// Ranges that have a digest.
    pub fn digested_ranges(&self) -> usize {
        self.ranges.iter().filter(|range| range.digest.is_some()).count()
    }
}

/// A range of a block map whose bytes are not those that it was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedRange {
    /// Its bytes in the image.
    pub extent: Extent,
    /// The digest in the map.
    pub expected: Box<str>,
    /// The digest of what was read.
    pub found: String,
}
