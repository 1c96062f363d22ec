//! A dest that corrupts data: every damage is found at its offset, and undamaged data is never reported.
use super::*;
use crate::core::{EndpointKind, Host, Kind, Op, Outcome, Request};
use crate::disks::memory::Memory;
use crate::job::concurrent_readback;
use crate::job::digest_collector::DigestCollector;
use crate::job::opened::OpenDest;
use crate::job::operator::tests::AcceptAll;
use crate::job::verify_dests::{self, CopiedDest};
use crate::plan::{Options, ProgressStyle};
use proptest::prelude::*;
use std::io;

const BLOCK: u64 = 64 << 10;
const LEN: usize = 20 * BLOCK as usize + 777;

/// The corruption of a transfer that covers a byte.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Corruption {
    /// A write that is lost.
    Drop,
    /// A flipped bit.
    Flip,
    /// An error.
    Fail,
}

#[derive(Clone, Copy, Debug)]
struct CorruptTransfer {
    op: Op,
    byte: u64,
    how: Corruption,
    /// Number of transfers of this byte that succeed before `times` corrupted ones.
    after: u32,
    times: u32,
}

/// Memory whose contents may differ from what was written.
struct CorruptingMemory {
    memory: Memory,
    corruptions: Mutex<Vec<CorruptTransfer>>,
}

impl CorruptingMemory {
    fn about(memory: Memory, corruptions: &[CorruptTransfer]) -> Arc<Self> {
        Arc::new(CorruptingMemory { memory, corruptions: Mutex::new(corruptions.to_vec()) })
    }

    fn due(&self, request: &Request) -> Option<(u64, Corruption)> {
        let span = request.at()..request.at() + u64::from(request.left());
        let mut corruptions = self.corruptions.lock().unwrap();
        let corrupt =
            corruptions.iter_mut().find(|corrupt| corrupt.op == request.op && span.contains(&corrupt.byte))?;
        if corrupt.after > 0 {
            corrupt.after -= 1;
            return None;
        }
        corrupt.times = corrupt.times.checked_sub(1)?;
        Some((corrupt.byte, corrupt.how))
    }
}

impl Endpoint for CorruptingMemory {
    fn facts(&self) -> &Facts {
        self.memory.facts()
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        let Some((byte, how)) = self.due(request) else { return self.memory.perform(request) };
        let within = (byte - request.at()) as usize;
        match (how, request.op) {
            (Corruption::Fail, _) => Err(io::Error::from_raw_os_error(libc::EIO)),
            (Corruption::Drop, _) => Ok(request.left()),
            (Corruption::Flip, Op::Read) => {
                let moved = self.memory.perform(request)?;
                request.rest_mut()[within] ^= 4;
                Ok(moved)
            }
            (Corruption::Flip, _) => {
                request.rest_mut()[within] ^= 4;
                let moved = self.memory.perform(request);
                request.rest_mut()[within] ^= 4;
                moved
            }
        }
    }

    fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
        self.memory.diagnose(op, offset, error)
    }
}

fn bytes() -> Vec<u8> {
    // With blocks of zeros: 3, 4 and 9.
    let byte = |at: usize| match at as u64 / BLOCK {
        3 | 4 | 9 => 0,
        _ => (at.wrapping_mul(2_654_435_761) >> 13) as u8 | 1,
    };
    (0..LEN).map(byte).collect()
}

/// Copies to a dest with these corruptions, and reads back.
fn copied(source: Arc<CorruptingMemory>, dest: &Arc<CorruptingMemory>, portion: Portion) -> Outcome {
    let options = Options {
        verify: Some(portion),
        manifest_block_bytes: Some(BLOCK),
        block_bytes: Some(16 << 10),
        depth: Some(4),
        progress: ProgressStyle::None,
        ..Options::default()
    };
    let facts = [&source, dest].map(|end| end.facts().clone());
    let plan = plan::make(&options, &facts[0], &facts[1], &Host { ring_refused: None }).unwrap();
    let ends: Endpoints = [source, dest.clone()];
    let session = Session::new(Arc::new(AcceptAll));
    let mut collector = DigestCollector::begin(&options, &plan, &facts[0], &[&facts[1]], None).unwrap();
    let mut outcome = session.run(Task::new(&plan, &ends, &mut *schedules::make(&plan, &ends[0]), &collector));
    assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
    let reader: Arc<dyn Endpoint> = dest.clone();
    let dest = OpenDest { ends, reader: Some(reader) };
    verify_dests::one(
        &session,
        CopiedDest { plan: &plan, dest: &dest, behind: Vec::new() },
        &mut collector,
        &mut outcome,
    );
    outcome
}

