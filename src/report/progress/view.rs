use crate::core::{Phase, Side};
use std::time::Duration;

/// What there is to show at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct View {
    /// Since progress began.
    pub(super) elapsed: Duration,
    /// Both sides are read and compared; nothing is written.
    pub(super) comparing: bool,
    /// What the copy is busy with.
    pub(super) phase: Phase,
    /// How long it has been flushing, from when it began to.
    pub(super) flushing: Option<Duration>,
    /// Acknowledged by the dest in any form, in earlier runs too; never more than the total.
    pub(super) copied_bytes: u64,
    /// `None`: to the end of a stream.
    pub(super) total_bytes: Option<u64>,
    /// Delivered by the source.
    pub(super) read_bytes: u64,
    /// Data acknowledged by the dest.
    pub(super) written_bytes: u64,
    /// Zeroed by the dest.
    pub(super) zeroed_bytes: u64,
    /// Left as holes.
    pub(super) hole_bytes: u64,
    /// Of the copied bytes, those of earlier runs.
    pub(super) already_bytes: u64,
    /// Logical blocks that could not be read and were skipped.
    pub(super) unread_sectors: u64,
    /// Of data from the source.
    pub(super) read: Speed,
    /// Of data to the dest.
    pub(super) write: Speed,
    /// `None`: unknown.
    pub(super) left: Option<Duration>,
    /// The side that holds the copy back at present, where one clearly does.
    pub(super) slower: Option<Side>,
    /// What holds it back is the limit that was asked for.
    pub(super) limited: bool,
    /// For how long nothing has moved, when that is worth saying.
    pub(super) stalled: Option<Duration>,
    /// Bytes per request.
    pub(super) block_bytes: u32,
    /// Most requests in flight, by side.
    pub(super) queue_depth: [u32; 2],
    /// Memory of all blocks.
    pub(super) pool_bytes: u32,
}

/// Bytes a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Speed {
    /// In the last seconds.
    pub(super) now_per_s: u64,
    /// From the beginning to the flush.
    pub(super) mean_per_s: u64,
}

impl View {
    /// Only the dest is read.
    pub(super) fn is_reading_back(&self) -> bool {
        self.comparing && self.read_bytes == 0
    }

    /// Reads and writes go at the same rate, as far as a reader would see. They differ in earnest only where zeros are
    /// found in data; what is merely in flight between the two sides makes no difference worth telling.
    pub(super) fn sides_are_alike(&self) -> bool {
        let in_flight = u64::from(self.pool_bytes);
        let alike = |one: u64, other: u64| one.abs_diff(other) <= one.max(other) / 20;
        self.is_reading_back()
            || self.read_bytes.abs_diff(self.written_bytes) <= in_flight
            || alike(self.read.now_per_s, self.write.now_per_s) && alike(self.read.mean_per_s, self.write.mean_per_s)
    }
}
