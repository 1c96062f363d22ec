//! Several dests through the engines: if any of them fails, at any offset, the others equal the source.
use crate::model::{pattern, plan, tuning};
use haul::core::{
    Ended, Endpoint, EngineKind, NoObserver, Op, Outcome, Plan, PlanDest, Stop, Tally, WriteOrder, Zeros,
};
use haul::disks::memory::{Fault, Memory};
use haul::disks::several::Several;
use std::sync::Arc;
use std::time::Duration;

const ENGINES: [EngineKind; 3] = [EngineKind::Ring, EngineKind::Threads, EngineKind::Sync];
const LEN: usize = 40 * 4096 + 777;
const SEEK: usize = 512;

fn several_plan(engine: EngineKind, zeros: &[Zeros]) -> Plan {
    let mut plan = plan(engine, Some(LEN as u64), 0, SEEK as u64);
    plan.tuning = tuning(4096, if engine == EngineKind::Sync { 1 } else { 8 });
    plan.zeros = if zeros.iter().all(|&zeros| zeros == Zeros::Write) { Zeros::Write } else { Zeros::Each };
    plan.ask_holes = true;
    let one = |zeros: &Zeros| {
        let side = plan.dest.clone();
        PlanDest { side, zeros: *zeros, set_end: false, preallocate: false, durable: false, may_fall_behind: false }
    };
    plan.dests = zeros.iter().map(one).collect();
    plan
}

fn run(plan: &Plan, source: &Arc<Memory>, dests: &[Arc<Memory>]) -> Outcome {
    let parts = dests.iter().zip(&plan.dests).map(|(end, plan)| (end.clone() as Arc<dyn Endpoint>, plan.clone()));
    let several = Several::new(parts.collect(), WriteOrder::Any);
    let ends: [Arc<dyn Endpoint>; 2] = [source.clone(), Arc::new(several)];
    let mut schedule = haul::core::schedules::make(plan, &ends[0]);
    haul::engine::run(
        plan,
        &ends,
        &mut *schedule,
        haul::engine::Watch::new(&Stop::default(), &Tally::default(), &NoObserver),
    )
}

fn expected(source: &[u8]) -> Vec<u8> {
    [vec![0; SEEK], source.to_vec(), vec![0; 100]].concat()
}

fn empty() -> Vec<u8> {
    vec![0; SEEK + LEN + 100]
}

#[test]
fn every_engine_copies_to_every_dest_and_reads_the_source_once() {
    let bytes = pattern(LEN, 0x00f0_0f00_0000_0ff0);
    for engine in ENGINES {
        for zeros in [[Zeros::Write; 3], [Zeros::Leave, Zeros::Device, Zeros::Write]] {
            for faults in [vec![], vec![Fault::Short(1000)], vec![Fault::Uneven]] {
                let source = Arc::new(Memory::disk(bytes.clone(), &[]));
                let dests: Vec<_> = (0..3).map(|_| Arc::new(Memory::disk(empty(), &faults))).collect();
                let outcome = run(&several_plan(engine, &zeros), &source, &dests);
                assert!(matches!(outcome.ended, Ended::Complete), "{engine:?} {:?}", outcome.ended);
                assert_eq!(outcome.totals.read_bytes, source.asked().iter().map(|asked| asked.extent.len).sum::<u64>());
                assert!(outcome.totals.read_bytes <= LEN as u64, "{engine:?}");
                for (number, dest) in dests.iter().enumerate() {
                    assert!(dest.bytes() == expected(&bytes), "{engine:?} {zeros:?} {faults:?} dest {number}");
                }
                assert!(outcome.dests.iter().all(|dest| dest.claimed.len == LEN as u64 && dest.error.is_none()));
            }
        }
    }
}

