//! Commands that came back from a ring without success, until they are examined one by one.
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Commands that came back from a ring without success, by their first byte on this side: a helper gives them again,
/// waits for the drive or finds the bad block, and the ring continues the others meanwhile.
#[derive(Debug)]
pub(super) struct OffRingRetries<T> {
    count: AtomicUsize,
    /// Their errors.
    errors: Mutex<HashMap<u64, T>>,
}

impl<T> Default for OffRingRetries<T> {
    fn default() -> Self {
        OffRingRetries { count: AtomicUsize::new(0), errors: Mutex::default() }
    }
}

impl<T> OffRingRetries<T> {
    /// Whether the bytes from `at` are to be examined. Costs nothing as long as nothing has failed.
    pub(super) fn has(&self, at: u64) -> bool {
        self.count.load(Relaxed) > 0 && self.errors().contains_key(&at)
    }

    pub(super) fn add(&self, at: u64, error: T) {
        let mut errors = self.errors();
        errors.insert(at, error);
        self.count.store(errors.len(), Relaxed);
    }

    /// Takes them over, and with them their errors so far; `None`: they are no suspects.
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
