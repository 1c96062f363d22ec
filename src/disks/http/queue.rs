//! Requests of a copy in flight at a server.
use super::failure::kind_of;
use super::runtime;
use crate::core::{Completion, Op, Queue, Ready, Request, Transferred, locked};
use rustix::event::{EventfdFlags, eventfd};
use std::future::Future;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// Something on a server of which any range can be read.
pub(in crate::disks) trait Ranges: Send + Sync + 'static {
    /// Its length in bytes.
    fn len(&self) -> u64;

    /// Fills `bytes` with those from `at` on, which exist.
    ///
    /// # Errors
    /// A [`crate::core::DeviceError`] with the byte that could not be read; ECANCELED.
    fn fill(&self, at: u64, bytes: &mut [u8]) -> impl Future<Output = io::Result<()>> + Send;
}

/// Reads bytes that exist, and waits for them.
///
/// # Errors
/// As for [`Ranges::fill`].
pub(in crate::disks) fn read(from: &Arc<impl Ranges>, at: u64, len: usize) -> io::Result<Vec<u8>> {
    let from = from.clone();
    runtime::wait(async move {
        let mut bytes = vec![0; len];
        from.fill(at, &mut bytes).await.map(|()| bytes)
    })?
}

/// Performs a request, and waits for it; returns the bytes that were read, fewer at the end.
///
/// # Errors
/// EROFS for other operations than reading; otherwise as for [`Ranges::fill`].
pub(in crate::disks) fn perform(from: &Arc<impl Ranges>, request: &mut Request) -> io::Result<u32> {
    if request.op != Op::Read {
        return Err(io::Error::from_raw_os_error(libc::EROFS));
    }
    let len = u64::from(request.left()).min(from.len().saturating_sub(request.at())) as usize;
    let bytes = read(from, request.at(), len)?;
    request.rest_mut()[..len].copy_from_slice(&bytes);
    Ok(len as u32)
}

/// Requests of a copy in flight at a server: each is a task, which fills the memory of its block.
pub(in crate::disks) struct HttpQueue<R> {
    from: Arc<R>,
    runtime: Handle,
    tasks: JoinSet<()>,
    answered: Arc<Answered>,
    in_flight: u32,
}

/// What the tasks hand back.
struct Answered {
    state: Mutex<State>,
    /// A task ended, or was aborted.
    on_end: Condvar,
    /// Readable while there are completions.
    bell: OwnedFd,
}

#[derive(Default)]
struct State {
    done: Vec<Completion>,
    /// Tasks that have memory of a block.
    busy: u32,
}

/// What a task has, in the order in which it is dropped: the memory of the block is free before that is counted.
struct Task {
    request: Request,
    busy: Busy,
}

/// Counts a task, however it ends.
struct Busy(Arc<Answered>);

impl Drop for Busy {
    fn drop(&mut self) {
        locked(&self.0.state).busy -= 1;
        self.0.on_end.notify_all();
    }
}

impl<R: Ranges> HttpQueue<R> {
    /// A queue of as many connections as requests.
    ///
    /// # Errors
    /// No thread or no descriptor is left.
    pub(in crate::disks) fn open(from: Arc<R>) -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let answered = Answered { state: Mutex::default(), on_end: Condvar::new(), bell };
        let (runtime, tasks) = (runtime::handle()?, JoinSet::new());
        Ok(HttpQueue { from, runtime, tasks, answered: Arc::new(answered), in_flight: 0 })
    }
}

impl<R: Ranges> Queue for HttpQueue<R> {
    fn submit(&mut self, request: Request) {
        self.in_flight += 1;
        let (from, answered) = (self.from.clone(), self.answered.clone());
        locked(&answered.state).busy += 1;
        let task = Task { request, busy: Busy(answered) };
        let work = async move {
            // Dropped in the reverse order.
            let Task { busy, mut request } = task;
            let (at, size) = (request.at(), from.len());
            let len = u64::from(request.left()).min(size.saturating_sub(at)) as usize;
            let bytes = &mut request.rest_mut()[..len];
            let read = from.fill(at, bytes).await;
            let result = Transferred::of(read.map(|()| Some(len as u32)), kind_of);
            let mut state = locked(&busy.0.state);
            state.done.push(Completion { request, result });
            if state.done.len() == 1 {
                // Fails only when the counter is full, and then it is readable.
                rustix::io::write(&busy.0.bell, &1u64.to_ne_bytes()).ok();
            }
        };
        self.tasks.spawn_on(work, &self.runtime);
    }

    fn takes(&self, request: &Request) -> bool {
        request.op == Op::Read
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        while self.tasks.try_join_next().is_some() {}
        let mut state = locked(&self.answered.state);
        if !state.done.is_empty() {
            rustix::io::read(&self.answered.bell, &mut [0; 8]).ok();
            self.in_flight -= state.done.len() as u32;
            done.append(&mut state.done);
        }
        Ok(())
    }

    fn ready(&self) -> Ready {
        if self.in_flight == 0 {
            Ready::Idle
        } else {
            Ready::On { fd: self.answered.bell.as_raw_fd(), events: libc::POLLIN }
        }
    }
}

impl<R> Drop for HttpQueue<R> {
    /// Waits until no task has memory of a block any more.
    fn drop(&mut self) {
        self.tasks.abort_all();
        let state = locked(&self.answered.state);
        drop(self.answered.on_end.wait_while(state, |state| state.busy > 0));
    }
}
