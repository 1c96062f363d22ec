//! The journal records unreadable sectors, and the run that resumes retries them; data that was read once is never
//! lost to a sector that has become unreadable since.
use crate::model::{pattern, plan, tuning};
use haul::core::{
    CheckpointPlan, CheckpointSink, Ended, Endpoint, EngineKind, Error, Extent, ExtentSet, Facts, Kept, Kind,
    NoObserver, OnError, Op, Outcome, Plan, Request, Stop, Tally,
};
use haul::disks::memory::{Fault, Memory};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const SECTOR: u64 = 512;

/// The content of a journal.
#[derive(Clone, Default)]
struct RecordFile(Arc<Mutex<[ExtentSet; 2]>>);

impl CheckpointSink for RecordFile {
    fn keep(&mut self, kept: &Kept, unread: &ExtentSet) -> Result<(), Error> {
        let durable = &kept.bytes;
        assert!(durable.intersection(unread).is_empty(), "durable and unread at once");
        let [all_durable, all_unread] = &mut *self.0.lock().unwrap();
        all_durable.insert_all(durable);
        all_unread.insert_all(unread);
        all_unread.remove_all(all_durable);
        Ok(())
    }
}

impl RecordFile {
    fn recorded(&self) -> [ExtentSet; 2] {
        self.0.lock().unwrap().clone()
    }
}

fn sector(number: u64) -> Extent {
    Extent::new(number * SECTOR, SECTOR)
}

/// A disk of these bytes with these bad sectors.
fn source(bytes: &[u8], bad: &BTreeSet<u64>) -> Memory {
    let fault = |&number: &u64| Fault::BadSectors { op: Op::Read, extent: sector(number), errno: libc::EIO };
    Memory::disk(bytes.to_vec(), &bad.iter().map(fault).collect::<Vec<_>>())
}

/// Copies what `record file` does not record as durable, from a disk with these bad sectors.
fn run(
    plan: &Plan,
    bytes: &[u8],
    bad: &BTreeSet<u64>,
    dest: &Arc<Memory>,
    record_file: &RecordFile,
    every: Duration,
) -> Outcome {
    copy(plan, [Arc::new(source(bytes, bad)), dest.clone()], record_file, every)
}

fn copy(plan: &Plan, ends: [Arc<dyn Endpoint>; 2], record_file: &RecordFile, every: Duration) -> Outcome {
    let [already, _] = record_file.recorded();
    let mut schedule = haul::core::schedules::rest(plan, &ends[0], &already, &ExtentSet::new());
    let keeping = CheckpointPlan {
        sink: Box::new(record_file.clone()),
        every: [every, every],
        already,
        digested: ExtentSet::new(),
    };
    let (stop, tally) = (Stop::default(), Tally::default());
    haul::engine::run_keeping(
        plan,
        &ends,
        &mut *schedule,
        haul::engine::Watch::new(&stop, &tally, &NoObserver),
        Some(keeping),
    )
}

/// `align_bytes`: the alignment that direct I/O requires on both sides, larger on the dest.
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
    fn each_run_adds_readable_sectors_and_loses_none(
        engine in prop::sample::select(vec![EngineKind::Ring, EngineKind::Threads, EngineKind::Sync]),
        len in 1u64..100_000, skip in 0u64..5, direct: bool, at_once: bool,
        runs in prop::collection::vec(prop::collection::btree_set(0u64..200, 0..12), 1..4),
    ) {
        let skip = skip * SECTOR;
        let (bytes, record_file) = (pattern((skip + len) as usize, 0), RecordFile::default());
        let plan = plan_for(engine, len, skip, direct);
        let dest = Arc::new(Memory::disk(vec![0xAA; len as usize], &[]));
        // Sectors that no run could read, as extents of the copy.
        let mut never = runs[0].clone();
        for bad in &runs {
            let every = if at_once { Duration::ZERO } else { Duration::from_secs(3600) };
            let outcome = run(&plan, &bytes, bad, &dest, &record_file, every);
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
            prop_assert_eq!(&outcome.unread[0].runs, &on_source, "reported as unread");
            let [durable, unread] = record_file.recorded();
            if lost.is_empty() {
                // The copy is complete, and its journal removed.
                break;
            }
            prop_assert_eq!(&unread, &lost, "written down as unread");
            prop_assert_eq!(durable.total_bytes() + unread.total_bytes(), len, "not all is spoken of");
        }
    }
}

