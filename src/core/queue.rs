//! Queues of requests in flight.
use super::{Request, Transferred};
use std::io;
use std::os::fd::RawFd;

/// A completed request.
#[derive(Debug)]
pub struct Completion {
    /// The request, including its buffer.
    pub request: Request,
    /// The result of its current transfer.
    pub result: Transferred,
}

/// What to wait for before calling `reap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// Nothing is in flight.
    Idle,
    /// A completion is available now.
    Now,
    /// A completion may be available once `poll(2)` reports `events` on `fd`.
    On {
        /// The descriptor to poll.
        fd: RawFd,
        /// The events to poll for, as in `struct pollfd`.
        events: i16,
    },
}

/// A queue of requests in flight. Used by a single thread; dropping it waits for requests in flight.
pub trait Queue {
    /// Takes a request; may complete it immediately.
    fn submit(&mut self, request: Request);

    /// Whether this queue supports `request`; other requests are made as blocking calls.
    fn takes(&self, _request: &Request) -> bool {
        true
    }

    /// Passes all submitted requests to the kernel or the server, as one batch.
    fn flush(&mut self) -> io::Result<()>;

    /// Moves completions to `done`. Never blocks.
    fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()>;

    /// Returns in `_back` those requests for which `_continues` is false and that were not passed to the kernel yet.
    fn withdraw(&mut self, _continues: &dyn Fn(&Request) -> bool, _back: &mut Vec<Request>) {}

    /// What to wait for.
    fn ready(&self) -> Ready;

    /// Called immediately before [`Queue::ready`] if its descriptor is going to be polled together with others.
    fn prepare_poll(&mut self) {}

    /// Called after waiting, with the events that poll reported on the descriptor of [`Queue::ready`]: 0 for none,
    /// `None` if they were not checked. A hint that may save `reap` a system call.
    fn polled(&mut self, _events: Option<i16>) {}

    /// Flushes and blocks until a completion may be available, in a single system call. Called only if no other queue
    /// is busy; may return early. `None` if there is no such call: poll [`Queue::ready`] instead.
    fn flush_and_wait(&mut self) -> Option<io::Result<()>> {
        None
    }
}
