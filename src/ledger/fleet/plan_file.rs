//! The plan of a copy by many workers: one sealed line, written once and never changed.
use crate::core::{BlockHash, Extent, OnError};
use crate::ledger::first_line::FirstLine;
use crate::ledger::journal::Sample;
use crate::ledger::lines::{Line, Lines};
use crate::ledger::seal::Seal;
use crate::ledger::{Fault, FaultKind, RecordFile, SideIdentity};
use serde::{Deserialize, Serialize};
use std::io::BufRead;

/// The version of the format that is written, and the newest that is read.
pub const FORMAT_VERSION: u64 = 1;

/// Most shards of a plan.
const SHARDS_MAX: u64 = 1_000_000;

/// One side of the copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetSide {
    /// The address that workers open. Of a file that is created, its temporary one.
    pub address: String,
    /// What identifies it; its offset is that of the whole copy.
    #[serde(flatten)]
    pub identity: SideIdentity,
    /// When a source file was modified, in seconds of the Unix epoch; `None`: it is no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// Of a dest device that reports neither serial number nor WWN: the kernel's random name for the run of the host
    /// whose device it is. Another host could have another device by the same path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
}

impl FleetSide {
    /// A side that its identity tells from others.
    pub fn new(address: String, identity: SideIdentity) -> FleetSide {
        FleetSide { address, identity, modified: None, boot_id: None }
    }
}

/// What happens to zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FleetZeros {
    /// Holes of the source are skipped or zeroed.
    Holes,
    /// Zeros in data too.
    Detect,
    /// They are read and written like data.
    Write,
}

/// The upload that becomes the dest, if it is an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetUpload {
    /// The store's name for it.
    pub id: String,
    /// Bytes of each part but the last. No part is in two shards.
    pub part_bytes: u64,
}

/// How the data is digested, and what is recorded of that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetDigest {
    /// The algorithm. Only values of a tree can be merged.
    pub algorithm: BlockHash,
    /// Block size of digests, a power of two; no block is in two shards.
    pub block_bytes: u64,
    /// Whether the digest of each block is recorded, for a manifest.
    pub manifest: bool,
}

/// The plan of a copy by many workers. Nothing in it is secret, and nothing is left to decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetPlan {
    /// Version of the haul that wrote it.
    pub version: String,
    /// When, RFC 3339 in UTC.
    pub created: String,
    /// The source.
    pub source: FleetSide,
    /// The dest, as workers write it.
    pub dest: FleetSide,
    /// The path that a dest file gets when all is copied; `None`: the dest has its name already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_path: Option<String>,
    /// Length of the copy, in bytes.
    pub len_bytes: u64,
    /// What offset and length of each shard are a multiple of, in bytes.
    pub block_bytes: u64,
    /// Length of each shard but the last, in bytes.
    pub shard_bytes: u64,
    /// Number of shards.
    pub shards: u64,
    /// What happens to zeros.
    pub zeros: FleetZeros,
    /// Whether unreadable sectors are skipped.
    pub skip_unreadable: bool,
    /// How often unreadable sectors are read again.
    pub retries: u32,
    /// Whether each worker reads its shard back.
    pub verify: bool,
    /// Most bytes per second of each worker; `None`: no limit.
    pub limit_bytes_per_s: Option<u64>,
    /// The digest of all data, which `haul finish` merges; `None`: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<FleetDigest>,
    /// The upload, if the dest is an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<FleetUpload>,
    /// Address of the shared state.
    pub state: String,
    /// Time without a sign of life after which a worker counts as dead, in seconds.
    pub lease_s: u64,
    /// Digests of some bytes of the source.
    pub samples: Vec<Sample>,
}

impl FirstLine for FleetPlan {
    const KEY: &'static str = "haul_plan";
    const FORMAT_VERSION: u64 = FORMAT_VERSION;

    fn check(&self) -> Result<(), FaultKind> {
        let invalid = |what: &str| Err(FaultKind::Invalid(what.to_owned()));
        let last = self.source.identity.offset_bytes.max(self.dest.identity.offset_bytes);
        if self.len_bytes == 0 || last.checked_add(self.len_bytes).is_none_or(|end| i64::try_from(end).is_err()) {
            return invalid("a copy of nothing, or beyond the last possible byte");
        }
        if self.block_bytes == 0 || self.shard_bytes == 0 || !self.shard_bytes.is_multiple_of(self.block_bytes) {
            return invalid("shards that are no multiple of a block");
        }
        if self.shards != self.len_bytes.div_ceil(self.shard_bytes) || self.shards > SHARDS_MAX {
            return invalid("a number of shards that does not fit their length");
        }
        let parts = self.upload.as_ref().map(|upload| upload.part_bytes);
        if parts.is_some_and(|bytes| bytes == 0 || !self.shard_bytes.is_multiple_of(bytes)) {
            return invalid("parts of the upload that cross shards");
        }
        if let Some(FleetDigest { algorithm, block_bytes, .. }) = self.digest
            && (algorithm != BlockHash::Blake3Tree
                || !(64 << 10..=1 << 30).contains(&block_bytes)
                || !block_bytes.is_power_of_two()
                || !self.shard_bytes.is_multiple_of(block_bytes))
        {
            return invalid("digests that cannot be merged, or blocks of them that cross shards");
        }
        if self.lease_s == 0 {
            return invalid("a lease of no time");
        }
        let beyond = |sample: &Sample| sample.offset_bytes.checked_add(sample.len_bytes) > Some(self.len_bytes);
        if self.samples.iter().any(|sample| beyond(sample) || sample.len_bytes > self.len_bytes) {
            return invalid("a sample from beyond the end of the copy");
        }
        Ok(())
    }
}

