//! Which standard descriptors the caller had closed.
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Bit N: descriptor N was closed when the process began.
static CLOSED: AtomicU8 = AtomicU8::new(0);

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
}

/// Whether standard input (0), output (1) or error (2) was closed when the process began.
pub fn was_closed(descriptor: u8) -> bool {
    CLOSED.load(Relaxed) & (1 << descriptor) != 0
}
