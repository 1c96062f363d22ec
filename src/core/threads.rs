//! Starting threads where the system may have none left.
//!
//! `thread::spawn` and `Scope::spawn` panic then, and `thread::Builder` drops the work that it was given. Here the work
//! stays with the caller until a thread runs.
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, Builder, JoinHandle, Scope, ScopedJoinHandle};

/// A started thread that waits for its work. It ends without work if this is dropped.
pub struct IdleThread<T, F> {
    thread: JoinHandle<Option<T>>,
    give: SyncSender<F>,
}

impl<T: Send + 'static, F: FnOnce() -> T + Send + 'static> IdleThread<T, F> {
    /// Starts a thread.
    ///
    /// # Errors
    /// EAGAIN: a limit of threads or memory (`ulimit -u`, `ulimit -v`, pids.max) is reached.
    pub fn start(name: &str) -> io::Result<Self> {
        let (give, take) = sync_channel::<F>(1);
        let thread = Builder::new().name(name.to_owned()).spawn(move || take.recv().ok().map(|work| work()))?;
        Ok(IdleThread { thread, give })
    }

    /// Lets the thread do `work`. The result of joining is `None` only if the thread ended before it had work.
    pub fn run(self, work: F) -> JoinHandle<Option<T>> {
        // The channel has room; a thread that panicked before it received is reported by the join.
        let _ = self.give.send(work);
        self.thread
    }
}

/// Work of `run_beside`.
pub enum Beside<'scope, T> {
    /// It runs on a thread of its own.
    Thread(ScopedJoinHandle<'scope, Option<T>>),
    /// No thread could be started, so it ran at once.
    Done(T),
}

impl<T> Beside<'_, T> {
    /// Waits for the work.
    ///
    /// # Errors
    /// The panic of the thread.
    pub fn join(self) -> thread::Result<T> {
        match self {
            Beside::Thread(thread) => thread.join()?.ok_or_else(|| Box::new("the thread had no work") as _),
            Beside::Done(result) => Ok(result),
        }
    }
}

/// Calls `work` on another thread of `scope`; at once on this thread if no other can be started.
pub fn run_beside<'scope, T: Send + 'scope, F: FnOnce() -> T + Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: F,
) -> Beside<'scope, T> {
    let (give, take) = sync_channel::<F>(1);
    let idle = move || take.recv().ok().map(|work| work());
    match Builder::new().name(name.to_owned()).spawn_scoped(scope, idle) {
        Ok(thread) => {
            // As in `IdleThread::run`.
            let _ = give.send(work);
            Beside::Thread(thread)
        }
        Err(_) => Beside::Done(work()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_thread_does_its_work_and_ends_without_work_if_dropped() {
        let idle = IdleThread::start("idle").expect("a thread is available");
        assert_eq!(idle.run(|| 7).join().expect("it does not panic"), Some(7));
        let unused = IdleThread::<(), fn()>::start("unused").expect("a thread is available");
        let IdleThread { thread, give } = unused;
        drop(give);
        assert_eq!(thread.join().expect("it does not panic"), None);
    }

    #[test]
    fn work_beside_another_returns_its_result_or_its_panic() {
        let here = thread::current().id();
        thread::scope(|scope| {
            let other = run_beside(scope, "beside", move || thread::current().id() != here);
            assert!(other.join().expect("it does not panic"));
            let panics = run_beside(scope, "beside", || panic!("on purpose"));
            assert!(panics.join().map(|(): ()| ()).is_err());
        });
    }
}
