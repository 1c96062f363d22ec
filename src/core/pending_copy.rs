//! An unfinished copy that a journal is about: data only.
use std::path::PathBuf;

/// An unfinished copy that `--resume` can continue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingCopy {
    /// Its journal.
    pub journal: PathBuf,
    /// The journal lies where a copy to this destination looks for it, without `--journal`.
    pub in_usual_place: bool,
    /// Where the bytes come from.
    pub source: PendingSide,
    /// Where they go.
    pub dest: PendingSide,
    /// What the destination is called now; `None`: it does not exist, or is not connected.
    pub dest_now: Option<PathBuf>,
    /// Bytes of the copy; `None` where that was not known when it began.
    pub len_bytes: Option<u64>,
    /// The copy is of the ranges that a list names.
    pub of_ranges: bool,
    /// The command needs `--count`: the copy does not end where the source does, or the destination is longer.
    pub is_counted: bool,
    /// Bytes that are durable on the destination.
    pub durable_bytes: u64,
    /// Bytes that could not be read from the source.
    pub unread_bytes: u64,
    /// When the copy began, RFC 3339 in UTC.
    pub began: String,
    /// When the journal was last written to, in the same form.
    pub saved: Option<String>,
    /// A process is running the copy now.
    pub running: bool,
}

/// A side of an unfinished copy, as its journal remembers it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingSide {
    /// Its path when the copy began.
    pub path: String,
    /// What it is: `file`, `block device`.
    pub kind: String,
    /// Where the copy begins on it, in bytes.
    pub offset_bytes: u64,
    /// Bytes in it; `None` for a stream, and for a file that did not exist yet.
    pub size_bytes: Option<u64>,
    /// Vendor and model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
}

impl PendingCopy {
    /// How much of it is durable, in hundredths, rounded down; `None` where its length is not known.
    pub fn percent(&self) -> Option<u64> {
        let len = self.len_bytes.filter(|&len| len > 0)?;
        Some((u128::from(self.durable_bytes.min(len)) * 100 / u128::from(len)) as u64)
    }
}
