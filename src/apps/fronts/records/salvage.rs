//! What only sg_dd and its kin ask of the reading side: looking closer at a transfer that failed, and bytes in place of
//! a record that cannot be read.
use super::reader::{CAREFUL_RECORDS, ReadStep, Reader};
use crate::apps::fronts::record_plan::{Diagnostic, ExtraDiagnostic};
use crate::core::{DeviceError, Kind};
use rustix::fs::SeekFrom;
use std::io;

impl Reader {
    /// A transfer of so many records failed. Where the disk blames one of them, those ahead of it are read at once and
    /// it by itself; else they are read one by one.
    pub(super) fn look_closer(&mut self, error: &io::Error, records: u64) {
        self.ahead = 0;
        match self.blamed(error).filter(|blamed| *blamed < records) {
            Some(0) => self.careful = 1,
            Some(ahead) => self.ahead = ahead,
            None if self.plan.care.zero_unreadable => self.careful = records,
            None => self.careful = CAREFUL_RECORDS,
        }
    }

    /// The record that the disk blames, counted from the next one.
    fn blamed(&self, error: &io::Error) -> Option<u64> {
        let offset = DeviceError::of(error)?.offset?;
        let at = self.ends.source.position().ok()?;
        Some(offset.checked_sub(at)? / self.plan.source.record_bytes)
    }

    /// A read brought so many whole records.
    pub(super) fn went_well(&mut self, full: u64) {
        if self.ahead > 0 {
            self.ahead = self.ahead.saturating_sub(full);
            // Then the one that was blamed.
            self.careful = u64::from(self.ahead == 0);
        } else {
            self.careful = self.careful.saturating_sub(full.max(1));
        }
        self.bad_in_a_row = 0;
    }

    /// Something takes the place of the record that cannot be read, unless there were too many of them: what the disk
    /// fetches of it anyway, where that is asked for, or zeros.
    pub(super) fn something_instead(&mut self, error: io::Error) -> ReadStep {
        self.lost.clear();
        self.bad_in_a_row += 1;
        let most = self.plan.care.bad_in_a_row_max;
        if most > 0 && self.bad_in_a_row > most {
            return self.give_up(Diagnostic::Careful(ExtraDiagnostic::TooManyBad(most)));
        }
        let record_bytes = self.plan.source.record_bytes;
        // Records begin where the first of this run did.
        let at = self.start + (self.records - self.first) * record_bytes;
        self.go_to(Some(at + record_bytes));
        self.careful = self.careful.saturating_sub(1);
        self.tally.note_unread();
        let record = self.plan.source.skip.records + self.records;
        let what = match self.fetch(at) {
            Some(Ok(bytes)) => {
                self.owes_record = Some(bytes);
                self.tally.note_fetched();
                ExtraDiagnostic::Fetched(record, error)
            }
            other => {
                self.owes_record = Some(vec![0; record_bytes as usize]);
                let unfetched = other.and_then(Result::err);
                ExtraDiagnostic::Unreadable { record, error, unfetched }
            }
        };
        ReadStep::Failed(Diagnostic::Careful(what))
    }

    /// The record at `offset`, good or bad; `None`: that is not asked for, or is not available.
    fn fetch(&mut self, offset: u64) -> Option<io::Result<Vec<u8>>> {
        let correct = self.plan.care.fetch_corrected.filter(|_| !self.fetches_nothing)?;
        let device = self.ends.source.device()?;
        let mut bytes = vec![0; self.plan.source.record_bytes as usize];
        let result = device.read_long(&mut bytes, offset, correct).map(|()| bytes);
        let refused = |error: &io::Error| DeviceError::of(error).is_some_and(|said| said.kind == Kind::Unsupported);
        // What it does not know, it will not know of the next one.
        self.fetches_nothing = result.as_ref().is_err_and(refused);
        Some(result)
    }

    pub(super) fn go_to(&self, offset: Option<u64>) {
        if let Some(offset) = offset {
            // Where that fails, the next read fails too and says so.
            let _ = self.ends.source.seek(SeekFrom::Start(offset));
        }
    }
}
