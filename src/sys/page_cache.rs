//! Page cache residency of files and block devices, and writeback.
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

/// Number of `cachestat(2)`, since 6.5. The libc crate defines it for some targets only.
const SYS_CACHESTAT: libc::c_long = 451;

/// `struct cachestat_range` of `linux/mman.h`.
#[repr(C)]
struct CachestatRange {
    off: u64,
    /// 0 means up to the end.
    len: u64,
}

/// `struct cachestat` of `linux/mman.h`, in pages.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cachestat {
    /// Cached pages.
    pub nr_cache: u64,
    /// Dirty pages.
    pub nr_dirty: u64,
    /// Pages under writeback.
    pub nr_writeback: u64,
    /// Evicted pages.
    pub nr_evicted: u64,
    /// Recently evicted pages.
    pub nr_recently_evicted: u64,
}

const _: () = assert!(size_of::<CachestatRange>() == 16 && size_of::<Cachestat>() == 40);

/// Page cache statistics of `len` bytes from `offset`; a `len` of 0 means up to the end. Since 6.5.
///
/// # Errors
/// ENOSYS on older kernels, EPERM if a seccomp filter forbids it.
pub fn cachestat(fd: BorrowedFd<'_>, offset: u64, len: u64) -> io::Result<Cachestat> {
    let range = CachestatRange { off: offset, len };
    let mut stat = Cachestat::default();
    // SAFETY: both pointers are to structures with the kernel's layout that outlive the call.
    let result = unsafe { libc::syscall(SYS_CACHESTAT, fd.as_raw_fd(), &raw const range, &raw mut stat, 0) };
    if result == 0 { Ok(stat) } else { Err(io::Error::last_os_error()) }
}

/// Number of cached bytes of the whole file; `None` before 6.5.
pub fn cached_bytes(fd: BorrowedFd<'_>) -> Option<u64> {
    let stat = cachestat(fd, 0, 0).ok()?;
    Some(stat.nr_cache * rustix::param::page_size() as u64)
}

/// Number of cached pages that contain the `len` bytes from `offset`, by `mincore(2)`, for kernels without cachestat.
/// Since 5.2 the kernel reports it only to the owner of a file and to users with write permission; for others every
/// page counts as cached. `len` must not be 0, and the bytes must be below the end of the file.
///
/// # Errors
/// The error of `mmap(2)`: EACCES if `fd` is not open for reading, ENODEV if it cannot be mapped.
pub fn resident_pages(fd: BorrowedFd<'_>, offset: u64, len: usize) -> io::Result<u64> {
    let page = rustix::param::page_size();
    let before = offset as usize % page;
    let map_len = before + len;
    let start = i64::try_from(offset - before as u64).map_err(io::Error::other)?;
    // SAFETY: a new mapping that is never accessed, so truncation of the file cannot raise SIGBUS.
    let map = unsafe { libc::mmap(ptr::null_mut(), map_len, libc::PROT_READ, libc::MAP_SHARED, fd.as_raw_fd(), start) };
    if map == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let mut pages = vec![0u8; map_len.div_ceil(page)];
    // SAFETY: our own mapping, and `pages` has one byte for each of its pages.
    let result = unsafe { libc::mincore(map, map_len, pages.as_mut_ptr()) };
    let failed = (result != 0).then(io::Error::last_os_error);
    // SAFETY: our own mapping; nothing points into it.
    unsafe { libc::munmap(map, map_len) };
    match failed {
        Some(error) => Err(error),
        None => Ok(pages.iter().filter(|&&state| state & 1 == 1).count() as u64),
    }
}

/// Starts writeback of the dirty pages of the range, without waiting.
///
/// # Errors
/// ESPIPE if the file has no pages; EIO and other errors of the file system.
pub fn start_writeback(fd: BorrowedFd<'_>, offset: u64, len: u64) -> io::Result<()> {
    sync_file_range(fd, offset, len, libc::SYNC_FILE_RANGE_WRITE)
}

/// Writes back the dirty pages of the range and waits for completion. The data may still be in the device's cache.
///
/// # Errors
/// EIO or ENOSPC if a page of this file could not be written since the last such error on this descriptor. No later
/// `fdatasync(2)` returns the error again.
pub fn finish_writeback(fd: BorrowedFd<'_>, offset: u64, len: u64) -> io::Result<()> {
    let wait_before = libc::SYNC_FILE_RANGE_WAIT_BEFORE;
    sync_file_range(fd, offset, len, wait_before | libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER)
}

fn sync_file_range(fd: BorrowedFd<'_>, offset: u64, len: u64, flags: libc::c_uint) -> io::Result<()> {
    let offset = i64::try_from(offset).map_err(io::Error::other)?;
    let len = i64::try_from(len).map_err(io::Error::other)?;
    loop {
        // SAFETY: accesses none of our memory.
        if unsafe { libc::sync_file_range(fd.as_raw_fd(), offset, len, flags) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
