//! Mutexes whose content stays sound when a thread panics.
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks it. A thread that panicked while it held the lock left whole values behind it: only for such contents.
pub fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
