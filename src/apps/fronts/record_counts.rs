//! What a copy by records counts.
use super::record_plan::RecordPlan;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Records and bytes as they were at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Whole records read.
    pub read_full: u64,
    /// Shorter ones.
    pub read_partial: u64,
    /// Whole records written, or skipped as zeros.
    pub written_full: u64,
    /// Shorter ones.
    pub written_partial: u64,
    /// Lines that were longer than a record.
    pub truncated: u64,
    /// Bytes written, or skipped as zeros.
    pub written_bytes: u64,
    /// Records skipped as zeros, which are among those written.
    pub passed_over: u64,
    /// Records that could not be read and became zeros, which are among those read; or could not be written.
    pub unrecovered: u64,
    /// Those of them of which the disk fetched something anyway.
    pub fetched: u64,
    /// Calls made again.
    pub retried: u64,
    /// Records that were compared and differ.
    pub differing: u64,
}

impl RecordCounts {
    /// Those of a copy by `plan` of which `bytes` were read and written.
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

/// [`RecordCounts`] that an observer polls. Only the writing side changes most of them, so that they agree with each
/// other but for the record under way.
#[derive(Debug, Default)]
pub struct RecordTally {
    numbers: [AtomicU64; 10],
    /// Kept by the reading side: records that could not be read, calls made again, records fetched anyway.
    reading: [AtomicU64; 3],
    /// Progress is to be reported behind the next record.
    due: AtomicBool,
}

impl RecordTally {
    /// What was counted so far.
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

    /// Replaces what was counted so far, but for what the reading side counts.
    pub fn set(&self, counts: RecordCounts) {
        let RecordCounts { read_full, read_partial, written_full, written_partial, truncated, written_bytes, .. } =
            counts;
        let RecordCounts { passed_over, unrecovered, retried, differing, .. } = counts;
        let first = [read_full, read_partial, written_full, written_partial, truncated, written_bytes];
        let all = first.into_iter().chain([passed_over, unrecovered, retried, differing]);
        self.numbers.iter().zip(all).for_each(|(number, value)| number.store(value, Relaxed));
    }

    /// Progress is to be reported behind the next record.
    pub fn set_due(&self) {
        self.due.store(true, Relaxed);
    }

    /// Whether it is, from now on no longer.
    pub fn take_due(&self) -> bool {
        self.due.load(Relaxed) && self.due.swap(false, Relaxed)
    }

    /// The reading side made a record of zeros of one that could not be read.
    pub fn note_unread(&self) {
        self.reading[0].fetch_add(1, Relaxed);
    }

    /// Of one of them the disk fetched something anyway.
    pub fn note_fetched(&self) {
        self.reading[2].fetch_add(1, Relaxed);
    }

    /// The reading side made a call again.
    pub fn note_reread(&self) {
        self.reading[1].fetch_add(1, Relaxed);
    }
}
