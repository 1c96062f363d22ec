//! Requests to stop a copy.
use super::{Ended, Error, Fence, Kind};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

/// A request to stop, set by the signal handler or the time limit, and checked by the pump in every round.
#[derive(Debug, Default)]
pub struct Stop {
    /// Number of the signal, [`TIME_EXPIRED`], or 0 for no request.
    reason: AtomicI32,
    /// A deadline beside it, which is moved as long as the run may continue.
    fence: OnceLock<Arc<Fence>>,
}

/// Not a valid signal number.
const TIME_EXPIRED: i32 = -1;

impl Stop {
    /// Requests a stop because of `signal`, by which the process terminates later. Overrides an expired time limit.
    pub fn request(&self, signal: i32) {
        self.reason.store(signal, Ordering::Relaxed);
    }

    /// Requests a stop because the time limit expired; returns false if a signal was first.
    pub fn expire(&self) -> bool {
        self.reason.compare_exchange(0, TIME_EXPIRED, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Clears an expired time limit: the copy was already complete, and the following steps have no limit.
    pub fn clear_time_limit(&self) {
        // A stop requested by a signal remains.
        let _ = self.reason.compare_exchange(TIME_EXPIRED, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// From now on, the run stops when `fence` is over. The first fence is kept.
    pub fn guard(&self, fence: Arc<Fence>) {
        let _ = self.fence.set(fence);
    }

    /// Whether a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.reason() != 0 || self.fence.get().is_some_and(|fence| fence.is_over())
    }

    /// The signal that requested the stop; `None` if there was no request, or the time limit expired.
    pub fn signal(&self) -> Option<i32> {
        Some(self.reason()).filter(|reason| ![0, TIME_EXPIRED].contains(reason))
    }

    /// How a run ends that was stopped by this request.
    pub fn ending(&self) -> Option<Ended> {
        match self.reason() {
            0 => {
                let fence = self.fence.get().filter(|fence| fence.is_over())?;
                let what = format!("this worker stopped: {}", fence.why());
                let advice = "Run it again: it continues from what is durable.";
                Some(Ended::Failed(Box::new(Error::new(Kind::Io, what).advise(advice))))
            }
            TIME_EXPIRED => Some(Ended::OutOfTime),
            signal => Some(Ended::Interrupted(signal)),
        }
    }

    fn reason(&self) -> i32 {
        self.reason.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_stops_a_run_with_its_reason() {
        let stop = Stop::default();
        let fence = Arc::new(Fence::new(|| std::time::Duration::from_secs(5), std::time::Duration::from_secs(20)));
        stop.guard(fence.clone());
        assert!(!stop.is_requested() && stop.ending().is_none());
        fence.end("another took the shard");
        let Some(Ended::Failed(error)) = stop.ending() else { panic!("it has not failed") };
        assert!(stop.is_requested() && error.what.ends_with("another took the shard") && stop.signal().is_none());
    }

    #[test]
    fn a_signal_takes_precedence_over_the_time_limit_and_is_kept() {
        let stop = Stop::default();
        assert!(stop.expire() && stop.is_requested() && stop.signal().is_none());
        stop.request(15);
        stop.clear_time_limit();
        assert!(!stop.expire() && matches!(stop.ending(), Some(Ended::Interrupted(15))));
        let stop = Stop::default();
        stop.expire();
        stop.clear_time_limit();
        assert!(!stop.is_requested() && stop.ending().is_none());
    }
}
