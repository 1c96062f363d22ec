//! Queries of an open descriptor or a path that change nothing, shared by the probes of several rooms.
use crate::core::{Arena, DirectAlignment};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use rustix::io::{Errno, ReadWriteFlags};
use std::io::{self, IoSliceMut};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

/// RWF_DONTCACHE, since 6.14. rustix does not define it.
pub(super) const DONTCACHE: ReadWriteFlags = ReadWriteFlags::from_bits_retain(libc::RWF_DONTCACHE as u32);

/// Minimum logical block size of block devices.
const SECTOR_BYTES: u32 = 512;

/// What statx reports about direct I/O.
pub(super) enum StatedAlignment {
    /// This alignment is required.
    Required(DirectAlignment),
    /// Direct I/O is not available.
    Never,
    /// The kernel (before 6.1) or the file system does not report it.
    Unknown,
}

/// Opens `path` for reading with additional flags `more`; `None` if this process has no permission.
///
/// # Errors
/// All errors except EACCES and EPERM.
pub(super) fn open_if_allowed(path: &Path, more: OFlags) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | more;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(fd) => Ok(Some(fd)),
        Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Queries the alignment of direct I/O by statx (STATX_DIOALIGN: files since 6.1, device nodes since 6.11).
pub(super) fn stated_alignment(path: &Path) -> StatedAlignment {
    stated(rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN))
}

/// The same for an open descriptor.
pub(super) fn stated_alignment_of(fd: BorrowedFd<'_>) -> StatedAlignment {
    stated(rustix::fs::statx(fd, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN))
}

fn stated(answer: rustix::io::Result<rustix::fs::Statx>) -> StatedAlignment {
    let Ok(answer) = answer else { return StatedAlignment::Unknown };
    if answer.stx_mask & StatxFlags::DIOALIGN.bits() == 0 {
        return StatedAlignment::Unknown;
    }
    let (memory_bytes, offset_bytes) = (answer.stx_dio_mem_align, answer.stx_dio_offset_align);
    if memory_bytes.is_power_of_two() && offset_bytes.is_power_of_two() {
        StatedAlignment::Required(DirectAlignment { memory_bytes, offset_bytes })
    } else {
        StatedAlignment::Never
    }
}

/// Whether RWF_DONTCACHE works on this file. Reads one byte at `size`, past the end: with a length of 0 the kernel
/// would return before checking the flag, and an existing byte would enter the page cache.
pub(super) fn supports_dontcache(fd: BorrowedFd<'_>, size: u64) -> bool {
    let mut byte = [0u8];
    rustix::io::preadv2(fd, &mut [IoSliceMut::new(&mut byte)], size, DONTCACHE).is_ok()
}

/// Alignment of 512 bytes, if direct reads of 512 bytes work on `path` although it reports no requirements. A file
/// system that needs more refuses them with EINVAL; other errors are irrelevant.
pub(super) fn reads_sectors_directly(path: &Path) -> Option<DirectAlignment> {
    let (Ok(Some(fd)), Ok(mut buffer)) = (open_if_allowed(path, OFlags::DIRECT), Arena::lone(2 * SECTOR_BYTES)) else {
        return None;
    };
    // Neither the offset nor the address is aligned to more than a sector.
    let read = rustix::io::pread(&fd, &mut buffer.bytes_mut()[SECTOR_BYTES as usize..], SECTOR_BYTES.into());
    let refused = matches!(read, Err(Errno::INVAL | Errno::OPNOTSUPP));
    (!refused).then_some(DirectAlignment { memory_bytes: SECTOR_BYTES, offset_bytes: SECTOR_BYTES })
}

/// Whether `path` opens with O_DIRECT.
pub(super) fn opens_direct(path: &Path) -> bool {
    matches!(open_if_allowed(path, OFlags::DIRECT), Ok(Some(_)))
}
