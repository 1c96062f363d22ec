//! Measurement of one side while it is at its limit.

/// Minimum number of requests in a window of the first trials.
pub(super) const FIRST_REQUESTS: u32 = 6;
/// Minimum duration of a window of the first trials, in seconds.
const FIRST_S: f64 = 1e-3;
/// Minimum number of requests in a window of later trials.
const LATER_REQUESTS: u32 = 12;
/// Minimum duration of a window of later trials, in seconds.
const LATER_S: f64 = 0.04;

/// Minimum number of requests and seconds for a window.
pub(super) fn wanted(early: bool, in_flight: u32) -> (u32, f64) {
    let (requests, time_s) = if early { (FIRST_REQUESTS, FIRST_S) } else { (LATER_REQUESTS, LATER_S) };
    (requests.next_multiple_of(in_flight.max(1)), time_s)
}

/// Sums over the rounds in which the side was at its limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// Number of completions to skip, because their requests were submitted with other limits.
    skip: u32,
    /// A write of this block size must complete before measuring begins; 0 for none.
    awaited_block_bytes: u32,
    /// Bytes that completed while waiting for such a write.
    awaited_for_bytes: u64,
    /// Number of completed requests.
    pub(super) requests: u32,
    /// Their total bytes.
    pub(super) bytes: u64,
    /// Bytes finished on the destination meanwhile.
    pub(super) dest_bytes: u64,
    /// Duration in seconds.
    pub(super) time_s: f64,
    whole: EqualRounds,
    full: bool,
}

/// The part of a window in which every slot of the queue completed the same number of requests. Requests that were
/// submitted together complete together, so a window that ended in between would be off by most of a queue.
#[derive(Clone, Copy, Debug, Default)]
struct EqualRounds {
    queues: u32,
    requests: u32,
    bytes: f64,
    time_s: f64,
}

/// The results of a round for one side.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowShare {
    /// Seconds since the previous round.
    pub(super) passed_s: f64,
    /// Number of completed requests of this side.
    pub(super) requests: u32,
    /// Their total bytes.
    pub(super) bytes: u64,
    /// Bytes finished on the destination.
    pub(super) dest_bytes: u64,
    /// Requests in flight while the round waited.
    pub(super) in_flight: u32,
    /// The limit on requests in flight.
    pub(super) limit: u32,
    /// Minimum block size of the completed writes; 0 if there are none, or for the source.
    pub(super) wrote_block_bytes: u32,
    /// Whether the results are not representative.
    pub(super) disturbed: bool,
}

impl Window {
    /// Restarts the window. Measuring begins after `skip` completions and a completed write of `awaited_block_bytes`,
    /// if that is not 0.
    pub(super) fn begin(&mut self, skip: u32, awaited_block_bytes: u32) {
        *self = Window { skip, awaited_block_bytes, full: self.full, ..Window::default() };
    }

    /// Adds the results of a round.
    pub(super) fn note(&mut self, completed: &WindowShare) {
        let full = completed.in_flight >= completed.limit && !completed.disturbed;
        if full && !self.full {
            // The queue has just filled, so its requests have a lower latency than later ones.
            self.skip = self.skip.max(completed.limit);
        }
        self.full = full;
        if self.awaited_block_bytes != 0 && completed.wrote_block_bytes == self.awaited_block_bytes {
            self.awaited_block_bytes = 0;
        }
        self.awaited_for_bytes += completed.bytes;
        if !full || self.awaited_block_bytes != 0 {
            return;
        }
        if self.skip > 0 {
            self.skip = self.skip.saturating_sub(completed.requests);
            return;
        }
        self.requests += completed.requests;
        self.bytes += completed.bytes;
        self.dest_bytes += completed.dest_bytes;
        self.time_s += completed.passed_s;
        let queues = self.requests / completed.limit.max(1);
        if queues > self.whole.queues {
            let requests = queues * completed.limit;
            // Completions beyond a multiple of the queue depth belong to the next part.
            let bytes = self.bytes as f64 * f64::from(requests) / f64::from(self.requests);
            self.whole = EqualRounds { queues, requests, bytes, time_s: self.time_s };
        }
    }

    /// Whether it still waits for a write of the new block size. Stops waiting after `bytes_max`, because short extents
    /// may have no block of the full size.
    pub(super) fn awaits_blocks(&mut self, bytes_max: u64) -> bool {
        if self.awaited_for_bytes > bytes_max {
            self.awaited_block_bytes = 0;
        }
        self.awaited_block_bytes != 0
    }

    /// Whether requests submitted with other limits are still in flight.
    pub(super) fn skips(&self) -> bool {
        self.skip > 0
    }

    /// Whether the side was at its limit in the last round.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// The rate in bytes per second.
    pub(super) fn rate(&self) -> f64 {
        match self.whole {
            EqualRounds { queues: 0, .. } => self.bytes as f64 / self.time_s.max(1e-9),
            EqualRounds { bytes, time_s, .. } => bytes / time_s.max(1e-9),
        }
    }

    /// Expected duration of `requests`, in seconds.
    pub(super) fn time_for(&self, requests: u32) -> f64 {
        self.time_s * f64::from(requests) / f64::from(self.requests.max(1))
    }

    /// Whether it has at least this number of requests and seconds, in multiples of the queue depth.
    pub(super) fn has(&self, requests: u32, time_s: f64) -> bool {
        self.whole.requests >= requests && self.whole.time_s >= time_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four requests in flight that complete together every 80 ms, spread over two rounds: `firsts` in the first, the
    /// rest in the second.
    fn rate_of_clumps(firsts: [u32; 4]) -> f64 {
        let mut window = Window { full: true, ..Window::default() };
        window.begin(0, 0);
        let mut note = |requests: u32, passed_s: f64| {
            window.note(&WindowShare {
                passed_s,
                requests,
                bytes: u64::from(requests) << 20,
                dest_bytes: 0,
                in_flight: 4,
                limit: 4,
                wrote_block_bytes: 0,
                disturbed: false,
            });
            window.has(8, 1e-3)
        };
        for first in firsts {
            if note(first, 0.0799) || note(4 - first, 0.0001) {
                break;
            }
        }
        window.rate() / f64::from(1 << 20)
    }

    #[test]
    fn requests_that_complete_together_are_measured_in_whole_queues() {
        for firsts in [[4, 4, 4, 4], [1, 3, 2, 2], [3, 1, 3, 4], [2, 4, 1, 2]] {
            let rate = rate_of_clumps(firsts);
            assert!((rate - 50.0).abs() < 0.1, "{firsts:?}: {rate} requests a second");
        }
    }

    #[test]
    fn a_window_spans_a_multiple_of_the_queue_depth() {
        assert_eq!([wanted(true, 2).0, wanted(true, 4).0, wanted(true, 16).0, wanted(false, 8).0], [6, 8, 16, 16]);
    }
}
