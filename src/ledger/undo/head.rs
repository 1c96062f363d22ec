//! The lines of an undo journal.
use crate::core::BlockDigest;
use crate::ledger::first_line::FirstLine;
use crate::ledger::{FaultKind, SideIdentity};
use serde::{Deserialize, Serialize};

/// The version of the format that is written, and the newest that is read.
pub const FORMAT_VERSION: u64 = 1;

/// The device with the original data, and the session that overwrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Version of the haul that wrote it.
    pub version: String,
    /// When it was created, RFC 3339 in UTC.
    pub created: String,
    /// The device.
    pub device: SideIdentity,
    /// 256 random bits, from which [`super::Content`] is generated.
    pub session: BlockDigest,
}

impl FirstLine for Head {
    const KEY: &'static str = "haul_undo";
    const FORMAT_VERSION: u64 = FORMAT_VERSION;

    fn check(&self) -> Result<(), FaultKind> {
        Ok(())
    }
}

/// A line after the first: an extent of original data, or the number of such lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Record {
    /// The bytes of the device at `offset_bytes`, which are in the file at `at_bytes`.
    Kept { offset_bytes: u64, len_bytes: u64, at_bytes: u64, digest: BlockDigest },
    /// The last line.
    End { kept_extents: u64 },
}
