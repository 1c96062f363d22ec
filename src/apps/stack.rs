//! Provides enough stack, regardless of the limit of the shell.
use rustix::process::{Resource, getrlimit};
use std::thread;

/// Enough for all commands, in bytes: parsing the command line needs most.
const STACK_BYTES: usize = 8 << 20;
/// If the first thread may have less than this, a new thread is used.
const ENOUGH_BYTES: u64 = 1 << 20;

/// Runs `work` on this thread, or, under a small `ulimit -s`, on a thread with a larger stack. A stack overflow
/// ends the process without a message.
pub(super) fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if getrlimit(Resource::Stack).current.is_none_or(|bytes| bytes >= ENOUGH_BYTES) {
        return work();
    }
    thread::scope(|scope| {
        let begun = thread::Builder::new().name("haul".to_owned()).stack_size(STACK_BYTES).spawn_scoped(scope, work);
        let thread = begun.unwrap_or_else(|error| panic!("cannot start a thread: {error}"));
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
