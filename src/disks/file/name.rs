//! The name of a file that this copy made.
use crate::disks::opening::parent_directory;
use crate::files::FolderEntry;
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// The name of a file that this copy made.
#[derive(Clone, Debug)]
pub(super) struct MadeName {
    path: PathBuf,
    inode: (u64, u64),
}

impl MadeName {
    /// The name of `file`, which was just made at `path`.
    ///
    /// # Errors
    /// The error of `fstat(2)`.
    pub(super) fn of(path: &Path, file: impl AsFd) -> io::Result<Self> {
        let stat = rustix::fs::fstat(file)?;
        Ok(MadeName { path: path.to_owned(), inode: (stat.st_dev, stat.st_ino) })
    }

    /// Removes the file again, after a failure to open it for real; another file of that name stays. That it may stay
    /// is no second failure to report.
    pub(super) fn take_away(&self) {
        let _ = FolderEntry::of(&self.path).map(|place| place.remove_inode(self.inode));
    }

    /// Makes the name survive a power loss. In a directory that may not be read, the whole file system of `file` is
    /// flushed instead.
    pub(super) fn make_durable(&self, file: BorrowedFd<'_>) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(parent_directory(&self.path), flags, Mode::empty()) {
            Ok(directory) => Ok(rustix::fs::fsync(directory)?),
            Err(_) => Ok(rustix::fs::syncfs(file)?),
        }
    }
}
