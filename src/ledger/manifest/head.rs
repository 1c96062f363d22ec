//! The first line of a manifest.
use crate::contract::{BlockDigest, HashKind};
use crate::ledger::seal::version_in;
use crate::ledger::{FaultKind, SideIdentity};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The version of the format that is written, and the newest that is read.
pub const FORMAT_VERSION: u64 = 1;

/// Bytes of a digested block where nobody asks for another length.
pub const BLOCK_BYTES: u64 = 4 << 20;

/// The least bytes of a digested block.
pub const BLOCK_BYTES_MIN: u64 = 64 << 10;

/// The most bytes of a digested block.
pub const BLOCK_BYTES_MAX: u64 = 1 << 30;

const KEY: &str = "haul_manifest";

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
    /// Bytes of a digested block: a power of two from [`BLOCK_BYTES_MIN`] to [`BLOCK_BYTES_MAX`]. The last block
    /// may be shorter.
    pub block_bytes: u64,
    /// Bytes of the copy; `None` where that was not known when it began.
    pub len_bytes: Option<u64>,
    /// Where the bytes came from.
    pub source: SideIdentity,
    /// Where they went.
    pub dest: SideIdentity,
}

#[derive(Serialize)]
struct HeadLine<'a> {
    haul_manifest: u64,
    #[serde(flatten)]
    head: &'a Head,
}

fn name_of<S: Serializer>(kind: &HashKind, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(kind.name())
}

fn kind_named<'de, D: Deserializer<'de>>(input: D) -> Result<HashKind, D::Error> {
    let name = String::deserialize(input)?;
    let known = [HashKind::Blake3, HashKind::Sha256].into_iter().find(|kind| kind.name() == name);
    known.ok_or_else(|| serde::de::Error::custom(format!("algorithm \"{name}\" is not known")))
}

impl Head {
    /// The first line as JSON, not yet sealed.
    pub(super) fn to_json(&self) -> Result<String, FaultKind> {
        self.check()?;
        let line = HeadLine { haul_manifest: FORMAT_VERSION, head: self };
        serde_json::to_string(&line).map_err(|error| FaultKind::Senseless(error.to_string()))
    }

    /// Whether a first line is that of a manifest that this haul can read; to be asked before its check, which a later
    /// format may make in another way.
    pub(super) fn is_known(line: &[u8]) -> Result<(), FaultKind> {
        match version_in(line, KEY) {
            None => Err(FaultKind::Other),
            Some(version) if version > FORMAT_VERSION => Err(FaultKind::Newer { version }),
            Some(0) => Err(FaultKind::Senseless("there never was a format version 0".into())),
            Some(_) => Ok(()),
        }
    }

    /// The head out of a first line whose check held.
    pub(super) fn parse(line: &[u8]) -> Result<Self, FaultKind> {
        let head: Head = serde_json::from_slice(line).map_err(|error| FaultKind::Senseless(error.to_string()))?;
        head.check()?;
        Ok(head)
    }

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
