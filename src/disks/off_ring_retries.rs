//! Commands that failed on a ring and are retried by calls.
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Commands that failed on a ring, by their offset on this side. A helper thread retries them, waits for the drive or
/// locates the bad block, while the ring continues with others.
#[derive(Debug)]
pub(super) struct OffRingRetries<T> {
    count: AtomicUsize,
    /// Errors by offset.
    errors: Mutex<HashMap<u64, T>>,
}

impl<T> Default for OffRingRetries<T> {
    fn default() -> Self {
        OffRingRetries { count: AtomicUsize::new(0), errors: Mutex::default() }
    }
}

impl<T> OffRingRetries<T> {
    /// Whether a failed command at `at` is waiting. Costs almost nothing if nothing has failed.
    pub(super) fn has(&self, at: u64) -> bool {
        self.count.load(Relaxed) > 0 && self.errors().contains_key(&at)
    }

    pub(super) fn add(&self, at: u64, error: T) {
        let mut errors = self.errors();
        errors.insert(at, error);
        self.count.store(errors.len(), Relaxed);
    }

    /// Removes the failed command at `at`, and returns its error; `None` if there is none.
    pub(super) fn take(&self, at: u64) -> Option<T> {
        if self.count.load(Relaxed) == 0 {
            return None;
        }
        let mut errors = self.errors();
        let status = errors.remove(&at);
        self.count.store(errors.len(), Relaxed);
        status
    }

    fn errors(&self) -> MutexGuard<'_, HashMap<u64, T>> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
