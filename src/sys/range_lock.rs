//! Locks on ranges of bytes that belong to an open file description: `F_OFD_SETLK`, since 3.15.
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Which lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeLock {
    /// `F_RDLCK`: any number of them at once; the descriptor has to be open for reading.
    Shared,
    /// `F_WRLCK`: one, and no other; the descriptor has to be open for writing.
    Exclusive,
    /// `F_UNLCK`: none.
    Unlocked,
}

/// A lock that another open file description, or another process, has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherLock {
    /// It is exclusive.
    pub exclusive: bool,
    /// Its first byte.
    pub start: u64,
    /// The process; `None` for a lock of an open file description, of which the kernel reports none.
    pub pid: Option<i32>,
}

/// Sets or takes away the lock on `start..start + len` without waiting; a `len` of 0 means to the end of all offsets.
///
/// # Errors
/// EAGAIN or EACCES where another lock is in the way; EINVAL, ENOSYS, ENOLCK, EOPNOTSUPP or EOVERFLOW where the kernel
/// or the file system has no such locks.
pub fn set_range_lock(fd: BorrowedFd<'_>, lock: RangeLock, start: u64, len: u64) -> io::Result<()> {
    call(fd, libc::F_OFD_SETLK, lock, start, len).map(|_| ())
}

/// A lock that is in the way of this one; `None`: there is none.
///
/// # Errors
/// As for [`set_range_lock`], but for EAGAIN.
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
    let mut asked = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: offset(start)?,
        l_len: offset(len)?,
        // The kernel asks for 0 here.
        l_pid: 0,
    };
    loop {
        // SAFETY: both commands read one flock, and GETLK stores one in the same place, which is ours.
        if unsafe { libc::fcntl(fd.as_raw_fd(), command, &mut asked) } >= 0 {
            return Ok(asked);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
