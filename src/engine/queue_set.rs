//! The queues on which requests are in flight: a ring that both sides may share, queues that a side provides, and
//! blocking calls for the rest.
use super::ring::{EntryForm, Narrow, RingQueue, Wide};
use super::threads::Calls;
use crate::core::{Arena, Completion, Endpoint, EngineKind, OnRing, Queue, Ready, Request, Side};
use crate::sys::wait_any;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of descriptors to poll: a ring, two queues provided by sides, two sets of helper threads, and one
/// more.
const WAITED_FOR_MAX: usize = 6;

/// For each side, the endpoint to open queues for and the maximum number of helper threads for its blocking calls.
pub(super) type ToOpen<'a> = [Option<(&'a Arc<dyn Endpoint>, u32)>; 2];

/// The endpoints that share a ring, by side.
type OnOneRing = [Option<Arc<dyn Endpoint>>; 2];

/// The queues of one side or both.
pub(super) struct QueueSet {
    queues: Vec<Box<dyn Queue>>,
    /// Index of the ring or the queue that the side provides, by side.
    own: [Option<usize>; 2],
    /// Index of the side's blocking calls.
    calls: [usize; 2],
    /// Whether requests complete within `submit`, by side.
    in_place: [bool; 2],
    /// Number of requests in flight, by side.
    in_flight: [u32; 2],
    /// Details of the setup, for the report.
    pub(super) detail: Vec<String>,
    /// Unavailable features, for the report.
    pub(super) notes: Vec<String>,
}

impl QueueSet {
    /// Opens the queues of `engine` for at most `depth` requests. Must be called by the thread that uses them. A side
    /// without an endpoint gets no requests.
    ///
    /// # Errors
    /// The kernel's error when setting up a ring or starting a thread.
    pub(super) fn open(engine: EngineKind, sides: ToOpen<'_>, depth: u32, arena: &Arena) -> io::Result<Self> {
        let (queues, detail, notes) = Default::default();
        let (own, calls, in_place, in_flight) = ([None; 2], [0; 2], [false; 2], [0; 2]);
        let mut set = QueueSet { queues, own, calls, in_place, in_flight, detail, notes };
        if engine == EngineKind::Ring {
            set.open_ring(sides, depth, arena)?;
        }
        for (side, (end, helpers_max)) in (0..).zip(sides).filter_map(|(side, open)| Some((side, open?))) {
            let calls = match engine {
                EngineKind::Sync => Calls::in_place(end.clone()),
                _ => Calls::by_helpers(end.clone(), helpers_max)?,
            };
            set.calls[side] = set.queues.len();
            set.in_place[side] = set.own[side].is_none() && calls.are_in_place();
            set.queues.push(Box::new(calls));
        }
        Ok(set)
    }

    /// Opens one ring for the sides that support it, in the form that they require, the queues that sides provide, and
    /// helper threads for the rest.
    fn open_ring(&mut self, sides: ToOpen<'_>, depth: u32, arena: &Arena) -> io::Result<()> {
        let mut on_ring = sides.map(|side| side.map(|(end, _)| end).filter(|end| end.on_ring().is_some()).cloned());
        if on_ring.iter().flatten().any(needs_wide)
            && let Err(why) = self.add_ring::<Wide>(on_ring.clone(), depth, arena)
        {
            let note = format!("io_uring passthrough is not available ({why}): helper threads send the commands");
            self.notes.push(note);
            on_ring = on_ring.map(|end| end.filter(|end| !needs_wide(end)));
        }
        if self.own == [None, None] && on_ring.iter().any(Option::is_some) {
            self.add_ring::<Narrow>(on_ring, depth, arena)?;
        }
        let able = self.own.map(|own| own.is_some());
        for (side, (end, _)) in Side::BOTH.into_iter().zip(sides).filter_map(|(side, open)| Some((side, open?))) {
            if able[side.index()] {
                continue;
            }
            if let Some(queue) = end.own_queue(depth) {
                self.own[side.index()] = Some(self.queues.len());
                self.queues.push(queue?);
            } else if able != [false, false] {
                self.detail.push(format!("{}: helper threads", side.name()));
            }
        }
        if self.own == [None, None] {
            self.notes.push("neither side supports io_uring: helper threads are used".to_owned());
        }
        Ok(())
    }

