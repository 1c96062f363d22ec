//! Checkpoints: everything recorded as durable was acknowledged before the corresponding flush began.
use crate::model::{pattern, plan, tuning};
use haul::core::{
    CallStyle, CheckpointPlan, CheckpointSink, Ended, Endpoint, EndpointKind, EngineKind, Error, Extent, ExtentSet,
    Facts, Kept, Kind, NoObserver, Op, Outcome, Plan, Request, Stop, Tally,
};
use haul::disks::memory::{Fault, Memory};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const BLOCK: u32 = 4096;
const LEN: usize = 3000 * BLOCK as usize + 123;

/// A disk with a write cache: written data is durable after a flush that began later has ended.
struct Disk {
    facts: Facts,
    written: Mutex<ExtentSet>,
    durable: Mutex<ExtentSet>,
    flushes: AtomicU64,
    /// The flush with this number, from 1, fails; later ones succeed, as with a kernel that reports an error once.
    fails: u64,
}

impl Disk {
    fn new(fails: u64) -> Arc<Self> {
        let facts = Facts { calls: CallStyle::Waits, ..Facts::new("disk", EndpointKind::Memory) };
        Arc::new(Disk { facts, written: Mutex::default(), durable: Mutex::default(), flushes: 0.into(), fails })
    }
}

impl Endpoint for Disk {
    fn facts(&self) -> &Facts {
        &self.facts
    }
    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        let left = request.left();
        self.written.lock().unwrap().insert(Extent::new(request.at(), left.into()));
        Ok(left)
    }
    fn make_durable(&self) -> io::Result<()> {
        let flushed = self.written.lock().unwrap().clone();
        // Writes continue meanwhile; this flush does not cover them.
        std::thread::sleep(Duration::from_millis(1));
        if self.flushes.fetch_add(1, Relaxed) + 1 == self.fails {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        self.durable.lock().unwrap().insert_all(&flushed);
        Ok(())
    }
    fn diagnose(&self, _op: Op, _offset: u64, _error: &io::Error) -> Kind {
        Kind::Io
    }
}

/// Checks every claim by the disk.
#[derive(Clone)]
struct Auditor {
    disk: Arc<Disk>,
    reported: Arc<Mutex<ExtentSet>>,
    /// The checkpoint with this number, from 1, cannot be recorded.
    fails: u64,
    tellings: Arc<AtomicU64>,
}

impl CheckpointSink for Auditor {
    fn keep(&mut self, kept: &Kept, _unread: &ExtentSet) -> Result<(), Error> {
        let durable = &kept.bytes;
        if self.tellings.fetch_add(1, Relaxed) + 1 == self.fails {
            return Err(Error::new(Kind::Io, "journal /x: cannot read or write it"));
        }
        let on_disk = self.disk.durable.lock().unwrap();
        assert_eq!(durable.intersection(&on_disk), *durable, "recorded before it was durable");
        self.reported.lock().unwrap().insert_all(durable);
        Ok(())
    }
}

struct Ran {
    outcome: Outcome,
    reported: ExtentSet,
    tellings: u64,
    disk: Arc<Disk>,
}

fn run(plan: &Plan, already: &ExtentSet, flush_fails: u64, keep_fails: u64, every: Duration) -> Ran {
    let disk = Disk::new(flush_fails);
    // Data that earlier runs made durable is on the disk.
    disk.durable.lock().unwrap().insert_all(already);
    disk.written.lock().unwrap().insert_all(already);
    let auditor = Auditor { disk: disk.clone(), reported: Arc::default(), fails: keep_fails, tellings: Arc::default() };
    let ends: [Arc<dyn Endpoint>; 2] = [Arc::new(Memory::disk(pattern(LEN, 0), &[Fault::Uneven])), disk.clone()];
    let mut schedule = haul::core::schedules::rest(plan, &ends[0], already, &ExtentSet::new());
    let keeping = CheckpointPlan {
        sink: Box::new(auditor.clone()),
        every: [every, every],
        already: already.clone(),
        digested: ExtentSet::new(),
    };
    let (stop, tally) = (Stop::default(), Tally::default());
    let outcome = haul::engine::run_keeping(
        plan,
        &ends,
        &mut *schedule,
        haul::engine::Watch::new(&stop, &tally, &NoObserver),
        Some(keeping),
    );
    let reported = auditor.reported.lock().unwrap().clone();
    Ran { outcome, reported, tellings: auditor.tellings.load(Relaxed), disk }
}

fn plan_for(engine: EngineKind) -> Plan {
    let mut plan = plan(engine, Some(LEN as u64), 0, 0);
    let depth = if engine == EngineKind::Sync { 1 } else { 16 };
    (plan.tuning, plan.durable) = (tuning(BLOCK, depth), true);
    plan
}

