//! Room on the stack, whatever the shell allows.
use rustix::process::{Resource, getrlimit};
use std::thread;

/// What the commands need, with room to spare, in bytes: parsing the command line takes most.
const STACK_BYTES: usize = 8 << 20;
/// Where the first thread may have less than this, another does the work.
const ENOUGH_BYTES: u64 = 1 << 20;

/// Does `work` on this thread, or, under a small `ulimit -s`, on one that brings a stack of its own. A stack that is
/// too small ends the process without notice.
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
