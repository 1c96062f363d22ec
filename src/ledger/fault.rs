//! Faults of record files.
use crate::core::{Error, Extent, Kind, byte_count};
use std::{error, fmt, io};

/// The kinds of record files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFile {
    /// The digests of a copy's blocks.
    Manifest,
    /// Which bytes of a copy are durable.
    Journal,
    /// GNU ddrescue's list of what was read and what could not be read.
    Mapfile,
    /// The original data of a device before its write rate was measured.
    Undo,
    /// The course of a rescue.
    RescueLog,
    /// The plan of a copy by many workers.
    Plan,
    /// What a worker of such a copy records in the shared state.
    WorkerRecord,
}

impl RecordFile {
    /// The name for messages.
    pub fn name(self) -> &'static str {
        match self {
            RecordFile::Manifest => "manifest",
            RecordFile::Journal => "journal",
            RecordFile::Mapfile => "mapfile",
            RecordFile::Undo => "undo journal",
            RecordFile::RescueLog => "log",
            RecordFile::Plan => "plan",
            RecordFile::WorkerRecord => "record of a worker",
        }
    }
}

/// The kinds of faults.
#[derive(Debug)]
#[non_exhaustive]
pub enum FaultKind {
    /// The kernel could not read or write it.
    Io(io::Error),
    /// It is not a record file of this kind, as its first line shows.
    Other,
    /// It was written by a later haul, in a format that this one does not support.
    Newer {
        /// Its format version.
        version: u64,
    },
    /// It ends before its closing line, or within a line.
    Truncated,
    /// Its checksum does not match: its bytes were changed.
    Damaged,
    /// The line is unchanged but its contents are invalid: a clause.
    Invalid(String),
    /// These bytes are covered by two lines, or are beyond the end of the copy.
    Misplaced(Extent),
    /// Bytes of the copy that are not covered by any line.
    Missing(Extent),
    /// A line exceeds the maximum length.
    TooLong {
        /// The maximum length.
        bytes_max: usize,
    },
    /// Another process has it open.
    Busy,
    /// It already exists and would be overwritten.
    Exists,
    /// The file of its name may not be used: why, a clause.
    Refused(String),
    /// An earlier write to it failed, so that its content is unknown.
    Spoiled,
}

/// A fault of a record file, and its line.
///
/// `Display` prints one line without the path and without the advice; [`Fault::into_error`] adds both.
#[derive(Debug)]
pub struct Fault {
    /// Which record file.
    pub record_file: RecordFile,
    /// The line number, from 1; 0 if the fault is not in a line.
    pub line: u64,
    /// The kind of fault.
    pub kind: FaultKind,
}

impl Fault {
    /// A fault that is not in a line.
    pub(super) fn of(record_file: RecordFile, kind: FaultKind) -> Self {
        Fault { record_file, line: 0, kind }
    }

    /// The fault of a journal that already exists and must not be created again.
    pub fn journal_exists() -> Self {
        Fault::of(RecordFile::Journal, FaultKind::Exists)
    }

    /// What to do next: a full sentence.
    pub fn advice(&self) -> &'static str {
        match (&self.kind, self.record_file) {
            (FaultKind::Other, RecordFile::Manifest) => "Give the file that --manifest wrote.",
            (FaultKind::Other, RecordFile::Journal) => "Give the file that --journal wrote.",
            (FaultKind::Other, RecordFile::Mapfile) => "Give a mapfile of GNU ddrescue.",
            (FaultKind::Other, RecordFile::Undo) => "Move it away: that name is reserved for data saved by haul.",
            (FaultKind::Busy, RecordFile::Undo) => "Wait until the measurement of the device ends.",
            (FaultKind::Exists, RecordFile::Undo) => "Restore the data with haul tune PATH --restore.",
            (FaultKind::Other, RecordFile::Plan) => "Give the file that haul plan wrote.",
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
            (FaultKind::Other | FaultKind::Busy | FaultKind::Exists, RecordFile::RescueLog) => "Name another file.",
            (FaultKind::Busy, _) => "Wait for that copy to end, or name another journal.",
            (FaultKind::Exists, _) => "Resume that copy, or remove the file if it is no longer needed.",
            (FaultKind::Io(error), _) if error.kind() == io::ErrorKind::NotFound => "Check the path.",
            (FaultKind::Io(_), _) => "Check that its file system is mounted, writable and not full.",
            (FaultKind::Refused(_), _) => "Name another file.",
            (FaultKind::Spoiled, _) => "Run the copy again with --resume.",
            (_, RecordFile::Manifest) => "Create the manifest again from the source, or use another copy of the file.",
            (_, RecordFile::Journal) => "Copy again from the start: it is unknown which data is durable.",
            (_, RecordFile::Undo) => {
                "The data restored so far is correct; the rest is in this file, where readable. Move it away when it \
                 is no longer needed."
            }
            (_, RecordFile::Plan) => "Use the copy of the plan in the shared state: plan.json.",
            (_, RecordFile::WorkerRecord) => {
                "If no worker of that shard runs, remove this file: then the shard can be copied again. haul finish \
                 --abort discards the job."
            }
            (_, RecordFile::RescueLog) => "The rescue does not need it; it continues.",
            (_, RecordFile::Mapfile) => "Correct the line, or use the backup that ddrescue keeps beside it.",
        }
    }

    /// The error for the user, about the record file at `path`.
    pub fn into_error(self, path: &str) -> Error {
        let kind = match self.kind {
            FaultKind::Other | FaultKind::Newer { .. } => Kind::Usage,
            // No worker that has this plan can succeed, however often it is tried.
            FaultKind::Truncated | FaultKind::Damaged | FaultKind::Invalid(_)
                if self.record_file == RecordFile::Plan =>
            {
                Kind::Usage
            }
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

    /// The fault and its line, without the name of the record file.
    fn words(&self) -> String {
        let what = match &self.kind {
            FaultKind::Io(_) => "cannot read or write it".to_owned(),
            FaultKind::Other if self.record_file == RecordFile::Undo => "it is not an undo journal".to_owned(),
            FaultKind::Other if self.record_file == RecordFile::RescueLog => {
                "it is not a log of this kind: nothing was written to it".to_owned()
            }
            FaultKind::Other => format!("it is not a {}", self.record_file.name()),
            FaultKind::Newer { version } => format!("its format version {version} is newer than this version of haul"),
            FaultKind::Truncated => "it is truncated".to_owned(),
            FaultKind::Damaged => "checksum mismatch: it is damaged".to_owned(),
            FaultKind::Invalid(what) | FaultKind::Refused(what) => what.clone(),
            FaultKind::Misplaced(Extent { offset, len }) => {
                format!("invalid extent of {} at byte {offset}", byte_count(*len))
            }
            FaultKind::Missing(Extent { offset, len }) => {
                format!("it does not cover the {} at byte {offset}", byte_count(*len))
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
    fn a_fault_names_kind_path_line_and_advice() {
        let fault = Fault { record_file: RecordFile::Manifest, line: 17, kind: FaultKind::Damaged };
        let error = fault.into_error("/tmp/m");
        assert_eq!(error.to_string(), "manifest /tmp/m: line 17: checksum mismatch: it is damaged");
        assert!(error.advice.starts_with("Create the manifest again"));
        assert_eq!(error.kind, Kind::Io);
    }

    #[test]
    fn the_error_of_the_kernel_is_kept() {
        let fault = Fault::of(RecordFile::Journal, FaultKind::Io(io::ErrorKind::StorageFull.into()));
        assert_eq!(fault.into_error("j").source.map(|source| source.kind()), Some(io::ErrorKind::StorageFull));
    }
}
