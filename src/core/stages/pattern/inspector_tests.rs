//! Random damage is detected completely, with the right kind, and without false positives.
use super::*;
use crate::core::{Conclusion, DAMAGED_RUNS_MAX, Damage, DamageKind, DamagedRun, Extent, PatternChecker};
use proptest::prelude::*;
use std::collections::BTreeMap;

const RUN: u64 = 5;
const BLOCKS: usize = 96;

fn filled(block_bytes: u32, run: u64, len: usize) -> Vec<u8> {
    let mut disk = vec![0; len];
    Pattern::new(block_bytes, run, 0).unwrap().fill(&mut disk, 0);
    disk
}

/// The damage found on a disk that is checked in buffers of `buffer_blocks` blocks, those with odd index first.
fn inspected(disk: &[u8], block_bytes: u32, buffer_blocks: usize) -> Damage {
    let pattern = Pattern::new(block_bytes, RUN, 0).unwrap();
    let inspector = Inspector::new(pattern, Extent::new(0, disk.len() as u64));
    let buffer_bytes = buffer_blocks * block_bytes as usize;
    for turn in [1, 0] {
        for (number, buffer) in disk.chunks(buffer_bytes).enumerate().filter(|(number, _)| number % 2 == turn) {
            inspector.judge(buffer, (number * buffer_bytes) as u64);
        }
    }
    inspector.damage()
}

fn by_block(damage: &Damage) -> BTreeMap<u64, DamageKind> {
    let block = u64::from(damage.block_bytes);
    let blocks = |run: &DamagedRun| {
        let kind = run.kind;
        (run.extent.offset..run.extent.end()).step_by(block as usize).map(move |at| (at, kind)).collect::<Vec<_>>()
    };
    damage.runs.iter().flat_map(blocks).collect()
}

/// Damages the block at `at` and returns the expected damage, including that of the `other` block.
fn damaged(disk: &mut [u8], block: usize, at: usize, sort: usize, other: usize) -> Vec<(usize, DamageKind)> {
    let own = at * block..(at + 1) * block;
    let older = filled(block as u32, RUN - 1, disk.len());
    match sort {
        0 => disk[own.start + other % block] ^= 1 << (other % 8),
        1 => disk[own.start + block / 2..own.end].copy_from_slice(&older[own.start + block / 2..own.end]),
        2 => disk[own.clone()].copy_from_slice(&older[own]),
        3 => disk[own].fill(0),
        4 => disk[own].fill(0xdb),
        5 => {
            let copied = disk[other * block..(other + 1) * block].to_vec();
            disk[own].copy_from_slice(&copied);
        }
        _ => {
            let (low, high) = (at.min(other), at.max(other));
            let (head, tail) = disk.split_at_mut(high * block);
            head[low * block..(low + 1) * block].swap_with_slice(&mut tail[..block]);
        }
    }
    let distance = (other as i64 - at as i64) * block as i64;
    let kind = match sort {
        0 => DamageKind::Flipped,
        1 => DamageKind::Torn,
        2 => DamageKind::Stale { run: RUN - 1 },
        3 => DamageKind::Zero,
        4 => DamageKind::Foreign,
        5 => DamageKind::Misplaced { distance, run: RUN },
        _ => return vec![(at, DamageKind::Swapped { distance }), (other, DamageKind::Swapped { distance: -distance })],
    };
    vec![(at, kind)]
}

proptest! {
    #[test]
    fn every_damage_is_found_with_kind_and_offset_without_false_alarms(
        plans in prop::collection::vec((0..BLOCKS, 0usize..7, 0..BLOCKS), 0..12),
        block_bytes in prop::sample::select(vec![512u32, 4096]), buffer_blocks in 1usize..9,
    ) {
        let block = block_bytes as usize;
        let mut disk = filled(block_bytes, RUN, BLOCKS * block);
        let (mut touched, mut expected) = (Vec::new(), BTreeMap::new());
        for (at, sort, other) in plans {
            // Each block is damaged once, and a misplaced block is copied from a good one.
            if touched.contains(&at) || touched.contains(&other) || at == other {
                continue;
            }
            touched.extend([at, other]);
            let reported = damaged(&mut disk, block, at, sort, other);
            expected.extend(reported.into_iter().map(|(number, kind)| ((number * block) as u64, kind)));
        }
        let damage = inspected(&disk, block_bytes, buffer_blocks);
        prop_assert_eq!(damage.checked_bytes, disk.len() as u64);
        prop_assert_eq!(damage.damaged_blocks(), expected.len() as u64);
        for (index, name) in DamageKind::NAMES.iter().enumerate() {
            let of_kind = expected.values().filter(|kind| kind.index() == index).count() as u64;
            prop_assert_eq!(damage.blocks[index], of_kind, "{}", name);
        }
        prop_assert_eq!(by_block(&damage), expected);
        prop_assert!(damage.runs.iter().all(|run| run.extent.offset <= run.first && run.first < run.extent.end()));
        prop_assert!(damage.runs.windows(2).all(|pair| pair[0].extent.end() <= pair[1].extent.offset));
        prop_assert!(!matches!(damage.conclusion, Some(Conclusion::Wraps { .. })), "{:?}", damage.conclusion);
    }

    #[test]
    fn a_false_capacity_is_detected(
        holds in 2usize..80, more in 2usize..200, drops in any::<bool>(), stray in any::<Option<prop::sample::Index>>(),
    ) {
        let (block, says) = (512, holds + more);
        let mut memory = vec![0u8; holds * block];
        let pattern = Pattern::new(block as u32, RUN, 0).unwrap();
        for number in 0..says {
            let place = number % holds * block;
            if number < holds || !drops {
                pattern.fill(&mut memory[place..place + block], (number * block) as u64);
            }
        }
        let read = |number: usize| memory[number % holds * block..][..block].to_vec();
        let mut disk: Vec<u8> = (0..says).flat_map(read).collect();
        if let Some(stray) = stray.filter(|_| more > 100) {
            let at = stray.index(disk.len());
            disk[at] ^= 4;
        }
        let found = inspected(&disk, block as u32, 4).conclusion;
        prop_assert_eq!(found, Some(Conclusion::Wraps { holds_bytes: (holds * block) as u64 }));
    }
}

