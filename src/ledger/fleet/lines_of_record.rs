//! Records of one head and any number of further lines, for lists that may be long.
use crate::core::BlockDigest;
use crate::ledger::first_line::FirstLine;
use crate::ledger::lines::{Line, Lines};
use crate::ledger::seal::Seal;
use crate::ledger::{Fault, FaultKind, RecordFile};
use serde::{Deserialize, Serialize};

const RECORD: RecordFile = RecordFile::WorkerRecord;

/// Most entries in a line.
const LINE_MAX: usize = 400;

/// The lists; each further line has entries of one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct More {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<(u32, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unread: Vec<(u64, u64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) values: Vec<(u64, u64, BlockDigest)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) blocks: Vec<(u64, u64, Option<BlockDigest>)>,
}

/// The text of a record.
///
/// # Errors
/// A line is too long.
pub(super) fn to_text(head: &impl FirstLine, lists: &More) -> Result<String, Fault> {
    let fault = |kind| Fault::of(RECORD, kind);
    let mut seal = Seal::default();
    let mut text = seal.close(&head.to_json().map_err(fault)?).map_err(fault)?;
    let parts = lists.parts.chunks(LINE_MAX).map(|parts| More { parts: parts.to_vec(), ..More::default() });
    let unread = lists.unread.chunks(LINE_MAX).map(|unread| More { unread: unread.to_vec(), ..More::default() });
    let values = lists.values.chunks(LINE_MAX).map(|values| More { values: values.to_vec(), ..More::default() });
    let blocks = lists.blocks.chunks(LINE_MAX).map(|blocks| More { blocks: blocks.to_vec(), ..More::default() });
    for more in parts.chain(unread).chain(values).chain(blocks) {
        let json = serde_json::to_string(&more).map_err(|error| fault(FaultKind::Invalid(error.to_string())))?;
        text += &seal.close(&json).map_err(fault)?;
    }
    Ok(text)
}

/// Reads a record, which is all of the text. `is_complete` compares the head with the lists.
///
/// # Errors
/// It is no such record, from a newer haul, damaged or incomplete.
pub(super) fn parse<T: FirstLine>(text: &str, is_complete: impl Fn(&T, &More) -> bool) -> Result<(T, More), Fault> {
    let mut lines = Lines::new(RECORD, text.as_bytes());
    let (head, mut seal) = T::read(&mut lines)?;
    let mut lists = More::default();
    loop {
        match lines.advance()? {
            Line::None => break,
            Line::Whole if seal.holds(&lines.bytes) => {}
            Line::Whole | Line::Torn => return Err(lines.fault(FaultKind::Damaged)),
        }
        let more: More =
            serde_json::from_slice(&lines.bytes).map_err(|error| lines.fault(FaultKind::Invalid(error.to_string())))?;
        lists.parts.extend(more.parts);
        lists.unread.extend(more.unread);
        lists.values.extend(more.values);
        lists.blocks.extend(more.blocks);
    }
    if is_complete(&head, &lists) { Ok((head, lists)) } else { Err(lines.fault(FaultKind::Truncated)) }
}
