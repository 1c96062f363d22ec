//! The clock of measurements.
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The clock of measurements: the real one, or that of a simulated disk, which makes results exact.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl Clock {
    /// The monotonic clock of this machine, starting at 0.
    pub fn real() -> Clock {
        let began = Instant::now();
        Clock::of(move || began.elapsed())
    }

    /// A clock that returns `now`, which must never decrease.
    pub fn of(now: impl Fn() -> Duration + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    /// Time since the start of the clock.
    pub fn now(&self) -> Duration {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Clock").field(&self.now()).finish()
    }
}
