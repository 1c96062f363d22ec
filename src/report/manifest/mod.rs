//! What manifests say, in words and as JSON: for `haul manifest show` and `haul manifest diff`.
mod text;

pub use text::{compared, shown};

use crate::core::Extent;
use crate::report::json::{RunReport, SCHEMA};
use serde::Serialize;

/// What one manifest says.
#[derive(Clone, Debug, Serialize)]
pub struct ManifestReport {
    /// Version of the schema.
    pub schema: u32,
    /// `manifest`.
    pub report: &'static str,
    /// Its path.
    pub path: String,
    /// Version of the haul that wrote it.
    pub version: String,
    /// When the copy began, RFC 3339 in UTC.
    pub created: String,
    /// `blake3` or `sha256`.
    pub algorithm: &'static str,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Bytes of the copy.
    pub len_bytes: u64,
    /// Blocks with a digest.
    pub digested_blocks: u64,
    /// Bytes told to be zeros.
    pub zero_bytes: u64,
    /// What could not be read of the source.
    pub unread: Vec<RunReport>,
    /// Digest of the whole; `null` where there is none.
    pub whole: Option<String>,
    /// The source.
    pub source: ManifestSide,
    /// The dest.
    pub dest: ManifestSide,
    /// Further dests, of a copy to several.
    pub also: Vec<ManifestSide>,
}

/// One side, as a manifest remembers it.
#[derive(Clone, Debug, Serialize)]
pub struct ManifestSide {
    /// Its path.
    pub path: String,
    /// `file`, `block device`, ….
    pub kind: String,
    /// Where the copy begins on it.
    pub offset_bytes: u64,
    /// Bytes in it; `null` for what is not known.
    pub size_bytes: Option<u64>,
    /// Vendor and model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// World wide name.
    pub wwn: Option<String>,
}

/// Where two manifests differ. Offsets count from the first byte of each copy.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// Version of the schema.
    pub schema: u32,
    /// `manifest_diff`.
    pub report: &'static str,
    /// Path of the first.
    pub first: String,
    /// Path of the second.
    pub second: String,
    /// Both are of the same bytes.
    pub equal: bool,
    /// In both, and not the same.
    pub differing: Vec<RunReport>,
    /// Only the first copy has these.
    pub only_in_first: Vec<RunReport>,
    /// Only the second copy has these.
    pub only_in_second: Vec<RunReport>,
}

impl Compared {
    /// Nothing found so far.
    pub fn new(first: &str, second: &str) -> Self {
        Compared {
            schema: SCHEMA,
            report: "manifest_diff",
            first: first.to_owned(),
            second: second.to_owned(),
            equal: true,
            differing: Vec::new(),
            only_in_first: Vec::new(),
            only_in_second: Vec::new(),
        }
    }
}

/// An extent for a report.
pub fn run(extent: Extent) -> RunReport {
    RunReport { offset_bytes: extent.offset, len_bytes: extent.len }
}
