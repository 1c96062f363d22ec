//! Features of the reading side that only sg_dd and its variants use: narrowing down a failed transfer, and
//! replacing a record that cannot be read.
use super::reader::{CAREFUL_RECORDS, ReadStep, Reader};
use crate::apps::fronts::record_plan::{Diagnostic, ExtraDiagnostic};
use crate::core::{DeviceError, Kind};
use rustix::fs::SeekFrom;
use std::io;

impl Reader {
    /// Handles a failed transfer of several records. If the disk reports which one is bad, those before it are
    /// read in one call and it separately; otherwise all are read one by one.
    pub(super) fn look_closer(&mut self, error: &io::Error, records: u64) {
        self.ahead = 0;
        match self.blamed(error).filter(|blamed| *blamed < records) {
            Some(0) => self.careful = 1,
            Some(ahead) => self.ahead = ahead,
            None if self.plan.care.zero_unreadable => self.careful = records,
            None => self.careful = CAREFUL_RECORDS,
        }
    }

    /// The record that the disk reports as bad, counted from the next one.
    fn blamed(&self, error: &io::Error) -> Option<u64> {
        let offset = DeviceError::of(error)?.offset?;
        let at = self.ends.source.position().ok()?;
        Some(offset.checked_sub(at)? / self.plan.source.record_bytes)
    }

    /// Counts whole records that a read returned.
    pub(super) fn went_well(&mut self, full: u64) {
        if self.ahead > 0 {
            self.ahead = self.ahead.saturating_sub(full);
            // Then the bad one follows.
            self.careful = u64::from(self.ahead == 0);
        } else {
            self.careful = self.careful.saturating_sub(full.max(1));
        }
        self.bad_in_a_row = 0;
    }

    /// Replaces a record that cannot be read, unless there were too many of them: by the data that the disk
    /// returns for READ LONG, if requested, or by zeros.
    pub(super) fn something_instead(&mut self, error: io::Error) -> ReadStep {
        self.lost.clear();
        self.bad_in_a_row += 1;
        let most = self.plan.care.bad_in_a_row_max;
        if most > 0 && self.bad_in_a_row > most {
            return self.fail(Diagnostic::Careful(ExtraDiagnostic::TooManyBad(most)));
        }
        let record_bytes = self.plan.source.record_bytes;
        // Offsets are computed from that of the first record of this run.
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

    /// The data that READ LONG returns for the record at `offset`; `None`: not requested, or not available.
    fn fetch(&mut self, offset: u64) -> Option<io::Result<Vec<u8>>> {
        let correct = self.plan.care.fetch_corrected.filter(|_| !self.fetches_nothing)?;
        let device = self.ends.source.device()?;
        let mut bytes = vec![0; self.plan.source.record_bytes as usize];
        let result = device.read_long(&mut bytes, offset, correct).map(|()| bytes);
        let refused = |error: &io::Error| {
            DeviceError::of(error).is_some_and(|device_failure| device_failure.kind == Kind::Unsupported)
        };
        // A disk that does not support READ LONG will not support it for the next record.
        self.fetches_nothing = result.as_ref().is_err_and(refused);
        Some(result)
    }

    pub(super) fn go_to(&self, offset: Option<u64>) {
        if let Some(offset) = offset {
            // If the seek fails, the next read fails too and reports the error.
            let _ = self.ends.source.seek(SeekFrom::Start(offset));
        }
    }
}
