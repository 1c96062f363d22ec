//! Writes records, as many as one call can take, and counts them.
use super::OpenSides;
use super::batch::{Batch, Memory, RecordMark};
use super::opened::SideKind;
use super::reader::{batch_records, is_of_medium};
use crate::apps::fronts::record_counts::{RecordCounts, RecordTally};
use crate::apps::fronts::record_plan::{Diagnostic, ExtraDiagnostic, RecordListener, RecordPlan};
use crate::sys;
use rustix::fs::{Advice, OFlags, SeekFrom};
use rustix::io::Errno;
use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;

/// Bytes of a nocache dest that are evicted from the page cache at a time.
const GIVE_BACK_BYTES: u64 = 1 << 20;

/// The counted part of a batch: its first marks and cuts.
#[derive(Clone, Copy, Default)]
struct Counted {
    marks: usize,
    cuts: usize,
}

/// Writes to the dest from its current offset.
pub(super) struct Writer {
    pub(super) plan: Arc<RecordPlan>,
    pub(super) ends: Arc<OpenSides>,
    tally: Arc<RecordTally>,
    pub(super) listener: Arc<dyn RecordListener>,
    pub(super) counts: RecordCounts,
    /// Whether one call may write many records.
    many: bool,
    sparse: bool,
    /// Bytes of this copy that were written or skipped.
    pub(super) done: u64,
    /// Records of the dest before the first one of this copy.
    pub(super) first: u64,
    /// Bytes since the last eviction from the page cache.
    kept: u64,
    /// A buffer for the contents of the dest, for comparing.
    pub(super) theirs: Option<Memory>,
    /// haul reads the dest and compares: the disk does not support comparing.
    pub(super) compares_itself: bool,
    /// Bytes of the most recent transfer that was skipped.
    passed: u64,
    /// Records that begin before this offset are counted as read.
    counted_to: u64,
    /// The last record was skipped: the end of the dest must still be set.
    pub(super) at_hole: bool,
}

impl Writer {
    /// Continues from `counts`.
    pub(super) fn new(
        plan: Arc<RecordPlan>,
        ends: Arc<OpenSides>,
        tally: Arc<RecordTally>,
        counts: RecordCounts,
        listener: Arc<dyn RecordListener>,
    ) -> Self {
        let flags = ends.dest.flags;
        let many = batch_records(ends.dest.sort, plan.dest.record_bytes, flags.contains(OFlags::DIRECT)) > 1
            // The flag applies to every write call.
            && !flags.intersects(OFlags::DSYNC | OFlags::SYNC);
        let many = many || plan.transfer_records.is_some();
        let sparse = plan.sparse && !(plan.write_last && ends.dest.sort == SideKind::Null);
        let first = plan.dest.skip.records + counts.written_full;
        let (done, kept, theirs, passed) = (0, 0, None, 0);
        Writer {
            plan,
            ends,
            tally,
            listener,
            counts,
            many,
            sparse,
            done,
            first,
            kept,
            theirs,
            compares_itself: false,
            passed,
            counted_to: 0,
            at_hole: false,
        }
    }

    /// Writes all of `batch`. Counts what was written even if the rest fails.
    pub(super) fn write(&mut self, batch: &Batch) -> Result<(), Diagnostic> {
        let result = write_second(&self.ends, batch.bytes()).and_then(|()| self.write_bytes(batch));
        let result = match result {
            // A transfer is one read: all of it was read, even if its first record cannot be written.
            Err(complaint) if self.plan.transfer_records.is_some() => {
                let missed = batch.marks.iter().filter(|mark| mark.out_start >= self.counted_to).count();
                self.count_read(&batch.marks[batch.marks.len() - missed..]);
                Err(complaint)
            }
            result => result,
        };
        if let Ok(counted) = result {
            // Records without output were read, too.
            self.count_read(&batch.marks[counted.marks..]);
            self.counts.truncated += (batch.cuts.len() - counted.cuts) as u64;
        }
        self.tally.set(self.counts);
        result.map(drop)
    }

    /// Counts records that were read and have no output yet.
    pub(super) fn note(&mut self, marks: &[RecordMark], cuts: &[u64]) {
        self.count_read(marks);
        self.counts.truncated += cuts.len() as u64;
        self.tally.set(self.counts);
    }

