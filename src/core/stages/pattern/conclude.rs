//! Diagnosis of a disk from its damaged blocks.
use crate::core::{Conclusion, Damage, DamageKind, DamagedRun, Extent, ExtentSet};
use std::collections::HashMap;

/// Minimum percentage of misplaced blocks, of those that a false capacity must misplace. Other damage may hide a few.
const WRAPPED_PER_CENT: u128 = 90;

/// A distance is ignored if fewer than one in this many misplaced blocks have it.
const STRAY_PART: u64 = 100;

/// Damage up to the end counts as lost writes from one offset on if it covers at least one in this many checked bytes.
const NOTHING_PART: u64 = 8;

/// Detects swapped blocks and sets the conclusion about the disk. `range` is the extent that was checked.
pub(super) fn conclude(damage: &mut Damage, range: Extent) {
    pair_up(damage);
    damage.conclusion = wraps(damage, range).or_else(|| nothing_from(damage, range));
}

/// The distance of a misplaced run of this `own` run number; `None` for other damage, and for blocks of other runs.
fn distance_of(run: &DamagedRun, own: u64) -> Option<i64> {
    match run.kind {
        DamageKind::Misplaced { distance, run } if run == own => Some(distance),
        _ => None,
    }
}

fn moved(extent: Extent, distance: i64) -> Option<Extent> {
    let offset = extent.offset.checked_add_signed(distance)?;
    offset.checked_add(extent.len).map(|_| Extent::new(offset, extent.len))
}

/// Changes misplaced blocks to swapped if the two blocks are in each other's place.
fn pair_up(damage: &mut Damage) {
    let mut places: HashMap<i64, ExtentSet> = HashMap::new();
    for run in &damage.runs {
        if let Some(distance) = distance_of(run, damage.run) {
            places.entry(distance).or_default().insert(run.extent);
        }
    }
    let mut swapped_bytes = 0;
    let mut runs = Vec::with_capacity(damage.runs.len());
    for run in &damage.runs {
        let distance = distance_of(run, damage.run);
        let target_extent = distance.and_then(|distance| Some((distance, moved(run.extent, distance)?)));
        let other = target_extent.and_then(|(distance, target_extent)| {
            Some((distance, target_extent, places.get(&distance.checked_neg()?)?))
        });
        let Some((distance, target_extent, other)) = other else {
            runs.push(*run);
            continue;
        };
        // Only part of a run may be swapped, so it is split.
        let from = runs.len();
        let mut add = |part: Extent, kind| {
            let extent = Extent::new(run.extent.offset + (part.offset - target_extent.offset), part.len);
            runs.push(DamagedRun { extent, kind, first: extent.offset, bits: 0 });
        };
        other.within(target_extent).for_each(|part| {
            swapped_bytes += part.len;
            add(part, DamageKind::Swapped { distance });
        });
        other.gaps(target_extent).for_each(|part| add(part, run.kind));
        runs[from..].sort_unstable_by_key(|run| run.extent.offset);
    }
    damage.runs = runs;
    let blocks = swapped_bytes / u64::from(damage.block_bytes.max(1));
    let index = |kind: DamageKind| kind.index();
    damage.blocks[index(DamageKind::Swapped { distance: 0 })] += blocks;
    damage.blocks[index(DamageKind::Misplaced { distance: 0, run: 0 })] -= blocks;
}

/// Detects that addresses repeat with some period. If later writes overwrote earlier ones, all locations but the last
/// hold a block from a higher offset; if later writes were lost, all but the first hold one from a lower offset.
fn wraps(damage: &Damage, range: Extent) -> Option<Conclusion> {
    let misplaced = || damage.runs.iter().filter_map(|run| Some((run, distance_of(run, damage.run)?)));
    let mut by_distance: HashMap<i64, u64> = HashMap::new();
    misplaced().for_each(|(run, distance)| *by_distance.entry(distance).or_default() += run.extent.len);
    let all: u64 = by_distance.values().sum();
    let many = by_distance.iter().filter(|(_, bytes)| **bytes >= all / STRAY_PART);
    let holds = many.fold(0, |holds, (distance, _)| gcd(holds, distance.unsigned_abs()));
    // A single misplaced block does not indicate the capacity.
    let block_bytes = u64::from(damage.block_bytes);
    let repeated = range.len.checked_sub(holds).filter(|&repeated| holds > 0 && repeated > block_bytes)?;
    let enough = |bytes: u64| u128::from(bytes) * 100 >= u128::from(repeated) * WRAPPED_PER_CENT;
    let bytes = |wanted: &dyn Fn(&DamagedRun, i64) -> bool| -> u64 {
        misplaced().filter(|(run, distance)| wanted(run, *distance)).map(|(run, _)| run.extent.len).sum()
    };
    let written_over = bytes(&|run, distance| distance > 0 && run.extent.offset < range.end() - holds);
    let lost = bytes(&|run, distance| distance < 0 && run.extent.offset >= range.offset + holds);
    (enough(written_over) || enough(lost)).then_some(Conclusion::Wraps { holds_bytes: holds })
}

/// Detects that no block from some offset to the end is correct.
fn nothing_from(damage: &Damage, range: Extent) -> Option<Conclusion> {
    let bad: ExtentSet = damage.runs.iter().map(|run| run.extent).collect();
    let block_bytes = u64::from(damage.block_bytes.max(1));
    let whole_end = range.offset + range.len - range.len % block_bytes;
    let last = bad.iter().last().filter(|last| last.end() == whole_end)?;
    let much = last.len >= range.len / NOTHING_PART && last.len > block_bytes && last.offset > range.offset;
    (much && !damage.unlisted).then_some(Conclusion::NothingFrom { offset: last.offset })
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
