//! The lines of a journal after the first.
use crate::core::{BlockDigest, BlockDigests, BlockHash, DigestedBlock, Extent, ExtentSet, Upload, byte_count};
use crate::ledger::FaultKind;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Maximum number of extents per line, which limits its length: 42 KiB if all numbers have twenty digits.
pub(super) const EXTENTS_MAX: usize = 1000;

/// Maximum number of parts of an upload per line.
const PARTS_MAX: usize = 400;

/// Maximum number of digests of blocks per line.
const DIGESTS_MAX: usize = 400;

/// Modification time and size of a regular destination file when a copy ended in an orderly way: a later write
/// changes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalStamp {
    /// The modification time, RFC 3339 in UTC with nine digits of a second.
    pub dest_mtime: String,
    /// The size in bytes.
    pub dest_size_bytes: u64,
}

/// One line: extents that became durable, and extents that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub durable: Vec<Extent>,
    pub unread: Vec<Extent>,
    /// This copy wrote nothing to the destination after this line.
    pub ended: Option<FinalStamp>,
    /// Ranges of the source, if it is a copy of ranges: all lines together list them in order.
    pub source_ranges: Vec<Extent>,
    /// Parts of the upload that have the bytes, if the destination is an object.
    pub upload: Option<Upload>,
    /// Digests of blocks of the source.
    pub digests: Option<Digests>,
}

/// Digests of blocks in a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Digests {
    algorithm: BlockHash,
    block_bytes: u64,
    /// Offset and length of blocks, and their digest: none of zeros, which can be several blocks.
    blocks: Vec<(u64, u64, Option<BlockDigest>)>,
}

impl Digests {
    /// The same, if the blocks can be those of a copy that ends at `end` or before.
    fn checked(self, end: u64) -> Result<Self, FaultKind> {
        let is_block = |&(offset, len, digest): &(u64, u64, Option<BlockDigest>)| {
            let ends = offset.checked_add(len).is_some_and(|sum| sum <= end);
            ends && offset.is_multiple_of(self.block_bytes) && len > 0 && (digest.is_none() || len <= self.block_bytes)
        };
        match self.block_bytes.is_power_of_two() && self.blocks.iter().all(is_block) {
            true => Ok(self),
            false => Err(FaultKind::Invalid("digests of blocks that cannot be".to_owned())),
        }
    }

    /// How the blocks were digested, and the blocks.
    pub(super) fn blocks(&self) -> (BlockDigests, Vec<DigestedBlock>) {
        let how = BlockDigests { hash: self.algorithm, block_bytes: self.block_bytes, from_bytes: 0 };
        let block = |&(offset, len, digest): &_| DigestedBlock { extent: Extent::new(offset, len), digest };
        (how, self.blocks.iter().map(block).collect())
    }
}

#[derive(Deserialize)]
struct Fields {
    durable: Vec<(u64, u64)>,
    #[serde(default)]
    unread: Vec<(u64, u64)>,
    #[serde(default)]
    ended: Option<FinalStamp>,
    #[serde(default)]
    source_ranges: Vec<(u64, u64)>,
    #[serde(default)]
    upload: Option<Upload>,
    #[serde(default)]
    digests: Option<Digests>,
}

impl Record {
    /// The smallest number of records, each of limited length.
    pub(super) fn split(durable: &ExtentSet, unread: &ExtentSet) -> Vec<Record> {
        let mut records: Vec<Record> = Vec::new();
        let all = durable.iter().map(|extent| (extent, true)).chain(unread.iter().map(|extent| (extent, false)));
        for (number, (extent, is_durable)) in all.enumerate() {
            if number % EXTENTS_MAX == 0 {
                records.push(Record::default());
            }
            let record = records.last_mut().expect("one was pushed for the first extent");
            if is_durable { record.durable.push(extent) } else { record.unread.push(extent) }
        }
        records
    }

    /// The ranges of the source, in lines of limited length.
    pub(super) fn of_ranges(ranges: &[Extent]) -> impl Iterator<Item = Record> + '_ {
        ranges.chunks(EXTENTS_MAX).map(|some| Record { source_ranges: some.to_vec(), ..Record::default() })
    }

    /// The parts of an upload, in lines of limited length. They come before the lines that claim their bytes.
    pub(super) fn of_upload(upload: &Upload) -> impl Iterator<Item = Record> + '_ {
        let part = |parts: &[(u32, String)]| Upload { parts: parts.to_vec(), ..upload.clone() };
        upload.parts.chunks(PARTS_MAX).map(move |some| Record { upload: Some(part(some)), ..Record::default() })
    }

    /// Digests of blocks, in lines of limited length.
    pub(super) fn of_digests(how: BlockDigests, blocks: &[DigestedBlock]) -> impl Iterator<Item = Record> + '_ {
        let line = move |some: &[DigestedBlock]| {
            let blocks = some.iter().map(|block| (block.extent.offset, block.extent.len, block.digest)).collect();
            Digests { algorithm: how.hash, block_bytes: how.block_bytes, blocks }
        };
        blocks.chunks(DIGESTS_MAX).map(move |some| Record { digests: Some(line(some)), ..Record::default() })
    }

    /// The line as JSON, not yet sealed.
    pub(super) fn to_json(&self) -> String {
        let mut json = "{\"durable\":".to_owned();
        push_list(&mut json, &self.durable);
        if !self.unread.is_empty() {
            json.push_str(",\"unread\":");
            push_list(&mut json, &self.unread);
        }
        if !self.source_ranges.is_empty() {
            json.push_str(",\"source_ranges\":");
            push_list(&mut json, &self.source_ranges);
        }
        if let Some(upload) = &self.upload {
            let upload = serde_json::to_string(upload).expect("text and numbers are JSON");
            write!(json, ",\"upload\":{upload}").expect("writing to a string succeeds");
        }
        if let Some(digests) = &self.digests {
            let digests = serde_json::to_string(digests).expect("text and numbers are JSON");
            write!(json, ",\"digests\":{digests}").expect("writing to a string succeeds");
        }
        if let Some(ended) = &self.ended {
            let ended = serde_json::to_string(ended).expect("text and a number are JSON");
            write!(json, ",\"ended\":{ended}").expect("writing to a string succeeds");
        }
        json.push('}');
        json
    }

    /// Parses a line whose checksum matches, for a copy that ends at `end` or before.
    pub(super) fn parse(line: &[u8], end: u64) -> Result<Self, FaultKind> {
        let fields: Fields = serde_json::from_slice(line).map_err(|error| FaultKind::Invalid(error.to_string()))?;
        let extents = |pairs: Vec<(u64, u64)>, end: u64| {
            let extent = |(offset, len): (u64, u64)| match offset.checked_add(len) {
                Some(sum) if sum <= end => Ok(Extent::new(offset, len)),
                _ => Err(FaultKind::Invalid(format!("{} at byte {offset} beyond the end", byte_count(len)))),
            };
            pairs.into_iter().map(extent).collect::<Result<Vec<_>, _>>()
        };
        Ok(Record {
            durable: extents(fields.durable, end)?,
            unread: extents(fields.unread, end)?,
            ended: fields.ended,
            source_ranges: extents(fields.source_ranges, i64::MAX as u64)?,
            upload: fields.upload,
            digests: fields.digests.map(|digests| digests.checked(end)).transpose()?,
        })
    }
}

fn push_list(json: &mut String, extents: &[Extent]) {
    json.push('[');
    for (number, Extent { offset, len }) in extents.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        write!(json, "{comma}[{offset},{len}]").expect("writing to a string succeeds");
    }
    json.push(']');
}
