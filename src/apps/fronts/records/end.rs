//! What dd does behind the last record: the end of the file, durability, the page cache, closing.
use super::OpenSides;
use super::opened::Opened;
use crate::apps::fronts::record_plan::{Amount, Diagnostic, Durable, RecordListener, RecordPlan, RecordSide};
use crate::core::Side;
use crate::sys;
use rustix::fs::{Advice, FileType};
use rustix::io::Errno;
use std::io;
use std::num::NonZeroU64;

/// What became of the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndResult {
    /// Something failed, which has been reported.
    pub failed: bool,
    /// dd ends here without telling its counts.
    pub silent: bool,
}

/// Does all that. `at_hole`: the last record was skipped. `gave_up`: dd would not come here by itself, but only to
/// leave, and a failure here is its last word.
pub fn finish(
    plan: &RecordPlan,
    ends: &OpenSides,
    at_hole: bool,
    gave_up: bool,
    listener: &dyn RecordListener,
) -> EndResult {
    let mut finished = EndResult::default();
    let mut complain = |side, complaint: Diagnostic| {
        listener.complain(side, &complaint, false);
        finished.failed = true;
    };
    if at_hole
        && !gave_up
        && let Err((size, error)) = set_end(ends)
    {
        complain(Side::Dest, Diagnostic::Truncate(size, error));
    }
    let mut silent = false;
    if let Some(durable) = plan.durable {
        for (which, error) in sync(ends, durable) {
            silent |= gave_up;
            complain(Side::Dest, Diagnostic::Sync(which, error));
        }
    }
    for (side, error) in discard(plan, ends) {
        complain(side, Diagnostic::Discard(error));
    }
    let ends = [(Side::Source, &ends.source), (Side::Dest, &ends.dest)];
    // What was made up was never opened.
    for (side, end) in ends.into_iter().skip(usize::from(plan.pattern.is_some())) {
        if let Err(error) = end.close() {
            complain(side, Diagnostic::Close(error));
            silent = true;
            break;
        }
    }
    finished.silent = silent;
    finished
}

/// Lets a regular file reach up to the current offset of the dest.
fn set_end(ends: &OpenSides) -> Result<(), (u64, io::Error)> {
    let Ok(fd) = ends.dest.fd() else { return Ok(()) };
    let (Ok(stat), Ok(offset)) = (rustix::fs::fstat(fd), rustix::fs::tell(fd)) else { return Ok(()) };
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_size as u64 >= offset {
        return Ok(());
    }
    sys::retry(|| rustix::fs::ftruncate(fd, offset)).map_err(|error| (offset, error))
}

/// The calls that failed. What has no data of its own to sync gets the call for everything.
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

/// Gives the page cache back; a failure matters only where nothing else was asked for.
fn discard(plan: &RecordPlan, ends: &OpenSides) -> Vec<(Side, io::Error)> {
    let only_that = plan.count == Some(Amount::default());
    let mut failures = Vec::new();
    let ended = has_ended(plan, ends);
    for (side, given, end) in [(Side::Source, &plan.source, &ends.source), (Side::Dest, &plan.dest, &ends.dest)] {
        let words = given.words;
        // A disk's own commands know no page cache.
        if !words.nocache || end.device().is_some() {
            continue;
        }
        let (start, at) = (first_byte(given, end), stands_at(end).unwrap_or(0));
        // Up to the end of the file, whatever is there, only where the copy went up to its end, too.
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

/// The source had no more: there was no count, or fewer bytes than it.
fn has_ended(plan: &RecordPlan, ends: &OpenSides) -> bool {
    let Some(count) = plan.count else { return true };
    let read = stands_at(&ends.source).map(|at| at.saturating_sub(first_byte(&plan.source, &ends.source)));
    read.zip(count.in_bytes(plan.source.record_bytes)).is_some_and(|(read, count)| read < count)
}

/// Where the first record is.
fn first_byte(given: &RecordSide, end: &Opened) -> u64 {
    end.offset.unwrap_or(0) + given.skip.in_bytes(given.record_bytes).unwrap_or(0)
}

/// Where the next record would be; `None` where there are no offsets.
fn stands_at(end: &Opened) -> Option<u64> {
    rustix::fs::tell(end.fd().ok()?).ok()
}
