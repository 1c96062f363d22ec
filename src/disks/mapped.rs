//! Reading through a mapping of the page cache, to compare with: haul makes no copy that way.
use crate::core::{Endpoint, Facts, Kind, Op, Request};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::sync::Arc;

/// A file or block device that is read through mappings of it, one for each request.
///
/// The pages are asked for before they are touched (MADV_POPULATE_READ, since 5.14): a bad sector is then an error,
/// and no SIGBUS.
struct Mapped {
    through_cache: Arc<dyn Endpoint>,
}

/// What `through_cache`, open for buffered reading, gives when it is mapped; `None` where it has no descriptor.
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

/// Copies the bytes at `offset`, all of which are below the end, out of a mapping.
fn read(fd: BorrowedFd<'_>, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    let before = offset as usize % rustix::param::page_size();
    let (start, len) = (offset - before as u64, before + bytes.len());
    let start = i64::try_from(start).map_err(io::Error::other)?;
    // SAFETY: a fresh mapping at no address of ours.
    let map = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, fd.as_raw_fd(), start) };
    if map == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the whole of our mapping.
    let populated = match unsafe { libc::madvise(map, len, libc::MADV_POPULATE_READ) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    if populated.is_ok() {
        // SAFETY: `before + bytes.len()` bytes are mapped and were just read in; a file that shrinks this very moment
        // would be the only way to lose them, as for everybody who maps files.
        unsafe { ptr::copy_nonoverlapping(map.cast::<u8>().add(before), bytes.as_mut_ptr(), bytes.len()) };
    }
    // SAFETY: our own mapping, of which nothing is borrowed any more.
    unsafe { libc::munmap(map, len) };
    // What the kernel cannot read it calls a bad address here; which would be misleading for a disk.
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
    fn any_bytes_come_out_of_a_mapping_as_they_are() {
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
    fn what_lies_beyond_the_end_is_an_error_and_no_signal() {
        let file = tempfile::tempfile().unwrap();
        let error = read(file.as_fd(), 0, &mut [0; 4096]).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EIO), "{error}");
    }
}
