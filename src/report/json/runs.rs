//! What is reported in runs of bytes: where sides differ, what could not be read, what was read back.
use super::object;
use crate::core::{Differences, Extent, Ranges, Unread, Verified};
use serde::Serialize;

/// A run of sectors, or of blocks.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub len_bytes: u64,
}

/// The parts that a copy is made of; offsets count on either side.
#[derive(Clone, Debug, Serialize)]
pub struct RangesReport {
    /// The file that lists them.
    pub file: String,
    /// The parts, ascending.
    pub runs: Vec<RunReport>,
}

impl RangesReport {
    /// Those of a copy.
    pub(super) fn of(ranges: &Ranges) -> Self {
        RangesReport { file: ranges.file.clone(), runs: runs(ranges.extents().iter().copied()) }
    }
}

/// Runs for programs.
pub(super) fn runs(extents: impl Iterator<Item = Extent>) -> Vec<RunReport> {
    extents.map(|run| RunReport { offset_bytes: run.offset, len_bytes: run.len }).collect()
}

/// Where two sides are not the same. Offsets count from the first byte of what was compared.
pub(super) fn differences(found: &Differences) -> impl Serialize + use<> {
    object! {
        equal: found.is_empty(),
        differing_bytes: found.bytes,
        first_offset_bytes: found.first,
        runs: runs(found.runs.iter()),
        runs_unlisted: found.unlisted,
        shorter: found.shorter.map(|(side, lacks_bytes)| object! { side: side.key(), lacks_bytes }),
    }
}

/// What could not be read on a side; offsets count from its first byte. `None`: no read failed that was skipped.
pub(super) fn unread(unread: &Unread) -> Option<impl Serialize + use<>> {
    (unread.failed_reads > 0).then(|| {
        object! {
            sectors: unread.sectors(),
            sector_bytes: unread.sector_bytes,
            bytes: unread.runs.total_bytes(),
            runs: runs(unread.runs.iter()),
            failed_reads: unread.failed_reads,
            failing_s: unread.failing.as_secs_f64(),
        }
    })
}

/// The result of reading the dest back. Offsets count from the first byte of the copy; runs are of whole blocks.
pub(super) fn verified(verified: &Verified) -> impl Serialize {
    object! {
        complete: verified.complete,
        right: verified.is_right(),
        sampled: verified.sampled,
        bytes: verified.bytes,
        blocks: verified.blocks,
        behind_bytes: verified.behind_bytes,
        elapsed_s: verified.elapsed.as_secs_f64(),
        cached_bytes: verified.cached_bytes,
        misread: runs(verified.misread.iter()),
        rewritten: runs(verified.rewritten.iter()),
        wrong: runs(verified.wrong.iter()),
        not_rewritten: &verified.not_rewritten,
        source_changed: runs(verified.changed.iter().copied()),
    }
}
