//! What papers do with their files alike.
use super::{Fault, FaultKind, Paper};
use rustix::fs::{CWD, FlockOperation, RenameFlags, flock};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Opens a paper's file. Serial numbers and paths are nobody else's business: mode 0600.
pub(super) fn opened(paper: Paper, options: &mut OpenOptions, path: &Path) -> Result<File, Fault> {
    options.mode(0o600).open(path).map_err(|source| Fault::of(paper, FaultKind::Io(source)))
}

/// Locks it against other processes (flock: advisory, gone with the process), or says that one has it.
pub(super) fn lock(paper: Paper, file: &File) -> Result<(), Fault> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(error) if error == rustix::io::Errno::WOULDBLOCK => Err(Fault::of(paper, FaultKind::Busy)),
        other => other.map_err(|error| Fault::of(paper, FaultKind::Io(error.into()))),
    }
}

/// The name with more behind it.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes the names in the directory of `path` durable.
pub(super) fn sync_directory_of(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

/// What the file system said, as a fault of this paper.
pub(super) fn io_fault(paper: Paper, source: io::Error) -> Fault {
    Fault::of(paper, FaultKind::Io(source))
}

/// Gives a file its name, unless something bears it. Where the file system knows no such rename, what is there is
/// looked for first.
pub(super) fn rename_without_replacing(paper: Paper, from: &Path, to: &Path) -> Result<(), Fault> {
    let exists = || Err(Fault::of(paper, FaultKind::Exists));
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::EXIST) => exists(),
        Err(Errno::INVAL | Errno::NOSYS) if to.symlink_metadata().is_ok() => exists(),
        Err(Errno::INVAL | Errno::NOSYS) => fs::rename(from, to).map_err(|error| io_fault(paper, error)),
        other => other.map_err(|errno| io_fault(paper, errno.into())),
    }
}
