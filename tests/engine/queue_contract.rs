//! An endpoint that brings its own queue is served like any other, also beside a ring or helpers on the other side.
use crate::model::{pattern, plan};
use haul::core::{
    Completion, Ended, Endpoint, EngineKind, Facts, Kind, NoObserver, Op, Queue, Ready, Request, Stop, Tally,
    Transferred,
};
use haul::disks::memory::{Fault, Memory};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A disk with a queue of its own, as an sg node has one: nothing happens before it is flushed, and what was asked last
/// is answered first.
struct Queueing {
    disk: Arc<Memory>,
    /// Requests that came through the queue, and calls that did not.
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
        // One at a time, so that the pump has to come back.
        done.extend(self.flushed.pop());
        Ok(())
    }
    fn ready(&self) -> Ready {
        match (self.waiting.len(), self.flushed.len()) {
            (0, 0) => Ready::Idle,
            // Readable at once, should anybody wait before flushing.
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
fn a_queue_that_an_endpoint_brings_along_is_used_beside_any_other_but_calls_are_made_where_threads_are_asked_for() {
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
