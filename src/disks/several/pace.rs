//! The throughput of one dest while it is busy.
use std::time::{Duration, Instant};

/// Bytes that a dest accepted, and its busy time: a dest that waits for others is not slow.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Calls in progress.
    calls: u32,
    since: Option<Instant>,
    busy: Duration,
    bytes: u64,
}

impl Pace {
    /// Records the start of a call.
    pub(super) fn enter(&mut self, now: Instant) {
        self.calls += 1;
        self.since.get_or_insert(now);
    }

    /// Records the end of a call that wrote `bytes`.
    pub(super) fn leave(&mut self, now: Instant, bytes: u32) {
        self.calls -= 1;
        self.bytes += u64::from(bytes);
        if self.calls == 0 {
            self.busy += self.since.take().map_or(Duration::ZERO, |since| now - since);
        }
    }

    /// Number of calls in progress.
    pub(super) fn calls(&self) -> u32 {
        self.calls
    }

    /// Total time with at least one call in progress.
    pub(super) fn busy(&self, now: Instant) -> Duration {
        self.busy + self.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// Throughput in that time, in bytes per second; `None` before the first bytes.
    pub(super) fn bytes_per_s(&self, now: Instant) -> Option<f64> {
        let seconds = self.busy(now).as_secs_f64();
        (self.bytes > 0 && seconds > 0.0).then(|| self.bytes as f64 / seconds)
    }
}