impl FleetPlan {
    /// The file: one line.
    ///
    /// # Errors
    /// It contradicts itself, or is too long.
    pub fn to_text(&self) -> Result<String, Fault> {
        let fault = |kind| Fault::of(RecordFile::Plan, kind);
        Seal::default().close(&self.to_json().map_err(fault)?).map_err(fault)
    }

    /// Reads the file.
    ///
    /// # Errors
    /// It is not a plan, from a newer haul, damaged, or has more than one line.
    pub fn read_file(input: impl BufRead) -> Result<FleetPlan, Fault> {
        let mut lines = Lines::new(RecordFile::Plan, input);
        let (plan, _) = FleetPlan::read(&mut lines)?;
        match lines.advance()? {
            Line::None => Ok(plan),
            Line::Whole | Line::Torn => Err(lines.fault(FaultKind::Damaged)),
        }
    }

    /// What identifies the job: the BLAKE3 digest of its file, in hexadecimal.
    ///
    /// # Errors
    /// As for [`FleetPlan::to_text`].
    pub fn job(&self) -> Result<String, Fault> {
        Ok(blake3::hash(self.to_text()?.as_bytes()).to_hex().to_string())
    }

    /// The bytes of shard `number`, from 1; offsets count from the first byte of the copy. `None`: there is no such
    /// shard.
    pub fn shard(&self, number: u64) -> Option<Extent> {
        let before = number.checked_sub(1).filter(|&before| before < self.shards)?;
        let offset = before * self.shard_bytes;
        Some(Extent::new(offset, self.shard_bytes.min(self.len_bytes - offset)))
    }

    /// Whether all data is one block of digests: its digest is none that parts give.
    pub fn is_one_block(&self) -> bool {
        self.digest.as_ref().is_some_and(|digest| self.len_bytes <= digest.block_bytes)
    }

    /// What happens to unreadable sectors.
    pub fn on_error(&self) -> OnError {
        OnError { skip: self.skip_unreadable, retries: self.retries }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn plan(len_bytes: u64, shard_bytes: u64) -> FleetPlan {
        let side = |path: &str| {
            let facts = crate::core::Facts::new(path, crate::core::EndpointKind::File);
            FleetSide::new(path.to_owned(), SideIdentity::of(&facts, 0))
        };
        FleetPlan {
            version: "0".to_owned(),
            created: "2026-11-25T10:00:00Z".to_owned(),
            source: side("/a"),
            dest: side("/b"),
            final_path: None,
            len_bytes,
            block_bytes: 10,
            shard_bytes,
            shards: len_bytes.div_ceil(shard_bytes),
            zeros: FleetZeros::Holes,
            skip_unreadable: false,
            retries: 0,
            verify: false,
            limit_bytes_per_s: None,
            digest: None,
            upload: None,
            state: "/state".to_owned(),
            lease_s: 60,
            samples: Vec::new(),
        }
    }

    fn read(text: &str) -> Result<FleetPlan, String> {
        FleetPlan::read_file(text.as_bytes()).map_err(|fault| fault.to_string())
    }

    #[test]
    fn shards_cover_each_byte_once() {
        let plan = plan(95, 30);
        let shards: Vec<Extent> = (1..=plan.shards).map(|number| plan.shard(number).unwrap()).collect();
        let expected = [(0, 30), (30, 30), (60, 30), (90, 5)].map(|(offset, len)| Extent::new(offset, len));
        assert_eq!(shards, expected);
        assert_eq!((plan.shard(0), plan.shard(5)), (None, None));
    }

    #[test]
    fn a_plan_returns_what_was_written_and_every_change_is_detected() {
        let plan = plan(95, 30);
        let text = plan.to_text().unwrap();
        assert!(text.starts_with("{\"haul_plan\":1,") && text.ends_with("\"}\n"), "{text}");
        assert_eq!(read(&text), Ok(plan.clone()));
        assert_eq!(plan.job().unwrap(), blake3::hash(text.as_bytes()).to_hex().to_string());
        assert_eq!(
            read(&text.replace("\"shards\":4", "\"shards\":5")),
            Err("plan: line 1: checksum mismatch: it is damaged".to_owned())
        );
        assert!(read(&format!("{text}{text}")).is_err() && read(text.trim_end()).is_err() && read("{}").is_err());
        assert!(read(&text.replace("plan\":1", "plan\":2")).unwrap_err().contains("newer"));
    }

    #[test]
    fn a_plan_that_contradicts_itself_is_not_written() {
        let changes: [fn(&mut FleetPlan); 8] = [
            |plan| plan.shards = 5,
            |plan| plan.len_bytes = 0,
            |plan| plan.block_bytes = 7,
            |plan| plan.lease_s = 0,
            |plan| {
                let algorithm = BlockHash::Blake3Tree;
                plan.digest = Some(FleetDigest { algorithm, block_bytes: 65536, manifest: false });
            },
            |plan| plan.source.identity.offset_bytes = i64::MAX as u64,
            |plan| plan.upload = Some(FleetUpload { id: "x".to_owned(), part_bytes: 20 }),
            |plan| {
                let digest = crate::core::BlockDigest::blake3(b"");
                plan.samples = vec![Sample { offset_bytes: 90, len_bytes: 6, digest }];
            },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut wrong = plan(95, 30);
            change(&mut wrong);
            assert!(wrong.to_text().is_err(), "{number}");
        }
    }
}
