//! What one side did while its limit was reached.

/// Windows of the first trials last for so many requests, and seconds, at least.
pub(super) const FIRST_REQUESTS: u32 = 6;
/// See [`FIRST_REQUESTS`].
const FIRST_S: f64 = 1e-3;
/// And those of later ones.
const LATER_REQUESTS: u32 = 12;
/// See [`LATER_REQUESTS`].
const LATER_S: f64 = 0.04;

/// Requests and seconds that a window needs before it counts.
pub(super) fn wanted(early: bool, in_flight: u32) -> (u32, f64) {
    let (requests, time_s) = if early { (FIRST_REQUESTS, FIRST_S) } else { (LATER_REQUESTS, LATER_S) };
    (requests.next_multiple_of(in_flight.max(1)), time_s)
}

/// Sums over the rounds in which the limit of a side was reached.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// Requests that must still come back before anything counts: they were sent under other limits.
    skip: u32,
    /// Writes of this size must come back before anything counts; 0: any.
    awaited_block_bytes: u32,
    /// Bytes that went by while waiting for that size.
    awaited_for_bytes: u64,
    /// Requests that came back.
    pub(super) requests: u32,
    /// Their bytes.
    pub(super) bytes: u64,
    /// Bytes that arrived at the destination meanwhile.
    pub(super) arrived_bytes: u64,
    /// Seconds.
    pub(super) time_s: f64,
    whole: EqualRounds,
    full: bool,
}

/// The part of a window in which each place of the queue came back equally often. Requests that were sent together come
/// back together: a window that ends between them would be off by most of a queue.
#[derive(Clone, Copy, Debug, Default)]
struct EqualRounds {
    queues: u32,
    requests: u32,
    bytes: f64,
    time_s: f64,
}

/// What a round brought to one side.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowShare {
    /// Seconds since the last round.
    pub(super) passed_s: f64,
    /// Requests of this side that came back.
    pub(super) requests: u32,
    /// Their bytes.
    pub(super) bytes: u64,
    /// Bytes that arrived at the destination.
    pub(super) arrived_bytes: u64,
    /// Requests in flight while the round waited.
    pub(super) in_flight: u32,
    /// The limit of that.
    pub(super) limit: u32,
    /// Smallest size of the writes that came back; 0: none, or this is the source.
    pub(super) wrote_block_bytes: u32,
    /// What came is no measure.
    pub(super) disturbed: bool,
}

impl Window {
    /// Begins again. Nothing counts before `skip` requests have come back, nor before a write of `awaited_block_bytes`
    /// (0: any).
    pub(super) fn begin(&mut self, skip: u32, awaited_block_bytes: u32) {
        *self = Window { skip, awaited_block_bytes, full: self.full, ..Window::default() };
    }

    /// Adds a round.
    pub(super) fn note(&mut self, came: &WindowShare) {
        let full = came.in_flight >= came.limit && !came.disturbed;
        if full && !self.full {
            // The queue has only just filled: what is in it did not wait as long as it will.
            self.skip = self.skip.max(came.limit);
        }
        self.full = full;
        if self.awaited_block_bytes != 0 && came.wrote_block_bytes == self.awaited_block_bytes {
            self.awaited_block_bytes = 0;
        }
        self.awaited_for_bytes += came.bytes;
        if !full || self.awaited_block_bytes != 0 {
            return;
        }
        if self.skip > 0 {
            self.skip = self.skip.saturating_sub(came.requests);
            return;
        }
        self.requests += came.requests;
        self.bytes += came.bytes;
        self.arrived_bytes += came.arrived_bytes;
        self.time_s += came.passed_s;
        let queues = self.requests / came.limit.max(1);
        if queues > self.whole.queues {
            let requests = queues * came.limit;
            // What came in this round beyond whole queues belongs to the next one.
            let bytes = self.bytes as f64 * f64::from(requests) / f64::from(self.requests);
            self.whole = EqualRounds { queues, requests, bytes, time_s: self.time_s };
        }
    }

    /// Whether blocks of the other size have still to come. Not for more than `bytes_max`: where extents are short
    /// no block has the full size.
    pub(super) fn awaits_blocks(&mut self, bytes_max: u64) -> bool {
        if self.awaited_for_bytes > bytes_max {
            self.awaited_block_bytes = 0;
        }
        self.awaited_block_bytes != 0
    }

    /// Whether requests under other limits have still to come back.
    pub(super) fn skips(&self) -> bool {
        self.skip > 0
    }

    /// Whether the limit was reached in the last round.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Bytes a second.
    pub(super) fn rate(&self) -> f64 {
        match self.whole {
            EqualRounds { queues: 0, .. } => self.bytes as f64 / self.time_s.max(1e-9),
            EqualRounds { bytes, time_s, .. } => bytes / time_s.max(1e-9),
        }
    }

    /// Seconds that so many requests take.
    pub(super) fn time_for(&self, requests: u32) -> f64 {
        self.time_s * f64::from(requests) / f64::from(self.requests.max(1))
    }

    /// Whether it has so many requests and seconds, in whole queues.
    pub(super) fn has(&self, requests: u32, time_s: f64) -> bool {
        self.whole.requests >= requests && self.whole.time_s >= time_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four requests in flight that come back together every 80 ms, seen in two rounds: so many first, then the rest.
    fn rate_of_clumps(firsts: [u32; 4]) -> f64 {
        let mut window = Window { full: true, ..Window::default() };
        window.begin(0, 0);
        let mut note = |requests: u32, passed_s: f64| {
            window.note(&WindowShare {
                passed_s,
                requests,
                bytes: u64::from(requests) << 20,
                arrived_bytes: 0,
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
    fn requests_that_come_back_together_are_measured_in_whole_queues_however_rounds_divide_them() {
        for firsts in [[4, 4, 4, 4], [1, 3, 2, 2], [3, 1, 3, 4], [2, 4, 1, 2]] {
            let rate = rate_of_clumps(firsts);
            assert!((rate - 50.0).abs() < 0.1, "{firsts:?}: {rate} requests a second");
        }
    }

    #[test]
    fn a_window_asks_for_a_multiple_of_what_is_in_flight() {
        assert_eq!([wanted(true, 2).0, wanted(true, 4).0, wanted(true, 16).0, wanted(false, 8).0], [6, 8, 16, 16]);
    }
}
