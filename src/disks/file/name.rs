//! The directory entry of a file that this copy created.
use crate::disks::opening::parent_directory;
use crate::files::DirectoryEntry;
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// The directory entry of a file that this copy created.
#[derive(Clone, Debug)]
pub(super) struct MadeName {
    path: PathBuf,
    inode: (u64, u64),
}

impl MadeName {
    /// The entry of `file`, which was just created at `path`.
    ///
    /// # Errors
    /// The error of `fstat(2)`.
    pub(super) fn of(path: &Path, file: impl AsFd) -> io::Result<Self> {
        let stat = rustix::fs::fstat(file)?;
        Ok(MadeName { path: path.to_owned(), inode: (stat.st_dev, stat.st_ino) })
    }

    /// Removes the file after a failure to open it; another file of that name is not removed. Errors are ignored,
    /// because the failure is already being reported.
    pub(super) fn remove(&self) {
        let _ = DirectoryEntry::of(&self.path).map(|place| place.remove_inode(self.inode));
    }

    /// Makes the entry durable. If the directory cannot be read, it flushes the whole file system of `file`.
    pub(super) fn make_durable(&self, file: BorrowedFd<'_>) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(parent_directory(&self.path), flags, Mode::empty()) {
            Ok(directory) => Ok(rustix::fs::fsync(directory)?),
            Err(_) => Ok(rustix::fs::syncfs(file)?),
        }
    }
}
