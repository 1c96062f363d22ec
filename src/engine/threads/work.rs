//! Requests that wait for a helper.
use crate::core::Request;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};

/// Requests that wait for a helper, first come, first served.
#[derive(Default)]
pub(super) struct HelperQueue {
    desk: Mutex<SharedQueue>,
    come: Condvar,
}

#[derive(Default)]
struct SharedQueue {
    todo: VecDeque<Request>,
    /// Helpers that sleep until there is work.
    asleep: usize,
    /// Helpers that were woken and are not up yet.
    called: usize,
    closed: bool,
}

impl HelperQueue {
    /// Puts a batch there, with one lock, and wakes as many sleeping helpers as it has requests: a helper that is up
    /// looks for more by itself.
    pub(super) fn put(&self, batch: &mut Vec<Request>) {
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        desk.todo.extend(batch.drain(..));
        let wanted = desk.todo.len().min(desk.asleep).saturating_sub(desk.called);
        desk.called += wanted;
        drop(desk);
        (0..wanted).for_each(|_| self.come.notify_one());
    }

    /// The next request, or `None` when no more will come.
    pub(super) fn take(&self) -> Option<Request> {
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(request) = desk.todo.pop_front() {
                return Some(request);
            }
            if desk.closed {
                return None;
            }
            desk.asleep += 1;
            desk = self.come.wait(desk).unwrap_or_else(PoisonError::into_inner);
            desk.asleep -= 1;
            desk.called = desk.called.saturating_sub(1);
        }
    }

    /// Sends the helpers home once everything is done.
    pub(super) fn close(&self) {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.come.notify_all();
    }
}
