//! `--verify` finds bytes that change in memory between reading and writing.
use crate::model::{pattern, plan, tuning};
use crate::support::engines;
use haul::core::{
    Ended, Endpoint, EngineKind, Facts, Kind, MemoryCheck, NoObserver, Op, Outcome, Request, Route, Side, Stop, Tally,
    Zeros,
};
use haul::disks::memory::Memory;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const LEN: usize = 200_000;
/// In the twelfth block.
const BAD: u64 = 11 * 4096 + 100;

/// A dest that flips one bit in memory permanently during a write.
struct Turning {
    memory: Memory,
    turned: AtomicBool,
}

impl Endpoint for Turning {
    fn facts(&self) -> &Facts {
        self.memory.facts()
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        let span = request.at()..request.at() + u64::from(request.left());
        if request.op == Op::Write && span.contains(&BAD) && !self.turned.swap(true, Relaxed) {
            let within = (BAD - span.start) as usize;
            request.rest_mut()[within] ^= 32;
        }
        self.memory.perform(request)
    }

    fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
        self.memory.diagnose(op, offset, error)
    }
}

fn copied(engine: EngineKind, memory: Memory, route: Route, checks: bool, turns: bool) -> Outcome {
    let mut plan = plan(engine, Some(LEN as u64), 0, 0);
    plan.tuning = tuning(4096, if engine == EngineKind::Sync { 1 } else { 8 }).with_buffers(route.buffers_per_block());
    (plan.route, plan.checks_memory, plan.zeros) = (route, checks, Zeros::Write);
    plan.ask_holes = true;
    let dest = Arc::new(Turning { memory, turned: (!turns).into() });
    let ends: [Arc<dyn Endpoint>; 2] = [Arc::new(Memory::disk(pattern(LEN, 1 << 5), &[])), dest];
    let mut schedule = haul::core::schedules::make(&plan, &ends[0]);
    let tally = Tally::default();
    let stop = Stop::default();
    let watch = haul::engine::Watch::new(&stop, &tally, &NoObserver);
    haul::engine::run(&plan, &ends, &mut *schedule, watch)
}

fn dests() -> impl Iterator<Item = (EngineKind, Memory, Route)> {
    let engines = [EngineKind::Ring, EngineKind::Threads, EngineKind::Sync];
    engines.into_iter().filter(|engine| self::engines().contains(&engine.name())).flat_map(|engine| {
        let delta = Route::Delta { piece_bytes: 512 };
        let disk = || Memory::disk(vec![0; LEN], &[]);
        [(engine, Memory::pipe(vec![], &[]), Route::Copy), (engine, disk(), Route::Copy), (engine, disk(), delta)]
    })
}

#[test]
fn a_bit_flip_in_memory_ends_the_copy_with_its_offset() {
    for (engine, memory, route) in dests() {
        let outcome = copied(engine, memory, route, true, true);
        let Ended::Failed(error) = &outcome.ended else { panic!("{engine:?} {route:?}: {:?}", outcome.ended) };
        let block = BAD / 4096 * 4096;
        assert_eq!((error.kind, error.side, error.offset), (Kind::Io, Some(Side::Dest), Some(block)), "{error}");
        assert!(error.what.contains("changed in memory"), "{error}");
        assert_eq!((outcome.claimed.offset, outcome.claimed.len), (0, block), "{engine:?} {route:?}");
        let check = outcome.memory_check.expect("it was requested");
        assert_eq!(check.changed_at, Some(block), "{engine:?} {route:?}");
        assert!(check.unchanged_bytes >= block, "{engine:?} {route:?}: {check:?}");
    }
}

#[test]
fn memory_is_checked_only_with_verify_and_intact_copies_report_all_blocks() {
    for (engine, memory, route) in dests() {
        let outcome = copied(engine, memory, route, false, true);
        assert!(matches!(outcome.ended, Ended::Complete) && outcome.memory_check.is_none(), "{engine:?} {route:?}");
    }
    for (engine, memory, route) in dests() {
        let outcome = copied(engine, memory, route, true, false);
        assert!(matches!(outcome.ended, Ended::Complete), "{engine:?} {route:?}: {:?}", outcome.ended);
        let all = MemoryCheck { unchanged_bytes: LEN as u64, changed_at: None };
        assert_eq!(outcome.memory_check, Some(all), "{engine:?} {route:?}");
    }
}
