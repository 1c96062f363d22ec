//! The first line of a manifest.
use crate::core::{BlockDigest, HashKind};
use crate::ledger::first_line::FirstLine;
use crate::ledger::{FaultKind, SideIdentity};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The version of the format that is written, and the newest that is read.
pub const FORMAT_VERSION: u64 = 1;

/// The least bytes of a digested block.
pub const BLOCK_BYTES_MIN: u64 = 64 << 10;

/// The most bytes of a digested block.
pub const BLOCK_BYTES_MAX: u64 = 1 << 30;

/// What a manifest is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Version of the haul that wrote it.
    pub version: String,
    /// When the copy began, RFC 3339 in UTC.
    pub created: String,
    /// What digests the blocks; one that [`BlockDigest::is_made_by`] is true of.
    #[serde(serialize_with = "name_of", deserialize_with = "kind_named")]
    pub algorithm: HashKind,
    /// Bytes of a digested block: a power of two from `BLOCK_BYTES_MIN` to `BLOCK_BYTES_MAX`. The last block
    /// may be shorter.
    pub block_bytes: u64,
    /// Bytes of the copy; `None` where that was not known when it began.
    pub len_bytes: Option<u64>,
    /// Where the bytes came from.
    pub source: SideIdentity,
    /// Where they went.
    pub dest: SideIdentity,
    /// Where else they went, of a copy to several dests; all of them begin at the same byte.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<SideIdentity>,
    /// The copy was to a range of its dest, a file: what that holds behind the range is no part of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub range: bool,
}

impl Head {
    /// Everything that the bytes went to.
    pub fn dests(&self) -> impl Iterator<Item = &SideIdentity> {
        std::iter::once(&self.dest).chain(&self.also)
    }
}

fn name_of<S: Serializer>(kind: &HashKind, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(kind.name())
}

fn kind_named<'de, D: Deserializer<'de>>(input: D) -> Result<HashKind, D::Error> {
    let name = String::deserialize(input)?;
    let known = [HashKind::Blake3, HashKind::Sha256].into_iter().find(|kind| kind.name() == name);
    known.ok_or_else(|| serde::de::Error::custom(format!("algorithm \"{name}\" is not known")))
}

impl FirstLine for Head {
    const KEY: &'static str = "haul_manifest";
    const FORMAT_VERSION: u64 = FORMAT_VERSION;

    fn check(&self) -> Result<(), FaultKind> {
        if !BlockDigest::is_made_by(self.algorithm) {
            return Err(FaultKind::Senseless(format!("{} does not identify blocks", self.algorithm.name())));
        }
        let bytes = self.block_bytes;
        if !bytes.is_power_of_two() || !(BLOCK_BYTES_MIN..=BLOCK_BYTES_MAX).contains(&bytes) {
            let words = format!("a block length of {bytes} bytes: it must be a power of two from 64 KiB to 1 GiB");
            return Err(FaultKind::Senseless(words));
        }
        Ok(())
    }
}
