//! The counters of a copy by records.
use super::record_plan::RecordPlan;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Counts of records and bytes at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Whole records read.
    pub read_full: u64,
    /// Partial records read.
    pub read_partial: u64,
    /// Whole records written, or skipped as zeros.
    pub written_full: u64,
    /// Partial records written.
    pub written_partial: u64,
    /// Lines truncated to the size of a record.
    pub truncated: u64,
    /// Bytes written, or skipped as zeros.
    pub written_bytes: u64,
    /// Records skipped as zeros; included in those written.
    pub passed_over: u64,
    /// Unreadable records replaced by zeros, which are included in those read; or records that could not be
    /// written.
    pub unrecovered: u64,
    /// Unrecovered records whose data the disk nevertheless returned.
    pub fetched: u64,
    /// Calls that were repeated.
    pub retried: u64,
    /// Records that were compared and differ.
    pub differing: u64,
}

impl RecordCounts {
    /// The counts of a copy by `plan` of which `bytes` were read and written.
    pub(super) fn of_bytes(plan: &RecordPlan, bytes: u64) -> RecordCounts {
        let (ibs, obs) = (plan.source.record_bytes, plan.dest.record_bytes);
        RecordCounts {
            read_full: bytes / ibs,
            read_partial: u64::from(!bytes.is_multiple_of(ibs)),
            written_full: bytes / obs,
            written_partial: u64::from(!bytes.is_multiple_of(obs)),
            written_bytes: bytes,
            ..RecordCounts::default()
        }
    }
}

/// [`RecordCounts`] that an observer polls. Only the writing side changes most of them, so that they are
/// consistent with each other except for the record in progress.
#[derive(Debug, Default)]
pub struct RecordTally {
    numbers: [AtomicU64; 10],
    /// Changed by the reading side: records that could not be read, retried calls, records fetched with READ
    /// LONG.
    reading: [AtomicU64; 3],
    /// Progress is to be reported after the next record.
    due: AtomicBool,
}

impl RecordTally {
    /// The current counts.
    pub fn get(&self) -> RecordCounts {
        let numbers = self.numbers.each_ref().map(|number| number.load(Relaxed));
        let [read_full, read_partial, written_full, written_partial, truncated, written_bytes, rest @ ..] = numbers;
        let [passed_over, unwritten, rewritten, differing] = rest;
        let [unread, reread, fetched] = self.reading.each_ref().map(|number| number.load(Relaxed));
        RecordCounts {
            read_full,
            read_partial,
            written_full,
            written_partial,
            truncated,
            written_bytes,
            passed_over,
            unrecovered: unwritten + unread,
            fetched,
            retried: rewritten + reread,
            differing,
        }
    }

    /// Replaces the counts, except those of the reading side.
    pub fn set(&self, counts: RecordCounts) {
        let RecordCounts { read_full, read_partial, written_full, written_partial, truncated, written_bytes, .. } =
            counts;
        let RecordCounts { passed_over, unrecovered, retried, differing, .. } = counts;
        let first = [read_full, read_partial, written_full, written_partial, truncated, written_bytes];
        let all = first.into_iter().chain([passed_over, unrecovered, retried, differing]);
        self.numbers.iter().zip(all).for_each(|(number, value)| number.store(value, Relaxed));
    }

    /// Requests a progress report after the next record.
    pub fn set_due(&self) {
        self.due.store(true, Relaxed);
    }

    /// Whether a progress report is due; clears the request.
    pub fn take_due(&self) -> bool {
        self.due.load(Relaxed) && self.due.swap(false, Relaxed)
    }

    /// Counts an unreadable record that was replaced by zeros.
    pub fn note_unread(&self) {
        self.reading[0].fetch_add(1, Relaxed);
    }

    /// Counts an unreadable record whose data the disk nevertheless returned.
    pub fn note_fetched(&self) {
        self.reading[2].fetch_add(1, Relaxed);
    }

    /// Counts a retried read.
    pub fn note_reread(&self) {
        self.reading[1].fetch_add(1, Relaxed);
    }
}