    /// Adds a ring for these sides.
    fn add_ring<F: EntryForm + 'static>(&mut self, ends: OnOneRing, depth: u32, arena: &Arena) -> io::Result<()> {
        let own = ends.each_ref().map(|end| end.is_some().then_some(self.queues.len()));
        let ring = RingQueue::<F>::open(ends, depth, arena)?;
        let (detail, notes) = ring.detail();
        self.detail.extend(detail.iter().map(|&detail| detail.to_owned()));
        self.notes.extend_from_slice(notes);
        self.queues.push(Box::new(ring));
        self.own = own;
        Ok(())
    }

    /// Whether requests of this side complete before [`QueueSet::submit`] returns.
    #[inline(always)]
    pub(super) fn calls_in_place(&self, side: Side) -> bool {
        self.in_place[side.index()]
    }

    /// Number of requests in flight, by side.
    pub(super) fn in_flight(&self) -> [u32; 2] {
        self.in_flight
    }

    /// Submits a request.
    // Called once for each transfer: another call would copy the request again.
    #[inline(always)]
    pub(super) fn submit(&mut self, request: Request) {
        let side = request.side.index();
        self.in_flight[side] += 1;
        let index = self.own[side].filter(|&own| self.queues[own].takes(&request)).unwrap_or(self.calls[side]);
        self.queues[index].submit(request);
    }

    /// Submits a request that must be made as a blocking call.
    pub(super) fn submit_call(&mut self, request: Request) {
        let side = request.side.index();
        self.in_flight[side] += 1;
        self.queues[self.calls[side]].submit(request);
    }

    /// Passes submitted requests to the kernel, the servers and the helper threads.
    #[inline]
    pub(super) fn flush(&mut self) -> io::Result<()> {
        for queue in &mut self.queues {
            queue.flush()?;
        }
        Ok(())
    }

    /// Returns the requests for which `continues` is false and that were not passed to the kernel yet.
    pub(super) fn withdraw(&mut self, continues: &dyn Fn(&Request) -> bool) -> Vec<Request> {
        let mut back = Vec::new();
        self.queues.iter_mut().for_each(|queue| queue.withdraw(continues, &mut back));
        back.iter().for_each(|request| self.in_flight[request.side.index()] -= 1);
        back
    }

    /// Moves completions to `done`. Never blocks.
    #[inline(always)]
    pub(super) fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        for queue in &mut self.queues {
            let before = done.len();
            queue.reap(done)?;
            for completion in &done[before..] {
                self.in_flight[completion.request.side.index()] -= 1;
            }
        }
        Ok(())
    }

    /// Flushes and blocks until [`QueueSet::reap`] may have a completion, `beside` is ready, or `due` has passed; may
    /// return early. False if there is nothing to wait for.
    pub(super) fn wait(&mut self, beside: Ready, due: Option<Duration>) -> io::Result<bool> {
        let (mut busy, mut count) = (None, 0);
        for (index, ready) in self.queues.iter().map(|queue| queue.ready()).chain([beside]).enumerate() {
            match ready {
                Ready::Idle => {}
                Ready::Now => {
                    self.queues.iter_mut().for_each(|queue| queue.polled(None));
                    return Ok(true);
                }
                Ready::On { .. } => (busy, count) = (Some(index), count + 1),
            }
        }
        let only = busy.filter(|&index| count == 1 && due.is_none() && index < self.queues.len());
        if let Some(waited) = only.and_then(|index| self.queues[index].flush_and_wait()) {
            return waited.map(|()| true);
        }
        self.flush()?;
        if count == 0 && due.is_none() {
            return Ok(false);
        }
        self.poll(beside, due).map(|()| true)
    }

    /// Blocks until a queue or `beside` is ready, or `due` has passed.
    fn poll(&mut self, beside: Ready, due: Option<Duration>) -> io::Result<()> {
        let mut polls = [libc::pollfd { fd: -1, events: 0, revents: 0 }; WAITED_FOR_MAX];
        self.queues.iter_mut().for_each(|queue| queue.prepare_poll());
        let mut count = 0;
        for ready in self.queues.iter().map(|queue| queue.ready()).chain([beside]) {
            match ready {
                Ready::Idle => {}
                Ready::Now => {
                    self.queues.iter_mut().for_each(|queue| queue.polled(None));
                    return Ok(());
                }
                Ready::On { fd, events } => {
                    polls[count] = libc::pollfd { fd, events, revents: 0 };
                    count += 1;
                }
            }
        }
        wait_any(&mut polls[..count], due)?;
        // Only queues with a descriptor were polled, in this order.
        let mut found = polls.iter().map(|poll| poll.revents);
        for queue in self.queues.iter_mut().filter(|queue| matches!(queue.ready(), Ready::On { .. })) {
            queue.polled(found.next());
        }
        Ok(())
    }
}

