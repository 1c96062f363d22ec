//! From damaged blocks to what is the matter with the disk.
use crate::core::{Conclusion, Damage, DamageKind, DamagedRun, Extent, ExtentSet};
use std::collections::HashMap;

/// A disk that reports a false capacity shows this many parts in a hundred of the blocks that have to be misplaced
/// then: a few may be damaged besides.
const WRAPPED_PER_CENT: u128 = 90;

/// A distance with less than this part of the misplaced blocks is that of strays.
const STRAY_PART: u64 = 100;

/// Nothing right in this part of what was checked, up to its end, is more than a bad place.
const NOTHING_PART: u64 = 8;

/// Finds the blocks that lie in each other's place, and what all the damage says about the disk. `range` is what was
/// checked.
pub(super) fn conclude(damage: &mut Damage, range: Extent) {
    pair_up(damage);
    damage.conclusion = wraps(damage, range).or_else(|| nothing_from(damage, range));
}

/// The run that this misplaced run belongs to, as a distance; `None` for other damage, and for blocks of other runs.
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

/// Misplaced blocks whose own place holds the block that belongs here are swapped.
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
        let there = distance.and_then(|distance| Some((distance, moved(run.extent, distance)?)));
        let other = there.and_then(|(distance, there)| Some((distance, there, places.get(&distance.checked_neg()?)?)));
        let Some((distance, there, other)) = other else {
            runs.push(*run);
            continue;
        };
        // A run may have neighbours of both kinds: what was swapped is distinguished from what is merely in a wrong
        // place.
        let from = runs.len();
        let mut tell = |part: Extent, kind| {
            let extent = Extent::new(run.extent.offset + (part.offset - there.offset), part.len);
            runs.push(DamagedRun { extent, kind, first: extent.offset, bits: 0 });
        };
        other.within(there).for_each(|part| {
            swapped_bytes += part.len;
            tell(part, DamageKind::Swapped { distance });
        });
        other.gaps(there).for_each(|part| tell(part, run.kind));
        runs[from..].sort_unstable_by_key(|run| run.extent.offset);
    }
    damage.runs = runs;
    let blocks = swapped_bytes / u64::from(damage.block_bytes.max(1));
    let index = |kind: DamageKind| kind.index();
    damage.blocks[index(DamageKind::Swapped { distance: 0 })] += blocks;
    damage.blocks[index(DamageKind::Misplaced { distance: 0, run: 0 })] -= blocks;
}

/// Addresses that repeat after some bytes. Where later writes went over earlier ones, all but the last of each place
/// show a block from further on; where they were lost, all but the first show one from before.
fn wraps(damage: &Damage, range: Extent) -> Option<Conclusion> {
    let misplaced = || damage.runs.iter().filter_map(|run| Some((run, distance_of(run, damage.run)?)));
    let mut by_distance: HashMap<i64, u64> = HashMap::new();
    misplaced().for_each(|(run, distance)| *by_distance.entry(distance).or_default() += run.extent.len);
    let all: u64 = by_distance.values().sum();
    let many = by_distance.iter().filter(|(_, bytes)| **bytes >= all / STRAY_PART);
    let holds = many.fold(0, |holds, (distance, _)| gcd(holds, distance.unsigned_abs()));
    // One block in the wrong place is no sign of how much the disk holds.
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

/// No block is right from here to the end.
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
