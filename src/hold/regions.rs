//! Which offsets stand for the bytes of a file.
//!
//! Byte 0 of a file is locked as `USES.start`, and so on: no file has bytes there. Locks on bytes that files have
//! belong to other programs (SQLite's are from 1 GiB on, QEMU's from byte 100 on) and mean something else to them; on
//! SMB they would even forbid I/O through every other descriptor, our own included.
use crate::core::Extent;

/// Offsets that stand for bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) start: u64,
}

/// Bytes that a region stands for; those of a file behind them share its last offset.
const LEN: u64 = 1 << 61;

/// A lock here is of a haul that uses the bytes: an exclusive one writes them, a shared one reads them or, where there
/// is one in [`MARKS`] too, writes them through a partition or loop device.
pub(super) const USES: Region = Region { start: 1 << 62 };

/// A lock here, always a shared one, is of a haul that writes the bytes through a partition or loop device.
pub(super) const MARKS: Region = Region { start: USES.start + LEN };

impl Region {
    /// What is locked for `extent`: first byte and length. At least one byte, so that two that write at the end of a
    /// file meet.
    pub(super) fn range(self, extent: Extent) -> (u64, u64) {
        let offset = extent.offset.min(LEN - 1);
        (self.start + offset, extent.len.clamp(1, LEN - offset))
    }
}