    /// Writes the bytes of a batch; returns the part of the batch that was counted.
    fn write_bytes(&mut self, batch: &Batch) -> Result<Counted, Diagnostic> {
        let obs = usize::try_from(self.plan.dest.record_bytes).unwrap_or(usize::MAX);
        let (bytes, begin) = (batch.bytes(), self.done);
        // The unit that is examined for zeros: a record, or a whole transfer.
        let piece = if self.plan.write_last { bytes.len().max(1) } else { obs };
        let mut counted = Counted::default();
        let mut at = 0;
        // If progress is due, the first record is written alone and progress is printed after it.
        let mut due = self.tally.take_due();
        while at < bytes.len() {
            let first_end = at.saturating_add(piece).min(bytes.len());
            self.count_up_to(batch, &mut counted, begin + first_end as u64);
            let zeros = self.sparse && is_zero(&bytes[at..first_end]);
            let mut end = first_end;
            while self.many && !due && end < bytes.len() {
                let next = end.saturating_add(piece).min(bytes.len());
                if self.sparse && is_zero(&bytes[end..next]) != zeros || next - end < obs && self.is_direct() {
                    break;
                }
                end = next;
            }
            if zeros && self.pass_over((end - at) as u64) {
                self.counts.passed_over += ((end - at) / obs) as u64;
                self.passed = (end - at) as u64;
                self.arrived((end - at) as u64, obs as u64);
            } else {
                let result = match self.plan.compare {
                    true => self.compare_run(&bytes[at..end], obs),
                    false => self.write_run(&bytes[at..end], obs),
                };
                if result.is_err() {
                    // The failed record of the dest was whole, so all records from which it was made had been
                    // read.
                    let failed_at = (self.done - begin) as usize;
                    let failed_end = (failed_at - failed_at % obs).saturating_add(obs).min(bytes.len());
                    self.count_up_to(batch, &mut counted, begin + failed_end as u64);
                    result?;
                }
            }
            at = end;
            self.count_up_to(batch, &mut counted, begin + at as u64);
            self.tally.set(self.counts);
            if std::mem::take(&mut due) {
                self.listener.progress();
            }
        }
        Ok(counted)
    }

    /// Ends the output: writes the last transfer if it was skipped and the plan requires it.
    pub(super) fn end(&mut self) -> Result<(), Diagnostic> {
        if !self.at_hole || !self.plan.write_last {
            return Ok(());
        }
        let obs = self.plan.dest.record_bytes as usize;
        self.ends.dest.seek(SeekFrom::Current(-(self.passed as i64))).map_err(Diagnostic::Skip)?;
        self.counts.passed_over -= self.passed / obs as u64;
        let counts = self.counts;
        let zeros = Batch::of(self.passed as usize).ok_or(Diagnostic::Memory(self.passed))?;
        self.write_run(&zeros.memory.bytes()[..self.passed as usize], obs)?;
        // It was counted when it was skipped.
        self.counts = counts;
        self.tally.set(counts);
        Ok(())
    }

    fn is_direct(&self) -> bool {
        self.ends.dest.flags.contains(OFlags::DIRECT)
    }

    /// Counts the records that had to be read before the output up to `out_end`, and the lines truncated before
    /// it.
    fn count_up_to(&mut self, batch: &Batch, counted: &mut Counted, out_end: u64) {
        self.counted_to = out_end;
        let marks = &batch.marks[counted.marks..];
        let new = marks.iter().take_while(|mark| mark.out_start < out_end).count();
        self.count_read(&marks[..new]);
        counted.marks += new;
        let cuts = batch.cuts[counted.cuts..].iter().take_while(|cut| **cut < out_end).count();
        self.counts.truncated += cuts as u64;
        counted.cuts += cuts;
    }

    fn count_read(&mut self, marks: &[RecordMark]) {
        let partial = marks.iter().filter(|mark| mark.partial).count() as u64;
        self.counts.read_partial += partial;
        self.counts.read_full += marks.len() as u64 - partial;
    }

    /// Skips zeros; false if the dest has no offsets, so that they must be written.
    fn pass_over(&mut self, bytes: u64) -> bool {
        let moved = self.ends.dest.seek(SeekFrom::Current(bytes as i64)).is_ok();
        (self.sparse, self.at_hole) = (moved, moved);
        moved
    }

