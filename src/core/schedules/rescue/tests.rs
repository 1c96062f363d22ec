//! Rescues of simulated disks: what is read, how often, and how deep.
use super::*;
use crate::core::ExtentSet;
use crate::core::rescue::{RescueMap, RescueStopped};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

const SECTOR: u64 = 512;
const CLUSTER: u64 = 8 * SECTOR;

fn plan() -> RescuePlan {
    RescuePlan {
        sector_bytes: SECTOR,
        cluster_bytes: CLUSTER,
        domain: None,
        reverse: false,
        trim: true,
        scrape: true,
        retries: Some(0),
        skip_bytes: [2 * CLUSTER, 8 * CLUSTER],
        slow_bytes_per_s: None,
        stop_after: None,
        error_bytes_per_s_max: None,
    }
}

fn shared(map: RescueMap, phase: RescueStatus, pass: u32, pos: u64) -> SharedRescue {
    Arc::new(Mutex::new(RescueState::new(map, phase, pass, pos)))
}

/// A disk that answers reads in the order of their submission.
struct Disk<'a> {
    is_bad: &'a dyn Fn(u64) -> bool,
    is_slow: &'a dyn Fn(u64) -> bool,
    depth: usize,
    /// What it reports of a failed read of this extent whose first bad sector is at this byte.
    reports: &'a dyn Fn(Extent, u64) -> Option<u64>,
    /// Number of reads of each bad sector.
    tried: BTreeMap<u64, u32>,
    /// Every read, and the number of reads in flight with it.
    reads: Vec<(Extent, usize)>,
}

impl<'a> Disk<'a> {
    fn new(is_bad: &'a dyn Fn(u64) -> bool, depth: usize) -> Self {
        Disk { is_bad, is_slow: &|_| false, depth, reports: &|_, _| None, tried: BTreeMap::new(), reads: Vec::new() }
    }

    /// Runs the schedule until it ends, or has given out `most` reads; the reads in flight complete either way.
    fn rescue(&mut self, plan: &RescuePlan, state: &SharedRescue, most: usize) -> bool {
        let mut schedule = rescue(plan.clone(), state.clone(), Vec::new());
        let (mut flying, mut writing) = (VecDeque::new(), VecDeque::new());
        let mut given = 0;
        loop {
            while given < most && flying.len() < self.depth {
                match schedule.next(CLUSTER as u32).unwrap() {
                    Next::Do(run) => {
                        flying.push_back(run.extent);
                        self.reads.push((run.extent, flying.len()));
                        given += 1;
                    }
                    Next::Wait => break,
                    Next::Finished => {
                        assert!(flying.is_empty() && writing.is_empty(), "it ended with reads in flight");
                        return true;
                    }
                }
            }
            if let Some(extent) = flying.pop_front() {
                self.answer(extent, &mut *schedule, &mut writing);
            } else if let Some(written) = writing.pop_front() {
                schedule.complete(written);
            } else {
                assert!(given >= most, "it waits for nothing");
                return false;
            }
        }
    }

    fn answer(&mut self, extent: Extent, schedule: &mut dyn Schedule, writing: &mut VecDeque<Extent>) {
        let sectors = || (extent.offset / SECTOR..extent.end().div_ceil(SECTOR)).map(|sector| sector * SECTOR);
        let bad = sectors().find(|&at| (self.is_bad)(at));
        let took = Duration::from_millis(if sectors().any(|at| (self.is_slow)(at)) { 2000 } else { 1 });
        match bad {
            Some(at) => {
                *self.tried.entry(at).or_default() += 1;
                schedule.on_failed(extent, took, (self.reports)(extent, at));
            }
            None => {
                schedule.on_read(extent, took);
                writing.push_back(extent);
            }
        }
    }
}

fn bad_set(len: u64, is_bad: &dyn Fn(u64) -> bool) -> ExtentSet {
    let sectors = (0..len.div_ceil(SECTOR)).map(|sector| sector * SECTOR).filter(|&at| is_bad(at));
    sectors.map(|at| Extent::new(at, SECTOR.min(len - at))).collect()
}

