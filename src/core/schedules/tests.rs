use super::*;
use crate::core::{AddressMap, EndpointKind, Extent, Facts, Kind, Next, Op, Piece, Request, Run, RunKind, pieces};
use proptest::prelude::*;
use std::io;

/// A source without data, with alternating runs of data and zeros.
struct Holes {
    facts: Facts,
    /// Ends of the runs; those with even index are data.
    ends: Vec<u64>,
}

impl Endpoint for Holes {
    fn facts(&self) -> &Facts {
        &self.facts
    }
    fn perform(&self, _request: &mut Request) -> io::Result<u32> {
        unreachable!("a schedule never reads")
    }
    fn run_at(&self, within: Extent) -> io::Result<Run> {
        let index = self.ends.iter().position(|&end| within.offset < end);
        let end = index.map_or(within.end(), |index| self.ends[index].min(within.end()));
        let kind = if index.is_some_and(|index| index % 2 == 0) { RunKind::Data } else { RunKind::Zero };
        Ok(Run { extent: Extent::new(within.offset, end - within.offset), kind })
    }
    fn diagnose(&self, _op: Op, _offset: u64, _error: &io::Error) -> Kind {
        Kind::Io
    }
}

fn shape(len: u64, dest_offset: u64, head_bytes: u64, tail_align_bytes: u64) -> Shape {
    Shape { len, source_offset: 0, dest_offset, head_bytes, tail_align_bytes, zero_bytes_max: Some(1 << 20) }
}

fn all(schedule: &mut dyn Schedule, block_bytes: u32) -> Vec<Run> {
    let mut runs = Vec::new();
    while let Next::Do(run) = schedule.next(block_bytes).unwrap() {
        schedule.complete(run.extent);
        runs.push(run);
        assert!(runs.len() < 100_000, "a schedule that never ends");
    }
    runs
}

/// A source with runs of these lengths, data first.
fn with_holes(runs: &[u64]) -> Arc<dyn Endpoint> {
    let ends = runs.iter().scan(0, |at, len| {
        *at += len;
        Some(*at)
    });
    Arc::new(Holes { facts: Facts::new("x", EndpointKind::Memory), ends: ends.collect() })
}

proptest! {
    #[test]
    fn every_byte_is_scheduled_exactly_once(
        len in 0u64..100_000, seek in 0u64..10_000, head in 0u64..600, block_k in 1u32..9,
        steps in prop::collection::vec(1u64..20_000, 0..12), backward: bool,
    ) {
        let shape = shape(len, seek, head, 4096);
        let source = with_holes(&steps);
        let mut schedule: Box<dyn Schedule> = if backward {
            Box::new(Backward::new(shape))
        } else {
            Box::new(Forward::new(shape, Some(source.clone())))
        };
        let mut runs = all(&mut *schedule, block_k * 1024);
        prop_assert_eq!(schedule.claimed(), Extent::new(0, len));
        if backward {
            runs.reverse();
        }
        let mut at = 0;
        for run in &runs {
            prop_assert_eq!(run.extent.offset, at);
            at = run.extent.end();
            let data_there = !backward && source.run_at(run.extent).unwrap().kind == RunKind::Data;
            prop_assert!(run.kind == RunKind::Data || !data_there, "data was taken for a hole: {:?}", run);
            if run.kind == RunKind::Zero {
                let real = source.run_at(run.extent).unwrap();
                prop_assert!(real.extent.end() >= run.extent.end(), "data was taken for a hole: {:?}", run);
            }
        }
        prop_assert_eq!(at, len);
    }

    #[test]
    fn an_unaligned_end_is_a_separate_block_and_holes_are_aligned(
        len in 1u64..100_000, seek_k in 0u64..10, holes in prop::collection::vec(1u64..9_000, 0..9),
    ) {
        let shape = shape(len, seek_k * 512, 0, 4096);
        let runs = all(&mut Forward::new(shape, Some(with_holes(&holes))), 64 << 10);
        for run in &runs[..runs.len() - 1] {
            prop_assert_eq!((seek_k * 512 + run.extent.end()) % 4096, 0, "{:?}", run);
        }
    }
}

#[test]
fn a_stream_ends_at_the_given_end() {
    let mut schedule = Forward::new(shape(u64::MAX - 5, 5, 0, 1), None);
    assert!(matches!(schedule.next(100).unwrap(), Next::Do(_)));
    schedule.ends_at(130);
    let Next::Do(run) = schedule.next(100).unwrap() else { panic!("30 bytes are left") };
    assert_eq!(run.extent, Extent::new(100, 30));
    assert_eq!(schedule.next(100).unwrap(), Next::Finished);
}

