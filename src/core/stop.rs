//! The wish to stop.
use std::sync::atomic::{AtomicI32, Ordering};

/// The wish to stop, set by whoever hears the signal and looked at by the pump every round.
#[derive(Debug, Default)]
pub struct Stop {
    signal: AtomicI32,
}

impl Stop {
    /// Asks for the end; `signal` is its number, for dying by it later.
    pub fn ask(&self, signal: i32) {
        self.signal.store(signal, Ordering::Relaxed);
    }

    /// The signal that asked for the end, if one did.
    pub fn asked(&self) -> Option<i32> {
        let signal = self.signal.load(Ordering::Relaxed);
        (signal != 0).then_some(signal)
    }
}