proptest! {
    #[test]
    fn everything_readable_is_rescued_and_no_sector_is_tried_more_than_twice(
        len in 1u64..200_000, places in prop::collection::btree_set(0u64..400, 0..60), company in 0u64..12,
        depth in 1usize..9, reverse: bool, kills in prop::collection::vec(1usize..40, 0..6), retries in 0u32..4,
        slow in prop::collection::btree_set(0u64..400, 0..5), skips: bool,
    ) {
        let is_bad = |at: u64| (0..=company).any(|back| places.contains(&(at / SECTOR).wrapping_sub(back)));
        let is_slow = |at: u64| slow.contains(&(at / SECTOR));
        let mut plan = RescuePlan { reverse, retries: Some(retries), ..plan() };
        plan.skip_bytes[0] *= u64::from(skips);
        plan.slow_bytes_per_s = Some(1 << 20);
        let state = shared(RescueMap::untried(len), RescueStatus::Copying, 1, 0);
        let mut disk = Disk::new(&is_bad, depth);
        disk.is_slow = &is_slow;
        // Each run begins with what the map of the run before says.
        for most in kills {
            disk.rescue(&plan, &state, most);
        }
        prop_assert!(disk.rescue(&plan, &state, usize::MAX));
        let (state, bad) = (state.lock().unwrap(), bad_set(len, &is_bad));
        prop_assert_eq!(state.map.set_of(Status::Bad), bad.clone());
        prop_assert_eq!(state.map.bytes(Status::Finished), len - bad.total_bytes());
        prop_assert_eq!(state.phase, RescueStatus::Finished);
        // Retries of a run that was ended are made again by the next one.
        if retries == 0 {
            prop_assert!(disk.tried.values().all(|tried| *tried <= 2), "{:?}", disk.tried);
        }
        let read: u64 = disk.reads.iter().map(|(extent, _)| extent.len).sum();
        prop_assert!(retries > 0 || read <= len + disk.tried.len() as u64 * CLUSTER, "{read} bytes were read");
    }

    #[test]
    fn bad_sectors_that_the_disk_reports_are_not_searched_for(
        len in 1u64..200_000, places in prop::collection::btree_set(0u64..400, 0..60), company in 0u64..12,
        depth in 1usize..9, reverse: bool, kills in prop::collection::vec(1usize..40, 0..6),
    ) {
        let is_bad = |at: u64| (0..=company).any(|back| places.contains(&(at / SECTOR).wrapping_sub(back)));
        let plan = RescuePlan { reverse, ..plan() };
        let state = shared(RescueMap::untried(len), RescueStatus::Copying, 1, 0);
        let mut disk = Disk::new(&is_bad, depth);
        // The last sector may have one byte.
        disk.reports = &|extent, at| Some((at + 1).min(extent.end() - 1));
        for most in kills {
            disk.rescue(&plan, &state, most);
        }
        prop_assert!(disk.rescue(&plan, &state, usize::MAX));
        let (state, bad) = (state.lock().unwrap(), bad_set(len, &is_bad));
        prop_assert_eq!(state.map.set_of(Status::Bad), bad.clone());
        prop_assert_eq!(state.map.bytes(Status::Finished), len - bad.total_bytes());
        prop_assert!(disk.tried.values().all(|tried| *tried <= 2), "{:?}", disk.tried);
    }

    #[test]
    fn reports_of_wrong_sectors_lose_nothing_that_is_readable(
        len in 1u64..200_000, places in prop::collection::btree_set(0u64..400, 0..60), depth in 1usize..9,
        lie in 0u64..4,
    ) {
        let is_bad = |at: u64| places.contains(&(at / SECTOR));
        let state = shared(RescueMap::untried(len), RescueStatus::Copying, 1, 0);
        let mut disk = Disk::new(&is_bad, depth);
        let reports = |extent: Extent, at: u64| match lie {
            0 => Some(extent.offset),
            1 => Some(extent.end() - 1),
            2 => Some(0),
            // The sector before the bad one.
            _ => at.checked_sub(SECTOR),
        };
        disk.reports = &reports;
        prop_assert!(disk.rescue(&plan(), &state, usize::MAX));
        let (state, bad) = (state.lock().unwrap(), bad_set(len, &is_bad));
        prop_assert_eq!(state.map.set_of(Status::Bad), bad.clone());
        prop_assert_eq!(state.map.bytes(Status::Finished), len - bad.total_bytes());
    }

    #[test]
    fn nothing_outside_the_domain_is_read(
        places in prop::collection::btree_set(0u64..400, 0..60),
        domain in prop::collection::vec((0u64..200_000, 1u64..30_000), 1..5), depth in 1usize..5,
    ) {
        let len = 200_000;
        let is_bad = |at: u64| places.contains(&(at / SECTOR));
        let domain: ExtentSet = domain.into_iter().filter_map(|(offset, size)| {
            Extent::new(offset, size).intersection(&Extent::new(0, len))
        }).collect();
        let plan = RescuePlan { domain: Some(domain.clone()), retries: Some(1), ..plan() };
        let state = shared(RescueMap::untried(len), RescueStatus::Copying, 1, 0);
        let mut disk = Disk::new(&is_bad, depth);
        prop_assert!(disk.rescue(&plan, &state, usize::MAX));
        let within = |(extent, _): &(Extent, usize)| domain.contains(*extent);
        prop_assert!(disk.reads.iter().all(within), "{:?}", disk.reads);
        let map = &state.lock().unwrap().map;
        for (status, _) in [Status::ALL[1], Status::ALL[2]] {
            prop_assert_eq!(map.bytes(status), 0);
        }
        prop_assert_eq!(map.bytes(Status::Untried), len - domain.total_bytes());
    }
}