#[test]
fn no_byte_behind_a_gap_is_claimed() {
    let mut schedule = Forward::new(shape(1000, 0, 0, 1), None);
    for _ in 0..4 {
        schedule.next(100).unwrap();
    }
    schedule.complete(Extent::new(0, 100));
    schedule.complete(Extent::new(200, 100));
    assert_eq!(schedule.claimed(), Extent::new(0, 100));
    schedule.complete(Extent::new(100, 100));
    assert_eq!(schedule.claimed(), Extent::new(0, 300));
}

proptest! {
    #[test]
    fn the_rest_is_what_is_not_durable_rounded_to_alignment(
        len in 1u64..200_000, pairs in prop::collection::vec((0u64..200_000, 1u64..30_000), 0..12),
        align_bits in 0u32..13, head in prop::sample::select(vec![0u64, 512, 1536]), block_k in 1u32..40,
    ) {
        let (align, whole) = (1u64 << align_bits, Extent::new(0, len));
        let extents = pairs.iter().map(|&(at, len)| Extent::new(at, len));
        let durable: ExtentSet = extents.filter_map(|extent| extent.intersection(&whole)).collect();
        let mut schedule = InPieces::rest(shape(len, 0, head, align), None, &[piece(0, len)], &durable, align);
        let claimed_before: ExtentSet = [schedule.claimed()].into_iter().collect();
        prop_assert!(durable.intersection(&claimed_before) == claimed_before, "claimed more than was there");
        let runs = all(&mut schedule, block_k * 4096);
        let mut given = ExtentSet::new();
        for Run { extent, .. } in &runs {
            prop_assert!(!given.overlaps(*extent) && extent.end() <= len && extent.len <= u64::from(block_k) * 4096);
            let on_grid = extent.offset == 0 || extent.offset >= head && (extent.offset - head).is_multiple_of(align);
            prop_assert!(on_grid || extent.offset % align == 0, "{:?}: {} behind {}", extent, align, head);
            given.insert(*extent);
        }
        let mut either = durable.clone();
        either.insert_all(&given);
        prop_assert!(either.contains(whole), "{:?} is missing", either.gaps(whole).next());
        let mut again = given.intersection(&durable).total_bytes();
        again -= again.min(durable.gaps(whole).count() as u64 * 2 * (align + head));
        prop_assert_eq!(again, 0, "more is copied again than the widened ends of gaps");
        prop_assert_eq!(schedule.claimed(), whole);
    }
}

#[test]
fn the_rest_of_a_complete_copy_is_empty() {
    let whole = Extent::new(0, 1000);
    let durable = [whole].into_iter().collect();
    let mut schedule = InPieces::rest(shape(1000, 0, 0, 1), None, &[piece(0, 1000)], &durable, 4096);
    assert_eq!(schedule.next(100).unwrap(), Next::Finished);
    assert_eq!(schedule.claimed(), Extent::new(0, 1000));
}

/// A piece that begins at the same offset on both sides as in the copy.
fn piece(offset: u64, len: u64) -> Piece {
    Piece { copy: Extent::new(offset, len), at: [offset; 2] }
}

/// Lists of ranges for both sides with the same total length. Ranges of the dest do not overlap.
fn any_maps() -> impl Strategy<Value = [AddressMap; 2]> {
    let pairs = |count| prop::collection::vec((0u64..20_000, 1u64..30_000), 1..count);
    (pairs(9), pairs(9)).prop_map(|(from, to)| {
        let total: u64 = from.iter().map(|range| range.1).sum::<u64>().min(to.iter().map(|range| range.1).sum());
        let listed = |ranges: Vec<Extent>| {
            let map = AddressMap::listed("list", ranges, true).unwrap();
            AddressMap::listed("list", map.places(Extent::new(0, total)).collect(), true).unwrap()
        };
        let source = from.iter().map(|&(offset, len)| Extent::new(offset, len)).collect();
        let mut end = 512;
        let mut dest: Vec<Extent> = to
            .iter()
            .map(|&(gap, len)| {
                let range = Extent::new(end + gap, len);
                end = range.end();
                range
            })
            .collect();
        dest.reverse();
        [listed(source), listed(dest)]
    })
}

