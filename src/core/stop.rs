//! The wish to stop.
use super::Ended;
use std::sync::atomic::{AtomicI32, Ordering};

/// The wish to stop, set by the signal handler or the time limit, and examined by the pump every round.
#[derive(Debug, Default)]
pub struct Stop {
    /// Number of the signal; 0: none; [`TIME_IS_UP`].
    why: AtomicI32,
}

/// No signal has this number.
const TIME_IS_UP: i32 = -1;

impl Stop {
    /// Asks for the end; `signal` is its number, for dying by it later. It counts more than that the time is up.
    pub fn ask(&self, signal: i32) {
        self.why.store(signal, Ordering::Relaxed);
    }

    /// Asks for the end because the time that was asked for is up; false: a signal came first.
    pub fn time_is_up(&self) -> bool {
        self.why.compare_exchange(0, TIME_IS_UP, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Forgets that the time is up: the copy was complete before, and what comes after it has no bound.
    pub fn forget_time(&self) {
        // A signal stays.
        let _ = self.why.compare_exchange(TIME_IS_UP, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The end was asked for, by a signal or because the time is up.
    pub fn is_asked(&self) -> bool {
        self.why() != 0
    }

    /// The signal that asked for the end; `None`: none did, whether or not the time is up.
    pub fn signal(&self) -> Option<i32> {
        Some(self.why()).filter(|why| ![0, TIME_IS_UP].contains(why))
    }

    /// How a run ends that stops for this.
    pub fn ending(&self) -> Option<Ended> {
        match self.why() {
            0 => None,
            TIME_IS_UP => Some(Ended::OutOfTime),
            signal => Some(Ended::Interrupted(signal)),
        }
    }

    fn why(&self) -> i32 {
        self.why.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_counts_more_than_time_and_is_never_forgotten() {
        let stop = Stop::default();
        assert!(stop.time_is_up() && stop.is_asked() && stop.signal().is_none());
        stop.ask(15);
        stop.forget_time();
        assert!(!stop.time_is_up() && matches!(stop.ending(), Some(Ended::Interrupted(15))));
        let stop = Stop::default();
        stop.time_is_up();
        stop.forget_time();
        assert!(!stop.is_asked() && stop.ending().is_none());
    }
}
