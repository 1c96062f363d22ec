//! Whose time it is.
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where measuring has its time from: the real clock, or that of a made-up disk, whose answers are then exact.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl Clock {
    /// The monotonic clock of this machine, from 0 on.
    pub fn real() -> Clock {
        let began = Instant::now();
        Clock::of(move || began.elapsed())
    }

    /// The time that `now` tells; it must never go back.
    pub fn of(now: impl Fn() -> Duration + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    /// The time since some beginning.
    pub fn now(&self) -> Duration {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Clock").field(&self.now()).finish()
    }
}
