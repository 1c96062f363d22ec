//! A schedule that depends on the result of each read, with every engine: failed reads are reported to it, cost no
//! other read, and everything else is written.
use crate::model::{pattern, plan, tuning};
use haul::core::rescue::{RescueMap, RescuePlan, RescueState, RescueStatus, SharedRescue, Status, Temperature};
use haul::core::{
    Ended, Endpoint, EngineKind, Extent, ExtentSet, Next, NoObserver, Op, Outcome, Plan, Schedule, Stop, Tally,
    WriteOrder, schedules,
};
use haul::disks::memory::{Fault, Memory};
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SECTOR: u64 = 512;
const CLUSTER: u64 = 4096;

fn rescue_plan() -> RescuePlan {
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

fn rescue(plan: &Plan, source: &Arc<Memory>, dest: &Arc<Memory>, how: RescuePlan) -> (Outcome, RescueState) {
    let ends: [Arc<dyn Endpoint>; 2] = [source.clone(), dest.clone()];
    let map = RescueMap::untried(plan.len.unwrap());
    let state = Arc::new(Mutex::new(RescueState::new(map, RescueStatus::Copying, 1, 0)));
    let mut schedule = schedules::rescue(how, state.clone(), Vec::new());
    let (stop, tally) = (Stop::default(), Tally::default());
    let outcome = haul::engine::run(plan, &ends, &mut *schedule, haul::engine::Watch::new(&stop, &tally, &NoObserver));
    drop(schedule);
    let state = state.lock().unwrap().clone();
    (outcome, state)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn every_readable_sector_is_rescued_and_the_rest_of_the_dest_is_untouched(
        engine in prop::sample::select(vec![EngineKind::Ring, EngineKind::Threads, EngineKind::Sync]),
        len in 1usize..150_000, places in prop::collection::btree_set(0u64..300, 0..12), company in 0u64..4,
        depth in 1u32..9, ordered: bool, heads: [bool; 2], short in prop::option::of(512u32..5000), reverse: bool,
    ) {
        let len_bytes = len as u64;
        let bad: BTreeSet<u64> = places.iter().flat_map(|&at| at..=at + company).collect();
        let sector = |at: &u64| Extent::new(at * SECTOR, SECTOR);
        let mut faults: Vec<Fault> = bad.iter().map(sector)
            .map(|extent| Fault::BadSectors { op: Op::Read, extent, errno: libc::EIO }).collect();
        faults.extend(short.map(|bytes| Fault::Short(bytes / 512 * 512)));
        let source = Arc::new(Memory::disk(pattern(len, 0), &faults));
        let dest = Arc::new(Memory::disk(vec![0xAA; len], &[]));
        let mut plan = plan(engine, Some(len_bytes), 0, 0);
        plan.tuning = tuning(CLUSTER as u32, if engine == EngineKind::Sync { 1 } else { depth });
        plan.write_order = if ordered { WriteOrder::Submitted } else { WriteOrder::Any };
        [plan.source.moves_head, plan.dest.moves_head] = heads;
        let (outcome, state) = rescue(&plan, &source, &dest, RescuePlan { reverse, ..rescue_plan() });
        prop_assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);

        let whole = Extent::new(0, len_bytes);
        let bad: ExtentSet = bad.iter().filter_map(|at| sector(at).intersection(&whole)).collect();
        prop_assert_eq!(state.map.set_of(Status::Bad), bad.clone());
        prop_assert_eq!(state.map.bytes(Status::Finished), len_bytes - bad.total_bytes());
        let mut expected = pattern(len, 0);
        bad.iter().for_each(|extent| expected[extent.offset as usize..extent.end() as usize].fill(0xAA));
        prop_assert!(dest.bytes() == expected, "other bytes were written");
        // Once with its cluster, and once alone. A short read is continued, which reads a bad sector of the rest.
        for extent in bad.iter().filter(|_| short.is_none()) {
            for at in (extent.offset..extent.end()).step_by(SECTOR as usize) {
                let tried = source.asked().iter().filter(|request| {
                    request.op == Op::Read && request.extent.overlaps(&Extent::new(at, 1))
                }).count();
                prop_assert!(tried <= 2, "byte {at} was read {tried} times");
            }
        }
    }
}

