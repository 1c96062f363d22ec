//! Room for a range of a file, taken before the first write, and given back where it is not available as a whole.
use crate::core::Extent;
use rustix::fs::{FallocateFlags, fstat, ftruncate};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;

/// `fallocate(2)`, as often as it takes.
pub(super) fn fallocate(fd: BorrowedFd<'_>, mode: FallocateFlags, extent: Extent) -> rustix::io::Result<()> {
    loop {
        match rustix::fs::fallocate(fd, mode, extent.offset, extent.len) {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

/// Allocates `extent`, which is not empty, and makes the file end no earlier than it. File systems that cannot are
/// left to the writes. The size comes last: whoever else writes to this file finds it as it was where there is no room.
///
/// # Errors
/// ENOSPC where there is no room. What was allocated until then is given back.
pub(super) fn allocate(fd: BorrowedFd<'_>, extent: Extent) -> rustix::io::Result<()> {
    let size_before = size(fd)?;
    for mode in [FallocateFlags::KEEP_SIZE, FallocateFlags::empty()] {
        match fallocate(fd, mode, extent) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => {
                give_back(fd, extent, size_before);
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Gives back what of `extent` was allocated behind the end that the file had before. Nothing else is cut off: others
/// may have written to this file meanwhile, which is theirs, before the extent or behind it.
fn give_back(fd: BorrowedFd<'_>, extent: Extent, size_before: u64) {
    // Every failure here is beside the one that is reported.
    let first = size_before.max(extent.offset);
    if first < extent.end() {
        let own = Extent::new(first, extent.end() - first);
        let _ = fallocate(fd, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, own);
    }
    match size(fd) {
        // Cuts off no byte, but what is allocated behind the end.
        Ok(size) if size == size_before => drop(ftruncate(fd, size_before)),
        // A file system that allocates and makes longer at once, and has got so far. The extent is locked: no other
        // process has made the file end in it.
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
    use std::fs::File;
    use std::os::fd::AsFd;
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
    fn what_another_has_written_before_or_behind_the_extent_is_not_cut_off() {
        for (at, len) in [(100, 4000), (8000, 192), (20_000, 3000)] {
            let file = file(100);
            allocate(file.as_fd(), EXTENT).unwrap();
            assert_eq!(file.metadata().unwrap().len(), EXTENT.end());
            // As if that had failed half way, and another had written meanwhile.
            file.set_len(100).unwrap();
            file.write_all_at(&vec![9; len], at).unwrap();
            let before = content(&file);
            give_back(file.as_fd(), EXTENT, 100);
            assert!(content(&file) == before, "{len} bytes at {at} have changed");
        }
    }

    #[test]
    fn an_end_that_a_failed_allocation_has_moved_goes_back_to_where_the_file_ended() {
        for size_before in [100, 8192, 9000] {
            let file = file(size_before);
            file.set_len(12_288).unwrap();
            give_back(file.as_fd(), EXTENT, size_before as u64);
            assert_eq!(file.metadata().unwrap().len(), size_before.max(8192) as u64);
            assert!(content(&file)[..size_before].iter().all(|&byte| byte == 7));
        }
    }
}
