//! The locks of this process on one file.
use super::holder::Holder;
use super::regions::{MARKS, Region, USES};
use crate::core::{Extent, locked};
use crate::sys::{OtherLock, RangeLock, other_range_lock, set_range_lock};
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex};

/// The kinds of claims, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LockLevel {
    /// The bytes are read, directly or through a device above.
    Read,
    /// The bytes are written through a partition or loop device. An exclusive lock would need a descriptor that is open
    /// for writing, so shared locks in both regions represent it. Both are taken before checking for other users, and
    /// readers take their lock before they check for marks, so of two concurrent processes at least one detects the
    /// other.
    WriteAbove,
    /// The bytes are written directly.
    Write,
}

/// The locks of this process on one file, all on a separate open file description.
#[derive(Debug)]
pub(super) struct Lock {
    fd: OwnedFd,
    inode: u64,
    /// Whether it is open for writing, as exclusive locks require.
    pub(super) is_writable: bool,
    claims: Mutex<Vec<(Extent, LockLevel)>>,
    /// Locks on the same bytes of lower levels.
    pub(super) beneath: Mutex<Vec<Arc<Lock>>>,
}

impl Lock {
    /// Locks a file with `claims`, the strongest of which is `claim`. `None` if it does not support locks.
    pub(super) fn take(
        fd: BorrowedFd<'_>,
        inode: u64,
        claim: LockLevel,
        claims: Vec<(Extent, LockLevel)>,
    ) -> Result<Option<Lock>, Holder> {
        let is_writable = claim == LockLevel::Write;
        let Ok(fd) = opened_again(fd, is_writable) else { return Ok(None) };
        let lock = Lock { fd, inode, is_writable, claims: Mutex::default(), beneath: Mutex::default() };
        for (extent, claim) in claims {
            if !lock.extend(extent, claim)? {
                return Ok(None);
            }
        }
        Ok(Some(lock))
    }

    /// Whether any of its bytes are written directly.
    pub(super) fn writes(&self) -> bool {
        locked(&self.claims).iter().any(|(_, claim)| *claim == LockLevel::Write)
    }

    /// Holds `others` as long as this lock.
    pub(super) fn keep(&self, others: &[Arc<Lock>]) {
        let mut beneath = locked(&self.beneath);
        let new = others.iter().filter(|other| !std::ptr::eq(Arc::as_ptr(other), self));
        for other in new {
            if !beneath.iter().any(|known| Arc::ptr_eq(known, other)) {
                beneath.push(other.clone());
            }
        }
    }

    /// Adds a claim; false if locks are not supported.
    pub(super) fn extend(&self, extent: Extent, claim: LockLevel) -> Result<bool, Holder> {
        let mut claims = locked(&self.claims);
        let covers = |known: &Extent| known.offset <= extent.offset && extent.end() <= known.end();
        if claims.iter().any(|(known, more)| claim <= *more && covers(known)) {
            return Ok(true);
        }
        let done = match claim {
            LockLevel::Write => self.set(USES, RangeLock::Exclusive, extent)?,
            LockLevel::Read => self.share(&claims, extent)?,
            LockLevel::WriteAbove => self.share(&claims, extent)? && self.set(MARKS, RangeLock::Shared, extent)?,
        };
        match claim {
            LockLevel::Write => {}
            LockLevel::Read => self.check_for_others(MARKS, extent)?,
            LockLevel::WriteAbove => self.check_for_others(USES, extent)?,
        }
        if done {
            claims.push((extent, claim));
        }
        Ok(done)
    }

    /// Takes a shared lock on the bytes that have no exclusive one, which it would replace.
    fn share(&self, claims: &[(Extent, LockLevel)], extent: Extent) -> Result<bool, Holder> {
        let written = claims.iter().filter(|(_, claim)| *claim == LockLevel::Write).map(|(written, _)| *written);
        for piece in written.fold(vec![extent], |pieces, written| without(&pieces, written)) {
            if !self.set(USES, RangeLock::Shared, piece)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sets a lock; false if locks are not supported.
    fn set(&self, region: Region, kind: RangeLock, extent: Extent) -> Result<bool, Holder> {
        let (start, len) = region.range(extent);
        // The conflicting process may end before it is identified.
        for _ in 0..3 {
            match set_range_lock(self.fd.as_fd(), kind, start, len) {
                Ok(()) => return Ok(true),
                Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => {}
                Err(_) => return Ok(false),
            }
            let Ok(Some(other)) = other_range_lock(self.fd.as_fd(), kind, start, len) else { continue };
            let is_haul = other.start >= USES.start;
            if !is_haul && kind == RangeLock::Shared {
                return Ok(false);
            }
            return Err(self.holder(other, extent));
        }
        Err(Holder::unknown(true))
    }

    /// Checks that no other haul process has a lock on these bytes in `region`.
    fn check_for_others(&self, region: Region, extent: Extent) -> Result<(), Holder> {
        let (start, len) = region.range(extent);
        match other_range_lock(self.fd.as_fd(), RangeLock::Exclusive, start, len) {
            Ok(Some(other)) if other.start >= USES.start => Err(self.holder(other, extent)),
            _ => Ok(()),
        }
    }

    /// The holder of `other`. It writes if it has a mark.
    fn holder(&self, other: OtherLock, extent: Extent) -> Holder {
        let (start, len) = MARKS.range(extent);
        let marked = || other_range_lock(self.fd.as_fd(), RangeLock::Exclusive, start, len);
        let is_haul = other.start >= USES.start;
        let mark = if is_haul && !other.exclusive { marked().ok().flatten() } else { None };
        let mut holder = Holder::of(mark.unwrap_or(other), self.inode, is_haul);
        holder.writes |= mark.is_some();
        holder
    }

    /// Releases all locks, and returns their claims.
    pub(super) fn unlock(&self) -> Vec<(Extent, LockLevel)> {
        // Releasing a held lock cannot fail.
        let _ = set_range_lock(self.fd.as_fd(), RangeLock::Unlocked, 0, 0);
        std::mem::take(&mut *locked(&self.claims))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // If the descriptor is a duplicate, the open file description remains.
        self.unlock();
    }
}

/// The bytes of `pieces` that are not in `taken`.
fn without(pieces: &[Extent], taken: Extent) -> Vec<Extent> {
    let rest = |piece: &Extent| {
        let Some(both) = piece.intersection(&taken) else { return vec![*piece] };
        let sides = [(piece.offset, both.offset), (both.end(), piece.end())];
        sides
            .into_iter()
            .filter(|(start, end)| start < end)
            .map(|(start, end)| Extent::new(start, end - start))
            .collect()
    };
    pieces.iter().flat_map(rest).collect()
}

/// Opens the same file with a separate open file description, so that the lock is released with the process: the
/// descriptions of a ring stay open for some time after a process was killed, and standard output as long as the shell
/// has it open. If the file cannot be opened again, for example because of an unusual umask, the existing descriptor is
/// used.
fn opened_again(fd: BorrowedFd<'_>, writable: bool) -> io::Result<OwnedFd> {
    // For reading too if permitted, because a shared lock requires it.
    let directions: &[OFlags] = if writable { &[OFlags::RDWR, OFlags::WRONLY] } else { &[OFlags::RDONLY] };
    let flags = OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let mut opened = directions.iter().map(|direction| rustix::fs::open(&path, flags | *direction, Mode::empty()));
    match opened.find_map(Result::ok) {
        Some(again) => Ok(again),
        None => Ok(rustix::io::fcntl_dupfd_cloexec(fd, 3)?),
    }
}
