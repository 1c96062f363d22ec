//! A queue of completions that helper threads fill and the pump empties.
use super::Completion;
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

/// A queue of completions with many producers, one consumer and an eventfd to wait on.
///
/// The eventfd is written only once until the completions are taken, which saves system calls under load.
#[derive(Debug)]
pub struct Mailbox {
    completions: Mutex<Vec<Completion>>,
    eventfd: OwnedFd,
    signalled: AtomicBool,
}

impl Mailbox {
    /// An empty mailbox.
    ///
    /// # Errors
    /// No file descriptor is available.
    pub fn new() -> io::Result<Self> {
        let eventfd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Mailbox { completions: Mutex::default(), eventfd, signalled: AtomicBool::new(false) })
    }

    /// Adds a completion.
    pub fn push(&self, completion: Completion) {
        self.completions.lock().unwrap_or_else(PoisonError::into_inner).push(completion);
        if !self.signalled.swap(true, SeqCst) {
            // Fails only if the counter is full; the descriptor is readable then anyway.
            rustix::io::write(&self.eventfd, &1u64.to_ne_bytes()).ok();
        }
    }

    /// Moves all completions to `done` and returns their number. Never blocks.
    pub fn take(&self, done: &mut Vec<Completion>) -> usize {
        if self.signalled.load(SeqCst) {
            rustix::io::read(&self.eventfd, &mut [0; 8]).ok();
            // Must precede taking the completions: a completion added after this line signals again.
            self.signalled.store(false, SeqCst);
        }
        let mut completions = self.completions.lock().unwrap_or_else(PoisonError::into_inner);
        let count = completions.len();
        done.append(&mut completions);
        count
    }

    /// The eventfd, readable if completions may be available.
    pub fn eventfd(&self) -> RawFd {
        self.eventfd.as_raw_fd()
    }
}
