//! State inherited from the caller that Rust changes before `main`: closed standard descriptors, and the disposition of
//! SIGPIPE.
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

/// Bit N: descriptor N was closed when the process started.
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// SIGPIPE was ignored when the process started.
static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);

/// Runs before `main`, and before Rust opens /dev/null on closed standard descriptors: afterwards, a copy to a closed
/// standard output would look like one to a null device, and succeed.
#[used]
// SAFETY: .init_array contains pointers to functions without arguments and results, such as this one; it needs neither
// Rust's runtime nor any memory except its own flags.
#[unsafe(link_section = ".init_array")]
static NOTE: extern "C" fn() = note;

extern "C" fn note() {
    for descriptor in 0..3 {
        // SAFETY: queries the flags of a descriptor number, which changes nothing whether it is open or not.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
            CLOSED.fetch_or(1 << descriptor, Relaxed);
        }
    }
    // Rust ignores SIGPIPE before `main` in any case.
    PIPE_IGNORED.store(super::signals::is_ignored(libc::SIGPIPE), Relaxed);
}

/// Whether standard input (0), output (1) or error (2) was closed when the process started.
pub fn was_closed(descriptor: u8) -> bool {
    CLOSED.load(Relaxed) & (1 << descriptor) != 0
}

/// Whether SIGPIPE was ignored when the process started.
pub fn was_pipe_ignored() -> bool {
    PIPE_IGNORED.load(Relaxed)
}

/// Makes a write to a pipe without a reader end the process, as is usual outside Rust, unless the caller ignored
/// SIGPIPE.
pub fn die_of_broken_pipes() {
    if !was_pipe_ignored() {
        // SAFETY: the default action is not a function of ours.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    }
}
