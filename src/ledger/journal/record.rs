//! The lines of a journal behind the first.
use crate::core::{Extent, ExtentSet};
use crate::ledger::FaultKind;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Most extents in a line, so that every line is bounded: 42 KiB where all numbers have twenty digits.
pub(super) const EXTENTS_MAX: usize = 1000;

/// What a regular destination file was when a copy ended in good order: a process that writes to it later changes that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalStamp {
    /// When it was last written to, RFC 3339 in UTC with nine digits of a second.
    pub dest_mtime: String,
    /// Bytes in it.
    pub dest_size_bytes: u64,
}

/// One line: what became durable, and what could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub durable: Vec<Extent>,
    pub unread: Vec<Extent>,
    /// Nothing was written to the destination behind this line, by this copy.
    pub ended: Option<FinalStamp>,
}

#[derive(Deserialize)]
struct Fields {
    durable: Vec<(u64, u64)>,
    #[serde(default)]
    unread: Vec<(u64, u64)>,
    #[serde(default)]
    ended: Option<FinalStamp>,
}

impl Record {
    /// As few records as can say it, each bounded.
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

    /// The line as JSON, not yet sealed.
    pub(super) fn to_json(&self) -> String {
        let mut json = "{\"durable\":".to_owned();
        push_list(&mut json, &self.durable);
        if !self.unread.is_empty() {
            json.push_str(",\"unread\":");
            push_list(&mut json, &self.unread);
        }
        if let Some(ended) = &self.ended {
            let ended = serde_json::to_string(ended).expect("text and a number are JSON");
            write!(json, ",\"ended\":{ended}").expect("a String takes everything");
        }
        json.push('}');
        json
    }

    /// What a line whose check held says, of a copy that ends at `end` or before.
    pub(super) fn parse(line: &[u8], end: u64) -> Result<Self, FaultKind> {
        let fields: Fields = serde_json::from_slice(line).map_err(|error| FaultKind::Senseless(error.to_string()))?;
        let extents = |pairs: Vec<(u64, u64)>| {
            let extent = |(offset, len): (u64, u64)| match offset.checked_add(len) {
                Some(sum) if sum <= end => Ok(Extent::new(offset, len)),
                _ => Err(FaultKind::Senseless(format!("{len} bytes at byte {offset} are beyond the end of the copy"))),
            };
            pairs.into_iter().map(extent).collect::<Result<Vec<_>, _>>()
        };
        Ok(Record { durable: extents(fields.durable)?, unread: extents(fields.unread)?, ended: fields.ended })
    }
}

fn push_list(json: &mut String, extents: &[Extent]) {
    json.push('[');
    for (number, Extent { offset, len }) in extents.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        write!(json, "{comma}[{offset},{len}]").expect("a String takes everything");
    }
    json.push(']');
}
