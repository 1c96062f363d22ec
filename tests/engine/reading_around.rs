//! `--on-error skip` with every engine: the dest equals the source, with zeros exactly in place of unreadable
//! sectors.
use crate::model::{pattern, plan, run, tuning};
use haul::core::{
    Direction, Ended, Endpoint, EngineKind, Event, Extent, ExtentSet, HashKind, Kind, Observer, OnError, Op, Outcome,
    Plan, Route, Side, Stop, Tally, WriteOrder, Zeros,
};
use haul::disks::memory::{Fault, Memory};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

const ENGINES: [EngineKind; 3] = [EngineKind::Ring, EngineKind::Threads, EngineKind::Sync];
const SECTOR: u64 = 512;

fn engines() -> impl Strategy<Value = EngineKind> {
    prop::sample::select(ENGINES.to_vec())
}

fn bad(op: Op, offset: u64) -> Fault {
    let extent = Extent::new(offset / SECTOR * SECTOR, SECTOR);
    Fault::BadSectors { op, extent, errno: libc::EIO }
}

fn skipping(mut plan: Plan) -> Plan {
    plan.on_error = OnError { skip: true, retries: 0 };
    plan
}

/// The parts of `within` that are in sectors with one of these bytes.
fn sectors_of(bytes: &BTreeSet<u64>, within: Extent) -> ExtentSet {
    let sector = |byte: &u64| Extent::new(byte / SECTOR * SECTOR, SECTOR).intersection(&within);
    bytes.iter().filter_map(sector).collect()
}

fn zeroed(mut bytes: Vec<u8>, bad: &ExtentSet) -> Vec<u8> {
    bad.iter().for_each(|extent| bytes[extent.offset as usize..extent.end() as usize].fill(0));
    bytes
}

