//! What went wrong, where, and what to do next.
use super::{Op, Side};
use std::{error, fmt, io};

/// The library's results.
pub type Result<T> = std::result::Result<T, Error>;

/// What sort of failure it is; decides the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The command line asks for something that is invalid. Exit status 2.
    Usage,
    /// It could be done and would be a mistake. Exit status 3.
    Refused,
    /// A path does not exist, or may not be opened.
    Open,
    /// The device or file system reported an error.
    Io,
    /// The device was there and no longer is.
    Gone,
    /// The dest is full.
    NoSpace,
    /// The source has fewer bytes than it said.
    EndedEarly,
    /// The reader of the dest pipe closed it.
    BrokenPipe,
    /// The kernel or a limit forbids what was asked for by name: an engine, direct I/O.
    Unsupported,
    /// The copy was asked to stop.
    Cancelled,
}

impl Kind {
    /// The exit status of a run that ended by this: 1 I/O failure, 2 usage, 3 refused for safety.
    pub fn exit_status(self) -> u8 {
        match self {
            Kind::Usage => 2,
            Kind::Refused => 3,
            _ => 1,
        }
    }
}

/// A failure with all that its reader needs: what was asked, what is wrong, where, and what to do.
///
/// `Display` prints one line without `source` and without `advice`; [`Error::source`] and [`Error::advice`] give those.
#[derive(Debug)]
pub struct Error {
    /// What sort.
    pub kind: Kind,
    /// What went wrong in words, the path in it: "cannot read source /dev/sdb".
    pub what: String,
    /// The side, where one is to blame.
    pub side: Option<Side>,
    /// Byte offset on that side, where one is known.
    pub offset: Option<u64>,
    /// Logical block size of that side, to name the sector; 1 where there are none.
    pub sector_bytes: u32,
    /// The kernel's error.
    pub source: Option<io::Error>,
    /// What to do next, a full sentence; empty where nothing helps.
    pub advice: String,
}

impl Error {
    /// A failure with neither side nor offset.
    pub fn new(kind: Kind, what: impl Into<String>) -> Self {
        let what = what.into();
        Error { kind, what, side: None, offset: None, sector_bytes: 1, source: None, advice: String::new() }
    }

    /// A failure of an I/O request, in words that say what it means: a disk that was pulled out reads as its end and
    /// writes as full, so what the kernel says is not enough.
    pub fn of_request(kind: Kind, op: Op, side: Side, path: &str, offset: u64, source: io::Error) -> Self {
        let (doing, name) = (op.name(), side.name());
        let what = match kind {
            Kind::Gone => format!("{name} {path} has disappeared: cannot {doing} it"),
            Kind::NoSpace => format!("{name} {path} is full: cannot {doing} it"),
            Kind::EndedEarly => format!("{name} {path} ended early: cannot {doing} it"),
            Kind::BrokenPipe => format!("cannot {doing} {name} {path}: its reader has closed it"),
            _ => format!("cannot {doing} {name} {path}"),
        };
        Error { side: Some(side), offset: Some(offset), source: Some(source), ..Error::new(kind, what) }
    }

    /// A failure that was found when the page cache was written back: it has no place, for the kernel reports none.
    pub fn of_writeback(kind: Kind, side: Side, path: &str, source: io::Error) -> Self {
        let name = side.name();
        let (what, advice) = match kind {
            Kind::Gone => (format!("{name} {path} has disappeared: cannot write it"), ""),
            Kind::NoSpace => (format!("{name} {path} is full: cannot write it"), "Free space there, then copy again."),
            _ => (format!("cannot write {name} {path}"), "The kernel log (dmesg) may show where. Then copy again."),
        };
        let which = "writeback of earlier data failed, and the kernel does not report which bytes";
        Error::new(kind, format!("{what}: {which}")).on(side).because(source).advise(advice)
    }

    /// The same with a side.
    pub fn on(mut self, side: Side) -> Self {
        self.side = Some(side);
        self
    }

    /// The same with the kernel's error.
    pub fn because(mut self, source: io::Error) -> Self {
        self.source = Some(source);
        self
    }

    /// The same with the logical block size, so that the message can name the sector.
    pub fn in_sectors_of(mut self, sector_bytes: u32) -> Self {
        self.sector_bytes = sector_bytes;
        self
    }

    /// The same with what to do next.
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
    fn a_disk_that_is_gone_is_called_so_whatever_the_kernel_says() {
        for (op, said) in [(Op::Read, io::ErrorKind::UnexpectedEof), (Op::Write, io::ErrorKind::StorageFull)] {
            let error = Error::of_request(Kind::Gone, op, Side::Dest, "/dev/sdb", 0, said.into());
            assert!(error.to_string().starts_with("destination /dev/sdb has disappeared: cannot"), "{error}");
        }
    }

    #[test]
    fn each_kind_has_the_documented_exit_status() {
        let table = [(Kind::Usage, 2), (Kind::Refused, 3), (Kind::Io, 1), (Kind::Gone, 1), (Kind::NoSpace, 1)];
        for (kind, status) in table {
            assert_eq!(kind.exit_status(), status, "{kind:?}");
        }
    }
}
