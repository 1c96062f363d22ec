//! What this process holds.
use super::Holder;
use crate::core::Extent;
use crate::sys::{RangeLock, other_range_lock, set_range_lock};
use rustix::fs::{Mode, OFlags};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Byte 0 of a file is locked as this offset, and so on: no file has bytes there. Locks on bytes that files have belong
/// to other programs (SQLite's are from 1 GiB on, QEMU's from byte 100 on) and mean something else to them; on SMB they
/// would even forbid I/O through every other descriptor, our own included.
const BASE: u64 = 1 << 62;

/// What is done to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// They are read: nobody is to write them meanwhile.
    Read,
    /// They are written: nobody is to read or write them meanwhile.
    Write,
}

/// A lock that lasts as long as this, or a clone of it, is there.
#[derive(Clone, Debug)]
pub struct Held(#[allow(dead_code, reason = "it is there as long as this is")] Arc<Lock>);

/// The locks of this process on one file, all on one open file description of their own.
#[derive(Debug)]
struct Lock {
    fd: OwnedFd,
    inode: u64,
    used_for: Use,
    extents: Mutex<Vec<Extent>>,
}

/// The locks of this process by device and inode number. A file may be open many times here, for its odd tail, to be
/// read back, for another way in, and each of those is to be covered by the first lock, not refused because of it.
static HELD: Mutex<BTreeMap<(u64, u64), Weak<Lock>>> = Mutex::new(BTreeMap::new());

/// Locks `extent` of a regular file or block device for the time in which [`Held`] is there; without waiting. What this
/// process holds already is no obstacle. `None`: there are no locks on this file system, or a program that is no haul
/// has one that is no obstacle to reading; nothing is held.
///
/// # Errors
/// Who has a lock that is in the way.
pub fn hold(fd: BorrowedFd<'_>, extent: Extent, used_for: Use) -> Result<Option<Held>, Holder> {
    let Ok(stat) = rustix::fs::fstat(fd) else { return Ok(None) };
    let key = (stat.st_dev, stat.st_ino);
    let mut all = locked(&HELD);
    all.retain(|_, lock| lock.strong_count() > 0);
    match (all.get(&key).and_then(Weak::upgrade), used_for) {
        // Who writes it may read it.
        (Some(own), Use::Read) if own.used_for == Use::Write => Ok(Some(Held(own))),
        (Some(own), _) if own.used_for == used_for => Ok(own.extend(extent)?.then_some(Held(own))),
        (Some(reading), _) => {
            let extents = std::mem::take(&mut *locked(&reading.extents));
            reading.unlock();
            let taken = Lock::take(fd, stat.st_ino, Use::Write, [&extents[..], &[extent]].concat());
            if !matches!(taken, Ok(Some(_))) {
                // It was ours a moment ago. Where somebody was faster, this copy does not take place.
                extents.into_iter().for_each(|extent| drop(reading.extend(extent)));
            }
            Ok(taken?.map(|lock| registered(&mut all, key, lock)))
        }
        (None, _) => {
            Ok(Lock::take(fd, stat.st_ino, used_for, vec![extent])?.map(|lock| registered(&mut all, key, lock)))
        }
    }
}

fn registered(all: &mut BTreeMap<(u64, u64), Weak<Lock>>, key: (u64, u64), lock: Lock) -> Held {
    let lock = Arc::new(lock);
    all.insert(key, Arc::downgrade(&lock));
    Held(lock)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lock {
    fn take(fd: BorrowedFd<'_>, inode: u64, used_for: Use, extents: Vec<Extent>) -> Result<Option<Lock>, Holder> {
        let Ok(fd) = opened_again(fd, used_for) else { return Ok(None) };
        let lock = Lock { fd, inode, used_for, extents: Mutex::default() };
        for extent in extents {
            if !lock.extend(extent)? {
                return Ok(None);
            }
        }
        Ok(Some(lock))
    }

    /// Locks more of it; false where that cannot be had.
    fn extend(&self, extent: Extent) -> Result<bool, Holder> {
        let mut extents = locked(&self.extents);
        if extents.iter().any(|known| known.offset <= extent.offset && extent.end() <= known.end()) {
            return Ok(true);
        }
        let (start, len) = range(extent);
        let kind = match self.used_for {
            Use::Read => RangeLock::Shared,
            Use::Write => RangeLock::Exclusive,
        };
        // Whoever was in the way may be gone before it is asked who that is.
        for _ in 0..3 {
            match set_range_lock(self.fd.as_fd(), kind, start, len) {
                Ok(()) => {
                    extents.push(extent);
                    return Ok(true);
                }
                Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => {}
                Err(_) => return Ok(false),
            }
            let Ok(Some(other)) = other_range_lock(self.fd.as_fd(), kind, start, len) else { continue };
            let is_haul = other.start >= BASE;
            if !is_haul && self.used_for == Use::Read {
                return Ok(false);
            }
            return Err(Holder::of(other, self.inode, is_haul));
        }
        Err(Holder::unknown(true))
    }

    fn unlock(&self) {
        // It is ours, so that nothing can be in the way.
        let _ = set_range_lock(self.fd.as_fd(), RangeLock::Unlocked, 0, 0);
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Where the descriptor is a duplicate, the open file stays.
        self.unlock();
    }
}

/// An extent as what is locked for it: first byte, and length or 0 for all behind it.
fn range(extent: Extent) -> (u64, u64) {
    let most = (1 << 63) - 1;
    let start = BASE.saturating_add(extent.offset).min(most);
    let len = if extent.len >= BASE || start + extent.len > most { 0 } else { extent.len.max(1) };
    (start, len)
}

/// The same file, open by a description that nothing else uses: its lock is gone with the process, while those of a
/// ring stay open for some time after it was killed, and standard output for as long as the shell has it. Where it
/// cannot be opened again, as with an odd umask, the one that is there has to do.
fn opened_again(fd: BorrowedFd<'_>, used_for: Use) -> io::Result<OwnedFd> {
    let direction = match used_for {
        Use::Read => OFlags::RDONLY,
        Use::Write => OFlags::WRONLY,
    };
    let flags = direction | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    rustix::fs::open(path, flags, Mode::empty()).or_else(|_| rustix::io::fcntl_dupfd_cloexec(fd, 3)).map_err(Into::into)
}
