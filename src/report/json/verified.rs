use super::differences::runs;
use super::object;
use crate::core::Verified;
use serde::Serialize;

/// What came of reading the dest back. Offsets count from the first byte of the copy; runs are of whole blocks.
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
