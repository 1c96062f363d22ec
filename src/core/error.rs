//! Errors: the cause, the location, and what to do next.
use super::{Op, Side};
use std::{error, fmt, io};

/// Result type of the library.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of failure; determines the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The command line is invalid. Exit status 2.
    Usage,
    /// The operation was refused for safety. Exit status 3.
    Refused,
    /// A path does not exist, or cannot be opened.
    Open,
    /// The device or file system reported an error.
    Io,
    /// The device has disappeared during the operation.
    Disconnected,
    /// The dest is full.
    NoSpace,
    /// The compressed data of the source is damaged, or the source is not what its checksum says.
    Corrupt,
    /// The source has fewer bytes than it reported.
    EndedEarly,
    /// The reader of the dest pipe closed it.
    BrokenPipe,
    /// The kernel or a limit prevents what the user requested: an engine, direct I/O.
    Unsupported,
    /// The copy was cancelled on request.
    Cancelled,
}

impl Kind {
    /// The exit status of a run that failed: 1 I/O failure, 2 usage, 3 refused for safety.
    pub fn exit_status(self) -> u8 {
        match self {
            Kind::Usage => 2,
            Kind::Refused => 3,
            _ => 1,
        }
    }
}

/// A failure with its full description: operation, cause, location, and what to do next.
///
/// `Display` prints one line without `source` and `advice`.
#[derive(Debug)]
pub struct Error {
    /// The kind of failure.
    pub kind: Kind,
    /// The failed operation with the path: "cannot read source /dev/sdb".
    pub what: String,
    /// The affected side, if any.
    pub side: Option<Side>,
    /// Byte offset on that side, if known.
    pub offset: Option<u64>,
    /// Logical block size of that side, from which the sector number is computed; 1 if it has no sectors.
    pub sector_bytes: u32,
    /// The kernel's error.
    pub source: Option<io::Error>,
    /// Suggested next step, a full sentence; may be empty.
    pub advice: String,
}

impl Error {
    /// A failure without side and offset.
    pub fn new(kind: Kind, what: impl Into<String>) -> Self {
        let what = what.into();
        Error { kind, what, side: None, offset: None, sector_bytes: 1, source: None, advice: String::new() }
    }

    /// A failed I/O request. The message explains misleading kernel errors: on a removed disk, reads return end of file
    /// and writes report ENOSPC.
    pub fn of_request(kind: Kind, op: Op, side: Side, path: &str, offset: u64, source: io::Error) -> Self {
        let (doing, name) = (op.name(), side.name());
        let what = match kind {
            Kind::Disconnected => format!("{name} {path} has disappeared: cannot {doing} it"),
            Kind::NoSpace => format!("{name} {path} is full: cannot {doing} it"),
            Kind::EndedEarly => format!("{name} {path} ended early: cannot {doing} it"),
            Kind::BrokenPipe => format!("cannot {doing} {name} {path}: its reader has closed it"),
            Kind::Corrupt => format!("cannot decompress {name} {path}"),
            _ => format!("cannot {doing} {name} {path}"),
        };
        Error { side: Some(side), offset: Some(offset), source: Some(source), ..Error::new(kind, what) }
    }

    /// A failed writeback of the page cache. It has no offset, because the kernel does not report one.
    pub fn of_writeback(kind: Kind, side: Side, path: &str, source: io::Error) -> Self {
        let name = side.name();
        let (what, advice) = match kind {
            Kind::Disconnected => (format!("{name} {path} has disappeared: cannot write it"), ""),
            Kind::NoSpace => (format!("{name} {path} is full: cannot write it"), "Free space there, then copy again."),
            _ => (format!("cannot write {name} {path}"), "The kernel log (dmesg) may show where. Then copy again."),
        };
        let which = "writeback of earlier data failed, and the kernel does not report which bytes";
        Error::new(kind, format!("{what}: {which}")).on(side).because(source).advise(advice)
    }

    /// Sets the side.
    pub fn on(mut self, side: Side) -> Self {
        self.side = Some(side);
        self
    }

    /// Sets the kernel's error.
    pub fn because(mut self, source: io::Error) -> Self {
        self.source = Some(source);
        self
    }

    /// Sets the logical block size, so that the message includes the sector number.
    pub fn in_sectors_of(mut self, sector_bytes: u32) -> Self {
        self.sector_bytes = sector_bytes;
        self
    }

    /// Sets the advice.
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.what)?;
        let Some(offset) = self.offset else { return Ok(()) };
        write!(out, " at byte {offset}")?;
        if self.sector_bytes > 1 {
            let bytes = self.sector_bytes;
            write!(out, " (sector {} of {bytes} bytes)", offset / u64::from(bytes))?;
        }
        Ok(())
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_request_names_operation_side_path_byte_and_sector() {
        let error = Error::of_request(Kind::Io, Op::Read, Side::Source, "/dev/sdb", 4096, io::Error::other("x"));
        let text = error.in_sectors_of(512).to_string();
        assert_eq!(text, "cannot read source /dev/sdb at byte 4096 (sector 8 of 512 bytes)");
    }

    #[test]
    fn a_removed_disk_is_reported_as_removed_for_every_errno() {
        for (op, device_failure) in [(Op::Read, io::ErrorKind::UnexpectedEof), (Op::Write, io::ErrorKind::StorageFull)]
        {
            let error = Error::of_request(Kind::Disconnected, op, Side::Dest, "/dev/sdb", 0, device_failure.into());
            assert!(error.to_string().starts_with("destination /dev/sdb has disappeared: cannot"), "{error}");
        }
    }

    #[test]
    fn each_kind_has_the_documented_exit_status() {
        let table = [(Kind::Usage, 2), (Kind::Refused, 3), (Kind::Io, 1), (Kind::Disconnected, 1), (Kind::NoSpace, 1)];
        for (kind, status) in table {
            assert_eq!(kind.exit_status(), status, "{kind:?}");
        }
    }
}
