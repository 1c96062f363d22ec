//! Requests in flight towards one side alone, for measuring it: no pump, no other side, the same queues.
use super::ring::{Narrow, RingQueue, Wide};
use super::threads::Calls;
use crate::core::{Arena, Completion, Endpoint, EngineKind, Queue, Ready, Request, Transferred};
use crate::sys::wait_any;
use std::io;
use std::sync::Arc;

/// A ring and the side's own queue are one or the other, so there are at most two: that, and blocking calls.
const QUEUES_MAX: usize = 2;

/// Requests in flight towards one side. Used by the thread that opened it; its drop waits for what is in flight.
pub struct EndpointQueue {
    /// Blocking calls first; they take what the other queue does not.
    queues: Vec<Box<dyn Queue>>,
    in_flight: u32,
    /// What has just come back, kept for its memory.
    came: Vec<Completion>,
}

impl EndpointQueue {
    /// Opens the queues that `engine` gives a copy for this side, for at most `depth` requests at a time.
    ///
    /// # Errors
    /// What the kernel said to setting up a ring, or to a thread.
    pub fn open(end: &Arc<dyn Endpoint>, engine: EngineKind, depth: u32, arena: &Arena) -> io::Result<Self> {
        let calls = match engine {
            EngineKind::Sync => Calls::on_the_spot(end.clone()),
            _ => Calls::by_helpers(end.clone(), depth)?,
        };
        let mut queues: Vec<Box<dyn Queue>> = vec![Box::new(calls)];
        if engine == EngineKind::Ring {
            let sides = || [Some(end.clone()), None];
            match end.on_ring() {
                Some(on_ring) if on_ring.needs_wide() => {
                    if let Ok(ring) = RingQueue::<Wide>::open(sides(), depth, arena) {
                        queues.push(Box::new(ring));
                    }
                }
                Some(_) => queues.push(Box::new(RingQueue::<Narrow>::open(sides(), depth, arena)?)),
                None => {
                    if let Some(own) = end.own_queue(depth) {
                        queues.push(own?);
                    }
                }
            }
        }
        Ok(EndpointQueue { queues, in_flight: 0, came: Vec::new() })
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Takes a request in; its side is [`crate::core::Side::Source`], whichever way bytes go.
    pub fn submit(&mut self, request: Request) {
        self.in_flight += 1;
        let index = (1..self.queues.len()).find(|&index| self.queues[index].takes(&request)).unwrap_or(0);
        self.queues[index].submit(request);
    }

    /// Hands over what was submitted and moves what is finished to `done`; waits for something while nothing is. The
    /// rest of a request that came short goes again, as in a copy: a node has a most that a command may move. What
    /// is finished has all that was moved of it in `done` of its request.
    ///
    /// # Errors
    /// What waiting said; requests in flight stay there.
    pub fn turn(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        let before = done.len();
        while done.len() == before && self.in_flight > 0 {
            self.reap(done)?;
            if done.len() == before {
                self.wait()?;
                self.reap(done)?;
            }
        }
        self.queues.iter_mut().try_for_each(|queue| queue.flush())
    }

    fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        let mut came = std::mem::take(&mut self.came);
        let reaped = self.queues.iter_mut().try_for_each(|queue| queue.reap(&mut came));
        for Completion { mut request, result } in came.drain(..) {
            self.in_flight -= 1;
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

    fn wait(&mut self) -> io::Result<()> {
        let mut polls = [libc::pollfd { fd: -1, events: 0, revents: 0 }; QUEUES_MAX];
        let (mut busy, mut count) = (0, 0);
        for (index, queue) in self.queues.iter().enumerate() {
            match queue.ready() {
                Ready::Idle => {}
                Ready::Now => return Ok(()),
                Ready::On { fd, events } => {
                    polls[count] = libc::pollfd { fd, events, revents: 0 };
                    (busy, count) = (index, count + 1);
                }
            }
        }
        if count == 1
            && let Some(waited) = self.queues[busy].flush_and_wait()
        {
            return waited;
        }
        self.queues.iter_mut().try_for_each(|queue| queue.flush())?;
        // What a flush just began was not in flight when it was asked about.
        if count == 0 { Ok(()) } else { wait_any(&mut polls[..count], None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Op, Side};
    use crate::disks::memory::{Asked, Memory};

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
                side.turn(&mut done).unwrap();
            }
            done.sort_by_key(|completion| completion.request.slot);
            assert_eq!(done.len(), 4, "{engine:?}");
            for (slot, completion) in done.iter().enumerate() {
                assert!(matches!(completion.result, Transferred::Moved(64)), "{engine:?}: {:?}", completion.result);
                assert_eq!(completion.request.buffer.bytes()[0] as usize, slot * 64, "{engine:?}");
            }
            assert!(disk.asked().iter().all(|Asked { op, .. }| *op == Op::Read));
        }
    }
}
