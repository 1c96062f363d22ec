use super::object;
use crate::core::{Differences, Extent};
use serde::Serialize;

/// A run of sectors, or of blocks.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes.
    pub len_bytes: u64,
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
        shorter: found.shorter.map(|(side, lacks_bytes)| object! { side: side.name(), lacks_bytes }),
    }
}
