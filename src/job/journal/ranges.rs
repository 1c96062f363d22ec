//! Identifies the lists of a copy of ranges.
use crate::core::{BlockDigest, Extent, Plan, Side};

/// The digest of the lists of a copy; `None`: it has none. Journals of haul 0.1.0 have another digest for the
/// same list: their offsets include the bytes between its ranges.
pub(super) fn digest(plan: &Plan) -> Option<BlockDigest> {
    let lines = |side: Side| {
        let line = |range: Extent| format!("{} {} {}\n", side.key(), range.offset, range.len);
        plan.side(side).map.ranges().into_iter().flatten().map(line).collect::<String>()
    };
    plan.is_listed().then(|| BlockDigest::blake3(Side::BOTH.map(lines).concat().as_bytes()))
}
