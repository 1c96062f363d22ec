//! How many reads are in flight: several where all is well, one after a failed or slow read.
use crate::core::Extent;
use std::collections::BTreeMap;
use std::time::Duration;

/// Reads in flight where all is well. More would fail together where a bad area begins, each after seconds; these hide
/// the latency of a disk.
const READS_MAX: u64 = 4;

/// Good and quick reads, from the start or since a large bad area or a slow read, after which one more may be in
/// flight: 64 MiB in blocks of 64 KiB.
const GOOD_READS: u64 = 1024;

/// It takes longer with each large bad area, up to this factor: where they come in a rhythm, such as those of one head,
/// each would fail one read more.
const LARGE_AREAS_MAX: u64 = 16;

/// Good reads after a failed one until others may be in flight: it was a single bad sector.
const ALONE_READS: u64 = 16;

/// Reads beside others before it is decided, once, whether they are worth it. A rotational disk reads ahead, so that
/// one read at a time is as fast.
const COMPARED_READS: u64 = 512;

/// They are worth it if a byte takes at most this share of the time that it takes alone.
const WORTH_IT: f64 = 0.95;

/// Reads before the mean of their times is a measure.
const MEASURED_READS: u32 = 16;

/// Reads in a row that together took less are never slow, unless a rate was given: other programs may have used the
/// disk.
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
    /// Time of the reads in a row that took too long each, up to now.
    too_long: Duration,
    /// Good reads since the start, a large bad area or a slow read.
    good: u64,
    /// Good reads since the last failed one.
    good_since_failed: u64,
    /// Failed reads without a good one between them.
    failed_in_row: u64,
    /// Areas where reads in a row have failed.
    large_areas: u64,
    /// Good reads alone and beside others, and seconds per byte of all of them together.
    compared: [(u64, f64); 2],
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
            too_long: Duration::ZERO,
            good: 0,
            good_since_failed: ALONE_READS,
            failed_in_row: 0,
            large_areas: 0,
            compared: [(0, 0.0); 2],
            asked: BTreeMap::new(),
            in_flight_bytes: 0,
            mean_s: None,
            reads: 0,
            ahead_bytes: 0,
        }
    }

    /// Whether another read may be in flight.
    pub(super) fn may_read(&self) -> bool {
        let needed = GOOD_READS * self.large_areas.clamp(1, LARGE_AREAS_MAX);
        let most = if self.good_since_failed < ALONE_READS || !self.is_worth_it() {
            1
        } else {
            (1 + self.good / needed).min(READS_MAX)
        };
        (self.asked.len() as u64) < most
    }

    /// Whether several reads in flight are faster than one, as far as known.
    fn is_worth_it(&self) -> bool {
        let [(alone, alone_s), (beside, beside_s)] = self.compared;
        let is_known = beside >= COMPARED_READS && alone > 0;
        !is_known || beside_s / beside as f64 <= WORTH_IT * alone_s / alone as f64
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
        let mean = self.mean_s.filter(|_| self.slow_bytes_per_s.is_none() && self.reads >= MEASURED_READS);
        let takes_too_long = mean.is_some_and(|mean| per_byte > SLOW_FACTOR * mean);
        self.too_long = if takes_too_long { self.too_long + took } else { Duration::ZERO };
        let slow = match self.slow_bytes_per_s {
            Some(rate) => per_byte * rate as f64 > 1.0,
            None => self.too_long >= SLOW_MIN,
        };
        // Short reads take as long as long ones, and slow ones must not become the measure.
        if !slow && !takes_too_long && extent.len >= self.cluster_bytes {
            self.reads = self.reads.saturating_add(1);
            let mean = self.mean_s.unwrap_or(per_byte);
            self.mean_s = Some(mean + (per_byte - mean) * WEIGHT);
            let (reads, sum_s) = &mut self.compared[usize::from(self.ahead_bytes > extent.len)];
            if *reads < COMPARED_READS {
                (*reads, *sum_s) = (*reads + 1, *sum_s + per_byte);
            }
        }
        self.good = if slow { 0 } else { self.good + 1 };
        self.failed_in_row = 0;
        self.good_since_failed = self.good_since_failed.saturating_add(1);
        slow
    }

    /// Called when a read failed.
    pub(super) fn failed(&mut self) {
        self.failed_in_row += 1;
        self.large_areas += u64::from(self.failed_in_row == 2);
        self.good = if self.failed_in_row < 2 { self.good } else { 0 };
        (self.good_since_failed, self.too_long) = (0, Duration::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTER: u64 = 64 << 10;

    /// Whether each of these reads is slow, one after the other, after a hundred of a millisecond.
    fn slow_reads(ms: &[u64]) -> Vec<bool> {
        let mut caution = Caution::new(CLUSTER, None);
        let mut read = |ms: u64| {
            let extent = Extent::new(0, CLUSTER);
            caution.asked(extent);
            caution.answered(extent);
            caution.is_slow_read(extent, Duration::from_millis(ms))
        };
        assert!((0..100).all(|_| !read(1)));
        ms.iter().map(|ms| read(*ms)).collect()
    }

    #[test]
    fn reads_that_take_too_long_are_slow_once_half_a_second_was_lost() {
        assert_eq!(slow_reads(&[600]), [true]);
        assert_eq!(slow_reads(&[200, 200, 200, 200, 1, 200]), [false, false, true, true, false, false]);
        assert_eq!(slow_reads(&[200, 200, 1, 200, 200]), [false; 5], "a pause of the disk, or another program");
        assert_eq!(slow_reads(&[9; 200]), [false; 200], "a slower zone");
        assert_eq!(slow_reads(&[15; 200])[..34], [[false; 33].as_slice(), &[true]].concat());
    }
}