const ENGINES: [EngineKind; 2] = [EngineKind::Sync, EngineKind::Threads];
const AT_ONCE: Duration = Duration::ZERO;

#[test]
fn checkpoints_report_only_durable_bytes() {
    for engine in ENGINES {
        let ran = run(&plan_for(engine), &ExtentSet::new(), 0, 0, AT_ONCE);
        assert!(matches!(ran.outcome.ended, Ended::Complete), "{:?}", ran.outcome.ended);
        let kept = ran.outcome.kept.expect("it was kept");
        assert!(kept.checkpoints > 0 && kept.checkpoints == ran.tellings, "{kept:?}");
        assert_eq!(kept.durable_bytes, ran.reported.total_bytes());
    }
}

#[test]
fn a_copy_shorter_than_a_checkpoint_flushes_once_and_reports_none() {
    let ran = run(&plan_for(EngineKind::Threads), &ExtentSet::new(), 0, 0, Duration::from_secs(3600));
    assert_eq!((ran.disk.flushes.load(Relaxed), ran.tellings), (1, 0));
    assert_eq!(ran.outcome.kept, Some(haul::core::JournalTotals::default()));
}

#[test]
fn exactly_the_rest_is_copied() {
    let already: ExtentSet = [Extent::new(0, 100 << 12), Extent::new(500 << 12, 7 << 12)].into_iter().collect();
    let ran = run(&plan_for(EngineKind::Threads), &already, 0, 0, AT_ONCE);
    assert!(matches!(ran.outcome.ended, Ended::Complete), "{:?}", ran.outcome.ended);
    assert_eq!(ran.outcome.totals.written_bytes, LEN as u64 - (107 << 12));
    assert_eq!(ran.outcome.claimed, Extent::new(0, LEN as u64));
    assert!(ran.disk.durable.lock().unwrap().contains(Extent::new(0, LEN as u64)));
    assert_eq!(ran.outcome.kept.expect("it was kept").already_bytes, 107 << 12);
}

#[test]
fn a_failed_flush_of_a_checkpoint_ends_the_copy_though_a_later_one_succeeds() {
    for engine in ENGINES {
        let ran = run(&plan_for(engine), &ExtentSet::new(), 1, 0, AT_ONCE);
        let Ended::Failed(error) = &ran.outcome.ended else { panic!("{:?}", ran.outcome.ended) };
        assert!(error.to_string().contains("cannot flush"), "{error}");
        assert!(!ran.outcome.durable && ran.outcome.claimed.is_empty());
        assert_eq!(ran.tellings, 0, "the bytes of the failed flush were recorded");
        assert_eq!(ran.disk.flushes.load(Relaxed), 1, "another flush means nothing");
    }
}

#[test]
fn a_journal_that_cannot_be_written_does_not_stop_the_copy() {
    let ran = run(&plan_for(EngineKind::Threads), &ExtentSet::new(), 0, 1, AT_ONCE);
    assert!(matches!(ran.outcome.ended, Ended::Complete), "{:?}", ran.outcome.ended);
    // Only the failed flush and the last one.
    assert_eq!((ran.tellings, ran.disk.flushes.load(Relaxed)), (1, 2));
}

#[test]
fn a_failed_copy_claims_all_written_bytes_after_a_flush() {
    let disk = Disk::new(0);
    let auditor = Auditor { disk: disk.clone(), reported: Arc::default(), fails: 0, tellings: Arc::default() };
    let bad = 2000 * u64::from(BLOCK);
    let source = Memory::disk(pattern(LEN, 0), &[Fault::BadAt { op: Op::Read, offset: bad, errno: libc::EIO }]);
    let ends: [Arc<dyn Endpoint>; 2] = [Arc::new(source), disk.clone()];
    let plan = plan_for(EngineKind::Threads);
    let mut schedule = haul::core::schedules::make(&plan, &ends[0]);
    let every = [Duration::from_secs(3600); 2];
    let keeping = CheckpointPlan {
        sink: Box::new(auditor.clone()),
        every,
        already: ExtentSet::new(),
        digested: ExtentSet::new(),
    };
    let (stop, tally) = (Stop::default(), Tally::default());
    let outcome = haul::engine::run_keeping(
        &plan,
        &ends,
        &mut *schedule,
        haul::engine::Watch::new(&stop, &tally, &NoObserver),
        Some(keeping),
    );
    assert!(matches!(outcome.ended, Ended::Failed(_)));
    let reported = auditor.reported.lock().unwrap();
    assert!(reported.contains(Extent::new(0, bad)), "{reported:?}");
    assert_eq!(*reported, *disk.written.lock().unwrap());
}
