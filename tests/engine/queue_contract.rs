//! An endpoint with a separate queue is served like any other, also with a ring or helpers on the other side.
use crate::model::{pattern, plan};
use haul::core::{
    Completion, Ended, Endpoint, EngineKind, Facts, Kind, NoObserver, Op, Queue, Ready, Request, Stop, Tally,
    Transferred,
};
use haul::disks::memory::{Fault, Memory};
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A disk with a separate queue, like an sg node: nothing happens before a flush, and the last request is completed
/// first.
struct Queueing {
    disk: Arc<Memory>,
    /// Requests by the queue, and calls.
    queued: Arc<AtomicU32>,
    called: AtomicU32,
}

struct LastFirst {
    disk: Arc<Memory>,
    waiting: Vec<Request>,
    flushed: Vec<Completion>,
    queued: Arc<AtomicU32>,
}

impl Queue for LastFirst {
    fn submit(&mut self, request: Request) {
        self.queued.fetch_add(1, Relaxed);
        self.waiting.push(request);
    }
    fn flush(&mut self) -> io::Result<()> {
        for mut request in self.waiting.drain(..).rev() {
            let result = self.disk.perform(&mut request);
            let result = Transferred::by(&*self.disk, &request, result.map(Some));
            self.flushed.push(Completion { request, result });
        }
        Ok(())
    }
    fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        // One at a time, so that the pump must return.
        done.extend(self.flushed.pop());
        Ok(())
    }
    fn ready(&self) -> Ready {
        match (self.waiting.len(), self.flushed.len()) {
            (0, 0) => Ready::Idle,
            // Readable at once, in case the pump waits before flushing.
            _ => Ready::Now,
        }
    }
}

impl Endpoint for Queueing {
    fn facts(&self) -> &Facts {
        self.disk.facts()
    }
    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        self.called.fetch_add(1, Relaxed);
        self.disk.perform(request)
    }
    fn own_queue(&self, _depth: u32) -> Option<io::Result<Box<dyn Queue>>> {
        let (disk, queued) = (self.disk.clone(), self.queued.clone());
        Some(Ok(Box::new(LastFirst { disk, waiting: vec![], flushed: vec![], queued })))
    }
    fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
        self.disk.diagnose(op, offset, error)
    }
}

fn queueing(bytes: Vec<u8>, faults: &[Fault]) -> Arc<Queueing> {
    let disk = Arc::new(Memory::disk(bytes, faults));
    Arc::new(Queueing { disk, queued: Arc::default(), called: AtomicU32::new(0) })
}

#[test]
fn a_queue_of_the_endpoint_is_used_except_with_the_threads_engine() {
    const LEN: usize = 300_001;
    for (engine, by_queue) in [(EngineKind::Ring, true), (EngineKind::Threads, false)] {
        let (source, dest) = (queueing(pattern(LEN, 0), &[Fault::Short(3000)]), queueing(vec![0; LEN], &[]));
        let plain = Arc::new(Memory::disk(vec![0; LEN], &[Fault::Uneven]));
        let ways: [[Arc<dyn Endpoint>; 2]; 2] = [[source.clone(), plain.clone()], [plain, dest.clone()]];
        for ends in &ways {
            let plan = plan(engine, Some(LEN as u64), 0, 0);
            let mut schedule = haul::core::schedules::make(&plan, &ends[0]);
            let outcome = haul::engine::run(
                &plan,
                ends,
                &mut *schedule,
                haul::engine::Watch::new(&Stop::default(), &Tally::default(), &NoObserver),
            );
            assert!(matches!(outcome.ended, Ended::Complete), "{:?}", outcome.ended);
        }
        assert!(dest.disk.bytes() == pattern(LEN, 0));
        for queueing in [&source, &dest] {
            let (queued, called) = (queueing.queued.load(Relaxed), queueing.called.load(Relaxed));
            let (used, unused) = if by_queue { (queued, called) } else { (called, queued) };
            assert!(used > 70 && unused == 0, "{engine:?}: {queued} by the queue, {called} by calls");
        }
    }
}

