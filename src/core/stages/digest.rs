//! Digests of the source stream, computed during the copy.
use super::block_digests::BlockMaker;
use super::hasher::Hasher;
use super::range_checks::RangeChecks;
use crate::core::zero_bytes::zero_bytes;
use crate::core::{
    BlockDigest, BlockDigests, BlockMap, Completion, DamagedRange, Digest, DigestedBlock, HashKind, Mailbox, Op, Queue,
    Ready, Request, Transferred,
};
use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// A queue that digests blocks in the order of their tickets, regardless of the order of submission, and returns them.
///
/// There is one thread per digest, and blocks pass through all of them, so that the slowest digest determines the
/// throughput. A block keeps its slot until it is digested, so the depth of the copy bounds memory use.
pub struct Digester {
    waiting: BTreeMap<u64, Request>,
    next_ticket: u64,
    in_flight: usize,
    /// Blocks were cancelled.
    is_incomplete: bool,
    /// Channel to the first thread; `None` when no more blocks follow.
    to_first: Option<Sender<Request>>,
    finished: Arc<Mailbox>,
    threads: Vec<(HashKind, JoinHandle<String>)>,
    /// The thread for block digests; it returns the BLAKE3 of a stream of one block.
    blocks: Option<JoinHandle<Option<BlockDigest>>>,
    /// Whether the block digests give that of the whole, but for a stream of one block.
    merges_blocks: bool,
    found: DigestedBlocks,
    /// The thread that checks ranges.
    ranges: Option<JoinHandle<()>>,
    damaged: Damaged,
    panicked: Panicked,
}

/// The first range that is damaged.
type Damaged = Arc<Mutex<Option<DamagedRange>>>;

/// Block digests that were not fetched yet.
type DigestedBlocks = Arc<Mutex<Vec<DigestedBlock>>>;

impl Digester {
    /// Starts one thread for each of `kinds`, one for block digests, and one that checks the ranges of a block map;
    /// `None` if there is nothing to digest.
    ///
    /// # Errors
    /// A thread or file descriptor is not available.
    pub fn start(
        kinds: &[HashKind],
        mut blocks: Option<BlockDigests>,
        map: Option<Arc<BlockMap>>,
    ) -> io::Result<Option<Self>> {
        let merges_blocks = blocks.is_some_and(|blocks| blocks.give(kinds));
        let is_ordered = |kind: &HashKind| !(merges_blocks && *kind == HashKind::Blake3);
        let kinds: Vec<HashKind> = kinds.iter().copied().filter(is_ordered).collect();
        let count = kinds.len() + usize::from(blocks.is_some()) + usize::from(map.is_some());
        if count == 0 {
            return Ok(None);
        }
        let finished = Arc::new(Mailbox::new()?);
        let (to_first, mut from_last) = channel::<Request>();
        let mut digester = Digester {
            waiting: BTreeMap::new(),
            next_ticket: 0,
            in_flight: 0,
            is_incomplete: false,
            to_first: Some(to_first),
            finished: finished.clone(),
            threads: Vec::new(),
            blocks: None,
            merges_blocks,
            found: DigestedBlocks::default(),
            ranges: None,
            damaged: Damaged::default(),
            panicked: Panicked::default(),
        };
        for index in 0..count {
            let (to_next, from_this) = channel();
            let (from, panicked) = (std::mem::replace(&mut from_last, from_this), digester.panicked.clone());
            let onward =
                if index + 1 == count { StageOutput::Home(finished.clone()) } else { StageOutput::Next(to_next) };
            if let Some(&kind) = kinds.get(index) {
                let name = format!("haul-{}", kind.name());
                let thread =
                    thread::Builder::new().name(name).spawn(move || digest(kind, &from, &onward, &panicked))?;
                digester.threads.push((kind, thread));
            } else if let Some(blocks) = blocks.take() {
                let found = digester.found.clone();
                let work = move || digest_blocks(BlockMaker::new(blocks), &from, &onward, &found, &panicked);
                digester.blocks = Some(thread::Builder::new().name("haul-blocks".to_owned()).spawn(work)?);
            } else if let Some(map) = map.clone() {
                let damaged = digester.damaged.clone();
                let work = move || check_ranges(RangeChecks::new(map), &from, &onward, &damaged, &panicked);
                digester.ranges = Some(thread::Builder::new().name("haul-ranges".to_owned()).spawn(work)?);
            }
        }
        Ok(Some(digester))
    }

