//! How many reads are in flight: several where all is well, one after a failed or slow read.
use crate::core::Extent;
use std::collections::BTreeMap;
use std::time::Duration;

/// Reads in flight where all is well. More would fail together where a bad area begins, each after seconds; these hide
/// the latency of a disk.
const READS_MAX: u64 = 4;

/// Good and quick reads in a row, from the start or since a failed or slow one, after which one more may be in flight:
/// 64 MiB in blocks of 64 KiB. Bad areas that come in a rhythm, such as those of one head, would otherwise each fail
/// one read more.
const GOOD_READS: u64 = 1024;

/// Reads before the mean of their times is a measure.
const MEASURED_READS: u32 = 16;

/// A read that took less is never slow, unless a rate was given: other programs may have used the disk.
const SLOW_MIN: Duration = Duration::from_millis(500);

/// A read is slow if a byte of it took longer than of the reads before by this factor.
const SLOW_FACTOR: f64 = 10.0;

/// Weight of the latest read in the mean.
const WEIGHT: f64 = 1.0 / 16.0;

/// Decides by the results of the reads so far.
pub(super) struct Caution {
    /// Length of a full read; only those are compared with each other.
    cluster_bytes: u64,
    /// Below this rate in bytes per second a read is slow; `None`: compared with the reads before.
    slow_bytes_per_s: Option<u64>,
    /// Good reads in a row since the start, or a failed or slow one.
    good: u64,
    /// Reads whose result is not known, by their start.
    asked: BTreeMap<u64, Asked>,
    in_flight_bytes: u64,
    /// Seconds per byte of the reads so far, each divided among the bytes that were in flight with it.
    mean_s: Option<f64>,
    /// Reads that the mean contains.
    reads: u32,
    /// Bytes that were in flight with the read whose result is being reported.
    ahead_bytes: u64,
}

/// A read whose result is not known.
struct Asked {
    len: u64,
    /// Bytes that were in flight when it was submitted, its own included.
    ahead_bytes: u64,
}

impl Caution {
    pub(super) fn new(cluster_bytes: u64, slow_bytes_per_s: Option<u64>) -> Self {
        Caution {
            cluster_bytes,
            slow_bytes_per_s,
            good: 0,
            asked: BTreeMap::new(),
            in_flight_bytes: 0,
            mean_s: None,
            reads: 0,
            ahead_bytes: 0,
        }
    }

    /// Whether another read may be in flight.
    pub(super) fn may_read(&self) -> bool {
        (self.asked.len() as u64) < (1 + self.good / GOOD_READS).min(READS_MAX)
    }

    /// Called when a read is given out.
    pub(super) fn asked(&mut self, extent: Extent) {
        self.in_flight_bytes += extent.len;
        self.asked.insert(extent.offset, Asked { len: extent.len, ahead_bytes: self.in_flight_bytes });
    }

    /// Whether the result of a read is not known.
    pub(super) fn is_reading(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Called with the first result of a read; false if `extent` is the rest of one.
    pub(super) fn answered(&mut self, extent: Extent) -> bool {
        let Some(asked) = self.asked.remove(&extent.offset) else { return false };
        self.in_flight_bytes -= asked.len;
        self.ahead_bytes = asked.ahead_bytes;
        true
    }

    /// Whether a good read was slow. Called after [`Caution::answered`].
    pub(super) fn is_slow_read(&mut self, extent: Extent, took: Duration) -> bool {
        let per_byte = took.as_secs_f64() / self.ahead_bytes.max(1) as f64;
        let slow = match (self.slow_bytes_per_s, self.mean_s) {
            (Some(rate), _) => per_byte * rate as f64 > 1.0,
            (None, Some(mean)) => self.reads >= MEASURED_READS && took >= SLOW_MIN && per_byte > SLOW_FACTOR * mean,
            (None, None) => false,
        };
        // Short reads take as long as long ones, and slow ones must not become the measure.
        if !slow && extent.len >= self.cluster_bytes {
            self.reads = self.reads.saturating_add(1);
            let mean = self.mean_s.unwrap_or(per_byte);
            self.mean_s = Some(mean + (per_byte - mean) * WEIGHT);
        }
        self.good = if slow { 0 } else { self.good + 1 };
        slow
    }

    /// Called when a read failed.
    pub(super) fn failed(&mut self) {
        self.good = 0;
    }
}
