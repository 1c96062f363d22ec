//! What the caller gave us that Rust changes before `main`: closed descriptors, and what SIGPIPE does.
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

/// Bit N: descriptor N was closed when the process began.
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// SIGPIPE was ignored when the process began.
static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);

/// Runs before `main`, and before Rust opens /dev/null on descriptors that are closed: afterwards a copy to a closed
/// standard output would look like one to a null device, and succeed.
#[used]
// SAFETY: .init_array holds pointers to functions that take nothing and return, as this one does; it needs neither
// Rust's runtime nor any memory but its own flag.
#[unsafe(link_section = ".init_array")]
static NOTE: extern "C" fn() = note;

extern "C" fn note() {
    for descriptor in 0..3 {
        // SAFETY: asks for the flags of a descriptor number, which changes nothing whether it is open or not.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
            CLOSED.fetch_or(1 << descriptor, Relaxed);
        }
    }
    // Rust ignores it in any case before `main`.
    PIPE_IGNORED.store(super::signals::is_ignored(libc::SIGPIPE), Relaxed);
}

/// Whether standard input (0), output (1) or error (2) was closed when the process began.
pub fn was_closed(descriptor: u8) -> bool {
    CLOSED.load(Relaxed) & (1 << descriptor) != 0
}

/// Whether SIGPIPE was ignored when the process began.
pub fn was_pipe_ignored() -> bool {
    PIPE_IGNORED.load(Relaxed)
}

/// Lets a write to a pipe without reader end the process, as it does in programs that are not written in Rust; unless
/// the caller wanted SIGPIPE to be ignored.
pub fn die_of_broken_pipes() {
    if !was_pipe_ignored() {
        // SAFETY: the default action is no function of ours.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    }
}
