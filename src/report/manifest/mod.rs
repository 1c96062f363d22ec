//! The contents of manifests, as text and as JSON: for `haul manifest show` and `haul manifest diff`.
mod text;

pub use text::{compared, shown};

use crate::core::Extent;
use crate::report::json::{RunReport, SCHEMA};
use serde::Serialize;

/// The contents of one manifest.
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
    /// `blake3-tree`, `blake3` or `sha256`.
    pub algorithm: &'static str,
    /// Block size in bytes.
    pub block_bytes: u64,
    /// Length of the copy in bytes.
    pub len_bytes: u64,
    /// Blocks with a digest.
    pub digested_blocks: u64,
    /// Bytes recorded as zeros.
    pub zero_bytes: u64,
    /// The unreadable parts of the source.
    pub unread: Vec<RunReport>,
    /// The digest of all data; `null` if there is none.
    pub whole: Option<String>,
    /// The source.
    pub source: ManifestSide,
    /// The dest.
    pub dest: ManifestSide,
    /// Further dests, of a copy to several.
    pub also: Vec<ManifestSide>,
}

/// One side, as recorded in a manifest.
#[derive(Clone, Debug, Serialize)]
pub struct ManifestSide {
    /// Its path.
    pub path: String,
    /// `file`, `block device`, ….
    pub kind: String,
    /// The offset at which the copy begins on it.
    pub offset_bytes: u64,
    /// The ranges of a copy of ranges, in order; otherwise empty.
    pub ranges: Vec<RunReport>,
    /// Size in bytes; `null` if unknown.
    pub size_bytes: Option<u64>,
    /// Vendor and model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// World wide name.
    pub wwn: Option<String>,
    /// ETag or Last-Modified of a web resource.
    pub version: Option<String>,
}

/// The differences between two manifests. Offsets count from the first byte of each copy.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// Version of the schema.
    pub schema: u32,
    /// `manifest_diff`.
    pub report: &'static str,
    /// Path of the first manifest.
    pub first: String,
    /// Path of the second manifest.
    pub second: String,
    /// Both describe the same data.
    pub equal: bool,
    /// Bytes in both copies that differ.
    pub differing: Vec<RunReport>,
    /// Bytes only in the first copy.
    pub only_in_first: Vec<RunReport>,
    /// Bytes only in the second copy.
    pub only_in_second: Vec<RunReport>,
}

impl Compared {
    /// A comparison without differences.
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

/// An extent as a run.
pub fn run(extent: Extent) -> RunReport {
    RunReport { offset_bytes: extent.offset, len_bytes: extent.len }
}
