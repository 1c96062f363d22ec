use crate::core::{Error, Kind};
use crate::report::text;
use serde::Serialize;

/// An error as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct FailureReport {
    /// The kind: `usage`, `refused`, `open`, `io`, `gone`, `no_space`, `corrupt`, `ended_early`, `broken_pipe`,
    /// `unsupported`, `cancelled`.
    pub kind: &'static str,
    /// The message as in the text output, without advice.
    pub message: String,
    /// `source` or `dest`, if it concerns one.
    pub side: Option<&'static str>,
    /// Byte offset on that side.
    pub offset_bytes: Option<u64>,
    /// The same in logical blocks of that side.
    pub sector: Option<u64>,
    /// Logical block size of that side; 1 if it has none.
    pub sector_bytes: u32,
    /// The kernel's error number.
    pub errno: Option<i32>,
    /// What to do next.
    pub advice: Option<String>,
}

impl From<&Error> for FailureReport {
    fn from(error: &Error) -> Self {
        let sector_bytes = u64::from(error.sector_bytes);
        FailureReport {
            kind: kind_name(error.kind),
            message: text::message(error),
            side: error.side.map(|side| side.key()),
            offset_bytes: error.offset,
            sector: error.offset.filter(|_| sector_bytes > 1).map(|offset| offset / sector_bytes),
            sector_bytes: error.sector_bytes,
            errno: error.source.as_ref().and_then(|source| source.raw_os_error()),
            advice: Some(text::advice(error).to_owned()).filter(|advice| !advice.is_empty()),
        }
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Usage => "usage",
        Kind::Refused => "refused",
        Kind::Open => "open",
        Kind::Io => "io",
        Kind::Disconnected => "gone",
        Kind::NoSpace => "no_space",
        Kind::Corrupt => "corrupt",
        Kind::EndedEarly => "ended_early",
        Kind::BrokenPipe => "broken_pipe",
        Kind::Unsupported => "unsupported",
        Kind::Cancelled => "cancelled",
    }
}
