//! Reads a journal.
use super::record::{Digests, FinalStamp, Record};
use super::{Head, State};
use crate::ledger::first_line::FirstLine;
use crate::ledger::lines::{Line, Lines};
use crate::ledger::seal::Seal;
use crate::ledger::{Fault, FaultKind, RecordFile};
use std::io::BufRead;

/// The last line, which a crash left incomplete. Nothing depends on it yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Length of the valid part before it, in bytes.
    pub offset: u64,
    /// Length of the incomplete line, in bytes.
    pub len: u64,
}

/// The contents of a journal.
#[derive(Clone, Debug)]
pub struct JournalReading {
    /// The copy.
    pub head: Head,
    /// The claims.
    pub state: State,
    /// The stamp of the destination when the copy ended in an orderly way; `None`: it did not, or the line has
    /// no stamp.
    pub ended: Option<FinalStamp>,
    /// The incomplete line that was dropped.
    pub torn: Option<Torn>,
    /// Length of the valid part of the file, in bytes.
    pub(super) whole_bytes: u64,
    pub(super) seal: Seal,
}

/// Reads a journal to its end, without changing it.
///
/// A crash leaves at most one invalid line, at the end: each line is durable before the next is written, and
/// the first was durable before the file got its name. Such a line is dropped. Any other invalid line was
/// damaged later.
///
/// # Errors
/// It is not a journal, from a newer haul, or damaged.
pub fn read(input: impl BufRead) -> Result<JournalReading, Fault> {
    let mut lines = Lines::new(RecordFile::Journal, input);
    let (head, seal) = Head::read(&mut lines)?;
    let mut reading =
        JournalReading { head, state: State::default(), ended: None, torn: None, whole_bytes: lines.end, seal };
    loop {
        let ended = lines.advance()?;
        if ended == Line::None {
            return Ok(reading);
        }
        if ended == Line::Whole && reading.seal.holds(&lines.bytes) {
            let record = Record::parse(&lines.bytes, reading.head.end_max()).map_err(|kind| lines.fault(kind))?;
            record.upload.iter().for_each(|upload| reading.state.add_upload(upload));
            record.digests.iter().map(Digests::blocks).for_each(|(how, some)| reading.state.add_digests(how, &some));
            reading.state.apply(&record.durable, &record.unread);
            reading.head.source_ranges.extend(record.source_ranges);
            reading.ended = record.ended;
            reading.whole_bytes = lines.end;
            continue;
        }
        let damaged = lines.fault(FaultKind::Damaged);
        let offset = reading.whole_bytes;
        reading.torn = Some(Torn { offset, len: lines.end - offset });
        return if lines.advance()? == Line::None { Ok(reading) } else { Err(damaged) };
    }
}
