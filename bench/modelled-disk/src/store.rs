//! The bytes of a modelled disk, in an ordinary file.
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};

use crate::parameters::Extent;

/// The file, open. Every call may be made from any thread.
pub struct Store {
    file: File,
}

impl Store {
    /// Opens `path`; makes it, or makes it longer without writing, so that it holds `size_bytes`.
    ///
    /// # Errors
    /// Those of opening a file and of setting its length.
    pub fn open(path: &Path, size_bytes: u64) -> io::Result<Store> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        if file.metadata()?.len() < size_bytes {
            file.set_len(size_bytes)?;
        }
        Ok(Store { file })
    }

    /// Fills `bytes` from `offset`.
    ///
    /// # Errors
    /// Those of pread.
    pub fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }

    /// Writes `bytes` at `offset`.
    ///
    /// # Errors
    /// Those of pwrite; ENOSPC if the file system is full.
    pub fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    /// Makes `extent` read as zeros, as a hole.
    ///
    /// # Errors
    /// EOPNOTSUPP where the file system has no holes.
    pub fn zero(&self, extent: Extent) -> io::Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(fallocate(&self.file, flags, extent.offset, extent.len)?)
    }
}