#[test]
fn a_failure_of_one_dest_spares_the_others_and_its_claims_are_true() {
    let bytes = pattern(LEN, 0);
    let places = [0, 20 * 4096 + 5, LEN - 1];
    let whens = |offset: u64| {
        let (op, offset) = (Op::Write, offset + SEEK as u64);
        [Fault::BadAt { op, offset, errno: libc::EIO }, Fault::FullAt(offset)]
    };
    for engine in ENGINES {
        for (fault, failing) in places.iter().flat_map(|&at| whens(at as u64)).flat_map(|f| [(f, 0), (f, 1), (f, 2)]) {
            let source = Arc::new(Memory::disk(bytes.clone(), &[]));
            let faults = |number| if number == failing { vec![fault] } else { vec![] };
            let dests: Vec<_> = (0..3).map(|number| Arc::new(Memory::disk(empty(), &faults(number)))).collect();
            let outcome = run(&several_plan(engine, &[Zeros::Write; 3]), &source, &dests);
            let context = format!("{engine:?} {fault:?} of dest {failing}");
            assert!(matches!(outcome.ended, Ended::Complete), "{context}: {:?}", outcome.ended);
            for (number, (dest, reported)) in dests.iter().zip(&outcome.dests).enumerate() {
                let claimed = reported.claimed.len as usize;
                assert_eq!(reported.error.is_some(), number == failing, "{context}: dest {number}");
                assert_eq!(claimed == LEN, number != failing, "{context}: dest {number} claims {claimed}");
                assert!(dest.bytes()[SEEK..SEEK + claimed] == bytes[..claimed], "{context}: dest {number}");
                if number != failing {
                    assert!(dest.bytes() == expected(&bytes), "{context}: dest {number}");
                }
            }
        }
    }
}

#[test]
fn a_copy_fails_if_all_dests_fail_each_with_its_reason() {
    let bytes = pattern(LEN, 0);
    for engine in ENGINES {
        let source = Arc::new(Memory::disk(bytes.clone(), &[]));
        let ends = [3, 9].map(|block: u64| Fault::FullAt(SEEK as u64 + block * 4096));
        let dests = ends.map(|fault| Arc::new(Memory::disk(empty(), &[fault])));
        let outcome = run(&several_plan(engine, &[Zeros::Write; 2]), &source, &dests);
        assert!(matches!(outcome.ended, Ended::Failed(_)), "{engine:?}: {:?}", outcome.ended);
        for (dest, reported) in dests.iter().zip(&outcome.dests) {
            let claimed = reported.claimed.len as usize;
            assert!(reported.error.is_some() && claimed <= 9 * 4096, "{engine:?}: {claimed}");
            assert!(dest.bytes()[SEEK..SEEK + claimed] == bytes[..claimed], "{engine:?}");
        }
    }
}

#[test]
fn a_dest_that_delays_the_others_is_left_behind_with_true_claims() {
    let bytes = pattern(LEN, 0);
    for engine in [EngineKind::Ring, EngineKind::Threads] {
        for may_fall_behind in [true, false] {
            let source = Arc::new(Memory::disk(bytes.clone(), &[]));
            let slow = Fault::Takes(Duration::from_millis(20));
            let dests = [vec![], vec![slow]].map(|faults| Arc::new(Memory::disk(empty(), &faults)));
            let mut plan = several_plan(engine, &[Zeros::Write; 2]);
            plan.dests.iter_mut().for_each(|dest| dest.may_fall_behind = may_fall_behind);
            let parts =
                dests.iter().zip(&plan.dests).map(|(end, plan)| (end.clone() as Arc<dyn Endpoint>, plan.clone()));
            let several = Several::new(parts.collect(), WriteOrder::Any).with_patience(Duration::ZERO);
            let several = Arc::new(several);
            let ends: [Arc<dyn Endpoint>; 2] = [source.clone(), several.clone()];
            let mut schedule = haul::core::schedules::make(&plan, &ends[0]);
            let outcome = haul::engine::run(
                &plan,
                &ends,
                &mut *schedule,
                haul::engine::Watch::new(&Stop::default(), &Tally::default(), &NoObserver),
            );
            assert!(matches!(outcome.ended, Ended::Complete), "{engine:?}: {:?}", outcome.ended);
            assert!(dests[0].bytes() == expected(&bytes), "{engine:?}: the fast one has everything");
            let [fast, slow] = [&outcome.dests[0], &outcome.dests[1]];
            assert_eq!([fast.behind, slow.behind], [false, may_fall_behind], "{engine:?}");
            assert_eq!(several.behind().len(), usize::from(may_fall_behind));
            let claimed = slow.claimed.len as usize;
            assert_eq!(claimed < LEN, may_fall_behind, "{engine:?}: {claimed}");
            assert!(dests[1].bytes()[SEEK..SEEK + claimed] == bytes[..claimed], "{engine:?}");
        }
    }
}
