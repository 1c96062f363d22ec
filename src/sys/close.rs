//! Closing with error reporting, and restarting interrupted calls.
use std::io;
use std::os::fd::{IntoRawFd, OwnedFd};

/// Closes `fd` and returns the kernel's error.
///
/// # Errors
/// The error of `close(2)`, which on network file systems may be that of an earlier write. The descriptor is closed
/// anyway.
pub fn close(fd: OwnedFd) -> io::Result<()> {
    // SAFETY: we own the descriptor, and nothing uses it after this call.
    if unsafe { libc::close(fd.into_raw_fd()) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Repeats a call while signals interrupt it.
///
/// # Errors
/// The error of the call, except for EINTR.
pub fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}
