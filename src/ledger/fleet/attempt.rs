//! What one worker records about its shard: that it is alive, and which bytes are durable. It rewrites the record as
//! long as it works.
use crate::core::hash_tree::Subtree;
use crate::core::{BlockDigest, Extent, ExtentSet};
use crate::ledger::first_line::FirstLine;
use crate::ledger::fleet::one_line;
use crate::ledger::{Fault, FaultKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format that is written, and the newest that is read.
pub const FORMAT_VERSION: u64 = 1;

/// Most extents in a record: of more, the longest are claimed, and the others copied again.
const EXTENTS_MAX: usize = 1000;

/// One attempt at one shard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// The job: the digest of its plan.
    pub job: String,
    /// The shard, from 1.
    pub shard: u64,
    /// The number of the attempt, from 1.
    pub attempt: u64,
    /// Where the worker runs.
    pub worker: WorkerIdentity,
    /// When it began, RFC 3339 in UTC.
    pub began: String,
    /// When this was written, by the clock of the worker: for people alone.
    pub written: String,
    /// How often it was written. Only a change of it is a sign of life.
    pub beat: u64,
    /// Bytes of the shard that are copied, including those of earlier attempts.
    pub copied_bytes: u64,
    /// Those of earlier attempts.
    pub already_bytes: u64,
    /// Bytes that are durable; offsets count from the first byte of the shard.
    pub durable: Vec<(u64, u64)>,
    /// Bytes that could not be read.
    pub unread: Vec<(u64, u64)>,
    /// If the plan has a digest of all data: the values of what is durable in its tree, with their offsets in the whole
    /// and their lengths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(u64, u64, BlockDigest)>,
    /// How it ended: it writes nothing more. `None`: it has not, or could not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
}

/// Where a worker runs, as far as it can be told from others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerIdentity {
    /// Host name.
    pub host: String,
    /// The kernel's random name for this run of the host.
    pub boot_id: String,
    /// The namespace of the process number.
    pub pid_namespace: String,
    /// Process number.
    pub pid: u32,
    /// When the process began, as the kernel counts.
    pub started_ticks: u64,
    /// A random number, because containers may have all of the others in common.
    pub random: u64,
    /// Variables by which batch engines name their tasks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub engine: BTreeMap<String, String>,
}

impl FirstLine for AttemptRecord {
    const KEY: &'static str = "haul_attempt";
    const FORMAT_VERSION: u64 = FORMAT_VERSION;

    fn check(&self) -> Result<(), FaultKind> {
        let values = self.values.iter().map(|(offset, len, _)| (*offset, *len));
        let mut all = self.durable.iter().chain(&self.unread).copied().chain(values);
        match all.find(|(offset, len)| offset.checked_add(*len).is_none()) {
            Some(_) => Err(FaultKind::Invalid("an extent beyond the last possible byte".into())),
            None => Ok(()),
        }
    }
}

impl AttemptRecord {
    /// Sets what is claimed.
    pub fn claim(&mut self, durable: &ExtentSet, unread: &ExtentSet) {
        self.durable = pairs(durable);
        self.unread = pairs(unread);
    }

    /// Sets what is claimed, with its values in the tree of the whole.
    pub fn claim_with_values(&mut self, durable: &ExtentSet, unread: &ExtentSet, values: &[Subtree]) {
        self.claim(durable, unread);
        self.values = values.iter().map(|part| (part.offset_bytes, part.len_bytes, part.value)).collect();
    }

    /// The values of what is durable.
    pub fn values(&self) -> Vec<Subtree> {
        let value = |&(offset_bytes, len_bytes, value)| Subtree { offset_bytes, len_bytes, value };
        self.values.iter().map(value).collect()
    }

    /// Claims what an older attempt did.
    pub fn continue_from(&mut self, older: &AttemptRecord) {
        self.durable.clone_from(&older.durable);
        self.values.clone_from(&older.values);
        self.copied_bytes = older.durable().total_bytes();
        self.already_bytes = self.copied_bytes;
    }

    /// The bytes that are durable.
    pub fn durable(&self) -> ExtentSet {
        self.durable.iter().map(|&(offset, len)| Extent::new(offset, len)).collect()
    }

    /// The text.
    ///
    /// # Errors
    /// It is too long.
    pub fn to_text(&self) -> Result<String, Fault> {
        one_line::to_text(self)
    }

    /// Reads the text.
    ///
    /// # Errors
    /// It is no such record, from a newer haul, or damaged.
    pub fn parse(text: &str) -> Result<AttemptRecord, Fault> {
        one_line::parse(text)
    }
}

/// The longest extents of a set.
fn pairs(set: &ExtentSet) -> Vec<(u64, u64)> {
    let mut all: Vec<Extent> = set.iter().collect();
    if all.len() > EXTENTS_MAX {
        all.sort_unstable_by_key(|extent| std::cmp::Reverse(extent.len));
        all.truncate(EXTENTS_MAX);
        all.sort_unstable_by_key(|extent| extent.offset);
    }
    all.into_iter().map(|extent| (extent.offset, extent.len)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_returns_what_was_written() {
        let mut record =
            AttemptRecord { job: "j".to_owned(), shard: 3, attempt: 2, beat: 9, ..AttemptRecord::default() };
        let durable: ExtentSet = [Extent::new(0, 10), Extent::new(20, 5)].into_iter().collect();
        record.claim(&durable, &ExtentSet::new());
        record.worker.engine.insert("SLURM_JOB_ID".to_owned(), "7".to_owned());
        let text = record.to_text().unwrap();
        assert!(text.starts_with("{\"haul_attempt\":1,"), "{text}");
        let read = AttemptRecord::parse(&text).unwrap();
        assert_eq!((read.durable(), &read), (durable, &record));
        assert!(AttemptRecord::parse(&text.replace("\"beat\":9", "\"beat\":8")).is_err());
    }

    #[test]
    fn the_longest_of_too_many_extents_are_claimed() {
        let mut record = AttemptRecord::default();
        let many: ExtentSet = (0..5000).map(|at| Extent::new(at * 100_000, at % 7 + 1)).collect();
        record.claim(&many, &many);
        let read = AttemptRecord::parse(&record.to_text().unwrap()).unwrap();
        assert!(read.durable.len() == EXTENTS_MAX && read.durable.iter().all(|(_, len)| *len >= 6));
        assert!(read.durable.is_sorted());
    }
}
