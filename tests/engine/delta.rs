//! A copy that writes only differences: the dest becomes the same as with a plain copy, and nothing else is written.
use crate::model::{pattern, plan, run, tuning};
use crate::support::noise;
use haul::core::{
    BlockDigests, BlockHash, Ended, EngineKind, Extent, HashKind, Op, Outcome, Plan, Route, Tuning, WriteOrder, Zeros,
};
use haul::disks::memory::{Fault, Memory};
use proptest::prelude::*;
use std::sync::Arc;

const ENGINES: [EngineKind; 3] = [EngineKind::Ring, EngineKind::Threads, EngineKind::Sync];
const PIECE: u32 = 4096;

fn delta(engine: EngineKind, len: Option<u64>, skip: u64, seek: u64) -> Plan {
    let mut plan = plan(engine, len, skip, seek);
    plan.route = Route::Delta { piece_bytes: PIECE };
    plan.tuning = tuning(16 << 10, 6);
    plan
}

/// The bytes that were written or zeroed.
fn written(dest: &Memory) -> Vec<Extent> {
    dest.asked().into_iter().filter(|asked| asked.op != Op::Read).map(|asked| asked.extent).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_dest_becomes_the_source_and_only_pieces_that_differ_are_written(
        engine in prop::sample::select(ENGINES.to_vec()), len in 0usize..150_000, existing in 0usize..160_000,
        skip in 0usize..5000, seek in 0usize..5000, zero_pages: u64, ask_holes: bool, device_zeros: bool,
        detect: bool, ordered: bool, bursts: bool, hashed: bool, block_bytes in 4096u32..30_000, depth in 2u32..9,
        heads: [bool; 2], from_faulty: bool, to_faulty: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 0..12),
    ) {
        let faults = |faulty: bool| if faulty { vec![Fault::Uneven, Fault::Short(3000)] } else { vec![] };
        let source = pattern(skip + len + 100, zero_pages);
        let mut before = vec![0xAA; seek];
        before.extend_from_slice(&source[skip..skip + len.min(existing)]);
        before.resize(seek + existing.max(1), 0xBB);
        for (at, by) in changes {
            let at = at.index(before.len());
            before[at] = before[at].wrapping_add(by);
        }
        let mut plan = delta(engine, Some(len as u64), skip as u64, seek as u64);
        plan.tuning = tuning(block_bytes, depth);
        plan.ask_holes = ask_holes;
        plan.zeros = if device_zeros { Zeros::Device } else { Zeros::Write };
        plan.detect_zeros_bytes = detect.then_some(4096);
        plan.write_order = if ordered { WriteOrder::Submitted } else { WriteOrder::Any };
        plan.tuning.bursts = if bursts { haul::core::Bursts::Always } else { haul::core::Bursts::Never };
        plan.hashes = if hashed { vec![HashKind::Xxh3] } else { vec![] };
        let digests = BlockDigests { hash: BlockHash::Blake3Tree, block_bytes: 65536, from_bytes: 0 };
        plan.digest_blocks = hashed.then_some(digests);
        [plan.source.moves_head, plan.dest.moves_head] = heads;
        let mut after = before.clone();
        after.resize(before.len().max(seek + len), 0);
        after[seek..seek + len].copy_from_slice(&source[skip..skip + len]);
        let dest = Arc::new(Memory::disk(before.clone(), &faults(to_faulty)));
        let (outcome, tally) = run(&plan, &Arc::new(Memory::disk(source, &faults(from_faulty))), &dest);
        prop_assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
        prop_assert!(dest.bytes() == after, "the dest is not what it should be");
        let totals = outcome.totals;
        prop_assert_eq!((totals.copied_bytes(), tally.copied_bytes()), (len as u64, len as u64));
        prop_assert_eq!((totals.compared_bytes, outcome.claimed.len), (0, len as u64));
        let mut bytes = 0;
        for extent in written(&dest) {
            bytes += extent.len;
            prop_assert!(extent.offset >= seek as u64 && extent.end() <= (seek + len) as u64);
            // A short write is continued, so a written extent may begin within a piece: some byte within a piece of
            // it differs, or it is beyond the old end.
            let from = (extent.offset.saturating_sub(PIECE.into()) as usize).max(seek);
            let to = ((extent.end() + u64::from(PIECE)) as usize).min(seek + len);
            let differs = to > before.len() || before[from..to] != after[from..to];
            prop_assert!(differs, "{extent:?} was there already");
        }
        prop_assert!(to_faulty || bytes == totals.written_bytes + totals.zeroed_bytes);
    }
}

#[test]
fn equal_pieces_are_not_written() {
    for engine in ENGINES {
        let bytes = pattern(300_000, 0x30);
        let dest = Arc::new(Memory::disk(bytes.clone(), &[]));
        let (outcome, _) = run(&delta(engine, Some(300_000), 0, 0), &Arc::new(Memory::disk(bytes, &[])), &dest);
        assert_eq!((outcome.totals.unchanged_bytes, outcome.totals.written_bytes), (300_000, 0), "{engine:?}");
        assert!(written(&dest).is_empty(), "{engine:?}");
    }
}