#[test]
fn a_copy_that_stops_at_an_unreadable_sector_names_it() {
    let (bytes, record_file, dest) =
        (pattern(50_000, 0), RecordFile::default(), Arc::new(Memory::disk(vec![0; 50_000], &[])));
    let mut plan = plan_for(EngineKind::Threads, 50_000, 0, false);
    plan.on_error = OnError { skip: false, retries: 1 };
    let hour = Duration::from_secs(3600);
    let outcome = run(&plan, &bytes, &[40].into(), &dest, &record_file, hour);
    assert!(matches!(outcome.ended, Ended::Failed(_)), "{:?}", outcome.ended);
    let [durable, unread] = record_file.recorded();
    assert_eq!(unread, [sector(40)].into_iter().collect());
    assert!(durable.contains(Extent::new(0, 2 * 8192)), "{durable:?}");
    let outcome = run(&plan, &bytes, &BTreeSet::new(), &dest, &record_file, hour);
    assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
    assert!(dest.bytes() == bytes);
}

#[test]
fn a_copy_fails_rather_than_overwrite_with_zeros_bytes_unreadable_on_both_sides() {
    let (bytes, record_file) = (pattern(50_000, 0), RecordFile::default());
    let plan = plan_for(EngineKind::Threads, 50_000, 0, true);
    let refuses = Fault::BadSectors { op: Op::Read, extent: Extent::new(0, 50_000), errno: libc::EBADF };
    let dest = Arc::new(Memory::disk(vec![0; 50_000], &[refuses]));
    run(&plan, &bytes, &[40].into(), &dest, &record_file, Duration::ZERO);
    let before = dest.bytes();
    let outcome = run(&plan, &bytes, &[41].into(), &dest, &record_file, Duration::ZERO);
    let Ended::Failed(error) = &outcome.ended else { panic!("{:?}", outcome.ended) };
    assert!(error.to_string().contains("cannot read the data that an earlier run copied"), "{error}");
    assert_eq!((error.offset, error.advice.contains("--direct never")), (Some(41 * SECTOR), true));
    assert!(dest.bytes() == before, "something was written");
}

/// A source that returns `others` only after the dest is being read, and a dest that completes such a read only
/// after those are written and one of them is in a checkpoint.
struct EachWaits {
    inner: Memory,
    others: Vec<Extent>,
    /// The dest is being read.
    asked: Arc<AtomicBool>,
    record_file: RecordFile,
    is_source: bool,
}

impl EachWaits {
    fn others_are_through(&self) -> bool {
        let (bytes, [durable, _]) = (self.inner.bytes(), self.record_file.recorded());
        let written = |other: &Extent| bytes[other.offset as usize..other.end() as usize].iter().any(|byte| *byte != 0);
        self.others.iter().all(written) && self.others.iter().any(|other| durable.contains(*other))
    }
}

impl Endpoint for EachWaits {
    fn facts(&self) -> &Facts {
        self.inner.facts()
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        let (since, extent) = (Instant::now(), Extent::new(request.at(), request.left().into()));
        let is_other = self.others.iter().any(|other| other.overlaps(&extent));
        self.asked.fetch_or(!self.is_source && request.op == Op::Read, Relaxed);
        let may_go_on = || match (request.op, self.is_source) {
            (Op::Read, true) => !is_other || self.asked.load(Relaxed),
            (Op::Read, false) => self.others_are_through(),
            _ => true,
        };
        while !may_go_on() {
            // If this never happens, the test fails instead of hanging.
            if since.elapsed() > Duration::from_secs(20) {
                return Err(io::Error::from_raw_os_error(libc::ENOTCONN));
            }
            thread::sleep(Duration::from_micros(100));
        }
        self.inner.perform(request)
    }

    fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
        self.inner.diagnose(op, offset, error)
    }
}

#[test]
fn other_blocks_and_checkpoints_continue_while_the_dest_replaces_the_source() {
    for engine in [EngineKind::Ring, EngineKind::Threads] {
        let (bytes, record_file) = (pattern(100_000, 0), RecordFile::default());
        let plan = plan_for(engine, 100_000, 0, true);
        let dest = Arc::new(Memory::disk(vec![0; 100_000], &[]));
        run(&plan, &bytes, &[20, 40, 80, 120, 160].into(), &dest, &record_file, Duration::ZERO);
        // Next to the first two gaps, a sector that was read before is bad now.
        let (others, asked) = ([80, 120, 160].map(sector).to_vec(), Arc::<AtomicBool>::default());
        let waits = |inner: Memory, is_source: bool| {
            let (others, asked, record_file) = (others.clone(), asked.clone(), record_file.clone());
            Arc::new(EachWaits { inner, others, asked, record_file, is_source })
        };
        let to = waits(Memory::disk(dest.bytes(), &[]), false);
        let outcome =
            copy(&plan, [waits(source(&bytes, &[21, 41].into()), true), to.clone()], &record_file, Duration::ZERO);
        assert!(matches!(outcome.ended, Ended::Complete), "{engine:?}: {:?}", outcome.ended);
        assert!(outcome.unread[0].is_empty(), "{engine:?}: {:?}", outcome.unread[0]);
        assert!(to.inner.bytes() == bytes, "{engine:?}: other bytes were copied");
    }
}
