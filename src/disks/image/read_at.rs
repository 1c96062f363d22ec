//! Bytes at any offset: of a file, or in memory.
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Bytes at any offset.
pub(super) trait ReadAt {
    /// Reads some bytes at `offset`; 0 at the end.
    ///
    /// # Errors
    /// The error of `pread(2)`.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Fills `bytes` as far as there are any; returns how many.
    ///
    /// # Errors
    /// As for [`ReadAt::read_at`].
    fn read_full_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.read_at(&mut bytes[filled..], offset + filled as u64)? {
                0 => break,
                moved => filled += moved,
            }
        }
        Ok(filled)
    }
}

impl ReadAt for OwnedFd {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        Ok(rustix::io::retry_on_intr(|| rustix::io::pread(self.as_fd(), &mut *bytes, offset))?)
    }
}

impl ReadAt for &[u8] {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let len = rest.len().min(bytes.len());
        bytes[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }
}

/// The four bytes at `at`, the lowest first.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}