fn failure(outcome: &Outcome) -> &haul::core::Error {
    match &outcome.ended {
        Ended::Failed(error) => error,
        other => panic!("it should have failed: {other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn all_but_unreadable_sectors_is_copied_and_those_are_zeros(
        engine in engines(), len in 1usize..120_000, skip in 0usize..3000, seek in 0usize..3000,
        places in prop::collection::btree_set(0u64..123_000, 0..7), company in 0u64..3,
        short in prop::option::of(100u32..9000), uneven: bool, block_bytes in 300u32..40_000, depth in 1u32..9,
        zeros in 0usize..2, detect: bool, ask_holes: bool,
        ordered: bool, bursts: bool, heads: [bool; 2], zero_pages: u64, retries in 0u32..2,
    ) {
        let source = pattern(skip + len + 100, zero_pages);
        let with_company = |&at: &u64| (0..=company).map(move |next| at + next * SECTOR);
        let places: BTreeSet<u64> = places.iter().flat_map(with_company).collect();
        let mut faults: Vec<Fault> = places.iter().map(|&at| bad(Op::Read, at)).collect();
        faults.extend(short.map(Fault::Short));
        faults.extend(uneven.then_some(Fault::Uneven));
        let mut plan = skipping(plan(engine, Some(len as u64), skip as u64, seek as u64));
        plan.on_error.retries = retries;
        plan.tuning = tuning(block_bytes, if engine == EngineKind::Sync { 1 } else { depth });
        plan.zeros = [Zeros::Write, Zeros::Device][zeros];
        plan.detect_zeros_bytes = detect.then_some(512);
        plan.ask_holes = ask_holes;
        plan.write_order = if ordered { WriteOrder::Submitted } else { WriteOrder::Any };
        plan.tuning.bursts = if bursts { haul::core::Bursts::Always } else { haul::core::Bursts::Never };
        [plan.source.moves_head, plan.dest.moves_head] = heads;
        plan.hashes = vec![HashKind::Sha256];
        let dest = Arc::new(Memory::disk(vec![0xAA; seek + len + 77], &[]));
        let disk = Arc::new(Memory::disk(source.clone(), &faults));
        let (outcome, tally) = run(&plan, &disk, &dest);
        prop_assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);

        // Holes are not read, and so cannot be unreadable.
        let expected = match ask_holes {
            true => outcome.unread[0].runs.clone(),
            false => sectors_of(&places, Extent::new(skip as u64, len as u64)),
        };
        prop_assert_eq!(&outcome.unread[0].runs, &expected);
        prop_assert!(outcome.unread[1].is_empty());
        let mut bytes = vec![0xAA; seek + len + 77];
        bytes[seek..seek + len].copy_from_slice(&zeroed(source, &expected)[skip..skip + len]);
        prop_assert!(dest.bytes() == bytes, "other bytes were copied");
        prop_assert_eq!(outcome.claimed, Extent::new(0, len as u64));
        prop_assert_eq!(outcome.totals.copied_bytes(), len as u64);
        prop_assert!(tally.unread_sectors.into_inner() >= outcome.unread[0].sectors());
        let digest = <sha2::Sha256 as sha2::Digest>::digest(&bytes[seek..seek + len]);
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        prop_assert_eq!(&outcome.digests[0].hex, &hex, "a digest of other bytes than were written");
    }

    #[test]
    fn an_overlapping_copy_skips_unreadable_sectors_like_memmove(
        engine in engines(), len in 1usize..40_000, from in 0usize..20_000, to in 0usize..20_000,
        places in prop::collection::btree_set(0u64..60_000, 0..5), block_bytes in 512u32..9000,
    ) {
        let faults: Vec<Fault> = places.iter().map(|&at| bad(Op::Read, at)).collect();
        let mut expected = pattern(80_000, 0);
        let disk = Arc::new(Memory::disk(expected.clone(), &faults));
        let mut plan = skipping(plan(engine, Some(len as u64), from as u64, to as u64));
        plan.tuning = tuning(block_bytes, plan.tuning.blocks());
        plan.write_order = WriteOrder::Submitted;
        plan.direction = if to > from { Direction::Backward } else { Direction::Forward };
        let (outcome, _) = run(&plan, &disk, &disk);
        prop_assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
        let unread = sectors_of(&places, Extent::new(from as u64, len as u64));
        prop_assert_eq!(&outcome.unread[0].runs, &unread);
        let moved = zeroed(expected.clone(), &unread)[from..from + len].to_vec();
        expected[to..to + len].copy_from_slice(&moved);
        prop_assert!(disk.bytes() == expected, "other bytes were copied");
    }

    #[test]
    fn unreadable_sectors_of_a_side_are_neither_equal_nor_different(
        engine in engines(), len in 1usize..100_000, skip in 0usize..2000, seek in 0usize..2000,
        places in prop::array::uniform2(prop::collection::btree_set(0u64..100_000, 0..5)),
        flips in prop::collection::btree_set(0usize..100_000, 0..6), block_bytes in 300u32..20_000,
    ) {
        let [ours, mut theirs] = [pattern(skip + len, 0), pattern(skip + len, 0)];
        let flips: BTreeSet<usize> = flips.into_iter().filter(|&at| at < len).collect();
        flips.iter().for_each(|&at| theirs[skip + at] ^= 0xFF);
        let theirs = [&vec![7; seek], &theirs[skip..]].concat();
        let faults = places.clone().map(|places| places.iter().map(|&at| bad(Op::Read, at)).collect::<Vec<_>>());
        let mut plan = skipping(plan(engine, Some(len as u64), skip as u64, seek as u64));
        plan.tuning = tuning(block_bytes, if engine == EngineKind::Sync { 2 } else { 6 });
        plan.route = Route::Compare { ends_together: false, shorter: None };
        let [source, dest] = [Memory::disk(ours, &faults[0]), Memory::disk(theirs, &faults[1])].map(Arc::new);
        let (outcome, _) = run(&plan, &source, &dest);
        prop_assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
        let starts = [skip as u64, seek as u64];
        let mut unread = ExtentSet::new();
        for side in Side::BOTH {
            let index = side.index();
            let bad = sectors_of(&places[index], Extent::new(starts[index], len as u64));
            prop_assert_eq!(&outcome.unread[index].runs, &bad);
            unread.extend(bad.iter().map(|bad| Extent::new(bad.offset - starts[index], bad.len)));
        }
        let seen: Vec<usize> = flips.into_iter().filter(|&at| !unread.contains(Extent::new(at as u64, 1))).collect();
        let differences = outcome.differences.expect("it compares");
        prop_assert_eq!(differences.bytes, seen.len() as u64);
        prop_assert_eq!(differences.first, seen.first().map(|&at| at as u64));
    }
}

#[test]
fn a_sector_is_retried_as_configured_and_then_the_copy_stops() {
    for engine in ENGINES {
        let source = Arc::new(Memory::disk(pattern(100_000, 0), &[bad(Op::Read, 10_000)]));
        let dest = Arc::new(Memory::disk(vec![0; 100_000], &[]));
        let mut plan = plan(engine, Some(100_000), 0, 0);
        plan.on_error.retries = 4;
        let (outcome, _) = run(&plan, &source, &dest);
        let error = failure(&outcome);
        assert_eq!((error.kind, error.offset), (Kind::Io, Some(10_000 / SECTOR * SECTOR)), "{engine:?}");
        let sector = Extent::new(10_000 / SECTOR * SECTOR, SECTOR);
        let tries = source.asked().iter().filter(|asked| asked.extent == sector).count();
        assert_eq!(tries, 1 + 4, "{engine:?}");
        assert!(outcome.claimed.len <= 10_000 && outcome.unread[0].is_empty());
    }
}