fn needs_wide(end: &Arc<dyn Endpoint>) -> bool {
    end.on_ring().is_some_and(OnRing::needs_wide)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Facts, Kind, Op};
    use crate::disks::memory::Memory;
    use rustix::event::{EventfdFlags, eventfd};
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    /// A queue with an eventfd that records the results of waiting.
    #[derive(Default)]
    struct WaitLog {
        bell: Option<OwnedFd>,
        is_ready: AtomicBool,
        reported: Mutex<Vec<Option<i16>>>,
    }

    struct BellEndpoint(Arc<WaitLog>);

    impl Queue for BellEndpoint {
        fn submit(&mut self, _: Request) {}
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
        fn reap(&mut self, _: &mut Vec<Completion>) -> io::Result<()> {
            Ok(())
        }
        fn ready(&self) -> Ready {
            let fd = self.0.bell.as_ref().expect("it has one").as_raw_fd();
            if self.0.is_ready.load(Relaxed) { Ready::Now } else { Ready::On { fd, events: libc::POLLIN } }
        }
        fn polled(&mut self, events: Option<i16>) {
            self.0.reported.lock().unwrap().push(events);
        }
    }

    struct OwnQueueEndpoint(Memory, Arc<WaitLog>);

    impl Endpoint for OwnQueueEndpoint {
        fn facts(&self) -> &Facts {
            self.0.facts()
        }
        fn perform(&self, request: &mut Request) -> io::Result<u32> {
            self.0.perform(request)
        }
        fn own_queue(&self, _: u32) -> Option<io::Result<Box<dyn Queue>>> {
            Some(Ok(Box::new(BellEndpoint(self.1.clone()))))
        }
        fn diagnose(&self, op: Op, offset: u64, error: &io::Error) -> Kind {
            self.0.diagnose(op, offset, error)
        }
    }

    #[test]
    fn each_queue_receives_its_poll_result_or_none() {
        let logs = [(); 2].map(|()| {
            let bell = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
            Arc::new(WaitLog { bell: Some(bell), ..WaitLog::default() })
        });
        let own = |logs: &Arc<WaitLog>| -> Arc<dyn Endpoint> {
            Arc::new(OwnQueueEndpoint(Memory::disk(vec![0; 4096], &[]), logs.clone()))
        };
        let ends = logs.each_ref().map(own);
        let sides = ends.each_ref().map(|end| Some((end, 1)));
        let mut set = QueueSet::open(EngineKind::Ring, sides, 2, &Arena::map(4096).unwrap()).unwrap();
        let reported = |side: usize| std::mem::take(&mut *logs[side].reported.lock().unwrap());
        rustix::io::write(logs[1].bell.as_ref().unwrap(), &1u64.to_ne_bytes()).unwrap();
        assert!(set.wait(Ready::Idle, None).unwrap());
        assert_eq!((reported(0), reported(1)), (vec![Some(0)], vec![Some(libc::POLLIN)]));
        logs[0].is_ready.store(true, Relaxed);
        assert!(set.wait(Ready::Idle, None).unwrap());
        assert_eq!((reported(0), reported(1)), (vec![None], vec![None]), "or it would never look by itself");
    }
}
