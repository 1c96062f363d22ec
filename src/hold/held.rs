//! The locks that this process holds.
use super::ground::beneath;
use super::holder::Holder;
use super::lock::{Lock, LockLevel};
use super::usage::Use;
use crate::core::{Extent, locked};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, Weak};

/// A lock that is held until this value and its clones are dropped.
#[derive(Clone, Debug)]
pub struct Held(#[allow(dead_code, reason = "they are there as long as this is")] Vec<Arc<Lock>>);

/// Device and inode number.
type Key = (u64, u64);

/// The locks of this process by file. A file may be opened several times, for its unaligned tail, for reading back or
/// by another access method, and the first lock must cover them instead of conflicting.
static HELD: Mutex<BTreeMap<Key, Weak<Lock>>> = Mutex::new(BTreeMap::new());

/// Locks `extent` of a regular file or block device until [`Held`] is dropped, and the same bytes of lower levels: the
/// disk of a partition, the file of a loop device. Does not block. Locks of this process do not conflict. `None` if the
/// file system does not support locks, or another program has a lock that does not prevent reading; nothing is locked
/// then.
///
/// # Errors
/// The holder of a conflicting lock.
pub fn hold(fd: BorrowedFd<'_>, extent: Extent, used_for: Use) -> Result<Option<Held>, Holder> {
    let mut all = locked(&HELD);
    all.retain(|_, lock| lock.strong_count() > 0);
    let own = key_of(fd).and_then(|key| all.get(&key)?.upgrade());
    // A write lock includes reading.
    if let (Some(own), Use::Read) = (&own, used_for)
        && own.writes()
    {
        return Ok(Some(Held(vec![own.clone()])));
    }
    let (claim, claim_beneath) = match used_for {
        Use::Read => (LockLevel::Read, LockLevel::Read),
        Use::Write => (LockLevel::Write, LockLevel::WriteAbove),
    };
    let mut taken: Vec<Arc<Lock>> = take(&mut all, fd, extent, claim)?.into_iter().collect();
    for ground in beneath(fd, extent) {
        taken.extend(take(&mut all, ground.fd.as_fd(), ground.extent, claim_beneath)?);
    }
    if let Some((first, rest)) = taken.split_first() {
        // A later user of the first lock, for reading back, shares all of them.
        first.keep(rest);
    }
    Ok((!taken.is_empty()).then_some(Held(taken)))
}

/// Locks bytes of one file. `None` if it does not support locks.
fn take(
    all: &mut BTreeMap<Key, Weak<Lock>>,
    fd: BorrowedFd<'_>,
    extent: Extent,
    claim: LockLevel,
) -> Result<Option<Arc<Lock>>, Holder> {
    let Some(key) = key_of(fd) else { return Ok(None) };
    let taken = match all.get(&key).and_then(Weak::upgrade) {
        Some(own) if own.is_writable || claim != LockLevel::Write => {
            return Ok(own.extend(extent, claim)?.then_some(own));
        }
        Some(reading) => {
            let claims = reading.unlock();
            let taken = Lock::take(fd, key.1, claim, [&claims[..], &[(extent, claim)]].concat());
            match &taken {
                Ok(Some(taken)) => taken.keep(&std::mem::take(&mut *locked(&reading.beneath))),
                // It was locked a moment ago. If another process was faster, this copy is refused.
                _ => claims.into_iter().for_each(|(extent, claim)| drop(reading.extend(extent, claim))),
            }
            taken
        }
        None => Lock::take(fd, key.1, claim, vec![(extent, claim)]),
    };
    let lock = taken?.map(Arc::new);
    if let Some(lock) = &lock {
        all.insert(key, Arc::downgrade(lock));
    }
    Ok(lock)
}

fn key_of(fd: BorrowedFd<'_>) -> Option<Key> {
    rustix::fs::fstat(fd).ok().map(|stat| (stat.st_dev, stat.st_ino))
}
