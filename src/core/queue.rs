//! Requests in flight towards one endpoint, or towards both.
use super::{Request, Transferred};
use std::io;
use std::os::fd::RawFd;

/// A request that came back.
#[derive(Debug)]
pub struct Completion {
    /// The request, its buffer with it.
    pub request: Request,
    /// The result of its present transfer.
    pub result: Transferred,
}

/// What a queue is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// Nothing in flight.
    Idle,
    /// `reap` has something already.
    Now,
    /// `reap` may have something once `poll(2)` reports `events` on `fd`.
    On {
        /// The descriptor to poll.
        fd: RawFd,
        /// What to poll for, as in `struct pollfd`.
        events: i16,
    },
}

/// A queue of requests in flight. Opened and used by one thread; dropping it waits for the kernel.
pub trait Queue {
    /// Takes a request in; may finish it on the spot.
    fn submit(&mut self, request: Request);

    /// Whether this queue can carry `request`; those it cannot go to blocking calls beside it.
    fn takes(&self, _request: &Request) -> bool {
        true
    }

    /// Hands everything submitted so far to the kernel or the server, the whole batch at once.
    fn flush(&mut self) -> io::Result<()>;

    /// Moves finished requests to `done`. Never blocks.
    fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()>;

    /// Gives back what it keeps to itself and the kernel has not got, of the requests that `goes_on` is false for.
    fn withdraw(&mut self, _goes_on: &dyn Fn(&Request) -> bool, _back: &mut Vec<Request>) {}

    /// What to wait for.
    fn ready(&self) -> Ready;

    /// [`Queue::ready`] is asked next, and what it says is polled together with something else.
    fn prepare_poll(&mut self) {}

    /// The awaited event has arrived, or something else has: the events that poll found at what [`Queue::ready`] said,
    /// 0 for none; `None` if not checked. A hint, by which `reap` can do without asking the kernel once more.
    fn polled(&mut self, _events: Option<i16>) {}

    /// Hands over what was submitted and blocks until `reap` may have something, both in one system call. Asked only
    /// when no other queue is busy; may return early. `None`: there is no such call, poll for [`Queue::ready`].
    fn flush_and_wait(&mut self) -> Option<io::Result<()>> {
        None
    }
}
