//! Every engine produces the same as a byte array, for every shape of the copy and behaviour of the endpoints.
use crate::model::{copies, pattern, plan, tuning};
use haul::core::{Direction, EngineKind, HashKind, Op, WriteOrder, Zeros};
use haul::disks::memory::{Fault, Memory};
use proptest::prelude::*;
use std::sync::Arc;

fn engines() -> impl Strategy<Value = EngineKind> {
    prop_oneof![Just(EngineKind::Ring), Just(EngineKind::Threads), Just(EngineKind::Sync)]
}

fn faults() -> impl Strategy<Value = Vec<Fault>> {
    prop_oneof![
        Just(vec![]),
        (1u32..9000).prop_map(|most| vec![Fault::Short(most)]),
        Just(vec![Fault::Uneven]),
        (1u32..900).prop_map(|most| vec![Fault::Uneven, Fault::Short(most)]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_range_is_copied_and_no_byte_around_it_changes(
        engine in engines(), from in faults(), to in faults(),
        len in 0usize..150_000, skip in 0usize..5000, seek in 0usize..5000, zero_pages: u64,
        block_bytes in 1u32..20_000, depth in 1u32..9, zeros in 0usize..3, ask_holes: bool, detect: bool, ordered: bool,
        head in 0u32..300, tail_align in prop_oneof![Just(1u32), Just(512), Just(4096)], bursts: bool, heads: [bool; 2],
    ) {
        let source = pattern(skip + len + 100, zero_pages);
        let mut expected = vec![0xAA; seek + len + 77];
        let mut plan = plan(engine, Some(len as u64), skip as u64, seek as u64);
        plan.zeros = [Zeros::Write, Zeros::Device, Zeros::Leave][zeros];
        if plan.zeros == Zeros::Leave {
            // A hole may only be left in place of zeros.
            expected[seek..seek + len].fill(0);
        }
        let dest = Arc::new(Memory::disk(expected.clone(), &to));
        expected[seek..seek + len].copy_from_slice(&source[skip..skip + len]);
        plan.ask_holes = ask_holes;
        plan.detect_zeros_bytes = detect.then_some(512);
        plan.tuning = tuning(block_bytes, if engine == EngineKind::Sync { 1 } else { depth });
        plan.write_order = if ordered { WriteOrder::Submitted } else { WriteOrder::Any };
        plan.tuning.bursts = if bursts { haul::core::Bursts::Always } else { haul::core::Bursts::Never };
        [plan.source.moves_head, plan.dest.moves_head] = heads;
        plan.head_bytes = head;
        plan.tail_align_bytes = tail_align;
        let outcome = copies(&plan, &Arc::new(Memory::disk(source, &from)), &dest);
        prop_assert!(dest.bytes() == expected, "other bytes were copied");
        prop_assert!(ask_holes || outcome.totals.read_bytes == len as u64);
    }

    #[test]
    fn a_stream_is_copied_in_order_on_either_side(
        engine in engines(), from in faults(), to in faults(), len in 0usize..100_000, zero_pages: u64,
        block_bytes in 1u32..20_000, into_stream: bool, from_stream: bool, detect: bool,
        count in prop::option::of(0u64..120_000), heads: [bool; 2],
    ) {
        let bytes = pattern(len, zero_pages);
        let wanted = count.map_or(len, |count| len.min(count as usize));
        let source = if from_stream { Memory::pipe(bytes.clone(), &from) } else { Memory::disk(bytes.clone(), &from) };
        let dest = Arc::new(if into_stream { Memory::pipe(vec![], &to) } else { Memory::disk(vec![0; len], &to) });
        let mut plan = plan(engine, (count.is_some() || !from_stream).then_some(wanted as u64), 0, 0);
        plan.tuning = tuning(block_bytes, plan.tuning.blocks());
        [plan.source.moves_head, plan.dest.moves_head] = heads;
        plan.zeros = if into_stream { Zeros::Write } else { Zeros::Device };
        plan.detect_zeros_bytes = (detect && !into_stream).then_some(4096);
        copies(&plan, &Arc::new(source), &dest);
        let arrived = dest.bytes();
        prop_assert!(arrived[..wanted] == bytes[..wanted], "other bytes were copied");
        prop_assert!(!into_stream || arrived.len() == wanted);
    }

    #[test]
    fn an_overlapping_range_is_copied_like_memmove(
        engine in engines(), faults in faults(), len in 1usize..60_000, from in 0usize..20_000, to in 0usize..20_000,
        block_bytes in 1u32..9000, depth in 1u32..9, heads: [bool; 2],
    ) {
        let mut expected = pattern(80_000, 0);
        let disk = Arc::new(Memory::disk(expected.clone(), &faults));
        let mut plan = plan(engine, Some(len as u64), from as u64, to as u64);
        plan.tuning = tuning(block_bytes, if engine == EngineKind::Sync { 1 } else { depth });
        plan.write_order = WriteOrder::Submitted;
        [plan.source.moves_head, plan.dest.moves_head] = heads;
        plan.direction = if to > from { Direction::Backward } else { Direction::Forward };
        copies(&plan, &disk, &disk);
        expected.copy_within(from..from + len, to);
        prop_assert!(disk.bytes() == expected, "other bytes were copied");
    }

    #[test]
    fn digests_are_equal_with_every_engine(
        engine in engines(), from in faults(), len in 0usize..100_000, zero_pages: u64, ask_holes: bool, detect: bool,
        block_bytes in 1u32..20_000,
    ) {
        let bytes = pattern(len, zero_pages);
        let mut plan = plan(engine, Some(len as u64), 0, 0);
        plan.tuning = tuning(block_bytes, plan.tuning.blocks());
        plan.zeros = Zeros::Device;
        plan.ask_holes = ask_holes;
        plan.detect_zeros_bytes = detect.then_some(4096);
        plan.hashes = vec![HashKind::Blake3, HashKind::Xxh3];
        let dest = Arc::new(Memory::disk(vec![1; len], &[]));
        let outcome = copies(&plan, &Arc::new(Memory::disk(bytes.clone(), &from)), &dest);
        prop_assert_eq!(&outcome.digests[0].hex, &blake3::hash(&bytes).to_hex().to_string());
        prop_assert_eq!(outcome.digests.len(), 2);
    }
}

#[test]
fn requests_are_submitted_in_offset_order() {
    let source = Arc::new(Memory::disk(pattern(1 << 20, 0), &[]));
    let dest = Arc::new(Memory::disk(vec![0; 1 << 20], &[Fault::Uneven]));
    let mut plan = plan(EngineKind::Sync, Some(1 << 20), 0, 0);
    plan.write_order = WriteOrder::Submitted;
    copies(&plan, &source, &dest);
    for side in [source, dest] {
        let offsets: Vec<u64> = side.asked().iter().map(|asked| asked.extent.offset).collect();
        assert_eq!(offsets.len(), 256);
        assert!(offsets.is_sorted());
    }
}

#[test]
fn on_one_rotational_disk_reads_and_writes_alternate_in_bursts() {
    let disk = Arc::new(Memory::disk(pattern(4 << 20, 0), &[]));
    let mut plan = plan(EngineKind::Threads, Some(2 << 20), 0, 2 << 20);
    plan.tuning = tuning(64 << 10, 8);
    (plan.tuning.bursts, plan.tuning.limits.in_flight) = (haul::core::Bursts::Always, [2, 2]);
    copies(&plan, &disk, &disk);
    let ops: Vec<Op> = disk.asked().iter().map(|asked| asked.op).collect();
    let turns = ops.windows(2).filter(|pair| pair[0] != pair[1]).count();
    // 2 MiB in bursts of 512 KiB: read, write, four times.
    assert_eq!((ops.len(), turns), (64, 7));
    let bytes = disk.bytes();
    assert!(bytes[..2 << 20] == bytes[2 << 20..]);
}

#[test]
fn holes_are_neither_read_nor_written() {
    let (source, dest) = (pattern(64 * 4096, 0b1111_0000), vec![0; 64 * 4096]);
    let (source, dest) = (Arc::new(Memory::disk(source, &[])), Arc::new(Memory::disk(dest, &[])));
    let mut plan = plan(EngineKind::Threads, Some(64 * 4096), 0, 0);
    (plan.ask_holes, plan.zeros) = (true, Zeros::Leave);
    let outcome = copies(&plan, &source, &dest);
    assert_eq!((outcome.totals.hole_runs, outcome.totals.hole_bytes), (1, 4 * 4096));
    assert_eq!(outcome.totals.read_bytes, 60 * 4096);
    assert!(
        source.asked().iter().chain(&dest.asked()).all(|asked| !(4 * 4096..8 * 4096).contains(&asked.extent.offset))
    );
}