#[test]
fn a_good_disk_is_read_once_and_each_1024_good_reads_allow_one_more_in_flight() {
    let state = shared(RescueMap::untried(5000 * CLUSTER), RescueStatus::Copying, 1, 0);
    let mut disk = Disk::new(&|_| false, 8);
    assert!(disk.rescue(&plan(), &state, usize::MAX));
    assert_eq!(disk.reads.len(), 5000);
    let depths: Vec<usize> = disk.reads.iter().map(|(_, depth)| *depth).collect();
    for most in 1..=4 {
        let from = depths.iter().position(|depth| *depth == most).unwrap();
        assert!((1024 * (most - 1)..1024 * (most - 1) + 8).contains(&from), "{most} in flight from read {from} on");
    }
    assert_eq!(depths.iter().max(), Some(&4));
}

#[test]
fn after_a_failed_read_one_is_in_flight() {
    let state = shared(RescueMap::untried(6000 * CLUSTER), RescueStatus::Copying, 1, 0);
    let bad = 3500 * CLUSTER;
    let is_bad = |at: u64| at == bad;
    let mut disk = Disk::new(&is_bad, 8);
    disk.rescue(&plan(), &state, 5500);
    let failed = disk.reads.iter().position(|(extent, _)| extent.offset == bad).unwrap();
    assert_eq!(disk.reads[failed].1, 4);
    // The three reads in flight with it complete first.
    let after: Vec<usize> = disk.reads[failed + 4..].iter().map(|(_, depth)| *depth).collect();
    let alone = after.iter().take_while(|depth| **depth == 1).count();
    assert!((12..18).contains(&alone), "after a single bad sector: {alone}");
    // A large area ends the trust that many good reads have earned.
    let state = shared(RescueMap::untried(6000 * CLUSTER), RescueStatus::Copying, 1, 0);
    let is_bad = |at: u64| (bad..bad + 40 * CLUSTER).contains(&at);
    let mut disk = Disk::new(&is_bad, 8);
    disk.rescue(&plan(), &state, 5500);
    let last = disk.reads.iter().rposition(|(extent, _)| is_bad(extent.offset)).unwrap();
    let alone = disk.reads[last + 1..].iter().take_while(|(_, depth)| *depth == 1).count();
    assert!((1020..1028).contains(&alone), "{alone}");
}

#[test]
fn reads_in_flight_that_fail_together_are_one_failure() {
    let state = shared(RescueMap::untried(6000 * CLUSTER), RescueStatus::Copying, 1, 0);
    let first = 3500;
    let is_bad = |at: u64| at >= first * CLUSTER;
    let mut disk = Disk::new(&is_bad, 8);
    disk.rescue(&plan(), &state, first as usize + 6);
    let starts: Vec<u64> =
        disk.reads[first as usize..].iter().map(|(extent, _)| extent.offset / CLUSTER - first).collect();
    assert_eq!(starts, [0, 1, 2, 3, 4, 9], "4 in flight, none skipped before the next, then 4 skipped");
}

