//! An unfinished copy, as recorded in its journal: plain data.
use std::path::PathBuf;

/// An unfinished copy that `--resume` can continue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingCopy {
    /// Path of its journal.
    pub journal: PathBuf,
    /// Whether the journal has the default path for this destination, so that `--journal` is not needed.
    pub in_usual_place: bool,
    /// The source.
    pub source: PendingSide,
    /// The destination.
    pub dest: PendingSide,
    /// The current path of the destination; `None` if it does not exist or is not connected.
    pub dest_now: Option<PathBuf>,
    /// Length of the copy in bytes; `None` if it was not known at the start.
    pub len_bytes: Option<u64>,
    /// Whether the copy uses a list of ranges.
    pub of_ranges: bool,
    /// Whether the command needs `--count`: the copy ends before the end of the source, or the destination is longer.
    pub is_counted: bool,
    /// Bytes that are durable on the destination.
    pub durable_bytes: u64,
    /// Bytes that could not be read from the source.
    pub unread_bytes: u64,
    /// Start time of the copy, RFC 3339 in UTC.
    pub began: String,
    /// Time of the last write to the journal, in the same format.
    pub saved: Option<String>,
    /// Whether a process is running the copy now.
    pub running: bool,
}

/// A side of an unfinished copy, as recorded in its journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingSide {
    /// Its path at the start of the copy.
    pub path: String,
    /// The kind of endpoint: `file`, `block device`.
    pub kind: String,
    /// Offset on this side where the copy begins, in bytes.
    pub offset_bytes: u64,
    /// Size in bytes; `None` for a stream, or a file that did not exist yet.
    pub size_bytes: Option<u64>,
    /// Vendor and model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
}

impl PendingCopy {
    /// Durable part in percent, rounded down; `None` if the length is not known.
    pub fn percent(&self) -> Option<u64> {
        let len = self.len_bytes.filter(|&len| len > 0)?;
        Some((u128::from(self.durable_bytes.min(len)) * 100 / u128::from(len)) as u64)
    }
}
