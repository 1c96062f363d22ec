//! After a failure nothing is in flight, and nothing is claimed that was not written.
use crate::model::{copies, pattern, plan, run, tuning};
use haul::core::{
    Ended, Endpoint, EngineKind, Error, Facts, Kind, NoObserver, Op, Outcome, Plan, Request, Side, Stop, Tally,
    WriteOrder, Zeros,
};
use haul::disks::memory::{Fault, Memory};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

const LEN: usize = 400_000;
const ENGINES: [EngineKind; 3] = [EngineKind::Ring, EngineKind::Threads, EngineKind::Sync];

/// Every engine, on sides that are not rotational and that are, whose requests wait for each other.
fn ways() -> impl Iterator<Item = (EngineKind, bool)> {
    ENGINES.into_iter().flat_map(|engine| [(engine, false), (engine, true)])
}

/// A plan for a whole copy.
fn plan_for((engine, heads): (EngineKind, bool), len: Option<u64>, seek: u64) -> Plan {
    let mut plan = plan(engine, len, 0, seek);
    (plan.source.moves_head, plan.dest.moves_head) = (heads, heads);
    if heads && plan.write_order == WriteOrder::Any {
        plan.write_order = WriteOrder::Submitted;
    }
    plan
}

fn failure(outcome: &Outcome) -> &Error {
    match &outcome.ended {
        Ended::Failed(error) => error,
        other => panic!("it should have failed: {other:?}"),
    }
}

fn bad(op: Op, offset: u64) -> Fault {
    Fault::BadAt { op, offset, errno: libc::EIO }
}

#[test]
fn a_read_error_has_its_exact_offset_and_no_byte_behind_it_is_claimed() {
    for way in ways() {
        for offset in [0, 4096 * 10 + 700, LEN as u64 - 1] {
            let source = Arc::new(Memory::disk(pattern(LEN, 0), &[bad(Op::Read, offset)]));
            let dest = Arc::new(Memory::disk(vec![0; LEN], &[Fault::Uneven]));
            let (outcome, _) = run(&plan_for(way, Some(LEN as u64), 0), &source, &dest);
            let error = failure(&outcome);
            assert_eq!((error.kind, error.side), (Kind::Io, Some(Side::Source)));
            assert_eq!(error.offset, Some(offset / 512 * 512), "{way:?}");
            let claimed = outcome.claimed;
            // The blocks before the bad one are completed, the bad one is not claimed.
            assert_eq!((claimed.offset, claimed.len), (0, offset / 4096 * 4096), "{way:?}");
            assert!(dest.bytes()[..claimed.len as usize] == pattern(LEN, 0)[..claimed.len as usize]);
        }
    }
}

#[test]
fn a_write_error_is_reported_with_its_block() {
    for way in ways() {
        let source = Arc::new(Memory::disk(pattern(LEN, 0), &[]));
        let dest = Arc::new(Memory::disk(vec![0; LEN + 5], &[bad(Op::Write, 8192 + 5)]));
        let (outcome, _) = run(&plan_for(way, Some(LEN as u64), 5), &source, &dest);
        let error = failure(&outcome);
        assert_eq!((error.kind, error.side, error.offset), (Kind::Io, Some(Side::Dest), Some(8192 + 5)));
        assert_eq!(outcome.claimed.len, 8192);
    }
}

#[test]
fn the_first_of_two_read_errors_is_reported() {
    let source = Arc::new(Memory::disk(pattern(LEN, 0), &[bad(Op::Read, 50_000), bad(Op::Read, 30_000)]));
    let dest = Arc::new(Memory::disk(vec![0; LEN], &[]));
    let mut plan = plan(EngineKind::Threads, Some(LEN as u64), 0, 0);
    plan.tuning = tuning(4096, 16);
    let (outcome, _) = run(&plan, &source, &dest);
    assert_eq!(failure(&outcome).offset, Some(30_000 / 512 * 512));
}

