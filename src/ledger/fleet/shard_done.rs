//! That a shard is done: created once, by the first worker that has all of it durable.
use super::WorkerIdentity;
use super::lines_of_record::{self, More};
use crate::core::hash_tree::Subtree;
use crate::core::{Extent, ExtentSet};
use crate::ledger::first_line::FirstLine;
use crate::ledger::{Fault, FaultKind};
use serde::{Deserialize, Serialize};

/// The version of the format that is written, and the newest that is read.
pub const FORMAT_VERSION: u64 = 1;

/// A shard that is done: one line, and lines with its parts, unread extents and digests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardDone {
    /// The job: the digest of its plan.
    pub job: String,
    /// The shard, from 1.
    pub shard: u64,
    /// The attempt that finished it.
    pub attempt: u64,
    /// Where it ran.
    pub worker: WorkerIdentity,
    /// When that attempt began and ended, RFC 3339 in UTC.
    pub began: String,
    /// See `began`.
    pub ended: String,
    /// Bytes of the shard.
    pub len_bytes: u64,
    /// Whether it was read back and compared.
    pub verified: bool,
    /// Whether the dest is in memory: then a power loss destroys what was flushed.
    #[serde(default)]
    pub in_memory: bool,
    /// Number of parts, in further lines.
    pub part_count: u64,
    /// Number of unread extents, in further lines.
    pub unread_count: u64,
    /// Number of values, in further lines.
    #[serde(default)]
    pub value_count: u64,
    /// Parts of the upload, by number from 0, with their tags.
    #[serde(skip)]
    pub parts: Vec<(u32, String)>,
    /// Bytes that could not be read and are zeros; offsets count from the first byte of the source.
    #[serde(skip)]
    pub unread: Vec<(u64, u64)>,
    /// Values of the tree of the whole that the shard gives, if the plan has a digest of all data.
    #[serde(skip)]
    pub values: Vec<Subtree>,
}

fn counts(lists: &More) -> [u64; 3] {
    [lists.parts.len() as u64, lists.unread.len() as u64, lists.values.len() as u64]
}

impl FirstLine for ShardDone {
    const KEY: &'static str = "haul_shard_done";
    const FORMAT_VERSION: u64 = FORMAT_VERSION;

    fn check(&self) -> Result<(), FaultKind> {
        match self.unread.iter().any(|(offset, len)| offset.checked_add(*len).is_none()) {
            true => Err(FaultKind::Invalid("an extent beyond the last possible byte".into())),
            false => Ok(()),
        }
    }
}

impl ShardDone {
    /// The text.
    ///
    /// # Errors
    /// A line is too long.
    pub fn to_text(&self) -> Result<String, Fault> {
        let values = self.values.iter().map(|part| (part.offset_bytes, part.len_bytes, part.value)).collect();
        let (parts, unread) = (self.parts.clone(), self.unread.clone());
        let lists = More { parts, unread, values, ..More::default() };
        let [part_count, unread_count, value_count] = counts(&lists);
        let head = ShardDone { part_count, unread_count, value_count, ..self.clone() };
        lines_of_record::to_text(&head, &lists)
    }

    /// Reads the text.
    ///
    /// # Errors
    /// It is no such record, from a newer haul, damaged or incomplete.
    pub fn parse(text: &str) -> Result<ShardDone, Fault> {
        let is_complete = |head: &ShardDone, lists: &More| {
            counts(lists) == [head.part_count, head.unread_count, head.value_count]
                && lists.unread.iter().all(|(offset, len)| offset.checked_add(*len).is_some())
        };
        let (head, lists) = lines_of_record::parse(text, is_complete)?;
        let value = |(offset_bytes, len_bytes, value)| Subtree { offset_bytes, len_bytes, value };
        let values = lists.values.into_iter().map(value).collect();
        Ok(ShardDone { parts: lists.parts, unread: lists.unread, values, ..head })
    }

    /// The bytes that could not be read.
    pub fn unread(&self) -> ExtentSet {
        self.unread.iter().map(|&(offset, len)| Extent::new(offset, len)).collect()
    }

    /// Whether another worker found the same: the same parts, the same unread bytes, and the same digests.
    pub fn agrees_with(&self, other: &ShardDone) -> bool {
        let tags = |done: &ShardDone| {
            done.parts.iter().map(|(number, tag)| (*number, tag.trim_matches('"').to_owned())).collect::<Vec<_>>()
        };
        self.len_bytes == other.len_bytes
            && tags(self) == tags(other)
            && self.unread() == other.unread()
            && self.values == other.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::BlockDigest;

    #[test]
    fn a_record_with_many_parts_returns_what_was_written() {
        let parts: Vec<_> = (0..1000).map(|number| (number, format!("\"{number:032x}-1\""))).collect();
        let unread: Vec<_> = (0..900).map(|number| (number * 4096, 512)).collect();
        let done = ShardDone { shard: 7, len_bytes: 9, parts, unread, part_count: 1000, ..ShardDone::default() };
        let value = |number: u64| Subtree::at(Extent::new(number << 20, 1 << 20), BlockDigest::blake3(b"any"));
        let values = (0..30).map(value).collect();
        let done = ShardDone { unread_count: 900, value_count: 30, values, ..done };
        let text = done.to_text().unwrap();
        assert_eq!((ShardDone::parse(&text).unwrap(), text.lines().count()), (done.clone(), 8));
        let lines: Vec<&str> = text.lines().collect();
        assert!(ShardDone::parse(&(lines[..7].join("\n") + "\n")).is_err(), "a line is missing");
        assert!(ShardDone::parse(&text.replace("[7,", "[8,")).is_err());
        let mut other = done.clone();
        other.parts[3].1 = format!("{:032x}-1", 3);
        assert!(done.agrees_with(&other), "some stores omit the quotes");
        let changed = ShardDone { values: done.values[1..].to_vec(), ..done.clone() };
        assert!(!done.agrees_with(&changed), "another digest");
        other.parts[3].1 = "another".to_owned();
        assert!(!done.agrees_with(&other));
    }
}
