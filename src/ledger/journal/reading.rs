//! Reading a journal.
use super::record::{FinalStamp, Record};
use super::{Head, State};
use crate::ledger::first_line::FirstLine;
use crate::ledger::lines::{Line, Lines};
use crate::ledger::seal::Seal;
use crate::ledger::{Fault, FaultKind, RecordFile};
use std::io::BufRead;

/// The last append, which a crash cut off. Nothing had relied on it yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Bytes of the file that are whole before it.
    pub offset: u64,
    /// Bytes that are worth nothing.
    pub len: u64,
}

/// What a journal says.
#[derive(Clone, Debug)]
pub struct JournalReading {
    /// Which copy.
    pub head: Head,
    /// What is claimed.
    pub state: State,
    /// What the destination was when the copy ended in good order; `None`: it did not, or the line says nothing of it.
    pub ended: Option<FinalStamp>,
    /// What was dropped.
    pub torn: Option<Torn>,
    /// Bytes of the file that hold.
    pub(super) whole_bytes: u64,
    pub(super) seal: Seal,
}

/// Reads a journal to its end, without touching anything.
///
/// A crash leaves at most one line that does not hold, at the very end: each line is durable before the next is begun,
/// and the first was durable before the file had its name. Such a line is dropped. Any other that does not hold was
/// damaged later.
///
/// # Errors
/// It is no journal, of a newer haul, or damaged.
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
            reading.state.apply(&record.durable, &record.unread);
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