fn source() -> Arc<CorruptingMemory> {
    CorruptingMemory::about(Memory::disk(bytes(), &[]), &[])
}

fn dest(corruptions: &[CorruptTransfer]) -> Arc<CorruptingMemory> {
    CorruptingMemory::about(Memory::disk(vec![0xEE; LEN], &[]), corruptions)
}

/// The blocks that contain these bytes.
fn blocks(bytes: &[u64]) -> ExtentSet {
    let block = |&byte: &u64| {
        let start = byte - byte % BLOCK;
        Extent::new(start, BLOCK.min(LEN as u64 - start))
    };
    bytes.iter().map(block).collect()
}

fn corrupt(op: Op, byte: u64, how: Corruption, after: u32, times: u32) -> CorruptTransfer {
    CorruptTransfer { op, byte, how, after, times }
}

#[test]
fn an_intact_copy_is_verified() {
    let dest = dest(&[]);
    let verified = copied(source(), &dest, Portion::All).verified.unwrap();
    assert!(verified.is_right() && !verified.sampled);
    assert!(verified.misread.is_empty() && verified.rewritten.is_empty() && verified.changed.is_empty());
    assert_eq!((verified.bytes, verified.blocks), (LEN as u64, 21));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn lost_and_corrupted_writes_are_found_and_only_they_are_rewritten(
        places in prop::collection::vec((0..LEN as u64, any::<bool>()), 1..6),
    ) {
        let how = |flip: bool| if flip { Corruption::Flip } else { Corruption::Drop };
        // Of two corruptions of one request only the first takes effect.
        let corrupt = |&(byte, flip): &(u64, bool)| corrupt(Op::Write, byte, how(flip), 0, 1);
        let corruptions: Vec<CorruptTransfer> = places.iter().map(corrupt).collect();
        let dest = dest(&corruptions);
        let outcome = copied(source(), &dest, Portion::All);
        let verified = outcome.verified.unwrap();
        prop_assert!(matches!(outcome.ended, Ended::Complete) && verified.complete);
        let touched = blocks(&places.iter().map(|place| place.0).collect::<Vec<_>>());
        // A block that was corrupted again when it was rewritten may still be wrong; all other blocks are
        // correct.
        let mut seen = verified.rewritten.clone();
        seen.insert_all(&verified.wrong);
        for block in seen.iter() {
            prop_assert!(touched.contains(block), "{block:?} was not damaged");
        }
        prop_assert!(!seen.is_empty());
        let (is, should) = (dest.memory.bytes(), bytes());
        for (number, (is, should)) in is.chunks(BLOCK as usize).zip(should.chunks(BLOCK as usize)).enumerate() {
            let block = Extent::new(number as u64 * BLOCK, is.len() as u64);
            prop_assert_eq!(is != should, verified.wrong.contains(block), "block {}", number);
        }
    }
}

#[test]
fn a_lost_write_is_rewritten() {
    let byte = 7 * BLOCK + 5;
    let dest = dest(&[corrupt(Op::Write, byte, Corruption::Drop, 0, 1)]);
    let verified = copied(source(), &dest, Portion::All).verified.unwrap();
    assert!(verified.is_right());
    assert_eq!((verified.rewritten, verified.misread), (blocks(&[byte]), ExtentSet::new()));
    assert!(dest.memory.bytes() == bytes());
}

#[test]
fn damage_that_cannot_be_repaired_fails_the_verification() {
    let places = [0, 9 * BLOCK + 1, LEN as u64 - 1];
    let corruptions = places.map(|byte| corrupt(Op::Write, byte, Corruption::Flip, 0, u32::MAX));
    let outcome = copied(source(), &dest(&corruptions), Portion::All);
    let verified = outcome.verified.unwrap();
    assert!(!verified.is_right() && verified.complete && verified.rewritten.is_empty());
    assert_eq!(verified.wrong, blocks(&places));
}

#[test]
fn a_bit_flip_during_read_back_is_not_damage() {
    let byte = 12 * BLOCK;
    let dest = dest(&[corrupt(Op::Read, byte, Corruption::Flip, 0, 1)]);
    let verified = copied(source(), &dest, Portion::All).verified.unwrap();
    assert!(verified.is_right() && verified.rewritten.is_empty());
    assert_eq!(verified.misread, blocks(&[byte]));
}

