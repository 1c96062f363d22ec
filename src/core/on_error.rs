//! What happens to a place that cannot be read.
use super::{DeviceError, ExtentSet};
use std::io;
use std::time::Duration;

/// What to do about a place that cannot be read. By default the copy ends there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnError {
    /// Read around it: the dest gets zeros there, and the copy continues.
    pub skip: bool,
    /// Times that a logical block that fails is tried again before it counts as one that cannot be read.
    pub retries: u32,
}

impl OnError {
    /// What fails is examined in smaller pieces, down to the logical block.
    pub fn looks_closer(&self) -> bool {
        self.skip || self.retries > 0
    }
}

/// What could not be read on one side, and what that took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// The bytes, counted from the first byte of that side.
    pub runs: ExtentSet,
    /// Bytes of the units that were tried: the side's logical block size, 512 at least.
    pub sector_bytes: u32,
    /// Reads that failed, those of larger pieces and further tries among them.
    pub failed_reads: u64,
    /// How long these took to fail, added up; they may have run beside each other.
    pub failing: Duration,
}

impl Unread {
    /// Everything could be read.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Sectors that hold at least one byte that could not be read.
    pub fn sectors(&self) -> u64 {
        let sector = u64::from(self.sector_bytes.max(1));
        self.runs.iter().map(|run| run.end().div_ceil(sector) - run.offset / sector).sum()
    }
}

/// Whether an error is one of the medium, by the block layer's words or the device's own: another place of it may be
/// fine.
pub fn is_of_medium(error: &io::Error) -> bool {
    let by_kernel = matches!(error.raw_os_error(), Some(libc::EIO | libc::ENODATA | libc::EREMOTEIO | libc::EILSEQ));
    by_kernel || DeviceError::of(error).is_some_and(|said| said.of_medium)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Extent;

    #[test]
    fn a_sector_counts_once_whatever_part_of_it_is_unread() {
        let runs = [Extent::new(512, 512), Extent::new(2048, 1024), Extent::new(5000, 200)].into_iter().collect();
        let unread = Unread { runs, sector_bytes: 512, ..Unread::default() };
        assert_eq!(unread.sectors(), 1 + 2 + 2);
        assert!(Unread::default().is_empty() && !unread.is_empty());
    }
}
