//! What could not be read is told to the journal, and tried again by the run that resumes; what was read once is never
//! lost to a place that has become bad since.
use crate::model::{pattern, plan, tuning};
use haul::core::{
    CheckpointPlan, CheckpointSink, Ended, Endpoint, EngineKind, Error, Extent, ExtentSet, OnError, Op, Outcome, Plan,
    Silent, Stop, Tally,
};
use haul::disks::memory::{Fault, Memory};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SECTOR: u64 = 512;

/// What a journal would say.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<[ExtentSet; 2]>>);

impl CheckpointSink for Paper {
    fn keep(&mut self, durable: &ExtentSet, unread: &ExtentSet) -> Result<(), Error> {
        assert!(durable.intersection(unread).is_empty(), "durable and unread at once");
        let [all_durable, all_unread] = &mut *self.0.lock().unwrap();
        all_durable.insert_all(durable);
        all_unread.insert_all(unread);
        all_unread.remove_all(all_durable);
        Ok(())
    }
}

impl Paper {
    fn says(&self) -> [ExtentSet; 2] {
        self.0.lock().unwrap().clone()
    }
}

fn sector(number: u64) -> Extent {
    Extent::new(number * SECTOR, SECTOR)
}

/// Copies what `paper` does not call durable, from a disk with these bad sectors.
fn run(plan: &Plan, bytes: &[u8], bad: &BTreeSet<u64>, dest: &Arc<Memory>, paper: &Paper, every: Duration) -> Outcome {
    let fault = |&number: &u64| Fault::BadSectors { op: Op::Read, extent: sector(number), errno: libc::EIO };
    let source = Memory::disk(bytes.to_vec(), &bad.iter().map(fault).collect::<Vec<_>>());
    let ends: [Arc<dyn Endpoint>; 2] = [Arc::new(source), dest.clone()];
    let [already, _] = paper.says();
    let mut schedule = haul::core::schedules::rest(plan, &ends[0], &already);
    let keeping = CheckpointPlan { keeper: Box::new(paper.clone()), every: [every, every], already };
    let (stop, tally) = (Stop::default(), Tally::default());
    haul::engine::run_keeping(plan, &ends, &mut *schedule, &stop, &tally, &Silent, Some(keeping))
}

/// `align_bytes`: what direct I/O wants of both sides, and more of the dest.
fn plan_for(engine: EngineKind, len: u64, skip: u64, direct: bool) -> Plan {
    let mut plan = plan(engine, Some(len), skip, 0);
    plan.durable = true;
    plan.on_error = OnError { skip: true, retries: 0 };
    plan.tuning = tuning(8192, if engine == EngineKind::Sync { 1 } else { 4 });
    if direct {
        plan.dest.access.offset_align_bytes = 4096;
    }
    plan
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn each_run_reads_what_it_can_and_loses_nothing(
        engine in prop::sample::select(vec![EngineKind::Ring, EngineKind::Threads, EngineKind::Sync]),
        len in 1u64..100_000, skip in 0u64..5, direct: bool, at_once: bool,
        runs in prop::collection::vec(prop::collection::btree_set(0u64..200, 0..12), 1..4),
    ) {
        let skip = skip * SECTOR;
        let (bytes, paper) = (pattern((skip + len) as usize, 0), Paper::default());
        let plan = plan_for(engine, len, skip, direct);
        let dest = Arc::new(Memory::disk(vec![0xAA; len as usize], &[]));
        // Sectors that no run could read, as extents of the copy.
        let mut never = runs[0].clone();
        for bad in &runs {
            let every = if at_once { Duration::ZERO } else { Duration::from_secs(3600) };
            let outcome = run(&plan, &bytes, bad, &dest, &paper, every);
            prop_assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
            never = never.intersection(bad).copied().collect();
            let copy = Extent::new(skip, len);
            let lost: ExtentSet = never.iter().filter_map(|&number| sector(number).intersection(&copy))
                .map(|extent| Extent::new(extent.offset - skip, extent.len)).collect();
            let mut expected = bytes[skip as usize..].to_vec();
            lost.iter().for_each(|extent| expected[extent.offset as usize..extent.end() as usize].fill(0));
            prop_assert!(dest.bytes() == expected, "other bytes than could be read");
            let on_source = lost.iter().map(|extent| Extent::new(extent.offset + skip, extent.len));
            let on_source: ExtentSet = on_source.collect();
            prop_assert_eq!(&outcome.unread[0].runs, &on_source, "told as unread");
            let [durable, unread] = paper.says();
            if lost.is_empty() {
                // The copy is complete, and its journal gone.
                break;
            }
            prop_assert_eq!(&unread, &lost, "written down as unread");
            prop_assert_eq!(durable.total_bytes() + unread.total_bytes(), len, "not all is spoken of");
        }
    }
}

#[test]
fn a_copy_that_stops_at_a_bad_place_says_which() {
    let (bytes, paper, dest) = (pattern(50_000, 0), Paper::default(), Arc::new(Memory::disk(vec![0; 50_000], &[])));
    let mut plan = plan_for(EngineKind::Threads, 50_000, 0, false);
    plan.on_error = OnError { skip: false, retries: 1 };
    let hour = Duration::from_secs(3600);
    let outcome = run(&plan, &bytes, &[40].into(), &dest, &paper, hour);
    assert!(matches!(outcome.ended, Ended::Failed(_)), "{:?}", outcome.ended);
    let [durable, unread] = paper.says();
    assert_eq!(unread, [sector(40)].into_iter().collect());
    assert!(durable.contains(Extent::new(0, 2 * 8192)), "{durable:?}");
    let outcome = run(&plan, &bytes, &BTreeSet::new(), &dest, &paper, hour);
    assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
    assert!(dest.bytes() == bytes);
}

#[test]
fn a_copy_ends_rather_than_write_zeros_over_what_neither_side_gives_any_more() {
    let (bytes, paper) = (pattern(50_000, 0), Paper::default());
    let plan = plan_for(EngineKind::Threads, 50_000, 0, true);
    let refuses = Fault::BadSectors { op: Op::Read, extent: Extent::new(0, 50_000), errno: libc::EBADF };
    let dest = Arc::new(Memory::disk(vec![0; 50_000], &[refuses]));
    run(&plan, &bytes, &[40].into(), &dest, &paper, Duration::ZERO);
    let before = dest.bytes();
    let outcome = run(&plan, &bytes, &[41].into(), &dest, &paper, Duration::ZERO);
    let Ended::Failed(error) = &outcome.ended else { panic!("{:?}", outcome.ended) };
    assert!(error.to_string().contains("cannot be read any more"), "{error}");
    assert_eq!((error.offset, error.advice.contains("--direct never")), (Some(41 * SECTOR), true));
    assert!(dest.bytes() == before, "something was written");
}
