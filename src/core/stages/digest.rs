//! Digests of the source stream, during the copy.
use super::block_digests::BlockMaker;
use crate::core::{
    BlockDigests, Completion, Digest, DigestedBlock, HashKind, Mailbox, Op, Queue, Ready, Request, Transferred,
};
use md5::Md5;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use twox_hash::XxHash3_128;

/// Zeros for runs that were never read.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

enum Hasher {
    Blake3(Box<blake3::Hasher>),
    Sha256(Sha256),
    Md5(Md5),
    Xxh3(Box<XxHash3_128>),
}

impl Hasher {
    fn new(kind: HashKind) -> Self {
        match kind {
            HashKind::Blake3 => Hasher::Blake3(Box::default()),
            HashKind::Sha256 => Hasher::Sha256(Sha256::new()),
            HashKind::Md5 => Hasher::Md5(Md5::new()),
            HashKind::Xxh3 => Hasher::Xxh3(Box::new(XxHash3_128::new())),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Hasher::Blake3(hasher) => drop(hasher.update(bytes)),
            Hasher::Sha256(hasher) => hasher.update(bytes),
            Hasher::Md5(hasher) => hasher.update(bytes),
            Hasher::Xxh3(hasher) => hasher.write(bytes),
        }
    }

    fn finish(self) -> String {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        match self {
            Hasher::Blake3(hasher) => hasher.finalize().to_hex().to_string(),
            Hasher::Sha256(hasher) => hex(&hasher.finalize()),
            Hasher::Md5(hasher) => hex(&hasher.finalize()),
            Hasher::Xxh3(hasher) => format!("{:032x}", hasher.finish_128()),
        }
    }
}

/// A queue that digests blocks in the order of their tickets, in whatever order they come, and gives them back.
///
/// Each digest has a thread of its own and blocks go from one to the next, so that the slowest alone sets the pace.
/// A block keeps its slot until it is digested: memory is bounded by the depth of the copy.
pub struct Digester {
    waiting: BTreeMap<u64, Request>,
    next_ticket: u64,
    in_flight: usize,
    /// To the first thread; `None` when no more will come.
    to_first: Option<Sender<Request>>,
    finished: Arc<Mailbox>,
    threads: Vec<(HashKind, JoinHandle<String>)>,
    /// The thread of the blocks, and what it has found.
    blocks: Option<JoinHandle<()>>,
    found: DigestedBlocks,
}

/// Blocks that were digested and not fetched yet.
type DigestedBlocks = Arc<Mutex<Vec<DigestedBlock>>>;

impl Digester {
    /// One thread for each of `kinds`, and one for the digests of `blocks`; `None`: there is nothing to digest.
    ///
    /// # Errors
    /// No thread or no descriptor is left.
    pub fn start(kinds: &[HashKind], blocks: Option<BlockDigests>) -> io::Result<Option<Self>> {
        let count = kinds.len() + usize::from(blocks.is_some());
        if count == 0 {
            return Ok(None);
        }
        let finished = Arc::new(Mailbox::new()?);
        let (to_first, mut from_last) = channel::<Request>();
        let mut digester = Digester {
            waiting: BTreeMap::new(),
            next_ticket: 0,
            in_flight: 0,
            to_first: Some(to_first),
            finished: finished.clone(),
            threads: Vec::new(),
            blocks: None,
            found: DigestedBlocks::default(),
        };
        for index in 0..count {
            let (to_next, from_this) = channel();
            let from = std::mem::replace(&mut from_last, from_this);
            let onward =
                if index + 1 == count { StageOutput::Home(finished.clone()) } else { StageOutput::Next(to_next) };
            if let Some(&kind) = kinds.get(index) {
                let name = format!("haul-{}", kind.name());
                let thread = thread::Builder::new().name(name).spawn(move || digest(kind, &from, &onward))?;
                digester.threads.push((kind, thread));
            } else if let Some(blocks) = blocks {
                let found = digester.found.clone();
                let work = move || digest_blocks(BlockMaker::new(blocks), &from, &onward, &found);
                digester.blocks = Some(thread::Builder::new().name("haul-blocks".to_owned()).spawn(work)?);
            }
        }
        Ok(Some(digester))
    }

    /// Gives back the blocks that wait for an earlier one, which will not come.
    pub fn cancel_pending(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.waiting).into_values().collect()
    }

    /// Blocks that were digested since this was asked last, ascending.
    pub fn digested(&self) -> Vec<DigestedBlock> {
        // Without an allocation where there are none, which is most of the time.
        std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends the threads and gives what they computed, the rest of the blocks too. Nothing may be in flight.
    pub fn finish(mut self) -> (Vec<Digest>, Vec<DigestedBlock>) {
        self.to_first = None;
        let join = |(kind, thread): (HashKind, JoinHandle<String>)| Digest {
            kind,
            hex: thread.join().expect("a digest thread only hashes"),
        };
        let digests = self.threads.drain(..).map(join).collect();
        self.blocks.take().into_iter().for_each(|thread| thread.join().expect("a digest thread only hashes"));
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
                mailbox.leave(Completion { request, result });
            }
        }
    }
}

/// What a digest thread does until there is no more.
fn digest(kind: HashKind, from: &Receiver<Request>, onward: &StageOutput) -> String {
    let mut hasher = Hasher::new(kind);
    while let Ok(request) = from.recv() {
        if request.op == Op::Zero {
            let mut left = request.len as usize;
            while left > 0 {
                let now = left.min(ZEROS.len());
                hasher.update(&ZEROS[..now]);
                left -= now;
            }
        } else {
            hasher.update(&request.buffer.bytes()[..request.len as usize]);
        }
        onward.send(request);
    }
    hasher.finish()
}

/// What the thread of the blocks does until there is no more.
fn digest_blocks(mut maker: BlockMaker, from: &Receiver<Request>, onward: &StageOutput, found: &DigestedBlocks) {
    let leave = |block| found.lock().unwrap_or_else(PoisonError::into_inner).push(block);
    while let Ok(request) = from.recv() {
        let bytes = (request.op != Op::Zero).then(|| &request.buffer.bytes()[..request.len as usize]);
        maker.add(request.offset, u64::from(request.len), bytes, leave);
        onward.send(request);
    }
    maker.finish(leave);
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
        Ok(())
    }

    fn ready(&self) -> Ready {
        if self.in_flight == 0 {
            return Ready::Idle;
        }
        Ready::On { fd: self.finished.bell(), events: libc::POLLIN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Arena, Side};

    #[test]
    fn blocks_in_any_order_give_the_digests_of_the_stream() {
        let buffers = Arena::map(1 << 20).unwrap().carve(4, 4);
        let kinds = [HashKind::Sha256, HashKind::Md5, HashKind::Blake3, HashKind::Xxh3];
        let mut digester = Digester::start(&kinds, None).unwrap().unwrap();
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
        // The first two as printed by sha256sum and md5sum; the others by another way through the same library.
        assert_eq!(hex[0], "fef2f66f2624ecd9e30bab785cd7de8362d6cbce910308a13f93ff34e261dfa5");
        assert_eq!(hex[1], "b3a8618d3148ccbe4beb1f729a4cf372");
        assert_eq!(hex[2], blake3::hash(text).to_hex().to_string());
        assert_eq!(hex[3], format!("{:032x}", XxHash3_128::oneshot(text)));
    }
}
