//! The first line of a manifest.
use crate::core::BlockHash;
use crate::ledger::first_line::FirstLine;
use crate::ledger::{FaultKind, SideIdentity};
use serde::{Deserialize, Serialize};

/// The version of the format that is written, and the newest that is read.
pub const FORMAT_VERSION: u64 = 1;

/// Minimum block size of digests, in bytes.
pub const BLOCK_BYTES_MIN: u64 = 64 << 10;

/// Maximum block size of digests, in bytes.
pub const BLOCK_BYTES_MAX: u64 = 1 << 30;

/// The copy that a manifest describes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Version of the haul that wrote it.
    pub version: String,
    /// When the copy began, RFC 3339 in UTC.
    pub created: String,
    /// The algorithm of the block digests.
    pub algorithm: BlockHash,
    /// The block size of digests: a power of two from `BLOCK_BYTES_MIN` to `BLOCK_BYTES_MAX`. The last block
    /// may be shorter.
    pub block_bytes: u64,
    /// Length of the copy in bytes; `None` if it was unknown at the start.
    pub len_bytes: Option<u64>,
    /// The source.
    pub source: SideIdentity,
    /// The dest.
    pub dest: SideIdentity,
    /// Further dests, if there are several; the copy begins at the same offset on all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<SideIdentity>,
    /// The copy was to a range of its dest, a file: bytes after that range are not part of the copy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub range: bool,
}

impl Head {
    /// All dests.
    pub fn dests(&self) -> impl Iterator<Item = &SideIdentity> {
        std::iter::once(&self.dest).chain(&self.also)
    }
}

impl FirstLine for Head {
    const KEY: &'static str = "haul_manifest";
    const FORMAT_VERSION: u64 = FORMAT_VERSION;

    fn check(&self) -> Result<(), FaultKind> {
        let bytes = self.block_bytes;
        if !bytes.is_power_of_two() || !(BLOCK_BYTES_MIN..=BLOCK_BYTES_MAX).contains(&bytes) {
            let words = format!("a block length of {bytes} bytes: it must be a power of two from 64 KiB to 1 GiB");
            return Err(FaultKind::Invalid(words));
        }
        Ok(())
    }
}