#[test]
fn write_errors_and_a_removed_source_stop_a_skipping_copy() {
    for engine in ENGINES {
        for (from, to, kind, side) in [
            (vec![], vec![bad(Op::Write, 50_000)], Kind::Io, Side::Dest),
            (vec![], vec![Fault::FullAt(50_000)], Kind::NoSpace, Side::Dest),
            (vec![Fault::EndsAt(50_000)], vec![], Kind::EndedEarly, Side::Source),
            (
                vec![Fault::BadAt { op: Op::Read, offset: 50_000, errno: libc::ENOTCONN }],
                vec![],
                Kind::Io,
                Side::Source,
            ),
        ] {
            let source = Arc::new(Memory::disk(pattern(100_000, 0), &from));
            let dest = Arc::new(Memory::disk(vec![0; 100_000], &to));
            let (outcome, _) = run(&skipping(plan(engine, Some(100_000), 0, 0)), &source, &dest);
            let error = failure(&outcome);
            assert_eq!((error.kind, error.side), (kind, Some(side)), "{engine:?}: {error}");
            assert!(outcome.claimed.len <= 50_000, "{engine:?}");
            assert!(outcome.unread[0].is_empty(), "{engine:?}");
        }
    }
}

#[test]
fn a_pipe_receives_zeros_for_unreadable_sectors_at_their_offsets() {
    for engine in ENGINES {
        let bytes = pattern(100_000, 0);
        let places = BTreeSet::from([0, 30_000, 99_999]);
        let faults: Vec<Fault> = places.iter().map(|&at| bad(Op::Read, at)).collect();
        let source = Arc::new(Memory::disk(bytes.clone(), &faults));
        let dest = Arc::new(Memory::pipe(vec![], &[Fault::Short(3000)]));
        let (outcome, _) = run(&skipping(plan(engine, Some(100_000), 0, 0)), &source, &dest);
        assert!(matches!(outcome.ended, Ended::Complete), "{engine:?}: {:?}", outcome.ended);
        assert!(dest.bytes() == zeroed(bytes, &sectors_of(&places, Extent::new(0, 100_000))), "{engine:?}");
    }
}

/// Stops the copy as soon as an unreadable sector is reported.
struct StopsAtTheFirst(Arc<Stop>);

impl Observer for StopsAtTheFirst {
    fn on_event(&self, event: &Event<'_>) {
        if matches!(event, Event::Warned(_)) {
            self.0.request(libc::SIGINT);
        }
    }
}

#[test]
fn a_stop_within_a_bad_block_claims_nothing_behind_the_examined_sectors() {
    let len = 400_000;
    for engine in ENGINES {
        for order in [WriteOrder::Any, WriteOrder::Submitted] {
            // Everything from here: isolating the sectors would take too long.
            let extent = Extent::new(20_480, 300_000);
            let fault = Fault::BadSectors { op: Op::Read, extent, errno: libc::EIO };
            let source = Arc::new(Memory::disk(pattern(len, 0), &[fault]));
            let dest = Arc::new(Memory::disk(vec![0xAA; len], &[Fault::Uneven]));
            let ends: [Arc<dyn Endpoint>; 2] = [source, dest.clone()];
            let mut plan = skipping(plan(engine, Some(len as u64), 0, 0));
            plan.write_order = order;
            let mut schedule = haul::core::schedules::make(&plan, &ends[0]);
            let (stop, tally) = (Arc::new(Stop::default()), Tally::default());
            let outcome = haul::engine::run(
                &plan,
                &ends,
                &mut *schedule,
                haul::engine::Watch::new(&stop, &tally, &StopsAtTheFirst(stop.clone())),
            );
            assert!(matches!(outcome.ended, Ended::Interrupted(libc::SIGINT)), "{engine:?}: {:?}", outcome.ended);
            let unread = &outcome.unread[0];
            assert_eq!(unread.sectors(), 1, "{engine:?}: it went on looking");
            let claimed = outcome.claimed.len as usize;
            assert!(claimed < len, "{engine:?}");
            let expected = zeroed(pattern(len, 0), &unread.runs);
            assert!(dest.bytes()[..claimed] == expected[..claimed], "{engine:?}: other bytes are claimed");
            if order == WriteOrder::Submitted {
                assert!(dest.bytes()[claimed..].iter().all(|&byte| byte == 0xAA), "{engine:?}: bytes behind the claim");
            }
        }
    }
}

#[test]
fn other_blocks_are_read_while_one_is_read_around() {
    let source = Arc::new(Memory::disk(pattern(400_000, 0), &[bad(Op::Read, 0)]));
    let dest = Arc::new(Memory::disk(vec![0; 400_000], &[]));
    let mut plan = skipping(plan(EngineKind::Threads, Some(400_000), 0, 0));
    plan.on_error.retries = 20;
    run(&plan, &source, &dest);
    let asked = source.asked();
    let last_try = asked.iter().rposition(|asked| asked.extent == Extent::new(0, SECTOR)).expect("it was tried");
    let meanwhile = asked[..last_try].iter().filter(|asked| asked.extent.len == 4096).count();
    assert!(meanwhile > 40, "only {meanwhile} other blocks were read while the first was looked at");
}
