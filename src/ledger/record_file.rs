//! File operations that all record files share.
use super::{Fault, FaultKind, RecordFile};
use crate::files::{DirectoryEntry, FileError, Opening};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Maximum time for which a process holds a lock only to check whether there is one.
const LOOK_ENDS_WITHIN: Duration = Duration::from_millis(50);

/// The file system's error, as a fault of this record file.
pub(super) fn io_fault(record_file: RecordFile, source: io::Error) -> Fault {
    Fault::of(record_file, FaultKind::Io(source))
}

/// An error of its file, as a fault of this record file.
pub(super) fn file_fault(record_file: RecordFile, error: FileError) -> Fault {
    let kind = match error {
        FileError::Io(source) => FaultKind::Io(source),
        FileError::Busy => FaultKind::Busy,
        FileError::Exists => FaultKind::Exists,
        other => FaultKind::Refused(other.to_string()),
    };
    Fault::of(record_file, kind)
}

/// The directory entry of a record file to be created, which must not exist.
pub(super) fn free_place(record_file: RecordFile, path: &Path) -> Result<DirectoryEntry, Fault> {
    let place = DirectoryEntry::of(path).map_err(|error| io_fault(record_file, error))?;
    place.free().map_err(|error| file_fault(record_file, error))?;
    Ok(place)
}

/// Opens the record file at `path` for continuing, locked against other processes (flock: advisory, released
/// when the process ends). `None`: it does not exist.
pub(super) fn open_own(record_file: RecordFile, path: &Path) -> Result<Option<(DirectoryEntry, File)>, Fault> {
    let place = match DirectoryEntry::of(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        place => place.map_err(|error| io_fault(record_file, error))?,
    };
    let until = Instant::now() + LOOK_ENDS_WITHIN;
    loop {
        let Some(file) = place.open(Opening::Own).map_err(|error| file_fault(record_file, error))? else {
            return Ok(None);
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < until => {
                thread::sleep(Duration::from_millis(5));
                continue;
            }
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(Fault::of(record_file, FaultKind::Busy)),
            locked => locked.map_err(|errno| io_fault(record_file, errno.into()))?,
        }
        // It may have been replaced or removed between opening and locking: then the lock is on a file without
        // a name.
        if place.is_named(&file).map_err(|error| io_fault(record_file, error))? {
            return Ok(Some((place, file)));
        }
    }
}