    /// Returns the blocks from `ticket` on that wait for an earlier one, if that one will not come. Without them there
    /// is no digest of the stream.
    pub fn cancel_pending(&mut self, ticket: u64) -> Vec<Request> {
        let cancelled = self.waiting.split_off(&ticket);
        self.is_incomplete |= !cancelled.is_empty();
        cancelled.into_values().collect()
    }

    /// Returns the blocks digested since the last call, ascending.
    pub fn digested(&self) -> Vec<DigestedBlock> {
        // Usually empty, and then this does not allocate.
        std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The first range found damaged so far.
    pub fn damaged(&self) -> Option<DamagedRange> {
        // Checked in each round, and without a block map there is nothing to lock.
        self.ranges.as_ref().and_then(|_| self.damaged.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Ends the threads and returns their digests, none if blocks were cancelled, and the remaining block digests. No
    /// request may be in flight. A BLAKE3 that is merged from blocks is returned only for a stream of one block.
    pub fn finish(mut self) -> (Vec<Digest>, Vec<DigestedBlock>) {
        self.to_first = None;
        let join = |(kind, thread): (HashKind, JoinHandle<String>)| Digest {
            kind,
            hex: thread.join().expect("a digest thread only hashes"),
        };
        let mut digests: Vec<Digest> = self.threads.drain(..).map(join).collect();
        let lone = self.blocks.take().and_then(|thread| thread.join().expect("a digest thread only hashes"));
        let lone = lone.filter(|_| self.merges_blocks);
        digests.extend(lone.map(|digest| Digest { kind: HashKind::Blake3, hex: digest.to_string() }));
        if self.is_incomplete || self.panicked.check().is_err() {
            digests.clear();
        }
        self.ranges.take().into_iter().for_each(|thread| thread.join().expect("a digest thread only hashes"));
        (digests, self.digested())
    }
}

enum StageOutput {
    Next(Sender<Request>),
    Home(Arc<Mailbox>),
}

impl StageOutput {
    fn send(&self, request: Request) {
        match self {
            StageOutput::Next(next) => drop(next.send(request)),
            StageOutput::Home(mailbox) => {
                let result = Transferred::Moved(request.len);
                mailbox.push(Completion { request, result });
            }
        }
    }
}

/// Whether a stage has panicked. Blocks pass through it then as before: one that never came home would stop the copy.
#[derive(Clone, Debug, Default)]
struct Panicked(Arc<AtomicBool>);

impl Panicked {
    /// Calls `work`, unless a stage has panicked.
    fn unless(&self, work: impl FnOnce()) {
        if !self.0.load(Relaxed) && catch_unwind(AssertUnwindSafe(work)).is_err() {
            self.0.store(true, Relaxed);
        }
    }

    fn check(&self) -> io::Result<()> {
        match self.0.load(Relaxed) {
            true => Err(io::Error::other("a thread that computes digests failed, which is a defect of haul")),
            false => Ok(()),
        }
    }
}

/// Main loop of a digest thread.
fn digest(kind: HashKind, from: &Receiver<Request>, onward: &StageOutput, panicked: &Panicked) -> String {
    let mut hasher = Hasher::new(kind);
    while let Ok(request) = from.recv() {
        panicked.unless(|| {
            if request.op == Op::Zero {
                zero_bytes(request.len.into()).for_each(|zeros| hasher.update(zeros));
            } else {
                hasher.update(&request.buffer.bytes()[..request.len as usize]);
            }
        });
        onward.send(request);
    }
    hasher.finish()
}

/// Main loop of the thread for block digests.
fn digest_blocks(
    mut maker: BlockMaker,
    from: &Receiver<Request>,
    onward: &StageOutput,
    found: &DigestedBlocks,
    panicked: &Panicked,
) -> Option<BlockDigest> {
    let leave = |block| found.lock().unwrap_or_else(PoisonError::into_inner).push(block);
    while let Ok(request) = from.recv() {
        panicked.unless(|| {
            let bytes = (request.op != Op::Zero).then(|| &request.buffer.bytes()[..request.len as usize]);
            maker.add(request.offset, u64::from(request.len), bytes, leave);
        });
        onward.send(request);
    }
    maker.finish(leave);
    maker.lone()
}

/// Main loop of the thread that checks ranges.
fn check_ranges(
    mut checks: RangeChecks,
    from: &Receiver<Request>,
    onward: &StageOutput,
    damaged: &Damaged,
    panicked: &Panicked,
) {
    while let Ok(request) = from.recv() {
        panicked.unless(|| {
            let bytes = (request.op != Op::Zero).then(|| &request.buffer.bytes()[..request.len as usize]);
            if let Some(range) = checks.add(u64::from(request.len), bytes) {
                damaged.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(range);
            }
        });
        onward.send(request);
    }
}

impl Queue for Digester {
    fn submit(&mut self, request: Request) {
        self.waiting.insert(request.ticket, request);
        while let Some(request) = self.waiting.remove(&self.next_ticket) {
            self.next_ticket += 1;
            self.in_flight += 1;
            let first = self.to_first.as_ref().expect("nothing is submitted after the end");
            first.send(request).expect("digest threads live as long as their queue");
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        if self.in_flight > 0 {
            self.in_flight -= self.finished.take(done);
        }
        // After the completions, so that no block stays in flight.
        self.panicked.check()
    }

    fn ready(&self) -> Ready {
        if self.in_flight == 0 {
            return Ready::Idle;
        }
        Ready::On { fd: self.finished.eventfd(), events: libc::POLLIN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Arena, Side};
    use twox_hash::XxHash3_128;

    #[test]
    fn only_blocks_from_a_ticket_on_are_cancelled_and_then_there_is_no_digest() {
        for (from, cancelled, digests) in [(3, 0, 1), (2, 1, 0), (1, 2, 0)] {
            let buffers = Arena::map(1 << 20).unwrap().carve(4, 2);
            let mut digester = Digester::start(&[HashKind::Xxh3], None, None).unwrap().unwrap();
            for (buffer, ticket) in buffers.into_iter().zip([1u64, 2]) {
                let (slot, side, op, len) = (ticket as u32, Side::Dest, Op::Zero, 4);
                digester.submit(Request { slot, ticket, side, op, offset: 0, len, done: len, until: len, buffer });
            }
            assert_eq!(digester.cancel_pending(from).len(), cancelled, "from {from}");
            assert_eq!(digester.finish().0.len(), digests, "from {from}");
        }
    }

    #[test]
    fn a_panic_of_a_digest_thread_is_an_error_and_every_block_comes_back() {
        let buffers = Arena::map(1 << 20).unwrap().carve(4, 3);
        let mut digester = Digester::start(&[HashKind::Xxh3, HashKind::Blake3], None, None).unwrap().unwrap();
        for (buffer, ticket) in buffers.into_iter().zip(0u64..) {
            // Longer than its buffer, which no plan is.
            let (slot, side, op, len) = (ticket as u32, Side::Dest, Op::Write, if ticket == 1 { 1 << 30 } else { 4 });
            digester.submit(Request { slot, ticket, side, op, offset: 0, len, done: len, until: len, buffer });
        }
        let (mut done, mut failed) = (Vec::new(), false);
        while done.len() < 3 {
            failed |= digester.reap(&mut done).is_err();
        }
        assert!(failed && matches!(digester.ready(), Ready::Idle));
        assert!(digester.finish().0.is_empty(), "no digest is claimed");
    }

    #[test]
    fn digests_of_blocks_in_any_order_match_the_stream() {
        let buffers = Arena::map(1 << 20).unwrap().carve(4, 4);
        let kinds = [HashKind::Sha256, HashKind::Md5, HashKind::Blake3, HashKind::Xxh3];
        let mut digester = Digester::start(&kinds, None, None).unwrap().unwrap();
        let text = b"abcdefgh\0\0\0z";
        let order = [3u64, 1, 0, 2];
        for (mut buffer, ticket) in buffers.into_iter().zip(order) {
            let at = [0, 4, 8, 11][ticket as usize];
            let end = [4, 8, 11, 12][ticket as usize];
            buffer.bytes_mut()[..end - at].copy_from_slice(&text[at..end]);
            let (len, op) = ((end - at) as u32, if ticket == 2 { Op::Zero } else { Op::Write });
            let (slot, side, offset) = (ticket as u32, Side::Dest, at as u64);
            digester.submit(Request { slot, ticket, side, op, offset, len, done: len, until: len, buffer });
        }
        let mut done = Vec::new();
        while done.len() < 4 {
            std::thread::yield_now();
            digester.reap(&mut done).unwrap();
        }
        let hex: Vec<String> = digester.finish().0.into_iter().map(|digest| digest.hex).collect();
        // The first two as printed by sha256sum and md5sum; the others by a different API of the same library.
        assert_eq!(hex[0], "fef2f66f2624ecd9e30bab785cd7de8362d6cbce910308a13f93ff34e261dfa5");
        assert_eq!(hex[1], "b3a8618d3148ccbe4beb1f729a4cf372");
        assert_eq!(hex[2], blake3::hash(text).to_hex().to_string());
        assert_eq!(hex[3], format!("{:032x}", XxHash3_128::oneshot(text)));
    }
}
