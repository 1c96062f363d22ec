//! How fast a dest takes what it is given, while it is given anything.
use std::time::{Duration, Instant};

/// Bytes that a dest took, and the time in which it had any to take: a dest that waits for others is not slow.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Calls that it has not come back from.
    calls: u32,
    since: Option<Instant>,
    busy: Duration,
    bytes: u64,
}

impl Pace {
    /// A call begins.
    pub(super) fn enter(&mut self, now: Instant) {
        self.calls += 1;
        self.since.get_or_insert(now);
    }

    /// A call ends, with so many bytes.
    pub(super) fn leave(&mut self, now: Instant, bytes: u32) {
        self.calls -= 1;
        self.bytes += u64::from(bytes);
        if self.calls == 0 {
            self.busy += self.since.take().map_or(Duration::ZERO, |since| now - since);
        }
    }

    /// Calls that it has not come back from.
    pub(super) fn calls(&self) -> u32 {
        self.calls
    }

    /// Time in which it had something to take.
    pub(super) fn busy(&self, now: Instant) -> Duration {
        self.busy + self.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// Bytes a second of that time; `None` before it took any.
    pub(super) fn bytes_per_s(&self, now: Instant) -> Option<f64> {
        let seconds = self.busy(now).as_secs_f64();
        (self.bytes > 0 && seconds > 0.0).then(|| self.bytes as f64 / seconds)
    }
}