/// A disk whose queue performs one request at a time, in order, and holds the others back, like that of an sg node
/// whose driver accepts no more. It begins after this number of requests.
struct OneByOne {
    disk: Arc<Memory>,
    begins_with: usize,
    /// Offsets of the requests that were performed.
    performed: Arc<Mutex<Vec<u64>>>,
}

struct OneByOneQueue {
    disk: Arc<Memory>,
    begins_after: usize,
    waiting: VecDeque<Request>,
    performed: Arc<Mutex<Vec<u64>>>,
}

impl Queue for OneByOneQueue {
    fn submit(&mut self, request: Request) {
        self.begins_after = self.begins_after.saturating_sub(1);
        self.waiting.push_back(request);
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
    fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        if self.begins_after > 0 {
            return Ok(());
        }
        if let Some(mut request) = self.waiting.pop_front() {
            self.performed.lock().unwrap().push(request.offset);
            let result = self.disk.perform(&mut request);
            let result = Transferred::by(&*self.disk, &request, result.map(Some));
            done.push(Completion { request, result });
        }
        Ok(())
    }
    fn withdraw(&mut self, continues: &dyn Fn(&Request) -> bool, back: &mut Vec<Request>) {
        let (stay, go) = self.waiting.drain(..).partition(continues);
        self.waiting = stay;
        back.extend::<VecDeque<Request>>(go);
    }
    fn ready(&self) -> Ready {
        if self.waiting.is_empty() { Ready::Idle } else { Ready::Now }
    }
}

impl Endpoint for OneByOne {
    fn facts(&self) -> &Facts {
        self.disk.facts()
    }
    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        self.disk.perform(request)
    }
    fn own_queue(&self, _depth: u32) -> Option<io::Result<Box<dyn Queue>>> {
        let (disk, performed) = (self.disk.clone(), self.performed.clone());
        let (begins_after, waiting) = (self.begins_with, VecDeque::new());
        Some(Ok(Box::new(OneByOneQueue { disk, begins_after, waiting, performed })))
    }
    fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
        self.disk.diagnose(op, offset, error)
    }
}

#[test]
fn after_a_failure_requests_that_only_the_queue_has_are_withdrawn() {
    const BLOCK: u64 = 4096;
    const BLOCKS: u64 = 8;
    let bytes = pattern((BLOCKS * BLOCK) as usize, 0);
    let one_by_one = |bytes: &[u8], begins_with, faults: &[Fault]| {
        let disk = Arc::new(Memory::disk(bytes.to_vec(), faults));
        Arc::new(OneByOne { disk, begins_with, performed: Arc::default() })
    };
    let bad = |op| [Fault::BadAt { op, offset: 2 * BLOCK + 9, errno: libc::EIO }];
    let zeros = vec![0; bytes.len()];
    // All reads are in the queue of the source when the third fails; five writes are in that of the dest when the
    // third does.
    let reading = [one_by_one(&bytes, BLOCKS as usize, &bad(Op::Read)), one_by_one(&zeros, 1, &[])];
    let writing = [one_by_one(&bytes, 1, &[]), one_by_one(&zeros, 5, &bad(Op::Write))];
    for (failing, [source, dest]) in [(0, reading), (1, writing)] {
        let plan = plan(EngineKind::Ring, Some(BLOCKS * BLOCK), 0, 0);
        let ends: [Arc<dyn Endpoint>; 2] = [source.clone(), dest.clone()];
        let mut schedule = haul::core::schedules::make(&plan, &ends[0]);
        let (stop, tally) = (Stop::default(), Tally::default());
        let watch = haul::engine::Watch::new(&stop, &tally, &NoObserver);
        let outcome = haul::engine::run(&plan, &ends, &mut *schedule, watch);
        assert!(matches!(outcome.ended, Ended::Failed(_)), "{:?}", outcome.ended);
        let performed = [source, dest][failing].performed.lock().unwrap().clone();
        assert!(performed.iter().all(|&offset| offset < 3 * BLOCK), "{failing}: {performed:?}");
        // Everything before the failure is copied.
        assert_eq!((outcome.claimed.offset, outcome.claimed.end()), (0, 2 * BLOCK), "{failing}");
    }
}
