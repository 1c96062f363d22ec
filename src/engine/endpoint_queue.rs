//! The queues of one side, for measurements: without a pump and without another side.
use super::queue_set::QueueSet;
use crate::core::{Arena, Completion, Endpoint, EngineKind, Ready, Request, Side, Transferred};
use std::io;
use std::sync::Arc;

/// Requests in flight on one side. Used by the thread that opened it; dropping it waits for requests in flight.
pub struct EndpointQueue {
    set: QueueSet,
    /// Reused to avoid allocations.
    completions: Vec<Completion>,
}

impl EndpointQueue {
    /// Opens the queues that a copy by `engine` would use for this side, for at most `depth` requests.
    ///
    /// # Errors
    /// The kernel's error when setting up a ring or starting a thread.
    pub fn open(end: &Arc<dyn Endpoint>, engine: EngineKind, depth: u32, arena: &Arena) -> io::Result<Self> {
        let set = QueueSet::open(engine, [Some((end, depth)), None], depth, arena)?;
        Ok(EndpointQueue { set, completions: Vec::new() })
    }

    /// Number of requests in flight.
    pub fn in_flight(&self) -> u32 {
        self.set.in_flight()[Side::Source.index()]
    }

    /// Submits a request. Its side must be [`Side::Source`], also for writes.
    pub fn submit(&mut self, request: Request) {
        self.set.submit(request);
    }

    /// Flushes, moves completed requests to `done`, and waits if there are none. As in a copy, the rest of a short
    /// request is submitted again, because a node limits the length of a command, and so is a request after which
    /// nothing has happened. The `done` of a completed request is the total number of bytes transferred.
    ///
    /// # Errors
    /// The error of waiting; requests in flight remain there.
    pub fn poll(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        let before = done.len();
        while done.len() == before && self.in_flight() > 0 {
            self.reap(done)?;
            if done.len() == before {
                self.set.wait(Ready::Idle, None)?;
                self.reap(done)?;
            }
        }
        self.set.flush()
    }

    fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        let mut completions = std::mem::take(&mut self.completions);
        let reaped = self.set.reap(&mut completions);
        for Completion { mut request, result } in completions.drain(..) {
            let moved = if let Transferred::Moved(moved) = result { moved } else { 0 };
            request.done += moved;
            if matches!(result, Transferred::Retry) || moved > 0 && request.left() > 0 {
                self.submit(request);
            } else {
                done.push(Completion { request, result });
            }
        }
        self.completions = completions;
        reaped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Facts, Kind, Op};
    use crate::disks::memory::{Memory, RecordedRequest};
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    #[test]
    fn every_engine_completes_every_request_once_with_its_bytes() {
        for engine in [EngineKind::Sync, EngineKind::Threads, EngineKind::Ring] {
            let disk = Arc::new(Memory::disk((0..=255).collect(), &[]));
            let end: Arc<dyn Endpoint> = disk.clone();
            let arena = Arena::map(4 * 64).unwrap();
            let mut side = EndpointQueue::open(&end, engine, 4, &arena).unwrap();
            for (slot, buffer) in (0..).zip(arena.carve(64, 4)) {
                let offset = u64::from(slot) * 64;
                let (side_of, op, ticket) = (Side::Source, Op::Read, slot.into());
                side.submit(Request { slot, ticket, side: side_of, op, offset, len: 64, done: 0, until: 64, buffer });
            }
            let mut done = Vec::new();
            while side.in_flight() > 0 {
                side.poll(&mut done).unwrap();
            }
            done.sort_by_key(|completion| completion.request.slot);
            assert_eq!(done.len(), 4, "{engine:?}");
            for (slot, completion) in done.iter().enumerate() {
                assert!(matches!(completion.result, Transferred::Moved(64)), "{engine:?}: {:?}", completion.result);
                assert_eq!(completion.request.buffer.bytes()[0] as usize, slot * 64, "{engine:?}");
            }
            assert!(disk.asked().iter().all(|RecordedRequest { op, .. }| *op == Op::Read));
        }
    }

    /// Returns EAGAIN for the first request, as if there was no memory.
    struct OutOfMemoryOnce(Memory, AtomicBool);

    impl Endpoint for OutOfMemoryOnce {
        fn facts(&self) -> &Facts {
            self.0.facts()
        }

        fn perform(&self, request: &mut Request) -> io::Result<u32> {
            let first = !self.1.swap(true, Relaxed);
            if first { Err(io::Error::from_raw_os_error(libc::EAGAIN)) } else { self.0.perform(request) }
        }

        fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
            self.0.diagnose(op, offset, error)
        }
    }

    #[test]
    fn a_request_without_effect_is_resubmitted_and_not_a_failure() {
        for engine in [EngineKind::Sync, EngineKind::Threads, EngineKind::Ring] {
            let end: Arc<dyn Endpoint> =
                Arc::new(OutOfMemoryOnce(Memory::disk(vec![7; 64], &[]), AtomicBool::new(false)));
            let arena = Arena::map(64).unwrap();
            let mut side = EndpointQueue::open(&end, engine, 1, &arena).unwrap();
            let (buffer, op, side_of) = (arena.carve(64, 1).remove(0), Op::Read, Side::Source);
            side.submit(Request {
                slot: 0,
                ticket: 0,
                side: side_of,
                op,
                offset: 0,
                len: 64,
                done: 0,
                until: 64,
                buffer,
            });
            let mut done = Vec::new();
            side.poll(&mut done).unwrap();
            assert!(matches!(done[0].result, Transferred::Moved(64)), "{engine:?}: {:?}", done[0].result);
        }
    }
}
