use super::RunReport;
use crate::core::Unread;
use serde::Serialize;

/// What could not be read on a side. Offsets count from its first byte.
#[derive(Clone, Debug, Serialize)]
pub struct UnreadReport {
    /// Logical blocks that could not be read.
    pub sectors: u64,
    /// Bytes of one of them.
    pub sector_bytes: u32,
    /// Bytes that could not be read.
    pub bytes: u64,
    /// All of them, as runs.
    pub runs: Vec<RunReport>,
    /// Reads that failed, those of larger pieces and further tries among them.
    pub failed_reads: u64,
    /// How long these took to fail, added up.
    pub failing_s: f64,
}

impl UnreadReport {
    /// `None`: no read failed that was gone around.
    pub(super) fn of(unread: &Unread) -> Option<Self> {
        (unread.failed_reads > 0).then(|| UnreadReport {
            sectors: unread.sectors(),
            sector_bytes: unread.sector_bytes,
            bytes: unread.runs.total_bytes(),
            runs: unread.runs.iter().map(|run| RunReport { offset_bytes: run.offset, len_bytes: run.len }).collect(),
            failed_reads: unread.failed_reads,
            failing_s: unread.failing.as_secs_f64(),
        })
    }
}
