use super::holder::Holder;
use super::lock::{Lock, LockLevel};
use super::regions::{MARKS, USES};
use super::*;
use crate::core::{Extent, Side};
use crate::sys::{RangeLock, set_range_lock};
use std::fs::File;
use std::os::fd::AsFd;

/// A lock by another haul process, simulated by a separate open file description.
fn other(file: &tempfile::NamedTempFile, lock: RangeLock, start: u64, len: u64) -> File {
    let other = File::options().read(true).write(true).open(file.path()).unwrap();
    set_range_lock(other.as_fd(), lock, start, len).unwrap();
    other
}

fn hold_here(file: &tempfile::NamedTempFile, offset: u64, len: u64, used_for: Use) -> Result<Option<Held>, Holder> {
    hold(file.as_file().as_fd(), Extent::new(offset, len), used_for)
}

const BASE: u64 = 1 << 62;

/// The number of bytes that a region represents.
const ALL: u64 = 1 << 61;

#[test]
fn bytes_being_written_cannot_be_locked_and_others_can() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let _other = other(&file, RangeLock::Exclusive, BASE + 100, 100);
    for used_for in [Use::Read, Use::Write] {
        let holder = hold_here(&file, 199, 1, used_for).unwrap_err();
        assert!(holder.writes && holder.is_haul, "{holder:?}");
        assert!(hold_here(&file, 200, u64::MAX - 200, used_for).unwrap().is_some());
        assert!(hold_here(&file, 0, 100, used_for).unwrap().is_some());
    }
}

#[test]
fn bytes_being_read_can_be_read_and_not_written() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let _other = other(&file, RangeLock::Shared, BASE, ALL);
    assert!(hold_here(&file, 0, 100, Use::Read).unwrap().is_some());
    let holder = hold_here(&file, 0, 100, Use::Write).unwrap_err();
    assert!(!holder.writes, "{holder:?}");
}

#[test]
fn a_process_never_conflicts_with_itself() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let reading = hold_here(&file, 0, 100, Use::Read).unwrap().unwrap();
    let writing = hold_here(&file, 50, 100, Use::Write).unwrap().unwrap();
    let more = hold_here(&file, 500, 100, Use::Write).unwrap().unwrap();
    assert!(hold_here(&file, 0, u64::MAX, Use::Read).unwrap().is_some());
    let other = File::options().read(true).write(true).open(file.path()).unwrap();
    let free = |start, len| set_range_lock(other.as_fd(), RangeLock::Exclusive, BASE + start, len).is_ok();
    assert!(!free(0, 1) && !free(149, 1) && !free(599, 1) && free(600, 1));
    drop((reading, writing));
    assert!(!free(599, 1), "something is left that holds it");
    drop(more);
    assert!(free(0, 0), "nothing is left that holds it");
}

#[test]
fn a_foreign_lock_blocks_writing_and_not_reading() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let whole = other(&file, RangeLock::Exclusive, 0, 0);
    assert!(hold_here(&file, 0, 100, Use::Read).unwrap().is_none());
    let holder = hold_here(&file, 0, 100, Use::Write).unwrap_err();
    assert!(!holder.is_haul && refused(Side::Dest, "d", Use::Write, &holder).what.ends_with("has locked it"));
    set_range_lock(whole.as_fd(), RangeLock::Unlocked, 0, 0).unwrap();
    set_range_lock(whole.as_fd(), RangeLock::Exclusive, 0, 1 << 40).unwrap();
    assert!(hold_here(&file, 0, 100, Use::Write).unwrap().is_some(), "bytes that files have are not haul's to lock");
}

#[test]
fn bytes_being_written_through_an_upper_device_can_neither_be_read_nor_written() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let marks = other(&file, RangeLock::Shared, BASE + ALL + 100, 100);
    set_range_lock(marks.as_fd(), RangeLock::Shared, BASE + 100, 100).unwrap();
    for used_for in [Use::Read, Use::Write] {
        let holder = hold_here(&file, 199, 1, used_for).unwrap_err();
        assert!(holder.writes && holder.is_haul, "{holder:?}");
        assert!(hold_here(&file, 200, u64::MAX - 200, used_for).unwrap().is_some());
        assert!(hold_here(&file, 0, 100, used_for).unwrap().is_some());
    }
}

#[test]
fn a_shared_lock_never_replaces_an_exclusive_one() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let fd = file.as_file().as_fd();
    let claims = vec![(Extent::new(100, 100), LockLevel::Write)];
    let lock = Lock::take(fd, 0, LockLevel::Write, claims).unwrap().unwrap();
    for claim in [LockLevel::Read, LockLevel::WriteAbove] {
        assert!(lock.extend(Extent::new(0, 1000), claim).unwrap());
        let other = File::options().read(true).write(true).open(file.path()).unwrap();
        let free = |start, kind| set_range_lock(other.as_fd(), kind, BASE + start, 1).is_ok();
        assert!(!free(100, RangeLock::Shared) && !free(199, RangeLock::Shared), "{claim:?}");
        assert!(free(99, RangeLock::Shared) && free(200, RangeLock::Shared), "{claim:?}");
        let other = File::options().read(true).write(true).open(file.path()).unwrap();
        let free = |start| set_range_lock(other.as_fd(), RangeLock::Exclusive, BASE + start, 1).is_ok();
        assert!(!free(0) && !free(999) && free(1000), "{claim:?}");
    }
}

#[test]
fn users_of_the_same_bytes_above_and_below_conflict_unless_both_read() {
    let claims = [LockLevel::Read, LockLevel::WriteAbove, LockLevel::Write];
    for (first, second) in claims.iter().flat_map(|first| claims.map(|second| (*first, second))) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let take =
            |claim, offset| Lock::take(file.as_file().as_fd(), 0, claim, vec![(Extent::new(offset, 100), claim)]);
        let _first = take(first, 100).unwrap().unwrap();
        assert!(take(second, 0).unwrap().is_some() && take(second, 200).unwrap().is_some(), "{first:?} {second:?}");
        let both_read = (first, second) == (LockLevel::Read, LockLevel::Read);
        match take(second, 199) {
            Ok(taken) => assert!(both_read && taken.is_some(), "{first:?} {second:?}"),
            Err(holder) => assert!(!both_read && holder.writes == (first != LockLevel::Read), "{first:?} {holder:?}"),
        }
    }
}

#[test]
fn lock_offsets_of_regions_do_not_overlap() {
    let all = Extent::new(0, u64::MAX);
    assert_eq!(USES.range(all), (BASE, ALL));
    assert_eq!(MARKS.range(all), (BASE + ALL, ALL));
    assert_eq!(MARKS.range(Extent::new(u64::MAX, 0)), ((1 << 63) - 1, 1));
    assert_eq!(USES.range(Extent::new(7, 0)), (BASE + 7, 1));
}
