//! Records of one sealed line.
use crate::ledger::first_line::FirstLine;
use crate::ledger::lines::{Line, Lines};
use crate::ledger::seal::Seal;
use crate::ledger::{Fault, FaultKind, RecordFile};

const RECORD: RecordFile = RecordFile::WorkerRecord;

/// The text of a record.
pub(super) fn to_text(record: &impl FirstLine) -> Result<String, Fault> {
    let fault = |kind| Fault::of(RECORD, kind);
    Seal::default().close(&record.to_json().map_err(fault)?).map_err(fault)
}

/// Reads a record, which is all of the text.
pub(super) fn parse<T: FirstLine>(text: &str) -> Result<T, Fault> {
    let mut lines = Lines::new(RECORD, text.as_bytes());
    let (record, _) = T::read(&mut lines)?;
    match lines.advance()? {
        Line::None => Ok(record),
        Line::Whole | Line::Torn => Err(lines.fault(FaultKind::Damaged)),
    }
}
