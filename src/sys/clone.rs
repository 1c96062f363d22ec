//! Sharing extents between files: `FICLONERANGE`, since 4.5.
use rustix::ioctl::{Opcode, Setter, ioctl, opcode};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `struct file_clone_range` of `linux/fs.h`.
#[repr(C)]
struct FileCloneRange {
    src_fd: i64,
    src_offset: u64,
    /// 0 means up to the end of the source.
    src_length: u64,
    dest_offset: u64,
}

const _: () = assert!(size_of::<FileCloneRange>() == 32);

const FICLONERANGE: Opcode = opcode::write::<FileCloneRange>(0x94, 13);

#[cfg(target_arch = "x86_64")]
const _: () = assert!(FICLONERANGE == 0x4020_940d);

/// Makes `dest` share `len` bytes (not 0) of `source`.
///
/// # Errors
/// EOPNOTSUPP, EXDEV or EINVAL if the file system does not support it or the range is not aligned. Nothing has changed
/// then.
pub fn clone_range(
    dest: BorrowedFd<'_>,
    source: BorrowedFd<'_>,
    from_offset: u64,
    len: u64,
    to_offset: u64,
) -> io::Result<()> {
    assert_ne!(len, 0, "a length of 0 would mean all of the source");
    let range = FileCloneRange {
        src_fd: i64::from(source.as_raw_fd()),
        src_offset: from_offset,
        src_length: len,
        dest_offset: to_offset,
    };
    // SAFETY: FICLONERANGE reads one file_clone_range and stores nothing in our memory.
    Ok(unsafe { ioctl(dest, Setter::<FICLONERANGE, FileCloneRange>::new(range)) }?)
}
