//! Locking mutexes regardless of poisoning.
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, even if it is poisoned. Use this only for values that stay consistent when a thread panics while it
/// holds the lock.
pub fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
