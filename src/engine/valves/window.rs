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
    (requests.max(in_flight), time_s)
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
    full: bool,
}

/// What a round brought to one side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came {
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
    /// Begins anew. Nothing counts before `skip` requests have come back, nor before a write of
    /// `awaited_block_bytes` (0: any).
    pub(super) fn begin(&mut self, skip: u32, awaited_block_bytes: u32) {
        *self = Window { skip, awaited_block_bytes, full: self.full, ..Window::default() };
    }

    /// Adds a round.
    pub(super) fn note(&mut self, came: &Came) {
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
        self.bytes as f64 / self.time_s.max(1e-9)
    }

    /// Seconds that so many requests take.
    pub(super) fn time_for(&self, requests: u32) -> f64 {
        self.time_s * f64::from(requests) / f64::from(self.requests.max(1))
    }

    /// Whether it has so many requests and seconds.
    pub(super) fn has(&self, requests: u32, time_s: f64) -> bool {
        self.requests >= requests && self.time_s >= time_s
    }
}