#[test]
fn the_report_states_that_a_stream_cannot_be_reread() {
    let byte = 2 * BLOCK;
    let mut stream = Memory::pipe(bytes(), &[]);
    let dest = dest(&[corrupt(Op::Write, byte, Corruption::Drop, 0, 1)]);
    assert_eq!(stream.bytes().len(), LEN);
    stream = Memory::pipe(stream.bytes(), &[]);
    let verified = copied(CorruptingMemory::about(stream, &[]), &dest, Portion::All).verified.unwrap();
    assert_eq!(verified.wrong, blocks(&[byte]));
    assert!(verified.not_rewritten.unwrap().contains("stream"));
}

#[test]
fn a_source_that_changes_between_reads_is_reported_and_nothing_is_verified() {
    let byte = 5 * BLOCK + 9;
    let source =
        CorruptingMemory::about(Memory::disk(bytes(), &[]), &[corrupt(Op::Read, byte, Corruption::Flip, 1, 1)]);
    let dest = dest(&[corrupt(Op::Write, byte, Corruption::Drop, 0, 1)]);
    let verified = copied(source, &dest, Portion::All).verified.unwrap();
    assert!(!verified.is_right());
    assert_eq!(verified.wrong, blocks(&[byte]));
    assert!(verified.changed.iter().copied().eq(blocks(&[byte]).iter()));
}

#[test]
fn a_sample_reads_a_part_and_finds_its_damage() {
    let last = LEN as u64 - 1;
    let dest = dest(&[corrupt(Op::Write, last, Corruption::Flip, 0, u32::MAX)]);
    let verified = copied(source(), &dest, Portion::Sample { per_million: 100_000 }).verified.unwrap();
    assert!(verified.sampled && verified.complete);
    assert!((3..=5).contains(&verified.blocks), "{}", verified.blocks);
    assert_eq!(verified.wrong, blocks(&[last]));
}

#[test]
fn a_dest_that_cannot_be_read_back_fails_the_verification() {
    let dest = dest(&[corrupt(Op::Read, 6 * BLOCK, Corruption::Fail, 0, u32::MAX)]);
    let outcome = copied(source(), &dest, Portion::All);
    let Ended::Failed(error) = &outcome.ended else { panic!("{:?}", outcome.ended) };
    assert_eq!((error.kind, error.side), (Kind::Io, Some(Side::Dest)));
    let verified = outcome.verified.unwrap();
    assert!(!verified.complete && !verified.is_right());
    // The block in which it failed was not compared, so nothing is reported about it.
    assert!(verified.wrong.is_empty());
    assert_eq!(dest.facts().kind, EndpointKind::Memory);
}

/// Copies 80 blocks and reads back during the copy, four at a time, up to the permitted amount; then `between`
/// is applied to the dest, before the copy ends.
fn followed(
    source: Arc<CorruptingMemory>,
    dest: &Arc<CorruptingMemory>,
    between: impl FnOnce(&CorruptingMemory),
) -> Outcome {
    let options = Options {
        verify: Some(Portion::Afterwards),
        manifest_block_bytes: Some(BLOCK),
        block_bytes: Some(16 << 10),
        depth: Some(4),
        progress: ProgressStyle::None,
        ..Options::default()
    };
    let facts = [&source, dest].map(|end| end.facts().clone());
    let mut plan = plan::make(&options, &facts[0], &facts[1], &Host { ring_refused: None }).unwrap();
    plan.read_back.as_mut().unwrap().window_bytes = Some(4 * BLOCK);
    let ends: Endpoints = [source, dest.clone()];
    let session = Session::new(Arc::new(AcceptAll));
    let mut collector = DigestCollector::begin(&options, &plan, &facts[0], &[&facts[1]], None).unwrap();
    let reader: Arc<dyn Endpoint> = dest.clone();
    let copy = |hearer: &dyn Observer| {
        let outcome = session.run(Task::new(&plan, &ends, &mut *schedules::make(&plan, &ends[0]), hearer));
        let follows = (outcome.claimed.end().saturating_sub(4 * BLOCK)) / BLOCK * BLOCK;
        // Generous for a busy machine; reached only if the follower does not run.
        let give_up = Instant::now() + std::time::Duration::from_secs(60);
        while read_bytes(dest) < follows && Instant::now() < give_up {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        between(dest);
        outcome
    };
    let (mut outcome, behind) =
        concurrent_readback::followed_while(&session, &plan, &reader, &collector, || true, copy);
    let dest = OpenDest { ends, reader: Some(reader) };
    verify_dests::one(&session, CopiedDest { plan: &plan, dest: &dest, behind }, &mut collector, &mut outcome);
    outcome
}

const LONG: usize = 80 * BLOCK as usize;

/// Number of bytes that were read from it.
fn read_bytes(dest: &CorruptingMemory) -> u64 {
    dest.memory.asked().iter().filter(|asked| asked.op == Op::Read).map(|asked| asked.extent.len).sum()
}

fn long() -> (Arc<CorruptingMemory>, Arc<CorruptingMemory>) {
    let bytes = (0..LONG).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8 | 1).collect();
    let disk = |bytes| CorruptingMemory::about(Memory::disk(bytes, &[]), &[]);
    (disk(bytes), disk(vec![0xEE; LONG]))
}

