use crate::core::{Phase, Side, SidePart};
use std::time::Duration;

/// The progress at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct View {
    /// Time since progress began.
    pub(super) elapsed: Duration,
    /// Both sides are read and compared; nothing is written.
    pub(super) comparing: bool,
    /// The current phase.
    pub(super) phase: Phase,
    /// Duration of the flush so far.
    pub(super) flushing: Option<Duration>,
    /// Bytes acknowledged by the dest in any form, also in earlier runs; at most the total.
    pub(super) copied_bytes: u64,
    /// `None`: to the end of a stream.
    pub(super) total_bytes: Option<u64>,
    /// Bytes read from the source.
    pub(super) read_bytes: u64,
    /// Bytes acknowledged by the dest.
    pub(super) written_bytes: u64,
    /// Bytes zeroed by the dest.
    pub(super) zeroed_bytes: u64,
    /// Bytes left as holes.
    pub(super) hole_bytes: u64,
    /// The part of the copied bytes from earlier runs.
    pub(super) already_bytes: u64,
    /// The compressed file that is read or written, if one is.
    pub(super) stored: Option<StoredView>,
    /// Logical blocks that could not be read and were skipped.
    pub(super) unread_sectors: u64,
    /// Rate of data from the source.
    pub(super) read: Speed,
    /// Rate of data to the dest.
    pub(super) write: Speed,
    /// `None`: unknown.
    pub(super) left: Option<Duration>,
    /// The side that is the bottleneck, if one clearly is.
    pub(super) slower: Option<Side>,
    /// The part of it that takes most of its time, if it has several.
    pub(super) slower_part: Option<SidePart>,
    /// The bottleneck is the requested limit.
    pub(super) limited: bool,
    /// Time without progress, if it is long enough to report.
    pub(super) stalled: Option<Duration>,
    /// Time since a rescue has read something new; `None`: it is none.
    pub(super) idle: Option<Duration>,
    /// Bytes per request.
    pub(super) block_bytes: u32,
    /// Maximum number of requests in flight, by side.
    pub(super) queue_depth: [u32; 2],
    /// Memory of all blocks.
    pub(super) pool_bytes: u32,
}

/// How much of a compressed file was read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredView {
    pub(super) side: Side,
    pub(super) bytes: u64,
    /// Its size, of a source that has one.
    pub(super) total_bytes: Option<u64>,
    /// Over the last seconds.
    pub(super) now_per_s: u64,
}

/// A rate in bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Speed {
    /// Over the last seconds.
    pub(super) now_per_s: u64,
    /// From the start to the flush.
    pub(super) mean_per_s: u64,
}

impl View {
    /// How much of how much is done: of the copy, or of the compressed file where the size of its content is unknown.
    pub(super) fn share(&self) -> Option<(u64, u64)> {
        let of_copy = self.total_bytes.map(|total| (self.copied_bytes, total));
        of_copy.or_else(|| self.stored.and_then(|stored| Some((stored.bytes, stored.total_bytes?))))
    }

    /// Whether only the dest is read.
    pub(super) fn is_reading_back(&self) -> bool {
        self.comparing && self.read_bytes == 0
    }

    /// Whether reads and writes have about the same rate. They differ noticeably only if zeros are found in
    /// data; the bytes in flight between the two sides are negligible.
    pub(super) fn sides_are_alike(&self) -> bool {
        let in_flight = u64::from(self.pool_bytes);
        let alike = |one: u64, other: u64| one.abs_diff(other) <= one.max(other) / 20;
        self.is_reading_back()
            || self.read_bytes.abs_diff(self.written_bytes) <= in_flight
            || alike(self.read.now_per_s, self.write.now_per_s) && alike(self.read.mean_per_s, self.write.mean_per_s)
    }
}
