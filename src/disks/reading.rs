//! What can be found out of an open descriptor or a path without changing anything: shared by the rooms' probes.
use crate::core::{Arena, DirectAlignment};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags};
use rustix::io::{Errno, ReadWriteFlags};
use std::io::{self, IoSliceMut};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

/// RWF_DONTCACHE, since 6.14; rustix has no name for it.
pub(super) const DONTCACHE: ReadWriteFlags = ReadWriteFlags::from_bits_retain(libc::RWF_DONTCACHE as u32);

/// The least that block devices read.
const SECTOR_BYTES: u32 = 512;

/// What statx says about direct I/O.
pub(super) enum StatedAlignment {
    /// This is what it asks for.
    Asks(DirectAlignment),
    /// It is not available.
    Never,
    /// The kernel (before 6.1) or the file system does not say.
    Unknown,
}

/// Opens `path` for reading with `more` flags; `None` when this process may not.
///
/// # Errors
/// Everything but EACCES and EPERM.
pub(super) fn open_if_allowed(path: &Path, more: OFlags) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | more;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(fd) => Ok(Some(fd)),
        Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Asks statx for the alignment of direct I/O (STATX_DIOALIGN: files since 6.1, device nodes since 6.11).
pub(super) fn stated_alignment(path: &Path) -> StatedAlignment {
    stated(rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN))
}

/// The same of an open descriptor.
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
        StatedAlignment::Asks(DirectAlignment { memory_bytes, offset_bytes })
    } else {
        StatedAlignment::Never
    }
}

/// Whether RWF_DONTCACHE works here. Reads one byte at `size`, where there is none: a length of 0 would return before
/// the kernel looks at the flag, and a byte that is there would get into the cache.
pub(super) fn takes_dontcache(fd: BorrowedFd<'_>, size: u64) -> bool {
    let mut byte = [0u8];
    rustix::io::preadv2(fd, &mut [IoSliceMut::new(&mut byte)], size, DONTCACHE).is_ok()
}

/// That direct reads of 512 bytes work on `path`, where the requirements of direct I/O are not reported: whatever else
/// comes of them, a file system that needs larger ones refuses it with EINVAL.
pub(super) fn reads_sectors_directly(path: &Path) -> Option<DirectAlignment> {
    let (Ok(Some(fd)), Ok(mut buffer)) = (open_if_allowed(path, OFlags::DIRECT), Arena::lone(2 * SECTOR_BYTES)) else {
        return None;
    };
    // Neither place nor address is a multiple of more than a sector.
    let read = rustix::io::pread(&fd, &mut buffer.bytes_mut()[SECTOR_BYTES as usize..], SECTOR_BYTES.into());
    let refused = matches!(read, Err(Errno::INVAL | Errno::OPNOTSUPP));
    (!refused).then_some(DirectAlignment { memory_bytes: SECTOR_BYTES, offset_bytes: SECTOR_BYTES })
}

/// Whether `path` opens with O_DIRECT.
pub(super) fn opens_direct(path: &Path) -> bool {
    matches!(open_if_allowed(path, OFlags::DIRECT), Ok(Some(_)))
}
