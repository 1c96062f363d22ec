//! Files of earlier runs about the sides of a copy by records: journals that this copy invalidates, and undo
//! journals whose original data has not been restored.
use super::records::{OpenSides, Opened};
use crate::apps::fronts::record_plan::RecordPlan;
use crate::core::{Facts, Side};
use crate::disks::probe;
use crate::job::journal::Stale;
use crate::job::undo;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;

/// The journals about the open dest; `known`: a disk that is reached by passthrough commands.
pub(super) fn stale_journals(plan: &RecordPlan, ends: &OpenSides, known: Option<&Facts>) -> Vec<Stale> {
    if plan.compare {
        return Vec::new();
    }
    let written = ends.dest.fd().ok().into_iter().chain(ends.second());
    let mut found: Vec<Stale> = written.flat_map(|fd| Stale::of_path(&path_of(fd))).collect();
    found.extend(known.into_iter().flat_map(|dest| Stale::of(dest, None)));
    found
}

/// Warnings about both sides, without restoring anything; `known`: disks that are reached by passthrough
/// commands, indexed by [`Side::index`].
pub(super) fn undo_warnings(plan: &RecordPlan, ends: &OpenSides, known: &[Option<Facts>; 2]) -> Vec<String> {
    if !undo::any_exists() {
        return Vec::new();
    }
    let known = |side: Side| known[side.index()].clone();
    let facts_of = |end: &Opened| device_facts(end.fd().ok()?);
    let source = known(Side::Source).or_else(|| facts_of(&ends.source));
    let mut warnings: Vec<String> = source.iter().flat_map(undo::read_warnings).collect();
    let dest = known(Side::Dest).or_else(|| facts_of(&ends.dest));
    let written = |warning: String| if plan.compare { warning } else { undo::stays(&warning) };
    let dests = dest.into_iter().chain(ends.second().and_then(device_facts));
    warnings.extend(dests.flat_map(|dest| undo::read_warnings(&dest)).map(written));
    warnings
}

/// The facts of an open block device; `None` for other files.
fn device_facts(fd: BorrowedFd<'_>) -> Option<Facts> {
    let path = std::fs::canonicalize(path_of(fd)).ok()?;
    let is_device = path.metadata().is_ok_and(|facts| facts.file_type().is_block_device());
    path.to_str().filter(|_| is_device).and_then(|path| probe::dest(path).ok())
}

fn path_of(fd: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}
