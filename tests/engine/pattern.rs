//! The test pattern through the engines: a written pattern is clean, all damage is found, and a disk that reports a
//! false capacity is detected.
use crate::model::{plan, tuning};
use haul::core::stages::{Inspector, Pattern};
use haul::core::{
    Conclusion, Damage, DamageKind, Ended, Endpoint, EndpointKind, EngineKind, Extent, Facts, NoObserver, Stop, Tally,
};
use haul::disks::computed;
use haul::disks::memory::{Fault, Memory};
use proptest::prelude::*;
use std::sync::Arc;

const ENGINES: [EngineKind; 3] = [EngineKind::Ring, EngineKind::Threads, EngineKind::Sync];
const BLOCK: usize = 512;
const RUN: u64 = 77;

fn pattern() -> Pattern {
    Pattern::new(BLOCK as u32, RUN, 0).expect("a valid pattern length")
}

fn pump(engine: EngineKind, len: u64, ends: [Arc<dyn Endpoint>; 2]) -> Option<Damage> {
    let mut plan = plan(engine, Some(len), 0, 0);
    plan.tuning = tuning(4096, if engine == EngineKind::Sync { 1 } else { 8 });
    let mut schedule = haul::core::schedules::make(&plan, &ends[0]);
    let outcome = haul::engine::run(
        &plan,
        &ends,
        &mut *schedule,
        haul::engine::Watch::new(&Stop::default(), &Tally::default(), &NoObserver),
    );
    assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
    assert_eq!(outcome.claimed.len, len);
    outcome.damage
}

fn write(engine: EngineKind, disk: &Arc<Memory>, len: u64) {
    let mut facts = Facts::new("pattern", EndpointKind::Pattern);
    facts.size = Some(len);
    let made = computed::made(facts, Arc::new(pattern()));
    assert_eq!(pump(engine, len, [made, disk.clone()]), None, "nothing is checked while it is written");
}

fn check(engine: EngineKind, disk: &Arc<Memory>, len: u64) -> Damage {
    let judge = Inspector::new(pattern(), Extent::new(0, len));
    let judged = computed::judged(Facts::new("pattern", EndpointKind::Pattern), Arc::new(judge));
    pump(engine, len, [disk.clone(), judged]).expect("the pattern was checked")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn a_written_pattern_is_clean_and_damage_is_found(
        blocks in 1usize..120, engines in prop::array::uniform2(prop::sample::select(ENGINES.to_vec())),
        fault in prop::sample::select(vec![None, Some(Fault::Short(1536)), Some(Fault::Uneven)]),
        flips in prop::collection::btree_map(0usize..120, 0usize..BLOCK * 8, 0..8),
    ) {
        let len = blocks * BLOCK;
        let faults: Vec<Fault> = fault.into_iter().collect();
        let disk = Arc::new(Memory::disk(vec![0xee; len + 300], &faults));
        write(engines[0], &disk, len as u64);
        let mut bytes = disk.bytes();
        prop_assert_eq!(&bytes[len..], &[0xee; 300], "nothing is written behind the range");
        let clean = check(engines[1], &disk, len as u64);
        prop_assert!(clean.is_empty(), "{:?}", clean);
        prop_assert_eq!(clean.checked_bytes, len as u64);

        let flips: Vec<(usize, usize)> = flips.into_iter().filter(|(block, _)| *block < blocks).collect();
        flips.iter().for_each(|(block, bit)| bytes[block * BLOCK + bit / 8] ^= 1 << (bit % 8));
        let disk = Arc::new(Memory::disk(bytes, &faults));
        let damage = check(engines[1], &disk, len as u64);
        prop_assert_eq!(damage.blocks[DamageKind::Flipped.index()], flips.len() as u64);
        prop_assert_eq!(damage.damaged_blocks(), flips.len() as u64);
        let found: Vec<u64> = damage.runs.iter().map(|run| run.first).collect();
        let mut wanted = Vec::new();
        for (block, bit) in &flips {
            // Adjacent flipped blocks are one run, reported at the first.
            if !flips.iter().any(|(other, _)| other + 1 == *block) {
                wanted.push((block * BLOCK + bit / 8) as u64);
            }
        }
        prop_assert_eq!(found, wanted);
    }
}

#[test]
fn every_engine_detects_a_false_capacity() {
    let (holds, claims) = (64 * 1024u64, 160 * 1024u64);
    for engine in ENGINES {
        let disk = Arc::new(Memory::disk(vec![0; claims as usize], &[Fault::Wraps(holds)]));
        write(engine, &disk, claims);
        assert!(disk.bytes()[holds as usize..].iter().all(|&byte| byte == 0), "it keeps no more than it holds");
        let damage = check(engine, &disk, claims);
        assert_eq!(damage.conclusion, Some(Conclusion::Wraps { holds_bytes: holds }), "{engine:?}: {damage:?}");
    }
}
