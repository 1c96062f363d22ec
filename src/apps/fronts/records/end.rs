//! What dd does after the last record: it sets the end of the file, syncs, evicts the page cache and closes.
use super::OpenSides;
use super::opened::Opened;
use crate::apps::fronts::record_plan::{Amount, Diagnostic, Durable, RecordListener, RecordPlan, RecordSide};
use crate::core::Side;
use crate::sys;
use rustix::fs::{Advice, FileType};
use rustix::io::Errno;
use std::io;
use std::num::NonZeroU64;

/// The result of the final steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndResult {
    /// One of them failed, which has been reported.
    pub failed: bool,
    /// dd exits here without printing its counts.
    pub silent: bool,
}

/// Performs the final steps. `at_hole`: the last record was skipped. `gave_up`: dd only cleans up here before
/// it exits, and a failure here ends it.
pub fn finish(
    plan: &RecordPlan,
    ends: &OpenSides,
    at_hole: bool,
    gave_up: bool,
    listener: &dyn RecordListener,
) -> EndResult {
    let mut finished = EndResult::default();
    let mut report_failure = |side, complaint: Diagnostic| {
        listener.report_failure(side, &complaint, false);
        finished.failed = true;
    };
    if at_hole
        && !gave_up
        && let Err((size, error)) = set_end(ends)
    {
        report_failure(Side::Dest, Diagnostic::Truncate(size, error));
    }
    let mut silent = false;
    if let Some(durable) = plan.durable {
        for (which, error) in sync(ends, durable) {
            silent |= gave_up;
            report_failure(Side::Dest, Diagnostic::Sync(which, error));
        }
    }
    for (side, error) in discard(plan, ends) {
        report_failure(side, Diagnostic::Discard(error));
    }
    let ends = [(Side::Source, &ends.source), (Side::Dest, &ends.dest)];
    // A generated source was never opened.
    for (side, end) in ends.into_iter().skip(usize::from(plan.pattern.is_some())) {
        if let Err(error) = end.close() {
            report_failure(side, Diagnostic::Close(error));
            silent = true;
            break;
        }
    }
    finished.silent = silent;
    finished
}

/// Extends a regular file up to the current offset of the dest.
fn set_end(ends: &OpenSides) -> Result<(), (u64, io::Error)> {
    let Ok(fd) = ends.dest.fd() else { return Ok(()) };
    let (Ok(stat), Ok(offset)) = (rustix::fs::fstat(fd), rustix::fs::tell(fd)) else { return Ok(()) };
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_size as u64 >= offset {
        return Ok(());
    }
    sys::retry(|| rustix::fs::ftruncate(fd, offset)).map_err(|error| (offset, error))
}

/// The calls that failed. If fdatasync is not supported, fsync follows.
fn sync(ends: &OpenSides, durable: Durable) -> Vec<(Durable, io::Error)> {
    let mut failures = Vec::new();
    let call = |durable| {
        if let Some(device) = ends.dest.device() {
            return device.make_durable();
        }
        let fd = ends.dest.fd()?;
        match durable {
            Durable::Data => sys::retry(|| rustix::fs::fdatasync(fd)),
            Durable::All => sys::retry(|| rustix::fs::fsync(fd)),
        }
    };
    if durable == Durable::Data {
        match call(Durable::Data) {
            Ok(()) => return failures,
            Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::INVAL | Errno::NOSYS)) => {}
            Err(error) => failures.push((Durable::Data, error)),
        }
    }
    if let Err(error) = call(Durable::All) {
        failures.push((Durable::All, error));
    }
    failures
}

/// Evicts the page cache; a failure matters only if nothing else was requested.
fn discard(plan: &RecordPlan, ends: &OpenSides) -> Vec<(Side, io::Error)> {
    let only_that = plan.count == Some(Amount::default());
    let mut failures = Vec::new();
    let ended = has_ended(plan, ends);
    for (side, given, end) in [(Side::Source, &plan.source, &ends.source), (Side::Dest, &plan.dest, &ends.dest)] {
        let words = given.words;
        // Passthrough commands bypass the page cache.
        if !words.nocache || end.device().is_some() {
            continue;
        }
        let (start, at) = (first_byte(given, end), position(end).unwrap_or(0));
        // Up to the end of the file only if the copy reached the end, too.
        let to_end = only_that || ended && (side == Side::Source || !plan.dest_words.notrunc);
        let (start, len) = match to_end {
            true if only_that => (0, None),
            true => (start, None),
            false if at > start => (start, NonZeroU64::new(at - start)),
            false => continue,
        };
        let result = end.fd().and_then(|fd| Ok(rustix::fs::fadvise(fd, start, len, Advice::DontNeed)?));
        if let (Err(error), true) = (result, only_that) {
            failures.push((side, error));
        }
    }
    failures
}

/// Whether the source has ended: there was no count, or it has fewer bytes.
fn has_ended(plan: &RecordPlan, ends: &OpenSides) -> bool {
    let Some(count) = plan.count else { return true };
    let read = position(&ends.source).map(|at| at.saturating_sub(first_byte(&plan.source, &ends.source)));
    read.zip(count.in_bytes(plan.source.record_bytes)).is_some_and(|(read, count)| read < count)
}

/// The offset of the first record.
fn first_byte(given: &RecordSide, end: &Opened) -> u64 {
    end.offset.unwrap_or(0) + given.skip.in_bytes(given.record_bytes).unwrap_or(0)
}

/// The offset of the next record; `None` if the side has no offsets.
fn position(end: &Opened) -> Option<u64> {
    rustix::fs::tell(end.fd().ok()?).ok()
}