#[test]
fn blocks_read_back_behind_the_writer_are_not_read_again_except_a_sample() {
    let (source, dest) = long();
    let verified = followed(source.clone(), &dest, |_| {}).verified.unwrap();
    assert!(verified.is_right() && verified.misread.is_empty() && verified.rewritten.is_empty());
    assert!(dest.memory.bytes() == source.memory.bytes());
    assert_eq!((verified.bytes, verified.blocks), (LONG as u64, 80));
    assert!((64 * BLOCK..=76 * BLOCK).contains(&verified.behind_bytes), "{}", verified.behind_bytes);
    let again = read_bytes(&dest) - LONG as u64;
    assert!((32 * BLOCK..=46 * BLOCK).contains(&again), "{again} bytes were read twice");
}

#[test]
fn a_lost_write_is_found_behind_the_writer_and_rewritten() {
    let (source, _) = long();
    let places = [0, 7 * BLOCK + 5, 79 * BLOCK];
    let corruptions = places.map(|byte| corrupt(Op::Write, byte, Corruption::Drop, 0, 1));
    let dest = CorruptingMemory::about(Memory::disk(vec![0xEE; LONG], &[]), &corruptions);
    let verified = followed(source.clone(), &dest, |_| {}).verified.unwrap();
    assert!(verified.is_right() && verified.behind_bytes > 0);
    let blocks: ExtentSet = places.iter().map(|byte| Extent::new(byte - byte % BLOCK, BLOCK)).collect();
    assert_eq!((verified.rewritten, verified.misread), (blocks, ExtentSet::new()));
    assert!(dest.memory.bytes() == source.memory.bytes());
}

#[test]
fn a_drive_that_wraps_around_is_detected() {
    let (source, dest) = long();
    let wrap = |dest: &CorruptingMemory| {
        let arena = crate::core::Arena::map(LONG / 2).unwrap();
        let buffer = arena.carve(LONG as u32 / 2, 1).pop().unwrap();
        let (slot, ticket, side, op, offset, len) = (0, 0, Side::Dest, Op::Write, 0, LONG as u32 / 2);
        let mut request = Request { slot, ticket, side, op, offset, len, done: 0, until: len, buffer };
        assert_eq!(dest.memory.perform(&mut request).unwrap(), len);
    };
    let verified = followed(source, &dest, wrap).verified.unwrap();
    assert!(verified.behind_bytes >= LONG as u64 / 2, "it was right when it was read: {}", verified.behind_bytes);
    let mut seen = verified.wrong.clone();
    seen.insert_all(&verified.rewritten);
    assert!(seen.total_bytes() > 0, "{verified:?}");
}

#[test]
fn a_failed_copy_reports_the_bytes_verified_so_far() {
    let (source, dest) = long();
    let bad = corrupt(Op::Read, 60 * BLOCK, Corruption::Fail, 0, u32::MAX);
    let source = CorruptingMemory::about(Memory::disk(source.memory.bytes(), &[]), &[bad]);
    let outcome = followed(source, &dest, |_| {});
    assert!(matches!(outcome.ended, Ended::Failed(_)));
    let verified = outcome.verified.unwrap();
    assert!(!verified.complete && !verified.is_right() && verified.wrong.is_empty());
    assert!((40 * BLOCK..=56 * BLOCK).contains(&verified.behind_bytes), "{}", verified.behind_bytes);
    assert_eq!(verified.bytes, verified.behind_bytes);
}
