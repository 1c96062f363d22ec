//! Connects the model to the real clock: requests of any thread, each delayed until the model completes it.
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::clock;
use crate::model::{Answer, Counters, Disk, Faults, Kind, Ticket};
use crate::parameters::{Extent, Parameters};
use crate::store::Store;
use crate::trace::Trace;

/// A disk that is being served.
pub struct ServedDisk {
    /// Its parameters.
    pub parameters: Parameters,
    store: Store,
    faults: Faults,
    state: Mutex<State>,
    trace: Option<Trace>,
}

struct State {
    disk: Disk,
    /// Pending requests; each has a separate condition variable, so that a completion wakes only one thread.
    waiting: HashMap<Ticket, Arc<Condvar>>,
    answers: HashMap<Ticket, Answer>,
}

impl State {
    /// Advances the disk's time to now, and wakes the threads of completed requests.
    fn advance(&mut self, now_ns: u64) {
        for answer in self.disk.advance(now_ns) {
            if let Some(bell) = self.waiting.remove(&answer.ticket) {
                bell.notify_one();
            }
            self.answers.insert(answer.ticket, answer);
        }
        // Usually the thread of a completed request decides the next one when it wakes up. If none wakes in time,
        // the thread of the oldest waiting request does it.
        if self.disk.alarm().is_some() {
            let oldest = self.disk.oldest().and_then(|ticket| self.waiting.get(&ticket));
            oldest.inspect(|bell| bell.notify_one());
        }
    }
}

impl ServedDisk {
    /// Opens the store. The parameters must have been checked.
    ///
    /// # Errors
    /// No store is named, or it cannot be opened.
    pub fn open(parameters: Parameters) -> io::Result<ServedDisk> {
        let path = parameters.store.as_deref();
        let path = path.ok_or_else(|| io::Error::other("store=PATH is needed: the file that holds the bytes"))?;
        let store = Store::open(path, &parameters)
            .map_err(|error| io::Error::new(error.kind(), format!("store {}: {error}", path.display())))?;
        let state = State { disk: Disk::new(&parameters), waiting: HashMap::new(), answers: HashMap::new() };
        let trace = parameters.trace.is_some().then(Trace::default);
        Ok(ServedDisk { faults: Faults::new(&parameters), store, state: Mutex::new(state), trace, parameters })
    }

    /// Serves one request: calls `move_bytes` to transfer between store and caller, and waits for the disk's time.
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

        // Outside the lock, during the time that the disk takes anyway.
        let moved = if self.faults.is_bad(kind, &extent) { Ok(()) } else { move_bytes(&self.store) };

        let answer = self.wait_for_answer(ticket, &bell);
        if let Some(trace) = self.trace.as_ref().filter(|_| kind == Kind::Read) {
            trace.add(now_ns, answer.at_ns, extent, answer.failed);
        }
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

    /// Writes the volatile cache to the medium, as a disk does at an orderly shutdown.
    ///
    /// # Errors
    /// Those of the store.
    pub fn power_off(&self) -> io::Result<()> {
        self.store.flush()
    }

    /// Writes the trace to its file, if there is one.
    ///
    /// # Errors
    /// Those of writing a file.
    pub fn write_trace(&self) -> io::Result<()> {
        let written = self.trace.as_ref().zip(self.parameters.trace.as_deref());
        written.map_or(Ok(()), |(trace, path)| trace.write(path))
    }

    /// The disk's counters so far.
    pub fn counters(&self) -> Counters {
        self.lock().disk.counters()
    }

    /// Locks even if a thread panicked: continuing to serve matters more than an inconsistent model.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
