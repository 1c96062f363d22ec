//! What dd does behind the last record: the end of the file, durability, the page cache, closing.
use super::Ends;
use crate::apps::fronts::record_plan::{Amount, Diagnostic, Durable, RecordListener, RecordPlan};
use crate::core::Side;
use crate::sys;
use rustix::fs::{Advice, FileType};
use rustix::io::Errno;
use std::io;

/// What became of the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Finished {
    /// Something failed, which has been told.
    pub failed: bool,
    /// dd ends here without telling its counts.
    pub silent: bool,
}

/// Does all that. `at_hole`: the last record was passed over. `gave_up`: dd would not come here by itself, but only to
/// leave, and a failure here is its last word.
pub fn finish(plan: &RecordPlan, ends: &Ends, at_hole: bool, gave_up: bool, listener: &dyn RecordListener) -> Finished {
    let mut finished = Finished::default();
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

/// Lets a regular file reach up to where the dest stands.
fn set_end(ends: &Ends) -> Result<(), (u64, io::Error)> {
    let Ok(fd) = ends.dest.fd() else { return Ok(()) };
    let (Ok(stat), Ok(offset)) = (rustix::fs::fstat(fd), rustix::fs::tell(fd)) else { return Ok(()) };
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_size as u64 >= offset {
        return Ok(());
    }
    sys::retry(|| rustix::fs::ftruncate(fd, offset)).map_err(|error| (offset, error))
}

/// The calls that failed. What has no data of its own to sync gets the call for everything.
fn sync(ends: &Ends, durable: Durable) -> Vec<(Durable, io::Error)> {
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
fn discard(plan: &RecordPlan, ends: &Ends) -> Vec<(Side, io::Error)> {
    let only_that = plan.count == Some(Amount::default());
    let mut failures = Vec::new();
    for (side, words, end) in
        [(Side::Source, plan.source.words, &ends.source), (Side::Dest, plan.dest.words, &ends.dest)]
    {
        // A disk's own commands know no page cache.
        if !words.nocache || end.device().is_some() {
            continue;
        }
        let start = if only_that { 0 } else { end.offset.unwrap_or(0) };
        let result = end.fd().and_then(|fd| Ok(rustix::fs::fadvise(fd, start, None, Advice::DontNeed)?));
        if let (Err(error), true) = (result, only_that) {
            failures.push((side, error));
        }
    }
    failures
}
