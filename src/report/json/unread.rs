use super::differences::runs;
use super::object;
use crate::core::Unread;
use serde::Serialize;

/// What could not be read on a side; offsets count from its first byte. `None`: no read failed that was gone around.
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
