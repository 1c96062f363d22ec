//! The name of a file that this copy made.
use crate::endpoint::opening::parent_directory;
use rustix::fs::{Mode, OFlags};
use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

/// The name of a file that this copy made.
#[derive(Clone, Debug)]
pub(super) struct MadeName {
    path: PathBuf,
}

impl MadeName {
    pub(super) fn of(path: &Path) -> Self {
        MadeName { path: path.to_owned() }
    }

    /// Removes the file again, after a failure to open it for real. That it may stay is no second failure to report.
    pub(super) fn take_away(&self) {
        let _ = fs::remove_file(&self.path);
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
