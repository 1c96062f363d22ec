//! Digests of blocks, computed during the copy and when reading back: those of the bytes, with any engine.
use crate::model::{pattern, plan, tuning};
use haul::core::{
    BlockDigests, BlockHash, DigestedBlock, Ended, Endpoint, EngineKind, Event, Extent, Kind, Observer, Op, Outcome,
    Plan, Route, Side, Stop, Tally, WriteOrder, Zeros,
};
use haul::disks::memory::{Fault, Memory};
use haul::disks::missing_side;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

const ENGINES: [EngineKind; 3] = [EngineKind::Ring, EngineKind::Threads, EngineKind::Sync];
const BLOCK: u64 = 64 << 10;
const HASH: BlockHash = BlockHash::Blake3Tree;

/// Stores the reported blocks.
#[derive(Default)]
struct JournalTotals(Mutex<Vec<DigestedBlock>>);

impl Observer for JournalTotals {
    fn on_event(&self, event: &Event<'_>) {
        if let Event::Digested(block) = event {
            self.0.lock().unwrap().push(*block);
        }
    }
}

fn run(plan: &Plan, source: Arc<dyn Endpoint>, dest: Arc<Memory>) -> (Outcome, Tally, Vec<DigestedBlock>) {
    let ends: [Arc<dyn Endpoint>; 2] = [source, dest];
    let mut schedule = haul::core::schedules::make(plan, &ends[0]);
    let (tally, kept) = (Tally::default(), JournalTotals::default());
    let outcome =
        haul::engine::run(plan, &ends, &mut *schedule, haul::engine::Watch::new(&Stop::default(), &tally, &kept));
    (outcome, tally, kept.0.into_inner().unwrap())
}

fn expected(bytes: &[u8]) -> Vec<DigestedBlock> {
    let mut blocks: Vec<DigestedBlock> = Vec::new();
    for (number, block) in bytes.chunks(BLOCK as usize).enumerate() {
        let extent = Extent::new(number as u64 * BLOCK, block.len() as u64);
        let zero = block.iter().all(|&byte| byte == 0);
        match blocks.last_mut() {
            Some(DigestedBlock { extent: run, digest: None }) if zero => run.len += extent.len,
            _ => blocks.push(DigestedBlock { extent, digest: (!zero).then(|| HASH.digest(extent.offset, block)) }),
        }
    }
    blocks
}

fn digesting(plan: Plan) -> Plan {
    Plan { digest_blocks: Some(BlockDigests { hash: HASH, block_bytes: BLOCK, from_bytes: 0 }), ..plan }
}

/// Bytes with some blocks of zeros.
fn bytes(len: usize, zero_blocks: u64) -> Vec<u8> {
    let mut bytes = pattern(len, 0x10);
    for (number, block) in bytes.chunks_mut(BLOCK as usize).enumerate() {
        if zero_blocks >> (number % 64) & 1 == 1 {
            block.fill(0);
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_copy_and_its_read_back_report_the_same_blocks(
        engine in prop::sample::select(ENGINES.to_vec()), len in 0usize..400_000, zero_blocks: u64,
        skip in 0usize..5000, seek in 0usize..5000, block_bytes in 4096u32..90_000, depth in 1u32..9,
        ask_holes: bool, stream: bool, heads: [bool; 2], faulty: bool,
    ) {
        let faults = if faulty { vec![Fault::Uneven, Fault::Short(5000)] } else { vec![] };
        let skip = if stream { 0 } else { skip };
        let content = bytes(len, zero_blocks);
        let source = [pattern(skip, 0), content.clone()].concat();
        let known = (!stream).then_some(len as u64);
        let mut copy = digesting(plan(engine, known, skip as u64, seek as u64));
        copy.tuning = tuning(block_bytes, if engine == EngineKind::Sync { 1 } else { depth });
        copy.ask_holes = ask_holes && !stream;
        copy.zeros = if ask_holes { Zeros::Device } else { Zeros::Write };
        [copy.source.moves_head, copy.dest.moves_head] = heads;
        copy.write_order = if heads[1] { WriteOrder::Submitted } else { WriteOrder::Any };
        let from = if stream { Memory::pipe(source, &faults) } else { Memory::disk(source, &faults) };
        let dest = Arc::new(Memory::disk(vec![0xAA; seek + len], &faults));
        let (outcome, _, reported) = run(&copy, Arc::new(from), dest.clone());
        prop_assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
        prop_assert_eq!(&reported, &expected(&content));

        let mut back = Plan { route: Route::ReadBack, len: Some(len as u64), zeros: Zeros::Write, ..copy };
        back.ask_holes = false;
        let (outcome, tally, read) = run(&back, missing_side(), dest.clone());
        prop_assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
        prop_assert_eq!(read, reported);
        prop_assert_eq!((outcome.totals.compared_bytes, tally.copied_bytes()), (len as u64, len as u64));
        prop_assert_eq!(outcome.claimed.len, len as u64);
    }
}

#[test]
fn a_read_error_during_read_back_is_an_error_of_the_dest_without_a_digest() {
    for engine in ENGINES {
        let mut back = digesting(plan(engine, Some(400_000), 0, 0));
        back.route = Route::ReadBack;
        let bad = Fault::BadAt { op: Op::Read, offset: 200_000, errno: libc::EIO };
        let dest = Arc::new(Memory::disk(vec![1; 400_000], &[bad]));
        let (outcome, _, reported) = run(&back, missing_side(), dest);
        let Ended::Failed(error) = &outcome.ended else { panic!("{engine:?}: {:?}", outcome.ended) };
        assert_eq!((error.kind, error.side, error.offset), (Kind::Io, Some(Side::Dest), Some(200_000 / 512 * 512)));
        let last = 3 * BLOCK;
        assert!(
            reported.iter().all(|block| block.extent.end() <= last || block.extent.len < BLOCK),
            "{engine:?}: {reported:?}"
        );
    }
}

#[test]
fn a_truncated_dest_fails_the_read_back() {
    for engine in ENGINES {
        let mut back = digesting(plan(engine, Some(300_000), 0, 0));
        back.route = Route::ReadBack;
        let (outcome, _, _) = run(&back, missing_side(), Arc::new(Memory::disk(vec![1; 299_999], &[])));
        let Ended::Failed(error) = &outcome.ended else { panic!("{engine:?}: {:?}", outcome.ended) };
        assert_eq!((error.kind, error.side), (Kind::EndedEarly, Some(Side::Dest)));
    }
}
