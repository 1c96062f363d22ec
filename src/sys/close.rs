//! Calls whose failure the standard library keeps to itself, and calls that a signal may cut short.
use std::io;
use std::os::fd::{IntoRawFd, OwnedFd};

/// Closes `fd` and says the kernel's error.
///
/// # Errors
/// The error of `close(2)`: that of an earlier write, on network file systems. The descriptor is gone anyway.
pub fn close(fd: OwnedFd) -> io::Result<()> {
    // SAFETY: the descriptor is ours, and nothing uses it after this call.
    if unsafe { libc::close(fd.into_raw_fd()) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes a call again as long as a signal cuts it short.
///
/// # Errors
/// The error of the call, EINTR excepted.
pub fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}
