//! Handling of unreadable sectors.
use super::{DeviceError, ExtentSet};
use std::io;
use std::time::Duration;

/// What to do if a read fails. By default the copy ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnError {
    /// Continue, with zeros in place of unreadable sectors.
    pub skip: bool,
    /// Number of retries of a logical block before it counts as unreadable.
    pub retries: u32,
}

impl OnError {
    /// Whether a failed block is read again in smaller pieces, down to logical blocks.
    pub fn reads_around(&self) -> bool {
        self.skip || self.retries > 0
    }
}

/// The unreadable sectors of one side, and what they cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// The unread bytes; offsets count from the first byte of the side.
    pub runs: ExtentSet,
    /// Sector size in bytes: the logical block size of the side, at least 512.
    pub sector_bytes: u32,
    /// Number of failed reads, including those of larger pieces and retries.
    pub failed_reads: u64,
    /// Sum of the durations of the failed reads, which may have overlapped.
    pub failing: Duration,
}

impl Unread {
    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Number of sectors with at least one unread byte.
    pub fn sectors(&self) -> u64 {
        let sector = u64::from(self.sector_bytes.max(1));
        self.runs.iter().map(|run| run.end().div_ceil(sector) - run.offset / sector).sum()
    }
}

/// Whether the kernel or the device reports a medium error: other blocks may be readable.
pub fn is_of_medium(error: &io::Error) -> bool {
    let by_kernel = matches!(error.raw_os_error(), Some(libc::EIO | libc::ENODATA | libc::EREMOTEIO | libc::EILSEQ));
    by_kernel || DeviceError::of(error).is_some_and(|device_failure| device_failure.of_medium)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Extent;

    #[test]
    fn a_partly_unread_sector_counts_once() {
        let runs = [Extent::new(512, 512), Extent::new(2048, 1024), Extent::new(5000, 200)].into_iter().collect();
        let unread = Unread { runs, sector_bytes: 512, ..Unread::default() };
        assert_eq!(unread.sectors(), 1 + 2 + 2);
        assert!(Unread::default().is_empty() && !unread.is_empty());
    }
}
