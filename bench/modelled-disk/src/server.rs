//! The model beside the real clock: requests of any thread, each held until the moment at which the disk answers it.
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::clock;
use crate::model::{Answer, Counters, Disk, Faults, Kind, Ticket};
use crate::parameters::{Extent, Parameters};
use crate::store::Store;

/// A disk that is being served.
pub struct ServedDisk {
    /// What it is like.
    pub parameters: Parameters,
    store: Store,
    faults: Faults,
    state: Mutex<State>,
}

struct State {
    disk: Disk,
    /// Requests without an answer yet; each has its own bell, so that an answer wakes one thread and not all.
    waiting: HashMap<Ticket, Arc<Condvar>>,
    answers: HashMap<Ticket, Answer>,
}

impl State {
    /// Lets the disk's own time go on to now, and wakes who is concerned.
    fn advance(&mut self, now_ns: u64) {
        for answer in self.disk.advance(now_ns) {
            if let Some(bell) = self.waiting.remove(&answer.ticket) {
                bell.notify_one();
            }
            self.answers.insert(answer.ticket, answer);
        }
        // Mostly the thread of an answered request settles the next one when it wakes up. Where none wakes at the
        // right time, the thread of the oldest waiting request does it.
        if self.disk.alarm().is_some() {
            let oldest = self.disk.oldest().and_then(|ticket| self.waiting.get(&ticket));
            oldest.inspect(|bell| bell.notify_one());
        }
    }
}

impl ServedDisk {
    /// Opens the store. The parameters must have passed their check.
    ///
    /// # Errors
    /// No store named, or it cannot be opened.
    pub fn open(parameters: Parameters) -> io::Result<ServedDisk> {
        let path = parameters.store.as_deref();
        let path = path.ok_or_else(|| io::Error::other("store=PATH is needed: the file that holds the bytes"))?;
        let store = Store::open(path, &parameters)
            .map_err(|error| io::Error::new(error.kind(), format!("store {}: {error}", path.display())))?;
        let state = State { disk: Disk::new(&parameters), waiting: HashMap::new(), answers: HashMap::new() };
        Ok(ServedDisk { faults: Faults::new(&parameters), store, state: Mutex::new(state), parameters })
    }

    /// Serves one request: `move_bytes` between store and caller, and the disk's time.
    ///
    /// # Errors
    /// EIO for a bad range, and those of the store.
    pub fn serve(
        &self,
        kind: Kind,
        extent: Extent,
        move_bytes: impl FnOnce(&Store) -> io::Result<()>,
    ) -> io::Result<()> {
        let bell = Arc::new(Condvar::new());
        let mut state = self.lock();
        // Read under the lock: arrivals must be in order.
        let now_ns = clock::now_ns();
        let ticket = state.disk.submit(now_ns, kind, extent);
        state.waiting.insert(ticket, Arc::clone(&bell));
        state.advance(now_ns);
        drop(state);

        // Outside the lock, and while the disk is at work anyway.
        let moved = if self.faults.fails(kind, &extent) { Ok(()) } else { move_bytes(&self.store) };

        let answer = self.wait_for_answer(ticket, &bell);
        clock::sleep_until(answer.at_ns);
        let mut state = self.lock();
        state.disk.leave();
        state.advance(clock::now_ns());
        drop(state);
        if answer.failed { Err(io::Error::from_raw_os_error(libc::EIO)) } else { moved }
    }

    fn wait_for_answer(&self, ticket: Ticket, bell: &Condvar) -> Answer {
        clock::be_precise();
        let mut state = self.lock();
        loop {
            if let Some(answer) = state.answers.remove(&ticket) {
                return answer;
            }
            let alarm_ns = state.disk.alarm().filter(|_| state.disk.oldest() == Some(ticket));
            state = match alarm_ns {
                Some(at_ns) => {
                    let waited = bell.wait_timeout(state, clock::until(at_ns));
                    let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
                    state.advance(clock::now_ns());
                    state
                }
                None => bell.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Brings what waits in the volatile cache to the medium, as a disk does that is told of the end.
    ///
    /// # Errors
    /// Those of the store.
    pub fn power_off(&self) -> io::Result<()> {
        self.store.flush()
    }

    /// What the disk did up to now.
    pub fn counters(&self) -> Counters {
        self.lock().disk.counters()
    }

    /// A thread that panicked cannot have left the model half changed in a way that matters more than serving on.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