#[test]
fn a_single_misplaced_block_is_not_a_false_capacity() {
    let mut disk = filled(512, RUN, BLOCKS * 512);
    let reported = damaged(&mut disk, 512, BLOCKS - 1, 5, 0);
    let damage = inspected(&disk, 512, 4);
    assert_eq!(by_block(&damage), reported.into_iter().map(|(number, kind)| (number as u64 * 512, kind)).collect());
    assert_eq!(damage.conclusion, None);
}

#[test]
fn adjacent_damage_of_one_kind_is_one_run_in_any_order() {
    let mut disk = filled(512, RUN, 64 * 512);
    disk[10 * 512..30 * 512].fill(0);
    disk[30 * 512 + 7] ^= 1;
    disk[31 * 512 + 9] ^= 3;
    let damage = inspected(&disk, 512, 3);
    let run = |offset: u64, len: u64, kind, first, bits| {
        let extent = Extent::new(offset * 512, len * 512);
        DamagedRun { extent, kind, first: offset * 512 + first, bits }
    };
    assert_eq!(damage.runs, [run(10, 20, DamageKind::Zero, 0, 0), run(30, 2, DamageKind::Flipped, 7, 3)]);
    assert_eq!(damage.flipped_bits, 3);
}

#[test]
fn swapped_blocks_are_distinguished_from_misplaced_neighbours() {
    let mut disk = filled(512, RUN, 96 * 512);
    let mut expected = damaged(&mut disk, 512, 87, 6, 40);
    expected.extend(damaged(&mut disk, 512, 88, 5, 41));
    let expected: BTreeMap<_, _> = expected.into_iter().map(|(number, kind)| (number as u64 * 512, kind)).collect();
    let damage = inspected(&disk, 512, 4);
    assert_eq!(by_block(&damage), expected);
    assert_eq!(damage.damaged_blocks(), 3);
}

#[test]
fn a_disk_that_discards_writes_beyond_an_offset_is_detected() {
    let mut disk = filled(512, RUN, 100 * 512);
    disk[60 * 512..80 * 512].fill(0);
    disk[80 * 512..].fill(0xff);
    assert_eq!(inspected(&disk, 512, 7).conclusion, Some(Conclusion::NothingFrom { offset: 60 * 512 }));
    let mut disk = filled(512, RUN, 100 * 512);
    disk[95 * 512..].fill(0);
    assert_eq!(inspected(&disk, 512, 7).conclusion, None, "a bad place at the end is a bad place");
    assert_eq!(inspected(&vec![0; 512 * 100], 512, 7).conclusion, None, "all of it is no end");
}

#[test]
fn the_number_of_kept_runs_is_bounded() {
    let blocks = 2 * DAMAGED_RUNS_MAX + 20;
    let mut disk = filled(512, RUN, blocks * 512);
    disk.chunks_exact_mut(1024).for_each(|pair| pair[0] ^= 1);
    let damage = inspected(&disk, 512, 64);
    assert!(damage.unlisted);
    assert_eq!(damage.runs.len(), DAMAGED_RUNS_MAX);
    assert_eq!(damage.damaged_blocks(), blocks as u64 / 2);
}

#[test]
fn a_partial_last_block_is_not_checked() {
    let disk = [filled(4096, RUN, 3 * 4096), vec![1; 700]].concat();
    let damage = inspected(&disk, 4096, 16);
    assert!(damage.is_empty());
    assert_eq!(damage.checked_bytes, 3 * 4096);
}

#[test]
fn the_newest_run_of_the_samples_is_used_unless_one_is_given() {
    let (old, new) = (filled(512, 7, 8192), filled(4096, 9, 8192));
    let mut surveyor = Surveyor::new(None);
    assert_eq!(surveyor.found(), None);
    surveyor.look(&[0; 4096]);
    assert_eq!(surveyor.found(), None);
    [&old[..4096], &new[4096..], &old[4096..]].into_iter().for_each(|sample| surveyor.look(sample));
    assert_eq!(surveyor.found().map(|mark| (mark.run, mark.block_bytes)), Some((9, 4096)));
    let mut surveyor = Surveyor::new(Some(7));
    surveyor.look(&new[..4096]);
    assert_eq!(surveyor.found(), None);
    // The start of the sample is damaged; another block of it has a valid mark.
    surveyor.look(&[&[0; 512][..], &old[512..4096]].concat());
    assert_eq!(surveyor.found().map(|mark| (mark.run, mark.block_bytes)), Some((7, 512)));
}