#[test]
fn a_reported_sector_costs_one_failed_read_and_what_lies_before_it_is_read_at_once() {
    let state = shared(RescueMap::untried(100 * CLUSTER), RescueStatus::Copying, 1, 0);
    let bad = [10 * CLUSTER + 5 * SECTOR, 50 * CLUSTER + 2 * SECTOR, 50 * CLUSTER + 6 * SECTOR];
    let is_bad = |at: u64| bad.contains(&at);
    let mut disk = Disk::new(&is_bad, 1);
    disk.reports = &|_, at| Some(at);
    assert!(disk.rescue(&plan(), &state, usize::MAX));
    // The first report is checked: that sector is read once more, alone.
    assert_eq!(disk.tried.values().copied().collect::<Vec<_>>(), [2, 1, 1]);
    let after = |offset: u64| {
        let at = disk.reads.iter().position(|(extent, _)| extent.offset == offset).unwrap();
        disk.reads[at + 1..].iter().map(|(extent, _)| *extent).next().unwrap()
    };
    assert_eq!(after(10 * CLUSTER), Extent::new(10 * CLUSTER, 5 * SECTOR));
    assert_eq!(after(50 * CLUSTER), Extent::new(50 * CLUSTER, 2 * SECTOR));
    // 100 clusters; for the first sector 3 reads more, for the others 4: before, trimmed, between, behind.
    assert_eq!(disk.reads.len(), 107, "{:?}", disk.reads);
}

#[test]
fn the_skip_size_doubles_while_reads_fail() {
    let state = shared(RescueMap::untried(1000 * CLUSTER), RescueStatus::Copying, 1, 0);
    let mut disk = Disk::new(&|at| at < 500 * CLUSTER, 1);
    disk.rescue(&plan(), &state, 6);
    let starts: Vec<u64> = disk.reads.iter().map(|(extent, _)| extent.offset / CLUSTER).collect();
    assert_eq!(starts, [0, 3, 8, 17, 26, 35], "1 cluster, and 2, 4, 8, 8, … skipped");
}

#[test]
fn a_slow_area_is_left_for_later_passes() {
    let state = shared(RescueMap::untried(300 * CLUSTER), RescueStatus::Copying, 1, 0);
    let slow = |at: u64| (100 * CLUSTER..110 * CLUSTER).contains(&at);
    let mut disk = Disk::new(&|_| false, 1);
    disk.is_slow = &slow;
    assert!(disk.rescue(&plan(), &state, usize::MAX));
    let order: Vec<u64> = disk.reads.iter().map(|(extent, _)| extent.offset / CLUSTER).collect();
    let last_slow = order.iter().rposition(|cluster| slow(cluster * CLUSTER)).unwrap();
    assert_eq!(last_slow, order.len() - 1, "{order:?}");
    assert_eq!(order.len(), 300, "nothing is read twice");
    assert!(state.lock().unwrap().slow_reads > 1);
}

#[test]
fn retries_change_direction_and_try_each_bad_sector_once_in_each_pass() {
    let state = shared(RescueMap::untried(4 * CLUSTER), RescueStatus::Copying, 1, 0);
    let is_bad = |at: u64| [0, 5 * SECTOR, 20 * SECTOR].contains(&at);
    let mut disk = Disk::new(&is_bad, 4);
    disk.rescue(&plan(), &state, usize::MAX);
    let before = disk.reads.len();
    let twice = RescuePlan { retries: Some(2), ..plan() };
    assert!(disk.rescue(&twice, &state, usize::MAX));
    let starts: Vec<u64> = disk.reads[before..].iter().map(|(extent, _)| extent.offset / SECTOR).collect();
    assert_eq!(starts, [0, 5, 20, 20, 5, 0]);
}

#[test]
fn without_trimming_and_scraping_failed_blocks_stay_as_they_are() {
    let is_bad = |at: u64| [SECTOR, 2 * SECTOR, 4 * SECTOR].contains(&at);
    for (trim, scrape, expected) in [(false, true, Status::Untrimmed), (true, false, Status::Unscraped)] {
        let state = shared(RescueMap::untried(4 * CLUSTER), RescueStatus::Copying, 1, 0);
        let plan = RescuePlan { trim, scrape, ..plan() };
        assert!(Disk::new(&is_bad, 2).rescue(&plan, &state, usize::MAX));
        let map = &state.lock().unwrap().map;
        assert_eq!(map.status_at(3 * SECTOR), Some(expected));
        assert_eq!(map.bytes(Status::Untried), 0);
    }
}

