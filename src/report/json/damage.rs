use super::object;
use crate::core::{Conclusion, Damage, DamageKind, DamagedRun, PatternUse};
use serde::Serialize;

/// The test pattern that was written or checked.
pub(super) fn pattern(used: PatternUse) -> impl Serialize {
    object! { run: used.run, block_bytes: used.block_bytes }
}

/// The result of checking the test pattern. Offsets count from the first byte of the disk.
pub(super) fn damage(damage: &Damage) -> impl Serialize {
    let [swapped, misplaced, stale, torn, zero, foreign, flipped] = damage.blocks;
    let (holds_bytes, nothing_from_bytes) = match damage.conclusion {
        None => (None, None),
        Some(Conclusion::Wraps { holds_bytes }) => (Some(holds_bytes), None),
        Some(Conclusion::NothingFrom { offset }) => (None, Some(offset)),
    };
    object! {
        clean: damage.is_empty(),
        checked_bytes: damage.checked_bytes,
        damaged_blocks: damage.damaged_blocks(),
        blocks: object! { swapped, misplaced, stale, torn, zero, foreign, flipped },
        flipped_bits: damage.flipped_bits,
        runs: damage.runs.iter().map(run).collect::<Vec<_>>(),
        runs_unlisted: damage.unlisted,
        holds_bytes,
        nothing_from_bytes,
    }
}

fn run(damaged: &DamagedRun) -> impl Serialize + use<> {
    let (distance, run) = match damaged.kind {
        DamageKind::Swapped { distance } => (Some(distance), None),
        DamageKind::Misplaced { distance, run } => (Some(distance), Some(run)),
        DamageKind::Stale { run } => (None, Some(run)),
        DamageKind::Torn | DamageKind::Zero | DamageKind::Foreign | DamageKind::Flipped => (None, None),
    };
    object! {
        kind: damaged.kind.name(),
        offset_bytes: damaged.extent.offset,
        len_bytes: damaged.extent.len,
        first_offset_bytes: damaged.first,
        belongs_at_bytes: distance.map(|distance| damaged.extent.offset.wrapping_add_signed(distance)),
        run,
        bits: (damaged.kind == DamageKind::Flipped).then_some(damaged.bits),
    }
}
