//! Sockets as streams, without ever blocking and without touching flags that other processes share.
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Receives what is there.
///
/// # Errors
/// EAGAIN when nothing is there yet.
pub fn receive(fd: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the pointer and the length are those of a slice that lives through the call.
    let result = unsafe { libc::recv(fd.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT) };
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Sends what there is room for. A peer that went away is EPIPE, never a signal.
///
/// # Errors
/// EAGAIN when there is no room yet.
pub fn send(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the pointer and the length are those of a slice that lives through the call.
    let result = unsafe { libc::send(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}
