//! By which the list of a copy of ranges is known again.
use crate::core::{BlockDigest, Extent, HashKind, Plan};

/// The digest of the ranges of a copy; `None`: it is of one run of bytes.
pub(super) fn digest(plan: &Plan) -> Option<BlockDigest> {
    let line = |range: &Extent| format!("{} {}\n", range.offset, range.len);
    let lines = plan.ranges.as_ref().map(|ranges| ranges.extents().iter().map(line).collect::<String>())?;
    Some(BlockDigest::of(HashKind::Blake3, lines.as_bytes()))
}