#[test]
fn a_source_that_ends_before_its_size_is_an_error() {
    for way in ways() {
        let source = Arc::new(Memory::disk(pattern(LEN, 0), &[Fault::EndsAt(100_001)]));
        let dest = Arc::new(Memory::disk(vec![0; LEN], &[]));
        let (outcome, _) = run(&plan_for(way, Some(LEN as u64), 0), &source, &dest);
        let error = failure(&outcome);
        assert_eq!((error.kind, error.offset), (Kind::EndedEarly, Some(100_001)), "{way:?}");
        assert_eq!(outcome.claimed.len, 100_001 / 4096 * 4096);
    }
}

#[test]
fn a_full_dest_is_reported_with_its_offset() {
    for way in ways() {
        let source = Arc::new(Memory::pipe(pattern(LEN, 0), &[]));
        let dest = Arc::new(Memory::disk(vec![0; LEN], &[Fault::FullAt(70_000)]));
        let (outcome, _) = run(&plan_for(way, None, 0), &source, &dest);
        let error = failure(&outcome);
        assert_eq!((error.kind, error.offset), (Kind::NoSpace, Some(70_000)), "{way:?}");
        assert_eq!(outcome.claimed.len, 70_000 / 4096 * 4096);
    }
}

#[test]
fn a_read_error_before_a_pipe_neither_hangs_nor_emits_later_bytes() {
    for way in ways() {
        let source = Arc::new(Memory::disk(pattern(LEN, 0), &[bad(Op::Read, 100_000), Fault::Uneven]));
        let dest = Arc::new(Memory::pipe(vec![], &[Fault::Short(3000)]));
        let (outcome, _) = run(&plan_for(way, Some(LEN as u64), 0), &source, &dest);
        failure(&outcome);
        let claimed = outcome.claimed.len as usize;
        assert_eq!(claimed, 100_000 / 4096 * 4096);
        assert!(dest.bytes() == pattern(LEN, 0)[..claimed], "bytes behind the gap went out");
    }
}

#[test]
fn a_failed_copy_has_no_digest() {
    let source = Arc::new(Memory::disk(pattern(LEN, 0), &[bad(Op::Read, 100_000)]));
    let dest = Arc::new(Memory::disk(vec![0; LEN], &[]));
    let mut plan = plan(EngineKind::Threads, Some(LEN as u64), 0, 0);
    plan.hashes = vec![haul::core::HashKind::Sha256];
    let (outcome, _) = run(&plan, &source, &dest);
    assert!(outcome.digests.is_empty());
}

/// A dest that requests the stop in its first write.
struct Stopping {
    inner: Memory,
    stop: Stop,
}

impl Endpoint for Stopping {
    fn facts(&self) -> &Facts {
        self.inner.facts()
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        self.stop.request(libc::SIGINT);
        self.inner.perform(request)
    }
}

/// A copy that is stopped as soon as something is copied.
fn interrupted(engine: EngineKind, order: WriteOrder) -> (Outcome, Vec<u8>) {
    let source = Arc::new(Memory::disk(pattern(LEN, 0), &[Fault::Uneven, Fault::Short(500)]));
    let inner = Memory::disk(vec![0; LEN], &[Fault::Uneven]);
    let dest = Arc::new(Stopping { inner, stop: Stop::default() });
    let ends: [Arc<dyn Endpoint>; 2] = [source, dest.clone()];
    let mut plan = plan(engine, Some(LEN as u64), 0, 0);
    plan.write_order = order;
    let mut schedule = haul::core::schedules::make(&plan, &ends[0]);
    let tally = Tally::default();
    let watch = haul::engine::Watch::new(&dest.stop, &tally, &NoObserver);
    let outcome = haul::engine::run(&plan, &ends, &mut *schedule, watch);
    (outcome, dest.inner.bytes())
}

