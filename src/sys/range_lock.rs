//! Byte-range locks of open file descriptions: `F_OFD_SETLK`, since 3.15.
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Lock types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeLock {
    /// `F_RDLCK`: shared; the descriptor must be open for reading.
    Shared,
    /// `F_WRLCK`: exclusive; the descriptor must be open for writing.
    Exclusive,
    /// `F_UNLCK`: unlocked.
    Unlocked,
}

/// A lock of another open file description or process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherLock {
    /// Whether it is exclusive.
    pub exclusive: bool,
    /// Its first byte.
    pub start: u64,
    /// The process ID; `None` for a lock of an open file description, for which the kernel reports none.
    pub pid: Option<i32>,
}

/// Sets or removes the lock on `start..start + len` without blocking; a `len` of 0 means up to the largest offset.
///
/// # Errors
/// EAGAIN or EACCES for a conflicting lock; EINVAL, ENOSYS, ENOLCK, EOPNOTSUPP or EOVERFLOW if the kernel or the file
/// system does not support such locks.
pub fn set_range_lock(fd: BorrowedFd<'_>, lock: RangeLock, start: u64, len: u64) -> io::Result<()> {
    call(fd, libc::F_OFD_SETLK, lock, start, len).map(|_| ())
}

/// A lock that conflicts with this one; `None` if there is none.
///
/// # Errors
/// As for [`set_range_lock`], except for EAGAIN.
pub fn other_range_lock(fd: BorrowedFd<'_>, lock: RangeLock, start: u64, len: u64) -> io::Result<Option<OtherLock>> {
    let found = call(fd, libc::F_OFD_GETLK, lock, start, len)?;
    if i32::from(found.l_type) == libc::F_UNLCK {
        return Ok(None);
    }
    let exclusive = i32::from(found.l_type) == libc::F_WRLCK;
    let pid = (found.l_pid > 0).then_some(found.l_pid);
    Ok(Some(OtherLock { exclusive, start: u64::try_from(found.l_start).unwrap_or(0), pid }))
}

fn call(fd: BorrowedFd<'_>, command: i32, lock: RangeLock, start: u64, len: u64) -> io::Result<libc::flock> {
    let kind = match lock {
        RangeLock::Shared => libc::F_RDLCK,
        RangeLock::Exclusive => libc::F_WRLCK,
        RangeLock::Unlocked => libc::F_UNLCK,
    };
    let offset = |bytes: u64| libc::off_t::try_from(bytes).map_err(|_| io::Error::from_raw_os_error(libc::EOVERFLOW));
    let mut request = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: offset(start)?,
        l_len: offset(len)?,
        // The kernel requires 0.
        l_pid: 0,
    };
    loop {
        // SAFETY: both commands read one flock, and GETLK stores one in the same memory, which is ours.
        if unsafe { libc::fcntl(fd.as_raw_fd(), command, &mut request) } >= 0 {
            return Ok(request);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
