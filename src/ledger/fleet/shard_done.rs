//! That a shard is done: created once, by the first worker that has all of it durable.
use crate::core::{Extent, ExtentSet};
use crate::ledger::first_line::FirstLine;
use crate::ledger::fleet::WorkerIdentity;
use crate::ledger::lines::{Line, Lines};
use crate::ledger::seal::Seal;
use crate::ledger::{Fault, FaultKind, RecordFile};
use serde::{Deserialize, Serialize};

/// The version of the format that is written, and the newest that is read.
pub const FORMAT_VERSION: u64 = 1;

const RECORD: RecordFile = RecordFile::WorkerRecord;

/// Most parts, or extents, in a line.
const LINE_MAX: usize = 400;

/// A shard that is done: one line, and lines with its parts and unread extents.
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
    /// Number of parts, in further lines.
    pub part_count: u64,
    /// Number of unread extents, in further lines.
    pub unread_count: u64,
    /// Parts of the upload, by number from 0, with their tags.
    #[serde(skip)]
    pub parts: Vec<(u32, String)>,
    /// Bytes that could not be read and are zeros; offsets count from the first byte of the source.
    #[serde(skip)]
    pub unread: Vec<(u64, u64)>,
}

/// One further line.
#[derive(Default, Serialize, Deserialize)]
struct More {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<(u32, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unread: Vec<(u64, u64)>,
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
        let fault = |kind| Fault::of(RECORD, kind);
        let (part_count, unread_count) = (self.parts.len() as u64, self.unread.len() as u64);
        let head = ShardDone { part_count, unread_count, ..self.clone() };
        let mut seal = Seal::default();
        let mut text = seal.close(&head.to_json().map_err(fault)?).map_err(fault)?;
        let parts = self.parts.chunks(LINE_MAX).map(|parts| More { parts: parts.to_vec(), ..More::default() });
        let unread = self.unread.chunks(LINE_MAX).map(|unread| More { unread: unread.to_vec(), ..More::default() });
        for more in parts.chain(unread) {
            let json = serde_json::to_string(&more).map_err(|error| fault(FaultKind::Invalid(error.to_string())))?;
            text += &seal.close(&json).map_err(fault)?;
        }
        Ok(text)
    }

    /// Reads the text.
    ///
    /// # Errors
    /// It is no such record, from a newer haul, damaged or incomplete.
    pub fn parse(text: &str) -> Result<ShardDone, Fault> {
        let mut lines = Lines::new(RECORD, text.as_bytes());
        let (mut done, mut seal) = ShardDone::read(&mut lines)?;
        loop {
            match lines.advance()? {
                Line::None => break,
                Line::Whole if seal.holds(&lines.bytes) => {}
                Line::Whole | Line::Torn => return Err(lines.fault(FaultKind::Damaged)),
            }
            let more: More = serde_json::from_slice(&lines.bytes)
                .map_err(|error| lines.fault(FaultKind::Invalid(error.to_string())))?;
            done.parts.extend(more.parts);
            done.unread.extend(more.unread);
        }
        if (done.parts.len() as u64, done.unread.len() as u64) != (done.part_count, done.unread_count) {
            return Err(lines.fault(FaultKind::Truncated));
        }
        done.check().map_err(|kind| lines.fault(kind))?;
        Ok(done)
    }

    /// The bytes that could not be read.
    pub fn unread(&self) -> ExtentSet {
        self.unread.iter().map(|&(offset, len)| Extent::new(offset, len)).collect()
    }

    /// Whether another worker found the same: the same parts, and the same unread bytes.
    pub fn agrees_with(&self, other: &ShardDone) -> bool {
        let tags = |done: &ShardDone| {
            done.parts.iter().map(|(number, tag)| (*number, tag.trim_matches('"').to_owned())).collect::<Vec<_>>()
        };
        self.len_bytes == other.len_bytes && tags(self) == tags(other) && self.unread() == other.unread()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_with_many_parts_returns_what_was_written() {
        let parts: Vec<_> = (0..1000).map(|number| (number, format!("\"{number:032x}-1\""))).collect();
        let unread: Vec<_> = (0..900).map(|number| (number * 4096, 512)).collect();
        let done = ShardDone { shard: 7, len_bytes: 9, parts, unread, part_count: 1000, ..ShardDone::default() };
        let done = ShardDone { unread_count: 900, ..done };
        let text = done.to_text().unwrap();
        assert_eq!((ShardDone::parse(&text).unwrap(), text.lines().count()), (done.clone(), 7));
        let lines: Vec<&str> = text.lines().collect();
        assert!(ShardDone::parse(&(lines[..6].join("\n") + "\n")).is_err(), "a line is missing");
        assert!(ShardDone::parse(&text.replace("[7,", "[8,")).is_err());
        let mut other = done.clone();
        other.parts[3].1 = format!("{:032x}-1", 3);
        assert!(done.agrees_with(&other), "some stores omit the quotes");
        other.parts[3].1 = "another".to_owned();
        assert!(!done.agrees_with(&other));
    }
}