#[test]
fn a_rescue_without_new_bytes_ends_when_it_should() {
    let state = shared(RescueMap::untried(4 * CLUSTER), RescueStatus::Copying, 1, 0);
    let plan = RescuePlan { stop_after: Some(Duration::ZERO), ..plan() };
    let mut disk = Disk::new(&|_| false, 1);
    assert!(disk.rescue(&plan, &state, usize::MAX));
    assert!(disk.reads.is_empty());
    assert!(matches!(state.lock().unwrap().stopped, Some(RescueStopped::NoNewBytes(_))));
}

#[test]
fn the_areas_of_a_failing_head_are_left_until_the_others_were_read() {
    for reverse in [false, true] {
        // Four heads that take turns of 40 clusters; the second one fails.
        let len = 4 * 40 * 150 * CLUSTER;
        let is_bad = |at: u64| (at / CLUSTER / 40) % 4 == 1;
        let state = shared(RescueMap::untried(len), RescueStatus::Copying, 1, 0);
        let plan = RescuePlan { reverse, scrape: false, skip_bytes: [CLUSTER, len / 100], ..plan() };
        let mut disk = Disk::new(&is_bad, 4);
        assert!(disk.rescue(&plan, &state, usize::MAX));
        let state = state.lock().unwrap();
        let [head] = state.heads[..] else { panic!("{:?}", state.heads) };
        assert!(head.period_bytes.abs_diff(160 * CLUSTER) < 5 * CLUSTER, "{head:?}");
        assert_eq!(state.map.bytes(Status::Finished), len / 4 * 3);
        // In the first two thirds of the good reads few others failed: without going around, some 700.
        let is_failed = |extent: &Extent| is_bad(extent.offset);
        let good = disk.reads.iter().filter(|(extent, _)| !is_failed(extent)).count();
        let (mut seen, mut failed) = (0, 0);
        for (extent, _) in &disk.reads {
            (seen, failed) = if is_failed(extent) { (seen, failed + 1) } else { (seen + 1, failed) };
            if seen * 3 > good * 2 {
                break;
            }
        }
        assert!(failed < 350, "{failed} reads failed");
    }
}

#[test]
fn a_sweep_that_is_continued_leaves_nothing_before_its_place() {
    let state = shared(RescueMap::untried(10 * CLUSTER), RescueStatus::Copying, 5, 8 * CLUSTER);
    let mut disk = Disk::new(&|_| false, 2);
    assert!(disk.rescue(&plan(), &state, usize::MAX));
    assert_eq!(state.lock().unwrap().map.bytes(Status::Finished), 10 * CLUSTER);
    assert_eq!(disk.reads.len(), 10);
}

#[test]
fn the_far_edge_is_read_in_ascending_pieces_and_each_sector_once() {
    let len = 128 * SECTOR;
    let bad = [40 * SECTOR, 90 * SECTOR];
    let is_bad = |at: u64| bad.contains(&at);
    let state = shared(RescueMap::untried(len), RescueStatus::Copying, 1, 0);
    locked(&state).map.set(Extent::new(0, len), Status::Untrimmed);
    let mut disk = Disk::new(&is_bad, 1);
    assert!(disk.rescue(&RescuePlan { scrape: false, ..plan() }, &state, usize::MAX));
    let order: Vec<u64> = disk.reads.iter().map(|(extent, _)| extent.offset / SECTOR).collect();
    // Up to the first bad sector; then the last one, pieces of 16 sectors from the end, and the one with the last bad
    // sector from its end too.
    let expected = (0..=40).chain([127]).chain(112..127).chain(96..112).chain(80..=90);
    let expected: Vec<u64> = expected.chain((91..96).rev()).collect();
    assert_eq!(order, expected);
    assert_eq!(disk.tried, bad.into_iter().map(|at| (at, 1)).collect());
    assert_eq!(locked(&state).map.bytes(Status::Unscraped), (80 - 41) * SECTOR);
}

#[test]
fn an_area_without_a_good_sector_is_trimmed_by_one_read_at_each_edge() {
    let state = shared(RescueMap::untried(2 * CLUSTER), RescueStatus::Copying, 1, 0);
    locked(&state).map.set(Extent::new(0, CLUSTER), Status::Untrimmed);
    let mut disk = Disk::new(&|at| at < CLUSTER, 1);
    assert!(disk.rescue(&RescuePlan { scrape: false, ..plan() }, &state, usize::MAX));
    let tried: Vec<u64> = disk.tried.keys().copied().collect();
    assert_eq!(tried, [0, CLUSTER - SECTOR]);
}