proptest! {
    #[test]
    fn every_byte_of_lists_is_scheduled_once_and_no_block_crosses_a_range(
        maps in any_maps(), block_k in 1u32..9, steps in prop::collection::vec(1u64..20_000, 0..12),
    ) {
        let total = maps[0].listed_bytes().unwrap();
        let ends: Vec<u64> = steps.iter().scan(0, |at, step| { *at += step; Some(*at) }).collect();
        let source: Arc<dyn Endpoint> = Arc::new(Holes { facts: Facts::new("x", EndpointKind::Memory), ends });
        let pieces = pieces(maps.each_ref(), Extent::new(0, total)).collect();
        let mut schedule = InPieces::new(shape(total, 0, 0, 4096), Some(source.clone()), pieces);
        prop_assert_eq!(schedule.claimed(), Extent::new(0, 0), "claimed before anything was copied");
        let mut at = 0;
        for Run { extent, kind } in all(&mut schedule, block_k * 1024) {
            prop_assert_eq!(extent.offset, at);
            at = extent.end();
            prop_assert!(maps.iter().all(|map| extent.len <= map.run_bytes(extent.offset)), "{:?} is cut", extent);
            prop_assert!(kind == RunKind::Zero || extent.len <= u64::from(block_k) * 1024);
            if kind == RunKind::Zero {
                let there = source.run_at(maps[0].place(extent)).unwrap();
                prop_assert!(there.kind == RunKind::Zero && there.extent.len == extent.len, "{:?} is data", extent);
            }
        }
        prop_assert_eq!(at, total);
        prop_assert_eq!(schedule.claimed(), Extent::new(0, total));
    }

    #[test]
    fn the_rest_of_lists_is_what_is_not_durable_of_them(
        maps in any_maps(), align_bits in 0u32..13, block_k in 1u32..40,
        there in prop::collection::vec((0u64..200_000, 1u64..30_000), 0..12),
    ) {
        let (total, align) = (maps[0].listed_bytes().unwrap(), 1u64 << align_bits);
        let whole = Extent::new(0, total);
        let durable: ExtentSet =
            there.iter().filter_map(|&(at, len)| Extent::new(at, len).intersection(&whole)).collect();
        let pieces: Vec<Piece> = pieces(maps.each_ref(), whole).collect();
        let gaps: usize = pieces.iter().map(|piece| durable.gaps(piece.copy).count()).sum();
        let mut schedule = InPieces::rest(shape(total, 0, 0, align), None, &pieces, &durable, align);
        let claimed_first: ExtentSet = [schedule.claimed()].into_iter().collect();
        prop_assert!(durable.intersection(&claimed_first) == claimed_first, "claimed more than was there");
        let mut either = durable.clone();
        let mut given = ExtentSet::new();
        for Run { extent, .. } in all(&mut schedule, block_k * 4096) {
            prop_assert!(!given.overlaps(extent), "{:?} twice", extent);
            prop_assert!(maps.iter().all(|map| extent.len <= map.run_bytes(extent.offset)), "{:?} is cut", extent);
            given.insert(extent);
        }
        either.insert_all(&given);
        prop_assert!(either.contains(whole), "something is missing");
        let again = given.intersection(&durable).total_bytes();
        prop_assert!(again <= gaps as u64 * 2 * align, "{} bytes are copied again", again);
        prop_assert_eq!(schedule.claimed(), whole);
    }
    #[test]
    fn every_byte_is_scheduled_once_in_order_including_reread_ones_but_not_those_with_digests(
        maps in any_maps(), align_bits in 0u32..13, block_k in 1u32..40,
        there in prop::collection::vec((0u64..200_000, 1u64..30_000), 0..12),
        known in prop::collection::vec((0u64..200_000, 1u64..30_000), 0..6),
    ) {
        let (total, align) = (maps[0].listed_bytes().unwrap(), 1u64 << align_bits);
        let whole = Extent::new(0, total);
        let durable: ExtentSet =
            there.iter().filter_map(|&(at, len)| Extent::new(at, len).intersection(&whole)).collect();
        let pieces: Vec<Piece> = pieces(maps.each_ref(), whole).collect();
        let rest = || InPieces::rest(shape(total, 0, 0, align), None, &pieces, &durable, align);
        let copied: ExtentSet = all(&mut rest(), block_k * 4096).iter().map(|run| run.extent).collect();
        let known: ExtentSet = known.iter().map(|&(at, len)| Extent::new(at, len)).collect();
        let mut digested = durable.intersection(&known);
        let mut schedule = rest().and_reread(&pieces, &digested);
        // What is copied again for direct I/O is digested again.
        digested.remove_all(&copied);
        let claimed_first: ExtentSet = [schedule.claimed()].into_iter().collect();
        prop_assert!(durable.intersection(&claimed_first) == claimed_first, "claimed more than was there");
        let (mut reread, mut end) = (ExtentSet::new(), 0);
        while let Next::Do(Run { extent, .. }) = schedule.next(block_k * 4096).unwrap() {
            prop_assert!(extent.offset >= end && !digested.overlaps(extent), "{:?} after {}", extent, end);
            prop_assert!(maps.iter().all(|map| extent.len <= map.run_bytes(extent.offset)), "{:?} is cut", extent);
            end = extent.end();
            if schedule.is_reread(extent) {
                prop_assert!(durable.contains(extent), "{:?} is not on the destination", extent);
                reread.insert(extent);
            } else {
                prop_assert!(copied.contains(extent), "{:?} is copied without need", extent);
                schedule.complete(extent);
            }
        }
        prop_assert_eq!(reread.total_bytes() + copied.total_bytes() + digested.total_bytes(), total);
        prop_assert_eq!(schedule.claimed(), whole);
    }
}