#[test]
fn a_failure_that_does_not_depend_on_the_place_ends_the_rescue() {
    let faults = [Fault::BadSectors { op: Op::Read, extent: Extent::new(60_000, SECTOR), errno: libc::ENODEV }];
    let source = Arc::new(Memory::disk(pattern(100_000, 0), &faults));
    let dest = Arc::new(Memory::disk(vec![0; 100_000], &[]));
    let mut plan = plan(EngineKind::Threads, Some(100_000), 0, 0);
    plan.tuning = tuning(CLUSTER as u32, 1);
    let (outcome, state) = rescue(&plan, &source, &dest, rescue_plan());
    assert!(matches!(outcome.ended, Ended::Failed(_)), "{:?}", outcome.ended);
    assert_eq!(state.map.bytes(Status::Bad) + state.map.bytes(Status::Untrimmed), 0);
    let rescued = state.map.set_of(Status::Finished);
    assert!(rescued.contains(Extent::new(0, 57_344)), "{rescued:?}");
}

#[test]
fn a_write_that_fails_is_not_rescued() {
    let faults = [Fault::BadSectors { op: Op::Write, extent: Extent::new(60_000, SECTOR), errno: libc::ENOSPC }];
    let source = Arc::new(Memory::disk(pattern(100_000, 0), &[]));
    let dest = Arc::new(Memory::disk(vec![0; 100_000], &faults));
    let mut plan = plan(EngineKind::Threads, Some(100_000), 0, 0);
    plan.tuning = tuning(CLUSTER as u32, 4);
    let (outcome, state) = rescue(&plan, &source, &dest, rescue_plan());
    assert!(matches!(outcome.ended, Ended::Failed(_)), "{:?}", outcome.ended);
    assert!(!state.map.set_of(Status::Finished).overlaps(Extent::new(60_000, 1)));
}

/// A rescue whose source is hot in the middle, until the engine has asked twice whether the schedule is paused.
struct Hot {
    rescue: Box<dyn Schedule>,
    state: SharedRescue,
    asked: Cell<u32>,
}

impl Schedule for Hot {
    fn next(&mut self, block_bytes: u32) -> io::Result<Next> {
        let mut state = self.state.lock().unwrap();
        let is_paused = state.map.bytes(Status::Finished) > 10 * CLUSTER && self.asked.get() < 2;
        state.temperature = Some(Temperature { celsius: 60.0, highest: 60.0, is_paused });
        drop(state);
        self.rescue.next(block_bytes)
    }

    fn is_paused(&self) -> bool {
        self.asked.set(self.asked.get() + 1);
        self.rescue.is_paused()
    }

    fn ends_at(&mut self, offset: u64) {
        self.rescue.ends_at(offset);
    }

    fn complete(&mut self, extent: Extent) {
        self.rescue.complete(extent);
    }

    fn claimed(&self) -> Extent {
        self.rescue.claimed()
    }

    fn depends_on_results(&self) -> bool {
        true
    }

    fn on_read(&mut self, extent: Extent, took: Duration) {
        self.rescue.on_read(extent, took);
    }
}

#[test]
fn a_paused_rescue_waits_with_nothing_in_flight_and_continues() {
    let source = Arc::new(Memory::disk(pattern(100_000, 0), &[]));
    let dest = Arc::new(Memory::disk(vec![0; 100_000], &[]));
    let ends: [Arc<dyn Endpoint>; 2] = [source, dest.clone()];
    let state = RescueState::new(RescueMap::untried(100_000), RescueStatus::Copying, 1, 0);
    let state = Arc::new(Mutex::new(state));
    let rescue = schedules::rescue(rescue_plan(), state.clone(), Vec::new());
    let mut hot = Hot { rescue, state: state.clone(), asked: Cell::new(0) };
    let mut plan = plan(EngineKind::Threads, Some(100_000), 0, 0);
    plan.tuning = tuning(CLUSTER as u32, 4);
    let (stop, tally) = (Stop::default(), Tally::default());
    let outcome = haul::engine::run(&plan, &ends, &mut hot, haul::engine::Watch::new(&stop, &tally, &NoObserver));
    assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
    assert!(hot.asked.get() >= 2, "it was not paused");
    assert!(dest.bytes() == pattern(100_000, 0));
}
