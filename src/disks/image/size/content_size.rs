//! What a compressed file reports of its content.

/// Headers of blocks that are read to find the end of the last frame: each costs a read somewhere in the file, so the
/// frames of a very large file are not followed.
pub(super) const BLOCKS_MAX: u32 = 1 << 15;

/// What a compressed file reports of its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::disks::image) struct ContentSize {
    /// Its bytes, where they are known.
    pub(in crate::disks::image) bytes: Option<u64>,
    /// It has at least this many.
    pub(in crate::disks::image) least_bytes: u64,
}

impl ContentSize {
    pub(super) fn exact(bytes: u64) -> Self {
        ContentSize { bytes: Some(bytes), least_bytes: bytes }
    }

    pub(super) fn at_least(least_bytes: u64) -> Self {
        ContentSize { bytes: None, least_bytes }
    }
}
