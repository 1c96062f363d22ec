//! Allocating space for a range of a file before the first write, and releasing it if there is not enough.
use crate::core::Extent;
use crate::hold::{Use, hold};
use rustix::fs::{FallocateFlags, fstat, ftruncate};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;

/// Calls `fallocate(2)`, and repeats it after EINTR.
pub(super) fn fallocate(fd: BorrowedFd<'_>, mode: FallocateFlags, extent: Extent) -> rustix::io::Result<()> {
    loop {
        match rustix::fs::fallocate(fd, mode, extent.offset, extent.len) {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

/// Allocates `extent`, which must not be empty, and extends the file to its end. Does nothing on file systems without
/// allocation. The size is changed last, so that other writers of the file do not notice a failed attempt.
///
/// # Errors
/// ENOSPC if there is not enough space. What was allocated is released.
pub(super) fn allocate(fd: BorrowedFd<'_>, extent: Extent) -> rustix::io::Result<()> {
    let size_before = size(fd)?;
    for mode in [FallocateFlags::KEEP_SIZE, FallocateFlags::empty()] {
        match fallocate(fd, mode, extent) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => {
                deallocate(fd, extent, size_before);
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Releases the part of `extent` that was allocated past the previous end of the file. Nothing else is truncated,
/// because other processes may have written to the file meanwhile. If another haul process writes to the file, its
/// length is not changed: it might grow between the check and the truncation.
fn deallocate(fd: BorrowedFd<'_>, extent: Extent, size_before: u64) {
    // Further errors are ignored, because the failed allocation is reported.
    let first = size_before.max(extent.offset);
    if first < extent.end() {
        let own = Extent::new(first, extent.end() - first);
        let _ = fallocate(fd, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, own);
    }
    let Ok(_alone) = hold(fd, Extent::new(0, u64::MAX), Use::Write) else { return };
    match size(fd) {
        // Removes only what is allocated past the end.
        Ok(size) if size == size_before => drop(ftruncate(fd, size_before)),
        // A file system that allocates and extends at the same time, and did so partly. The extent is locked, so no
        // other haul process has extended the file into it.
        Ok(size) if size > first && size <= extent.end() => drop(ftruncate(fd, first)),
        _ => {}
    }
}

fn size(fd: BorrowedFd<'_>) -> rustix::io::Result<u64> {
    Ok(fstat(fd)?.st_size as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::{RangeLock, set_range_lock};
    use std::fs::File;
    use std::os::fd::{AsFd, AsRawFd};
    use std::os::unix::fs::FileExt;

    const EXTENT: Extent = Extent { offset: 8192, len: 8192 };

    fn file(size: usize) -> File {
        let file = tempfile::tempfile_in("/var/tmp").unwrap();
        file.write_all_at(&vec![7; size], 0).unwrap();
        file
    }

    fn content(file: &File) -> Vec<u8> {
        let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    #[test]
    fn allocation_never_truncates_bytes_of_other_writers() {
        for (at, len) in [(100, 4000), (8000, 192), (20_000, 3000)] {
            let file = file(100);
            allocate(file.as_fd(), EXTENT).unwrap();
            assert_eq!(file.metadata().unwrap().len(), EXTENT.end());
            // Simulates a partial failure while another process writes.
            file.set_len(100).unwrap();
            file.write_all_at(&vec![9; len], at).unwrap();
            let before = content(&file);
            deallocate(file.as_fd(), EXTENT, 100);
            assert!(content(&file) == before, "{len} bytes at {at} have changed");
        }
    }

    #[test]
    fn a_failed_allocation_restores_the_length_of_the_file() {
        for size_before in [100, 8192, 9000] {
            let file = file(size_before);
            file.set_len(12_288).unwrap();
            deallocate(file.as_fd(), EXTENT, size_before as u64);
            assert_eq!(file.metadata().unwrap().len(), size_before.max(8192) as u64);
            assert!(content(&file)[..size_before].iter().all(|&byte| byte == 7));
        }
    }

    #[test]
    fn the_length_of_a_file_that_another_haul_writes_is_not_changed() {
        for (locks, len) in [(false, 8192), (true, 12_288)] {
            let file = file(100);
            file.set_len(12_288).unwrap();
            // As in another process: a lock of another open file description, at the byte where haul processes lock.
            let other = File::options().write(true).open(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap();
            let kind = if locks { RangeLock::Exclusive } else { RangeLock::Unlocked };
            set_range_lock(other.as_fd(), kind, 1 << 62, 100).unwrap();
            deallocate(file.as_fd(), EXTENT, 100);
            assert_eq!(file.metadata().unwrap().len(), len, "{locks}");
        }
    }
}