#[test]
fn one_byte_costs_one_piece() {
    for engine in ENGINES {
        let bytes = pattern(300_000, 0);
        let mut old = bytes.clone();
        old[100_000] ^= 1;
        let dest = Arc::new(Memory::disk(old, &[]));
        run(&delta(engine, Some(300_000), 0, 0), &Arc::new(Memory::disk(bytes.clone(), &[])), &dest);
        assert!(dest.bytes() == bytes);
        assert_eq!(written(&dest), [Extent::new(100_000 / 4096 * 4096, 4096)], "{engine:?}");
    }
}

#[test]
fn an_unreadable_piece_of_the_dest_is_written() {
    for engine in ENGINES {
        let bytes = pattern(300_000, 0);
        let bad = Fault::BadAt { op: Op::Read, offset: 50_000, errno: libc::EIO };
        let dest = Arc::new(Memory::disk(bytes.clone(), &[bad]));
        let (outcome, _) = run(&delta(engine, Some(300_000), 0, 0), &Arc::new(Memory::disk(bytes.clone(), &[])), &dest);
        assert!(matches!(outcome.ended, Ended::Complete), "{engine:?}: {:?}", outcome.ended);
        assert_eq!(outcome.totals.written_bytes, 16 << 10, "{engine:?}");
        assert!(outcome.notes.iter().any(|note| note.contains("unreadable blocks of the destination, rewritten: 1")));
        assert!(dest.bytes() == bytes);
    }
}

#[test]
fn a_failed_write_ends_the_copy_and_no_byte_behind_it_is_claimed() {
    for engine in ENGINES {
        let bad = Fault::BadAt { op: Op::Write, offset: 100_000, errno: libc::EIO };
        let dest = Arc::new(Memory::disk(vec![0; 300_000], &[bad, Fault::Uneven]));
        let source = Arc::new(Memory::disk(pattern(300_000, 0), &[]));
        let (outcome, _) = run(&delta(engine, Some(300_000), 0, 0), &source, &dest);
        assert!(matches!(outcome.ended, Ended::Failed(_)), "{engine:?}: {:?}", outcome.ended);
        assert_eq!(outcome.claimed.len, 100_000 / 16_384 * 16_384, "{engine:?}");
    }
}

#[test]
fn a_stream_that_ends_within_a_block_is_compared_to_its_end() {
    for engine in ENGINES {
        let bytes = pattern(100_001, 0);
        let mut old = bytes.clone();
        old[100_000] ^= 1;
        old.extend_from_slice(&[7; 5000]);
        let dest = Arc::new(Memory::disk(old, &[]));
        let source = Arc::new(Memory::pipe(bytes.clone(), &[Fault::Short(777)]));
        let (outcome, _) = run(&delta(engine, None, 0, 0), &source, &dest);
        assert!(matches!(outcome.ended, Ended::Complete), "{engine:?}: {:?}", outcome.ended);
        assert!(dest.bytes()[..100_001] == bytes && dest.bytes()[100_001..] == [7; 5000]);
        assert!(outcome.totals.written_bytes <= 4096, "{engine:?}: {:?}", outcome.totals);
    }
}

/// A copy of 80 MiB in blocks of 1 MiB that may be tuned. A byte of the dest differs in each of the blocks `changed`.
fn tuned(engine: EngineKind, changed: impl Iterator<Item = usize>) -> (Outcome, bool) {
    const LEN: usize = 80 << 20;
    let bytes = noise(LEN, 5);
    let mut old = bytes.clone();
    changed.for_each(|block| old[(block << 20) + 77] ^= 1);
    let mut plan = delta(engine, Some(LEN as u64), 0, 0);
    plan.route = Route::Delta { piece_bytes: 64 << 10 };
    plan.tuning = Tuning { adaptive: true, ..tuning(1 << 20, if engine == EngineKind::Sync { 2 } else { 16 }) };
    let dest = Arc::new(Memory::disk(old, &[]));
    let (outcome, _) = run(&plan, &Arc::new(Memory::disk(bytes.clone(), &[])), &dest);
    assert!(matches!(outcome.ended, Ended::Complete), "{engine:?}: {:?}", outcome.ended);
    let totals = outcome.totals;
    assert_eq!(totals.written_bytes + totals.unchanged_bytes, LEN as u64, "{engine:?}");
    (outcome, dest.bytes() == bytes)
}

#[test]
fn where_much_differs_blocks_are_also_written_without_reading_the_dest() {
    for engine in ENGINES {
        let (outcome, is_equal) = tuned(engine, 0..80);
        assert!(is_equal, "{engine:?}");
        let notes = &outcome.notes;
        assert!(notes.iter().any(|note| note.starts_with("bytes written without comparing")), "{engine:?}: {notes:?}");
        assert!(outcome.totals.written_bytes >= 76 * (64 << 10) + (4 << 20), "{engine:?}: {:?}", outcome.totals);
    }
}

#[test]
fn where_little_differs_only_differences_are_written() {
    for engine in ENGINES {
        let (outcome, is_equal) = tuned(engine, [30, 60].into_iter());
        assert!(is_equal, "{engine:?}");
        assert_eq!(outcome.totals.written_bytes, 2 * (64 << 10), "{engine:?}: {:?}", outcome.notes);
    }
}
