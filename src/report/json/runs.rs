//! Results as runs of bytes: differences, unreadable bytes, the result of reading back.
use super::object;
use crate::core::{AddressMap, Differences, Extent, Unread, Verified};
use serde::Serialize;

/// A run of sectors, or of blocks.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// Offset in bytes.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub len_bytes: u64,
}

/// The list of ranges of a side, with its totals; `None`: it is one run of bytes.
pub(super) fn list(map: &AddressMap) -> Option<impl Serialize + use<>> {
    let (file, ranges) = (map.file()?.to_owned(), map.ranges()?.len());
    let bytes = map.listed_bytes().unwrap_or(0);
    let Extent { offset, len } = map.hull(bytes);
    let span = RunReport { offset_bytes: offset, len_bytes: len };
    Some(object! { file, ranges, bytes, span })
}

/// The ranges of a list in order; `None`: it is one run of bytes.
pub(super) fn ranges(map: &AddressMap) -> Option<impl Serialize + use<>> {
    let (file, runs) = (map.file()?.to_owned(), runs(map.ranges()?));
    Some(object! { file, runs })
}

/// Runs as JSON.
pub(super) fn runs(extents: impl Iterator<Item = Extent>) -> Vec<RunReport> {
    extents.map(|run| RunReport { offset_bytes: run.offset, len_bytes: run.len }).collect()
}

/// The differences between two sides. Offsets count from the first byte that was compared.
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

/// The unreadable bytes of a side; offsets count from its first byte. `None`: no failed read was skipped.
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
