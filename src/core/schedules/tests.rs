use super::*;
use crate::core::{EndpointKind, Extent, Facts, Kind, Next, Op, Request, Run, RunKind};
use proptest::prelude::*;
use std::io;

/// Knows only where its holes are: runs of alternating kind.
struct Holes {
    facts: Facts,
    /// Ends of runs; even ones are data.
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
        schedule.settled(run.extent);
        runs.push(run);
        assert!(runs.len() < 100_000, "a schedule that never ends");
    }
    runs
}

proptest! {
    #[test]
    fn every_byte_is_handed_out_exactly_once(
        len in 0u64..100_000, seek in 0u64..10_000, head in 0u64..600, block_k in 1u32..9,
        steps in prop::collection::vec(1u64..20_000, 0..12), backward: bool,
    ) {
        let shape = shape(len, seek, head, 4096);
        let ends: Vec<u64> = steps.iter().scan(0, |at, step| { *at += step; Some(*at) }).collect();
        let source: Arc<dyn Endpoint> = Arc::new(Holes { facts: Facts::new("x", EndpointKind::Memory), ends });
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
    fn an_odd_end_goes_alone_and_holes_keep_to_the_alignment(
        len in 1u64..100_000, seek_k in 0u64..10, holes in prop::collection::vec(1u64..9_000, 0..9),
    ) {
        let shape = shape(len, seek_k * 512, 0, 4096);
        let ends = holes.iter().scan(0, |at, step| { *at += step; Some(*at) }).collect();
        let source: Arc<dyn Endpoint> = Arc::new(Holes { facts: Facts::new("x", EndpointKind::Memory), ends });
        let runs = all(&mut Forward::new(shape, Some(source)), 64 << 10);
        for run in &runs[..runs.len() - 1] {
            prop_assert_eq!((seek_k * 512 + run.extent.end()) % 4096, 0, "{:?}", run);
        }
    }
}

#[test]
fn a_stream_ends_where_it_is_told() {
    let mut schedule = Forward::new(shape(u64::MAX - 5, 5, 0, 1), None);
    assert!(matches!(schedule.next(100).unwrap(), Next::Do(_)));
    schedule.ends_at(130);
    let Next::Do(run) = schedule.next(100).unwrap() else { panic!("30 bytes are left") };
    assert_eq!(run.extent, Extent::new(100, 30));
    assert_eq!(schedule.next(100).unwrap(), Next::Finished);
}

#[test]
fn nothing_behind_a_gap_is_claimed() {
    let mut schedule = Forward::new(shape(1000, 0, 0, 1), None);
    for _ in 0..4 {
        schedule.next(100).unwrap();
    }
    schedule.settled(Extent::new(0, 100));
    schedule.settled(Extent::new(200, 100));
    assert_eq!(schedule.claimed(), Extent::new(0, 100));
    schedule.settled(Extent::new(100, 100));
    assert_eq!(schedule.claimed(), Extent::new(0, 300));
}

proptest! {
    #[test]
    fn the_rest_is_what_was_not_durable_and_little_more(
        len in 1u64..200_000, pairs in prop::collection::vec((0u64..200_000, 1u64..30_000), 0..12),
        align_bits in 0u32..13, head in prop::sample::select(vec![0u64, 512, 1536]), block_k in 1u32..40,
    ) {
        let (align, whole) = (1u64 << align_bits, Extent::new(0, len));
        let extents = pairs.iter().map(|&(at, len)| Extent::new(at, len));
        let durable: ExtentSet = extents.filter_map(|extent| extent.intersection(&whole)).collect();
        let mut schedule = InRanges::rest(shape(len, 0, head, align), None, &[whole], &durable, align);
        let there_before: ExtentSet = [schedule.claimed()].into_iter().collect();
        prop_assert!(durable.intersection(&there_before) == there_before, "claimed more than was there");
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
fn the_rest_of_a_complete_copy_is_nothing() {
    let whole = Extent::new(0, 1000);
    let durable = [whole].into_iter().collect();
    let mut schedule = InRanges::rest(shape(1000, 0, 0, 1), None, &[whole], &durable, 4096);
    assert_eq!(schedule.next(100).unwrap(), Next::Finished);
    assert_eq!(schedule.claimed(), Extent::new(0, 1000));
}

/// Ranges from the first byte on, by the gap before each and its length.
fn apart(pairs: &[(u64, u64)]) -> Vec<Extent> {
    let mut ranges: Vec<Extent> = Vec::new();
    for &(gap, len) in pairs {
        let offset = ranges.last().map_or(0, |last| last.end() + gap);
        ranges.push(Extent::new(offset, len));
    }
    ranges
}

proptest! {
    #[test]
    fn of_ranges_every_byte_is_handed_out_once_and_none_between_them(
        pairs in prop::collection::vec((1u64..20_000, 1u64..30_000), 1..9), head in 0u64..600, block_k in 1u32..9,
        steps in prop::collection::vec(1u64..20_000, 0..12),
    ) {
        let ranges = apart(&pairs);
        let at = ranges.last().unwrap().end();
        // A first block is only cut short where the borders within the copy allow it.
        let head = if ranges.len() == 1 { head } else { 0 };
        let ends: Vec<u64> = steps.iter().scan(0, |at, step| { *at += step; Some(*at) }).collect();
        let source: Arc<dyn Endpoint> = Arc::new(Holes { facts: Facts::new("x", EndpointKind::Memory), ends });
        let mut schedule = InRanges::new(shape(at, 512, head, 4096), Some(source), ranges.clone());
        let claimed_first = schedule.claimed();
        prop_assert_eq!(claimed_first, Extent::new(0, 0), "claimed before anything arrived");
        let runs = all(&mut schedule, block_k * 1024);
        let mut given = ExtentSet::new();
        for Run { extent, kind } in &runs {
            prop_assert!(!extent.is_empty() && !given.overlaps(*extent), "{:?} twice", extent);
            prop_assert!(ranges.iter().any(|range| range.intersection(extent) == Some(*extent)), "{:?}", extent);
            prop_assert!(*kind == RunKind::Zero || extent.len <= u64::from(block_k) * 1024);
            given.insert(*extent);
        }
        prop_assert_eq!(given.total_bytes(), ranges.iter().map(|range| range.len).sum::<u64>());
        prop_assert_eq!(schedule.claimed(), Extent::new(0, at));
    }
}

proptest! {
    #[test]
    fn the_rest_of_ranges_is_what_was_not_durable_of_them_and_nothing_between_them(
        pairs in prop::collection::vec((1u64..20_000, 1u64..30_000), 1..9), align_bits in 0u32..13, block_k in 1u32..40,
        there in prop::collection::vec((0u64..200_000, 1u64..30_000), 0..12),
    ) {
        let (ranges, align) = (apart(&pairs), 1u64 << align_bits);
        let at = ranges.last().unwrap().end();
        let set: ExtentSet = ranges.iter().copied().collect();
        let durable: ExtentSet = there.iter().map(|&(at, len)| Extent::new(at, len)).collect();
        let durable = durable.intersection(&set);
        let mut schedule = InRanges::rest(shape(at, 0, 0, align), None, &ranges, &durable, align);
        let claimed_first: ExtentSet = set.within(schedule.claimed()).collect();
        prop_assert!(durable.intersection(&claimed_first) == claimed_first, "claimed more than was there");
        let mut given = ExtentSet::new();
        for Run { extent, .. } in all(&mut schedule, block_k * 4096) {
            prop_assert!(!given.overlaps(extent) && set.contains(extent), "{:?}", extent);
            given.insert(extent);
        }
        let mut either = durable.clone();
        either.insert_all(&given);
        prop_assert!(either == set, "something is missing");
        let again = given.intersection(&durable).total_bytes();
        let gaps: usize = ranges.iter().map(|range| durable.gaps(*range).count()).sum();
        prop_assert!(again <= gaps as u64 * 2 * align, "{} bytes are copied again", again);
        prop_assert_eq!(schedule.claimed(), Extent::new(0, at));
    }
}

proptest! {
    #[test]
    fn with_what_is_read_again_every_byte_is_handed_out_once_and_in_order(
        pairs in prop::collection::vec((1u64..20_000, 1u64..30_000), 1..9), align_bits in 0u32..13, block_k in 1u32..40,
        there in prop::collection::vec((0u64..200_000, 1u64..30_000), 0..12),
    ) {
        let (ranges, align) = (apart(&pairs), 1u64 << align_bits);
        let at = ranges.last().unwrap().end();
        let set: ExtentSet = ranges.iter().copied().collect();
        let durable: ExtentSet = there.iter().map(|&(at, len)| Extent::new(at, len)).collect();
        let durable = durable.intersection(&set);
        let rest = || InRanges::rest(shape(at, 0, 0, align), None, &ranges, &durable, align);
        let copied: ExtentSet = all(&mut rest(), block_k * 4096).iter().map(|run| run.extent).collect();
        let mut schedule = rest().and_reread(&ranges);
        let claimed_first: ExtentSet = set.within(schedule.claimed()).collect();
        prop_assert!(durable.intersection(&claimed_first) == claimed_first, "claimed more than was there");
        let (mut given, mut reread, mut end) = (ExtentSet::new(), ExtentSet::new(), 0);
        while let Next::Do(Run { extent, .. }) = schedule.next(block_k * 4096).unwrap() {
            prop_assert!(extent.offset >= end && set.contains(extent), "{:?}", extent);
            end = extent.end();
            given.insert(extent);
            if schedule.is_reread(extent) {
                prop_assert!(durable.contains(extent), "{:?} is not on the destination", extent);
                reread.insert(extent);
            } else {
                prop_assert!(copied.contains(extent), "{:?} is copied without need", extent);
                schedule.settled(extent);
            }
        }
        prop_assert!(given == set, "something is missing");
        prop_assert_eq!(reread.total_bytes() + copied.total_bytes(), set.total_bytes());
        prop_assert_eq!(schedule.claimed(), Extent::new(0, at));
    }
}
