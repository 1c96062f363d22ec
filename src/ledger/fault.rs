//! What is wrong with a record file.
use crate::core::{Error, Extent, Kind};
use std::{error, fmt, io};

/// The kinds of record files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFile {
    /// What the bytes of a copy were.
    Manifest,
    /// Which bytes of a copy are durable.
    Journal,
    /// GNU ddrescue's list of what could be read.
    Mapfile,
    /// What stood on a device before its write rate was measured.
    Undo,
}

impl RecordFile {
    /// The word for messages.
    pub fn name(self) -> &'static str {
        match self {
            RecordFile::Manifest => "manifest",
            RecordFile::Journal => "journal",
            RecordFile::Mapfile => "mapfile",
            RecordFile::Undo => "undo journal",
        }
    }
}

/// What sort of fault it is.
#[derive(Debug)]
#[non_exhaustive]
pub enum FaultKind {
    /// The kernel could not read or write it.
    Io(io::Error),
    /// It is something else: its first line is not that of such a record file.
    Other,
    /// It was written by a later haul, in a format that this one does not know.
    Newer {
        /// Its format version.
        version: u64,
    },
    /// It ends before its closing line, or within a line.
    Truncated,
    /// Its checksum does not fit: bytes of it were changed.
    Damaged,
    /// The line is as it was written and makes no sense; in words, a clause.
    Senseless(String),
    /// Bytes that two lines speak of, or that one speaks of beyond the end of the copy.
    Misplaced(Extent),
    /// Bytes of the copy that no line speaks of.
    Missing(Extent),
    /// More bytes than this in a line.
    TooLong {
        /// The most there may be.
        bytes_max: usize,
    },
    /// Another process has it open.
    Busy,
    /// It already exists and would be lost.
    Exists,
    /// Its name leads to no file that may be used for it; why, a clause.
    Refused(String),
    /// An earlier write to it failed, so that it is unknown what it says.
    Spoiled,
}

/// What is wrong with a record file, and in which line.
///
/// `Display` prints one line without the path and without the advice; [`Fault::into_error`] adds both.
#[derive(Debug)]
pub struct Fault {
    /// Which record file.
    pub record_file: RecordFile,
    /// The line, counted from 1; 0 where no line is to blame.
    pub line: u64,
    /// What.
    pub kind: FaultKind,
}

impl Fault {
    /// A fault that no line is to blame for.
    pub(super) fn of(record_file: RecordFile, kind: FaultKind) -> Self {
        Fault { record_file, line: 0, kind }
    }

    /// A journal that is not to be created again.
    pub fn journal_exists() -> Self {
        Fault::of(RecordFile::Journal, FaultKind::Exists)
    }