    fn write_run(&mut self, bytes: &[u8], obs: usize) -> Result<(), Diagnostic> {
        let mut written = 0;
        if let (true, Ok(fd)) = (self.is_direct() && bytes.len() < obs, self.ends.dest.fd()) {
            // A partial record is probably too short for direct I/O.
            let _ = rustix::fs::fcntl_setfl(fd, self.ends.dest.flags - OFlags::DIRECT);
        }
        let mut tries = self.plan.care.retries;
        while written < bytes.len() {
            let record_end = bytes.len().min(written - written % obs + obs);
            let end = if self.many { bytes.len() } else { record_end };
            let result = match self.ends.dest.write(&bytes[written..end]) {
                Ok(0) => Err(io::Error::from(Errno::NOSPC)),
                result => result,
            };
            match result {
                Ok(moved) => written += moved,
                // An almost full file system may reject a write of many records although there is space for
                // some.
                Err(error) if end > record_end && self.plan.transfer_records.is_none() && is_full(&error) => {
                    self.many = false;
                }
                Err(error) if tries > 0 && is_of_medium(&error) => {
                    tries -= 1;
                    self.counts.retried += 1;
                }
                Err(error) if self.plan.care.pass_unwritable && is_of_medium(&error) => {
                    self.arrived((written - written % obs) as u64, obs as u64);
                    return self.write_singly(&bytes[written - written % obs..], obs, written % obs);
                }
                Err(error) => {
                    let midway = self.plan.reblock && bytes.len() - written / obs * obs >= obs;
                    self.arrived(written as u64, obs as u64);
                    // dd with one block size for both sides counts the bytes of the failed record, but no
                    // record.
                    if !self.plan.reblock && self.plan.transfer_records.is_none() && !written.is_multiple_of(obs) {
                        self.counts.written_partial -= 1;
                    }
                    return Err(Diagnostic::Write { midway, error });
                }
            }
        }
        self.arrived(bytes.len() as u64, obs as u64);
        self.at_hole = false;
        self.evict(bytes.len() as u64);
        Ok(())
    }

    /// Counts `bytes`, which begin at a record of the dest.
    pub(super) fn arrived(&mut self, bytes: u64, obs: u64) {
        self.counts.written_full += bytes / obs;
        self.counts.written_partial += u64::from(!bytes.is_multiple_of(obs));
        self.counts.written_bytes += bytes;
        self.done += bytes;
    }

    fn evict(&mut self, bytes: u64) {
        if !self.plan.dest.words.nocache {
            return;
        }
        self.kept += bytes;
        if self.kept < GIVE_BACK_BYTES {
            return;
        }
        self.kept = 0;
        if let Ok(fd) = self.ends.dest.fd() {
            let seek = self.plan.dest.skip.in_bytes(self.plan.dest.record_bytes);
            let start = self.ends.dest.offset.unwrap_or(0) + seek.unwrap_or(0);
            // Advisory: only pages that are already on the medium are dropped.
            let _ = rustix::fs::fadvise(fd, start, NonZeroU64::new(self.done), Advice::DontNeed);
        }
    }
}

/// Whether the file system is full.
fn is_full(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NOSPC | Errno::DQUOT))
}

/// Whether `bytes` are all zeros.
fn is_zero(bytes: &[u8]) -> bool {
    // In pieces without an early exit, which the compiler vectorizes.
    bytes.chunks(1024).all(|piece| piece.iter().fold(0, |all, byte| all | byte) == 0)
}

/// Writes `bytes` to the second dest, if there is one.
fn write_second(ends: &OpenSides, mut bytes: &[u8]) -> Result<(), Diagnostic> {
    let Some(second) = &ends.second else { return Ok(()) };
    while !bytes.is_empty() {
        match sys::retry(|| rustix::io::write(second, bytes)) {
            Ok(0) => return Err(Diagnostic::Careful(ExtraDiagnostic::Second(io::ErrorKind::WriteZero.into()))),
            Ok(written) => bytes = &bytes[written..],
            Err(error) => return Err(Diagnostic::Careful(ExtraDiagnostic::Second(error))),
        }
    }
    Ok(())
}
