//! Comparing two sides: every engine finds the same as a comparison of all bytes, and claims only what it compared.
use crate::model::{pattern, plan, run, tuning};
use haul::core::{Differences, Ended, EngineKind, Kind, Op, Plan, Route, Side, WriteOrder};
use haul::disks::memory::{Fault, Memory};
use proptest::prelude::*;
use std::sync::Arc;

const ENGINES: [EngineKind; 3] = [EngineKind::Ring, EngineKind::Threads, EngineKind::Sync];

fn engines() -> impl Strategy<Value = EngineKind> {
    prop::sample::select(ENGINES.to_vec())
}

fn faults() -> impl Strategy<Value = Vec<Fault>> {
    prop_oneof![Just(vec![]), (1u32..9000).prop_map(|most| vec![Fault::Short(most)]), Just(vec![Fault::Uneven]),]
}

fn comparison(engine: EngineKind, len: Option<u64>, skip: u64, seek: u64) -> Plan {
    let mut plan = plan(engine, len, skip, seek);
    plan.route = Route::Compare { ends_together: false, shorter: None };
    plan.tuning = tuning(4096, 8);
    plan
}

/// The result of comparing all bytes, in sectors of the dest.
fn expected(source: &[u8], dest: &[u8], seek: usize) -> Differences {
    let mut differences = Differences::default();
    let mut at = 0;
    while at < source.len() {
        let sector_end = ((seek + at) / 512 + 1) * 512 - seek;
        let end = sector_end.min(source.len());
        let differing: Vec<usize> = (at..end).filter(|&byte| source[byte] != dest[byte]).collect();
        if let Some(&first) = differing.first() {
            let run = haul::core::Extent::new(at as u64, (end - at) as u64);
            differences.add(run, first as u64, differing.len() as u64);
        }
        at = end;
    }
    differences
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn exactly_the_differences_are_found(
        engine in engines(), from in faults(), to in faults(), len in 0usize..150_000,
        skip in 0usize..5000, seek in 0usize..5000, zero_pages: u64, ask_holes: bool, ordered: bool, bursts: bool,
        block_bytes in 1u32..20_000, depth in 2u32..9, heads: [bool; 2],
        changes in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 0..12),
    ) {
        let source = pattern(skip + len + 100, zero_pages);
        let mut dest = vec![0xAA; seek + len + 77];
        dest[seek..seek + len].copy_from_slice(&source[skip..skip + len]);
        for (at, by) in changes {
            let at = at.index(dest.len());
            dest[at] = dest[at].wrapping_add(by);
        }
        let mut plan = comparison(engine, Some(len as u64), skip as u64, seek as u64);
        plan.tuning = tuning(block_bytes, depth);
        plan.ask_holes = ask_holes;
        plan.write_order = if ordered { WriteOrder::Submitted } else { WriteOrder::Any };
        plan.tuning.bursts = if bursts { haul::core::Bursts::Always } else { haul::core::Bursts::Never };
        [plan.source.moves_head, plan.dest.moves_head] = heads;
        let should = expected(&source[skip..skip + len], &dest[seek..seek + len], seek);
        let before = dest.clone();
        let dest = Arc::new(Memory::disk(dest, &to));
        let (outcome, tally) = run(&plan, &Arc::new(Memory::disk(source, &from)), &dest);
        prop_assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
        prop_assert_eq!(outcome.differences.as_ref(), Some(&should));
        prop_assert_eq!((outcome.claimed.offset, outcome.claimed.len), (0, len as u64));
        prop_assert_eq!((outcome.totals.compared_bytes, tally.copied_bytes()), (len as u64, len as u64));
        prop_assert!(dest.bytes() == before, "the dest was written to");
    }

    #[test]
    fn a_stream_is_compared_up_to_the_shorter_end(
        engine in engines(), from in faults(), to in faults(), len in 0usize..60_000, room in 0usize..60_000,
        block_bytes in 1u32..20_000, ends_together: bool,
    ) {
        let bytes = pattern(len.max(room), 0);
        let mut plan = comparison(engine, None, 0, 0);
        plan.tuning = tuning(block_bytes, plan.tuning.blocks());
        plan.route = Route::Compare { ends_together, shorter: None };
        let dest = Arc::new(Memory::disk(bytes[..room].to_vec(), &to));
        let (outcome, _) = run(&plan, &Arc::new(Memory::pipe(bytes[..len].to_vec(), &from)), &dest);
        prop_assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
        let found = outcome.differences.unwrap();
        prop_assert_eq!((found.bytes, outcome.claimed.len), (0, len.min(room) as u64));
        let shorter = match len.cmp(&room) {
            std::cmp::Ordering::Greater => Some((Side::Dest, None)),
            std::cmp::Ordering::Less if ends_together => Some((Side::Source, Some((room - len) as u64))),
            _ => None,
        };
        prop_assert_eq!(found.shorter, shorter);
    }
}

#[test]
fn a_read_error_of_either_side_is_named_and_no_byte_behind_it_is_claimed() {
    let len = 400_000;
    let bad = |offset: u64| [Fault::BadAt { op: Op::Read, offset, errno: libc::EIO }];
    for engine in ENGINES {
        for side in Side::BOTH {
            for offset in [0, 4096 * 10 + 700, len as u64 - 1] {
                let faults = |of: Side| if of == side { bad(offset).to_vec() } else { vec![Fault::Uneven] };
                let source = Arc::new(Memory::disk(pattern(len, 0), &faults(Side::Source)));
                let dest = Arc::new(Memory::disk(pattern(len, 0), &faults(Side::Dest)));
                let (outcome, _) = run(&comparison(engine, Some(len as u64), 0, 0), &source, &dest);
                let Ended::Failed(error) = &outcome.ended else { panic!("it should have failed: {:?}", outcome.ended) };
                assert_eq!((error.kind, error.side), (Kind::Io, Some(side)), "{engine:?}");
                assert_eq!(error.offset, Some(offset / 512 * 512), "{engine:?} {side:?}");
                assert_eq!(outcome.claimed.len, offset / 4096 * 4096, "{engine:?} {side:?}");
                assert!(outcome.differences.unwrap().is_empty());
            }
        }
    }
}

#[test]
fn a_dest_truncated_during_a_comparison_is_a_failure() {
    for engine in ENGINES {
        let source = Arc::new(Memory::disk(pattern(100_000, 0), &[]));
        let lost = [Fault::BadAt { op: Op::Read, offset: 50_000, errno: libc::ENODEV }];
        let dest = Arc::new(Memory::disk(pattern(100_000, 0), &lost));
        let (outcome, _) = run(&comparison(engine, Some(100_000), 0, 0), &source, &dest);
        assert!(matches!(outcome.ended, Ended::Failed(_)), "{engine:?}: {:?}", outcome.ended);
    }
}
