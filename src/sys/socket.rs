//! Non-blocking I/O on sockets without changing flags that other processes share.
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Receives the available bytes.
///
/// # Errors
/// EAGAIN if no bytes are available.
pub fn receive(fd: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<usize> {
    // SAFETY: pointer and length are those of a slice that outlives the call.
    let result = unsafe { libc::recv(fd.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT) };
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Sends as much as the socket accepts. A closed connection returns EPIPE and raises no signal.
///
/// # Errors
/// EAGAIN if the socket buffer is full.
pub fn send(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: pointer and length are those of a slice that outlives the call.
    let result = unsafe { libc::send(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}
