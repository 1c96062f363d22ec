//! Waiting for several descriptors.
use std::io;
use std::ptr;
use std::time::Duration;

/// Blocks until one of `polls` is ready, `timeout` has passed, or a signal arrived. Allocates nothing.
///
/// # Errors
/// The error of `ppoll(2)`, except for EINTR.
pub fn wait_any(polls: &mut [libc::pollfd], timeout: Option<Duration>) -> io::Result<()> {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: a valid slice of pollfd, a valid timespec or null, no signal mask.
    let ready = unsafe { libc::ppoll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, timeout, ptr::null()) };
    match ready {
        -1 => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            error => Err(error),
        },
        _ => Ok(()),
    }
}
