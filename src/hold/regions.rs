//! The lock offsets that represent the bytes of a file.
//!
//! Byte 0 of a file is represented by `USES.start`, and so on: no file has bytes there. Locks on actual file offsets
//! belong to other programs (SQLite's start at 1 GiB, QEMU's at byte 100), with other meanings, and on SMB they even
//! prevent I/O by all other descriptors, including those of this process.
use crate::core::Extent;

/// Lock offsets that represent bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) start: u64,
}

/// Number of bytes that a region represents; all later bytes of a file share its last offset.
const LEN: u64 = 1 << 61;

/// Locks by haul processes that use the bytes: exclusive ones for writing, shared ones for reading or, together with a
/// lock in [`MARKS`], for writing through a partition or loop device.
pub(super) const USES: Region = Region { start: 1 << 62 };

/// Shared locks by haul processes that write the bytes through a partition or loop device.
pub(super) const MARKS: Region = Region { start: USES.start + LEN };

impl Region {
    /// The lock offsets for `extent`: start and length. At least one byte, so that two processes that write at the end
    /// of a file conflict.
    pub(super) fn range(self, extent: Extent) -> (u64, u64) {
        let offset = extent.offset.min(LEN - 1);
        (self.start + offset, extent.len.clamp(1, LEN - offset))
    }
}
