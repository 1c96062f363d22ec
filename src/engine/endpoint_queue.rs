//! Requests in flight towards one side alone, for measuring it: no pump, no other side, the same queues.
use super::queue_set::QueueSet;
use crate::core::{Arena, Completion, Endpoint, EngineKind, Ready, Request, Side, Transferred};
use std::io;
use std::sync::Arc;

/// Requests in flight towards one side. Used by the thread that opened it; its drop waits for what is in flight.
pub struct EndpointQueue {
    set: QueueSet,
    /// What has just come back, kept for its memory.
    came: Vec<Completion>,
}

impl EndpointQueue {
    /// Opens the queues that `engine` gives a copy for this side, for at most `depth` requests at a time.
    ///
    /// # Errors
    /// The kernel's error to setting up a ring, or to a thread.
    pub fn open(end: &Arc<dyn Endpoint>, engine: EngineKind, depth: u32, arena: &Arena) -> io::Result<Self> {
        let set = QueueSet::open(engine, [Some((end, depth)), None], depth, arena)?;
        Ok(EndpointQueue { set, came: Vec::new() })
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> u32 {
        self.set.in_flight()[Side::Source.index()]
    }

    /// Takes a request in; its side is [`Side::Source`], whichever way bytes go.
    pub fn submit(&mut self, request: Request) {
        self.set.submit(request);
    }

    /// Hands over what was submitted and moves what is finished to `done`; waits for something while nothing is. The
    /// rest of a request that came short goes again, as in a copy: a node has a most that a command may move. So does
    /// one of which nothing has happened. What is finished has all that was moved of it in `done` of its request.
    ///
    /// # Errors
    /// The error of waiting; requests in flight stay there.
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
        let mut came = std::mem::take(&mut self.came);
        let reaped = self.set.reap(&mut came);
        for Completion { mut request, result } in came.drain(..) {
            let moved = if let Transferred::Moved(moved) = result { moved } else { 0 };
            request.done += moved;
            if matches!(result, Transferred::Retry) || moved > 0 && request.left() > 0 {
                self.submit(request);
            } else {
                done.push(Completion { request, result });
            }
        }
        self.came = came;
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
    fn every_request_comes_back_once_with_its_bytes_by_every_engine() {
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

    /// A disk that has no memory for a request the first time.
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
    fn a_request_of_which_nothing_has_happened_goes_again_and_is_no_failure() {
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
