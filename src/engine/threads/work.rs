//! The queue of requests for helper threads.
use crate::core::Request;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};

/// A queue of requests for helper threads, first in, first out.
#[derive(Default)]
pub(super) struct HelperQueue {
    shared: Mutex<SharedQueue>,
    ready: Condvar,
}

#[derive(Default)]
struct SharedQueue {
    todo: VecDeque<Request>,
    /// Helpers that wait for requests.
    waiting: usize,
    /// Helpers that were notified and have not woken up yet.
    waking: usize,
    closed: bool,
}

impl HelperQueue {
    /// Adds a batch under one lock, and notifies as many waiting helpers as needed: a busy helper takes further
    /// requests without notification.
    pub(super) fn put(&self, batch: &mut Vec<Request>) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.todo.extend(batch.drain(..));
        let notified = shared.todo.len().min(shared.waiting).saturating_sub(shared.waking);
        shared.waking += notified;
        drop(shared);
        (0..notified).for_each(|_| self.ready.notify_one());
    }

    /// The next request; `None` after the queue was closed and is empty.
    pub(super) fn take(&self) -> Option<Request> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(request) = shared.todo.pop_front() {
                return Some(request);
            }
            if shared.closed {
                return None;
            }
            shared.waiting += 1;
            shared = self.ready.wait(shared).unwrap_or_else(PoisonError::into_inner);
            shared.waiting -= 1;
            shared.waking = shared.waking.saturating_sub(1);
        }
    }

    /// Closes the queue: helpers end once it is empty.
    pub(super) fn close(&self) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.ready.notify_all();
    }
}
