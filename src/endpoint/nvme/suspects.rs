//! Commands that came back from a ring without success, until they are looked at one by one.
use super::status::Status;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Commands that came back from a ring without success, by their first byte on this side: a helper gives them again,
/// waits for the drive or finds the bad block, and the ring goes on with the others meanwhile.
#[derive(Debug, Default)]
pub(super) struct Suspects {
    count: AtomicUsize,
    /// What the drive said; `None`: it was the kernel.
    said: Mutex<HashMap<u64, Option<Status>>>,
}

impl Suspects {
    /// Whether the bytes from `at` are to be looked at. Costs nothing as long as nothing has failed.
    pub(super) fn has(&self, at: u64) -> bool {
        self.count.load(Relaxed) > 0 && self.said().contains_key(&at)
    }

    pub(super) fn add(&self, at: u64, status: Option<Status>) {
        let mut said = self.said();
        said.insert(at, status);
        self.count.store(said.len(), Relaxed);
    }

    /// Takes them over, and with them what the drive said already.
    pub(super) fn take(&self, at: u64) -> Option<Status> {
        if self.count.load(Relaxed) == 0 {
            return None;
        }
        let mut said = self.said();
        let status = said.remove(&at).flatten();
        self.count.store(said.len(), Relaxed);
        status
    }

    fn said(&self) -> MutexGuard<'_, HashMap<u64, Option<Status>>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
