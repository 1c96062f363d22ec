//! Reading through memory mappings of the page cache, for comparing performance: haul copies nothing that way.
use crate::core::{Endpoint, Facts, Kind, Op, Request};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::sync::Arc;

/// A file or block device that is read through mappings, one for each request.
///
/// The pages are populated before they are accessed (MADV_POPULATE_READ, since 5.14), so a bad sector causes an error
/// instead of SIGBUS.
struct Mapped {
    through_cache: Arc<dyn Endpoint>,
}

/// Wraps `through_cache`, which is open for buffered reading; `None` if it has no descriptor.
pub fn mapped(through_cache: Arc<dyn Endpoint>) -> Option<Arc<dyn Endpoint>> {
    through_cache.descriptor()?;
    Some(Arc::new(Mapped { through_cache }))
}

impl Endpoint for Mapped {
    fn facts(&self) -> &Facts {
        self.through_cache.facts()
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        let fd = self.through_cache.descriptor().filter(|_| request.op == Op::Read);
        let fd = fd.ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
        let size = self.facts().size.unwrap_or(0);
        let len = size.saturating_sub(request.at()).min(u64::from(request.left())) as u32;
        if len > 0 {
            let at = request.at();
            read(fd, at, &mut request.rest_mut()[..len as usize])?;
        }
        Ok(len)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.through_cache.descriptor()
    }

    fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
        self.through_cache.diagnose(op, offset, error)
    }
}

/// Copies the bytes at `offset` from a mapping. They must be below the end of the file.
fn read(fd: BorrowedFd<'_>, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    let before = offset as usize % rustix::param::page_size();
    let (start, len) = (offset - before as u64, before + bytes.len());
    let start = i64::try_from(start).map_err(io::Error::other)?;
    // SAFETY: creates a new mapping at an address that the kernel chooses.
    let map = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, fd.as_raw_fd(), start) };
    if map == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the range is our whole mapping.
    let populated = match unsafe { libc::madvise(map, len, libc::MADV_POPULATE_READ) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    if populated.is_ok() {
        // SAFETY: `before + bytes.len()` bytes are mapped and were just populated. Only a file that is truncated at
        // this moment could cause SIGBUS, as for all users of mappings.
        unsafe { ptr::copy_nonoverlapping(map.cast::<u8>().add(before), bytes.as_mut_ptr(), bytes.len()) };
    }
    // SAFETY: our own mapping; nothing borrows from it any more.
    unsafe { libc::munmap(map, len) };
    // The kernel reports unreadable pages as EFAULT, which would be misleading for a disk.
    populated.map_err(|error| match error.raw_os_error() {
        Some(libc::EFAULT | libc::EHWPOISON) => io::Error::from_raw_os_error(libc::EIO),
        _ => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsFd;

    #[test]
    fn a_mapping_reads_any_bytes_unchanged() {
        let mut file = tempfile::tempfile().unwrap();
        let content: Vec<u8> = (0..20_000u32).map(|at| (at % 251) as u8).collect();
        file.write_all(&content).unwrap();
        for (offset, len) in [(0, 20_000), (4096, 4096), (4095, 2), (777, 9000), (19_999, 1)] {
            let mut bytes = vec![0; len];
            read(file.as_fd(), offset as u64, &mut bytes).unwrap();
            assert!(bytes == content[offset..offset + len], "{len} bytes at {offset}");
        }
    }

    #[test]
    fn a_read_beyond_the_end_of_a_mapping_is_an_error_not_a_signal() {
        let file = tempfile::tempfile().unwrap();
        let error = read(file.as_fd(), 0, &mut [0; 4096]).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EIO), "{error}");
    }
}
