//! When a rescue ends early.
use crate::core::Extent;
use crate::core::rescue::{RescuePlan, RescueState, RescueStopped};
use std::time::{Duration, Instant};

/// The time over which the rate of errors is measured.
const WINDOW: Duration = Duration::from_secs(1);

/// The errors of the current window.
pub(super) struct Limits {
    since: Instant,
    failed_bytes: u64,
}

impl Limits {
    pub(super) fn new(now: Instant) -> Self {
        Limits { since: now, failed_bytes: 0 }
    }

    /// Called when a read failed.
    pub(super) fn failed(&mut self, extent: Extent) {
        self.failed_bytes += extent.len;
    }

    /// Why the rescue ends, if it does.
    pub(super) fn stopped(&mut self, plan: &RescuePlan, state: &RescueState, now: Instant) -> Option<RescueStopped> {
        let without = state.without_new_byte(now);
        if plan.stop_after.is_some_and(|most| without >= most) {
            return Some(RescueStopped::NoNewBytes(without));
        }
        let most = plan.error_bytes_per_s_max?;
        let window = now.saturating_duration_since(self.since);
        if window < WINDOW {
            return None;
        }
        let rate = (self.failed_bytes as f64 / window.as_secs_f64()) as u64;
        (self.since, self.failed_bytes) = (now, 0);
        (rate > most).then_some(RescueStopped::ErrorRate(rate))
    }
}
