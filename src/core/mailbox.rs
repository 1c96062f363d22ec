//! Where other threads leave finished requests for the one that waits.
use super::Completion;
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

/// Finished requests, left by any thread and taken by one, with a descriptor to wait on.
///
/// The bell is rung once for any number of letters until they are taken: under load that saves a system call each.
#[derive(Debug)]
pub struct Mailbox {
    letters: Mutex<Vec<Completion>>,
    bell: OwnedFd,
    rung: AtomicBool,
}

impl Mailbox {
    /// An empty one.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Mailbox { letters: Mutex::default(), bell, rung: AtomicBool::new(false) })
    }

    /// Leaves a finished request.
    pub fn leave(&self, completion: Completion) {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner).push(completion);
        if !self.rung.swap(true, SeqCst) {
            // Fails only when the counter is full, and then it is readable.
            rustix::io::write(&self.bell, &1u64.to_ne_bytes()).ok();
        }
    }

    /// Moves all letters to `done` and returns how many there were. Never blocks.
    pub fn take(&self, done: &mut Vec<Completion>) -> usize {
        if self.rung.load(SeqCst) {
            rustix::io::read(&self.bell, &mut [0; 8]).ok();
            // Before the letters are taken: one left after this line rings again.
            self.rung.store(false, SeqCst);
        }
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        let count = letters.len();
        done.append(&mut letters);
        count
    }

    /// Readable while letters may be there.
    pub fn bell(&self) -> RawFd {
        self.bell.as_raw_fd()
    }
}
