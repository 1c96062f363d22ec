//! The lines of an undo journal.
use crate::core::BlockDigest;
use crate::ledger::first_line::FirstLine;
use crate::ledger::{FaultKind, SideIdentity};
use serde::{Deserialize, Serialize};

/// The version of the format that is written, and the newest that is read.
pub const FORMAT_VERSION: u64 = 1;

/// Of which device the originals are, and who wrote over them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Version of the haul that wrote it.
    pub version: String,
    /// When it was begun, RFC 3339 in UTC.
    pub created: String,
    /// Whose originals these are.
    pub device: SideIdentity,
    /// 256 random bits, from which [`super::Content`] is made.
    pub session: BlockDigest,
}

impl FirstLine for Head {
    const KEY: &'static str = "haul_undo";
    const FORMAT_VERSION: u64 = FORMAT_VERSION;

    fn check(&self) -> Result<(), FaultKind> {
        Ok(())
    }
}

/// A line behind the first: some originals, or how many such lines there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Record {
    /// Bytes of the device from `offset_bytes` on, which stand in the file from `at_bytes` on.
    Kept { offset_bytes: u64, len_bytes: u64, at_bytes: u64, digest: BlockDigest },
    /// The last line.
    End { kept_extents: u64 },
}