#[test]
fn a_stop_completes_requests_in_flight_and_claims_them() {
    for engine in ENGINES {
        for order in [WriteOrder::Any, WriteOrder::Submitted] {
            let (outcome, bytes) = interrupted(engine, order);
            assert!(matches!(outcome.ended, Ended::Interrupted(libc::SIGINT)), "{:?}", outcome.ended);
            let claimed = outcome.claimed.len;
            assert!(0 < claimed && claimed < LEN as u64);
            assert_eq!(outcome.totals.copied_bytes(), claimed, "bytes were copied that are not claimed");
            assert!(bytes[..claimed as usize] == pattern(LEN, 0)[..claimed as usize]);
            assert!(bytes[claimed as usize..].iter().all(|&byte| byte == 0), "bytes were copied behind the claim");
        }
    }
}

#[test]
fn a_stream_that_ends_before_its_count_is_copied_and_an_error() {
    for engine in ENGINES {
        let source = Arc::new(Memory::pipe(pattern(10_000, 0), &[]));
        let dest = Arc::new(Memory::disk(vec![0; 50_000], &[]));
        let (outcome, _) = run(&plan(engine, Some(50_000), 0, 0), &source, &dest);
        assert_eq!((failure(&outcome).kind, failure(&outcome).offset), (Kind::EndedEarly, Some(10_000)));
        assert_eq!(outcome.claimed.len, 10_000);
        assert!(dest.bytes()[..10_000] == pattern(10_000, 0));
    }
}

#[test]
fn the_pace_changes_during_the_copy_without_losing_a_byte() {
    let len = 64 << 20;
    let takes = |ms| Fault::Takes(std::time::Duration::from_millis(ms));
    let source = Arc::new(Memory::disk(pattern(len, 0), &[Fault::Uneven, takes(2)]));
    let dest = Arc::new(Memory::disk(vec![0; len], &[takes(3)]));
    let mut plan = plan(EngineKind::Threads, Some(len as u64), 0, 0);
    let start = tuning(64 << 10, 2);
    plan.tuning = haul::core::Tuning {
        adaptive: true,
        block_bytes_min: 16 << 10,
        block_bytes_max: 1 << 20,
        in_flight_max: 16,
        pool_bytes: 4 << 20,
        ..start
    };
    let outcome = copies(&plan, &source, &dest);
    // These disks process any number of requests in parallel.
    assert!(outcome.pace.limits.in_flight.iter().any(|most| *most > 2), "{:?}", outcome.pace);
    assert!(dest.bytes() == pattern(len, 0));
}

#[test]
fn a_stop_discards_blocks_without_read_together_with_those_ahead() {
    for engine in ENGINES {
        let mut plan = plan_for((engine, false), Some(LEN as u64), 0);
        // Every other page is a hole: the third page waits because of the limit, the holes after it do not.
        (plan.limit_bytes_per_s, plan.zeros, plan.ask_holes) = (Some(3 << 12), Zeros::Write, true);
        plan.write_order = WriteOrder::Submitted;
        let source: Arc<dyn Endpoint> = Arc::new(Memory::disk(pattern(LEN, 0xAAAA_AAAA_AAAA_AAAA), &[]));
        let dest = Arc::new(Memory::disk(vec![0xAA; LEN], &[]));
        let ends: [Arc<dyn Endpoint>; 2] = [source.clone(), dest.clone()];
        let (stop, tally) = (Stop::default(), Tally::default());
        let mut schedule = haul::core::schedules::make(&plan, &source);
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                // After the first block, the others are delayed.
                while tally.written_bytes.load(Relaxed) == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
                stop.request(libc::SIGINT);
                source.cancel();
            });
            haul::engine::run(&plan, &ends, &mut *schedule, haul::engine::Watch::new(&stop, &tally, &NoObserver))
        });
        assert!(matches!(outcome.ended, Ended::Interrupted(libc::SIGINT)), "{engine:?}: {:?}", outcome.ended);
        let claimed = outcome.claimed.len as usize;
        assert!(claimed > 0 && claimed < LEN, "{engine:?}: {claimed}");
        assert!(dest.bytes()[claimed..].iter().all(|&byte| byte == 0xAA), "{engine:?}: written behind a gap");
    }
}