    /// What to do next, a full sentence.
    pub fn advice(&self) -> &'static str {
        match (&self.kind, self.record_file) {
            (FaultKind::Other, RecordFile::Manifest) => "Give the file that --manifest wrote.",
            (FaultKind::Other, RecordFile::Journal) => "Give the file that --journal wrote.",
            (FaultKind::Other, RecordFile::Mapfile) => "Give a mapfile of GNU ddrescue.",
            (FaultKind::Other, RecordFile::Undo) => "Move it away: that name is reserved for data saved by haul.",
            (FaultKind::Busy, RecordFile::Undo) => "Wait until the measurement of the device ends.",
            (FaultKind::Exists, RecordFile::Undo) => "Restore the data with haul tune PATH --restore.",
            (FaultKind::Newer { .. }, _) => "Use the haul that wrote it, or a later one.",
            (FaultKind::Truncated, RecordFile::Manifest) => {
                "The copy did not finish: resume it, or create the manifest again."
            }
            (FaultKind::Busy, RecordFile::Manifest) => "Wait for that copy to end, or name another manifest.",
            (FaultKind::Exists, RecordFile::Manifest) => "Name another file, or remove it if it is no longer needed.",
            (FaultKind::Busy, RecordFile::Mapfile) => "Wait for that copy to end, or name another mapfile.",
            (FaultKind::Exists, RecordFile::Mapfile) => {
                "Name another file, or move it away: it may represent days of work."
            }
            (FaultKind::Busy, _) => "Wait for that copy to end, or name another journal.",
            (FaultKind::Exists, _) => "Resume that copy, or remove the file if it is no longer needed.",
            (FaultKind::Io(error), _) if error.kind() == io::ErrorKind::NotFound => "Check the path.",
            (FaultKind::Io(_), _) => "Check that its file system is mounted, writable and not full.",
            (FaultKind::Refused(_), _) => "Name another file, or move that one away if it is not needed.",
            (FaultKind::Spoiled, _) => "Run the copy again with --resume.",
            (_, RecordFile::Manifest) => "Create the manifest again from the source, or use another copy of the file.",
            (_, RecordFile::Journal) => "Copy again from the start: it is unknown which data is durable.",
            (_, RecordFile::Undo) => {
                "The data restored so far is correct; the rest is in this file, where readable. Move it away when it \
                 is no longer needed."
            }
            (_, RecordFile::Mapfile) => "Correct the line, or use the backup that ddrescue keeps beside it.",
        }
    }

    /// The error for the user, of the record file at `path`.
    pub fn into_error(self, path: &str) -> Error {
        let kind = match self.kind {
            FaultKind::Other | FaultKind::Newer { .. } => Kind::Usage,
            FaultKind::Busy | FaultKind::Exists | FaultKind::Refused(_) => Kind::Refused,
            _ => Kind::Io,
        };
        let error =
            Error::new(kind, format!("{} {path}: {}", self.record_file.name(), self.words())).advise(self.advice());
        match self.kind {
            FaultKind::Io(source) => error.because(source),
            _ => error,
        }
    }

    /// What is wrong and in which line, without the name of the record file.
    fn words(&self) -> String {
        let what = match &self.kind {
            FaultKind::Io(_) => "cannot read or write it".to_owned(),
            FaultKind::Other if self.record_file == RecordFile::Undo => "it is not an undo journal".to_owned(),
            FaultKind::Other => format!("it is not a {}", self.record_file.name()),
            FaultKind::Newer { version } => format!("its format version {version} is newer than this version of haul"),
            FaultKind::Truncated => "it is truncated".to_owned(),
            FaultKind::Damaged => "checksum mismatch: it is damaged".to_owned(),
            FaultKind::Senseless(what) | FaultKind::Refused(what) => what.clone(),
            FaultKind::Misplaced(Extent { offset, len }) => {
                format!("invalid extent of {len} bytes at byte {offset}")
            }
            FaultKind::Missing(Extent { offset, len }) => {
                format!("it does not cover the {len} bytes at byte {offset}")
            }
            FaultKind::TooLong { bytes_max } => format!("more than {bytes_max} bytes in one line"),
            FaultKind::Busy => "another process is using it".to_owned(),
            FaultKind::Exists => "it already exists".to_owned(),
            FaultKind::Spoiled => "an earlier write to it failed".to_owned(),
        };
        if self.line == 0 { what } else { format!("line {}: {what}", self.line) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.record_file.name(), self.words())
    }
}

impl error::Error for Fault {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.kind {
            FaultKind::Io(source) => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_paper_path_line_and_what_to_do() {
        let fault = Fault { record_file: RecordFile::Manifest, line: 17, kind: FaultKind::Damaged };
        let error = fault.into_error("/tmp/m");
        assert_eq!(error.to_string(), "manifest /tmp/m: line 17: checksum mismatch: it is damaged");
        assert!(error.advice.starts_with("Create the manifest again"));
        assert_eq!(error.kind, Kind::Io);
    }

    #[test]
    fn what_the_kernel_said_is_kept() {
        let fault = Fault::of(RecordFile::Journal, FaultKind::Io(io::ErrorKind::StorageFull.into()));
        assert_eq!(fault.into_error("j").source.map(|source| source.kind()), Some(io::ErrorKind::StorageFull));
    }
}
