//! Blocks that are retried alone, and reading around a bad one: the copy continues meanwhile, and a stop takes
//! effect.
use crate::model::{pattern, plan};
use haul::core::{
    Cache, Ended, Endpoint, EngineKind, Facts, Kind, NoObserver, Op, Outcome, Plan, Request, Side, Stop, Tally,
};
use haul::disks::memory::{Fault, Memory};
use std::collections::HashMap;
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const BLOCK: u64 = 4096;
const BLOCKS: u64 = 100;
const LEN: usize = (BLOCK * BLOCKS) as usize;
const ENGINES: [EngineKind; 2] = [EngineKind::Ring, EngineKind::Threads];

/// A disk that fails some blocks together with others, and delays their retries until the test opens the gate.
struct Gated {
    inner: Memory,
    op: Op,
    /// Blocks that fail the first time.
    weak: Vec<u64>,
    /// Reads of blocks from this one are delayed until they are released.
    held_from: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Number of requests for each weak block.
    tries: HashMap<u64, u32>,
    held: usize,
    let_go: bool,
    open: bool,
}

impl Gated {
    fn new(inner: Memory, op: Op, weak: &[u64], held_from: u64) -> Arc<Gated> {
        let (state, changed) = Default::default();
        Arc::new(Gated { inner, op, weak: weak.to_vec(), held_from, state, changed })
    }

    fn tries(&self, block: u64) -> u32 {
        self.state.lock().unwrap().tries.get(&block).copied().unwrap_or(0)
    }

    fn held(&self) -> usize {
        self.state.lock().unwrap().held
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
        self.changed.notify_all();
    }
}

impl Endpoint for Gated {
    fn facts(&self) -> &Facts {
        self.inner.facts()
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        let block = request.at() / BLOCK;
        let mut state = self.state.lock().unwrap();
        if request.op == self.op && self.weak.contains(&block) {
            let tries = state.tries.entry(block).or_default();
            *tries += 1;
            if *tries == 1 {
                return Err(io::Error::from_raw_os_error(libc::EIO));
            }
            state = self.changed.wait_while(state, |state| !state.open).unwrap();
        } else if block >= self.held_from {
            state.held += 1;
            state = self.changed.wait_while(state, |state| !state.let_go).unwrap();
        }
        drop(state);
        self.inner.perform(request)
    }

    fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
        self.inner.diagnose(op, offset, error)
    }
}

fn direct(engine: EngineKind) -> Plan {
    let mut plan = plan(engine, Some(LEN as u64), 0, 0);
    (plan.source.access.cache, plan.dest.access.cache) = (Cache::Direct, Cache::Direct);
    plan
}

fn source(faults: &[Fault]) -> Memory {
    Memory::disk(pattern(LEN, 0), faults)
}

fn dest() -> Memory {
    Memory::disk(vec![0; LEN], &[])
}

/// Waits for the condition; if it is never met, the test fails instead of hanging.
fn wait_until(what: &str, is_so: impl Fn() -> bool) -> Result<(), String> {
    let since = Instant::now();
    while !is_so() {
        if since.elapsed() > Duration::from_secs(20) {
            return Err(format!("it never came to this: {what}"));
        }
        thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}

/// Copies while `meanwhile` runs; then all gates are open.
fn copy(
    plan: &Plan,
    ends: [Arc<Gated>; 2],
    meanwhile: impl FnOnce(&Stop, &Tally) -> Result<(), String> + Send,
) -> Outcome {
    let gates = ends.clone();
    let ends: [Arc<dyn Endpoint>; 2] = ends.map(|end| end as Arc<dyn Endpoint>);
    let mut schedule = haul::core::schedules::make(plan, &ends[0]);
    let (stop, tally) = (Stop::default(), Tally::default());
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let went = meanwhile(&stop, &tally);
            gates.iter().for_each(|gate| gate.change(|state| (state.open, state.let_go) = (true, true)));
            went
        });
        let outcome =
            haul::engine::run(plan, &ends, &mut *schedule, haul::engine::Watch::new(&stop, &tally, &NoObserver));
        other.join().unwrap().unwrap();
        outcome
    })
}

/// Waits until this number of blocks has been written.
fn written(tally: &Tally, blocks: u64) -> Result<(), String> {
    let what = format!("{blocks} blocks are written");
    wait_until(&what, || tally.written_bytes.load(Relaxed) == blocks * BLOCK)
}

#[test]
fn all_other_blocks_are_copied_while_one_is_retried_alone() {
    for engine in ENGINES {
        for side in Side::BOTH {
            let weak = |of: Side| if of == side { vec![2] } else { vec![] };
            let from = Gated::new(source(&[]), Op::Read, &weak(Side::Source), BLOCKS);
            let to = Gated::new(dest(), Op::Write, &weak(Side::Dest), BLOCKS);
            let outcome = copy(&direct(engine), [from, to.clone()], |_, tally| written(tally, BLOCKS - 1));
            assert!(matches!(outcome.ended, Ended::Complete), "{engine:?} {side:?}: {:?}", outcome.ended);
            assert!(to.inner.bytes() == pattern(LEN, 0));
            assert!(outcome.notes.iter().any(|note| note.ends_with("succeeded alone: 1")), "{:?}", outcome.notes);
        }
    }
}

#[test]
fn a_stop_takes_effect_while_a_block_is_retried_alone() {
    for engine in ENGINES {
        let from = Gated::new(source(&[]), Op::Read, &[2], 16);
        let gate = from.clone();
        let outcome =
            copy(&direct(engine), [from.clone(), Gated::new(dest(), Op::Write, &[], BLOCKS)], |stop, tally| {
                // Seven of eight slots continue; one block is being retried.
                wait_until("all slots are in use", || gate.tries(2) == 2 && gate.held() == 7)?;
                stop.request(libc::SIGINT);
                gate.change(|state| state.let_go = true);
                // Data that was read is written, and nothing new is begun: the gate is still closed.
                written(tally, 15 + 7)
            });
        assert!(matches!(outcome.ended, Ended::Interrupted(libc::SIGINT)), "{engine:?}: {:?}", outcome.ended);
        assert_eq!((outcome.claimed.len, from.held()), (23 * BLOCK, 7), "{engine:?}");
    }
}

#[test]
fn a_stop_discards_a_block_that_waits_for_its_retry() {
    for engine in ENGINES {
        let from = Gated::new(source(&[]), Op::Read, &[2, 5], 16);
        let gate = from.clone();
        let outcome =
            copy(&direct(engine), [from.clone(), Gated::new(dest(), Op::Write, &[], BLOCKS)], |stop, tally| {
                let tries = || gate.tries(2) + gate.tries(5) == 3;
                wait_until("all slots are in use", || tries() && gate.held() == 6)?;
                stop.request(libc::SIGINT);
                gate.change(|state| state.let_go = true);
                // Those after block 5 may be discarded with it.
                wait_until("the others are home", || tally.written_bytes.load(Relaxed) >= 14 * BLOCK)
            });
        assert!(matches!(outcome.ended, Ended::Interrupted(libc::SIGINT)), "{engine:?}: {:?}", outcome.ended);
        assert_eq!(from.tries(2) + from.tries(5), 3, "{engine:?}: a disk was asked again after the stop");
        let given_up = if from.tries(2) == 1 { 2 } else { 5 };
        assert_eq!(outcome.claimed.len, given_up * BLOCK, "{engine:?}");
    }
}

#[test]
fn only_the_bad_one_of_blocks_that_failed_together_is_reported() {
    for engine in [EngineKind::Ring, EngineKind::Threads, EngineKind::Sync] {
        let bad = Fault::BadAt { op: Op::Write, offset: 4 * BLOCK + 7, errno: libc::EIO };
        let to = Gated::new(Memory::disk(vec![0; LEN], &[bad]), Op::Write, &[3, 4, 5], BLOCKS);
        let outcome =
            copy(&direct(engine), [Gated::new(source(&[]), Op::Read, &[], BLOCKS), to.clone()], |_, _| Ok(()));
        let Ended::Failed(error) = &outcome.ended else { panic!("{engine:?}: {:?}", outcome.ended) };
        assert_eq!((error.side, error.offset), (Some(Side::Dest), Some(4 * BLOCK)), "{engine:?}");
        assert_eq!(outcome.claimed.len, 4 * BLOCK, "{engine:?}");
        assert!(to.inner.bytes()[..4 * BLOCK as usize] == pattern(LEN, 0)[..4 * BLOCK as usize]);
    }
}

/// Requests the stop as soon as a piece of a block is read.
struct StopsAtFirstPiece {
    inner: Memory,
    stop: Arc<Stop>,
    stops: bool,
}

impl Endpoint for StopsAtFirstPiece {
    fn facts(&self) -> &Facts {
        self.inner.facts()
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        if u64::from(request.left()) < BLOCK && self.stops {
            self.stop.request(libc::SIGINT);
        }
        self.inner.perform(request)
    }

    fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
        self.inner.diagnose(op, offset, error)
    }
}

#[test]
fn a_stop_ends_the_reading_around_of_a_bad_block() {
    for engine in [EngineKind::Ring, EngineKind::Threads, EngineKind::Sync] {
        for stops in [true, false] {
            let bad = Fault::BadAt { op: Op::Read, offset: 5 * BLOCK + 2000, errno: libc::EIO };
            let stop = Arc::new(Stop::default());
            let from = Arc::new(StopsAtFirstPiece { inner: source(&[bad]), stop: stop.clone(), stops });
            let ends: [Arc<dyn Endpoint>; 2] = [from.clone(), Arc::new(dest())];
            let plan = plan(engine, Some(LEN as u64), 0, 0);
            let mut schedule = haul::core::schedules::make(&plan, &ends[0]);
            let outcome = haul::engine::run(
                &plan,
                &ends,
                &mut *schedule,
                haul::engine::Watch::new(&stop, &Tally::default(), &NoObserver),
            );
            let Ended::Failed(error) = &outcome.ended else { panic!("{engine:?}: {:?}", outcome.ended) };
            let pieces = from.inner.asked().iter().filter(|asked| asked.extent.len < BLOCK).count();
            // In sectors: 5 blocks and three good ones.
            let expected = if stops { (1, 5 * BLOCK) } else { (4, 5 * BLOCK + 3 * 512) };
            assert_eq!((pieces, error.offset), (expected.0, Some(expected.1)), "{engine:?}");
            assert_eq!(outcome.claimed.len, 5 * BLOCK, "{engine:?}");
        }
    }
}
