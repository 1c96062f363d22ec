//! A queue on one io_uring for all sides that support it.
use super::form::EntryForm;
use super::setup::Ring;
use crate::core::{Arena, Completion, Endpoint, Queue, Ready, Request, Transferred};
use io_uring::cqueue::EntryMarker as _;
use io_uring::squeue::EntryMarker as _;
use io_uring::types::{self, SubmitArgs, Timespec};
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A queue on one io_uring for all sides that support it.
pub struct RingQueue<F: EntryForm> {
    ring: Ring<F>,
    /// Requests passed to the kernel, by slot. A block is on one side at a time, so a slot is unique.
    flying: Vec<Option<Request>>,
    ends: [Option<Arc<dyn Endpoint>>; 2],
    in_flight: u32,
    /// Entries pushed since the last system call.
    pushed: u32,
    /// When this queue last began to wait.
    waited_at: Instant,
    /// Completions reaped since then.
    reaped: u32,
    /// Signalled for each completion, if other descriptors are polled together with this ring.
    completion_event: Option<OwnedFd>,
    /// Whether the eventfd was polled since it was read.
    eventfd_polled: bool,
}

/// Completions within this time are waited for together: each wake-up costs a context switch, which dominates processor
/// time at memory speed. It is also the maximum delay of a completion: the kernel ends the wait after it, because the
/// number of expected completions is a guess.
const TOGETHER: Duration = Duration::from_micros(150);

impl<F: EntryForm> RingQueue<F> {
    /// A ring for `depth` blocks between these sides.
    ///
    /// # Errors
    /// The kernel's error when setting up a ring.
    pub fn open(ends: [Option<Arc<dyn Endpoint>>; 2], depth: u32, arena: &Arena) -> io::Result<Self> {
        let fd = |end: &Option<Arc<dyn Endpoint>>| {
            end.as_ref().and_then(|end| end.on_ring()).map_or(-1, |on_ring| on_ring.fd().as_raw_fd())
        };
        let ring = Ring::open(depth, &ends.each_ref().map(fd), arena)?;
        let flying = (0..depth).map(|_| None).collect();
        let (waited_at, completion_event, eventfd_polled) = (Instant::now(), None, false);
        Ok(RingQueue {
            ring,
            flying,
            ends,
            in_flight: 0,
            pushed: 0,
            waited_at,
            reaped: 0,
            completion_event,
            eventfd_polled,
        })
    }

    /// Details of the setup, and unavailable features.
    pub fn detail(&self) -> (&[&'static str], &[String]) {
        (&self.ring.detail, &self.ring.notes)
    }

    /// Number of completions to wait for: as many as completed within [`TOGETHER`] the last time, but at most a quarter
    /// of those in flight, so that the devices stay busy.
    fn worth_waiting_for(&mut self) -> usize {
        let now = Instant::now();
        let passed = (now - self.waited_at).as_nanos().max(1);
        let together = TOGETHER.as_nanos() * u128::from(self.reaped) / passed;
        (self.waited_at, self.reaped) = (now, 0);
        let most = usize::try_from(self.in_flight / 4).unwrap_or(1).max(1);
        usize::try_from(together).unwrap_or(most).clamp(1, most)
    }

    /// The kernel will not report the completion of requests in flight. Leaks the memory that it may still access: the
    /// blocks, and the endpoints with their commands and status buffers.
    fn abandon(&mut self) {
        self.flying.drain(..).for_each(std::mem::forget);
        std::mem::take(&mut self.ends).into_iter().for_each(std::mem::forget);
    }

    fn enter(&mut self, want: usize) -> io::Result<()> {
        let entered = self.ring.uring.submit_and_wait(want);
        self.entered(entered)
    }

    /// Waits for `want` completions for at most [`TOGETHER`], and then for the first one if there is none.
    fn enter_together(&mut self, want: usize) -> io::Result<()> {
        if want > 1 && self.ring.uring.params().is_feature_ext_arg() {
            let patience = Timespec::from(TOGETHER);
            let arguments = SubmitArgs::new().timespec(&patience);
            let entered = self.ring.uring.submitter().submit_with_args(want, &arguments);
            self.entered(entered)?;
            if !self.ring.uring.completion().is_empty() {
                return Ok(());
            }
        }
        self.enter(1)
    }

    fn entered(&mut self, entered: io::Result<usize>) -> io::Result<()> {
        match entered {
            Ok(_) => {
                // The kernel may have had memory for only some of them.
                self.pushed = self.ring.uring.submission().len() as u32;
                Ok(())
            }
            // EINTR: a signal; entries were taken or will be with the next call. EAGAIN, EBUSY: the kernel has no
            // memory until completions are reaped. ETIME: the timeout expired.
            Err(error)
                if matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN | libc::EBUSY | libc::ETIME)) =>
            {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

impl<F: EntryForm> Queue for RingQueue<F> {
    fn takes(&self, request: &Request) -> bool {
        let end = self.ends[request.side.index()].as_ref();
        end.and_then(|end| end.on_ring()).is_some_and(|on_ring| on_ring.takes(request))
    }

    fn submit(&mut self, mut request: Request) {
        let side = request.side.index();
        let end = self.ends[side].as_ref().expect("submitted only if `takes` returned true");
        let on_ring = end.on_ring().expect("submitted only if `takes` returned true");
        let slot = request.slot as usize;
        assert!(self.flying[slot].is_none(), "slot {slot} is in flight twice");
        let mut entry = F::encode(on_ring, &mut request, types::Fixed(side as u32));
        entry.set_user_data(slot as u64);
        // SAFETY: the request is not changed or moved in `flying` until its completion, nor the endpoint in `ends`, and
        // slots are unique; this queue drains before it is dropped, or leaks both.
        unsafe { self.ring.uring.submission().push(&entry) }.expect("the ring has an entry for every slot");
        self.flying[slot] = Some(request);
        self.in_flight += 1;
        self.pushed += 1;
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.pushed > 0 { self.enter(0) } else { Ok(()) }
    }

    fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        if std::mem::take(&mut self.eventfd_polled)
            && let Some(completion_event) = &self.completion_event
        {
            // Must precede the check for completions: a later completion signals again.
            rustix::io::read(completion_event, &mut [0; 8]).ok();
        }
        if self.in_flight > 0 && self.ring.uring.submission().taskrun() {
            self.enter(0)?;
        }
        for entry in self.ring.uring.completion() {
            let request = self.flying[entry.user_data() as usize].take().expect("one completion per request");
            let end = self.ends[request.side.index()].as_ref().expect("was encoded by it");
            let result = F::decode(end.on_ring().expect("was encoded by it"), &request, &entry);
            let result = Transferred::by(&**end, &request, result);
            self.in_flight -= 1;
            self.reaped += 1;
            done.push(Completion { request, result });
        }
        Ok(())
    }

    fn ready(&self) -> Ready {
        if self.in_flight == 0 {
            return Ready::Idle;
        }
        let fd = self.completion_event.as_ref().map_or(self.ring.uring.as_raw_fd(), AsRawFd::as_raw_fd);
        Ready::On { fd, events: libc::POLLIN }
    }

    /// Creates an eventfd that the kernel signals for each completion. With deferred completions (DEFER_TASKRUN), a
    /// completion does not wake poll(2) on the ring itself (seen with 6.18): a write was noticed only when the other
    /// side had an event. A ring that is waited for alone needs no eventfd.
    fn prepare_poll(&mut self) {
        self.eventfd_polled = true;
        if self.completion_event.is_some() {
            return;
        }
        // Starts at 1, because earlier completions did not signal it.
        let completion_event = eventfd(1, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        // Without an eventfd (no descriptor is available) the ring itself is polled, which may only delay completions.
        self.completion_event = completion_event.ok().filter(|completion_event| {
            self.ring.uring.submitter().register_eventfd(completion_event.as_raw_fd()).is_ok()
        });
    }

    fn flush_and_wait(&mut self) -> Option<io::Result<()>> {
        let want = self.worth_waiting_for();
        Some(self.enter_together(want))
    }
}

impl<F: EntryForm> Drop for RingQueue<F> {
    /// Waits for requests in flight: their buffers must outlive the kernel's use of them, and closing a ring does not
    /// wait.
    fn drop(&mut self) {
        let mut done = Vec::new();
        while self.in_flight > 0 && self.enter(1).is_ok() && self.reap(&mut done).is_ok() {}
        if self.in_flight > 0 {
            self.abandon();
            return;
        }
        // A closed ring releases its files some time later, in a kernel thread. Until then a device opened with O_EXCL
        // stays claimed, and mounting it fails with EBUSY.
        let submitter = self.ring.uring.submitter();
        submitter.unregister_files().ok();
        submitter.unregister_buffers().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Narrow, refused};
    use super::*;
    use crate::core::{EndpointKind, Facts, OnRing, Op, Side};
    use crate::disks::memory::Memory;
    use crate::sys::wait_any;
    use std::os::fd::{AsFd, BorrowedFd};

    #[test]
    fn buffers_of_requests_in_flight_are_never_freed() {
        if let Some(why) = refused() {
            eprintln!("skipped: {why}");
            return;
        }
        let arena = Arena::map(1 << 20).unwrap();
        let disk: Arc<dyn Endpoint> = Arc::new(Memory::disk(vec![0; 4096], &[]));
        let (blocks, end) = (Arc::downgrade(&arena), Arc::downgrade(&disk));
        let mut queue = RingQueue::<Narrow>::open([Some(disk.clone()), None], 2, &arena).unwrap();
        let buffer = arena.carve(4096, 1).remove(0);
        let (side, op) = (Side::Source, Op::Read);
        let request = Request { slot: 0, ticket: 0, side, op, offset: 0, len: 4096, done: 0, until: 4096, buffer };
        queue.flying[0] = Some(request);
        queue.abandon();
        drop((queue, arena, disk));
        assert!(blocks.upgrade().is_some(), "the arena was unmapped");
        assert!(end.upgrade().is_some(), "the endpoint, and its commands, were freed");
    }

    /// A pipe whose read does not complete before another process writes to it.
    struct NeverReady(Facts, OwnedFd);

    // SAFETY: the entry references only the bytes of the current transfer, and the pipe, which exists as long as this.
    unsafe impl OnRing for NeverReady {
        fn fd(&self) -> BorrowedFd<'_> {
            self.1.as_fd()
        }

        fn takes(&self, _: &Request) -> bool {
            true
        }

        fn encode(&self, request: &mut Request, fd: types::Fixed) -> io_uring::squeue::Entry {
            let bytes = request.rest_mut();
            io_uring::opcode::Read::new(fd, bytes.as_mut_ptr(), bytes.len() as u32).build()
        }
    }

    impl Endpoint for NeverReady {
        fn facts(&self) -> &Facts {
            &self.0
        }

        fn perform(&self, _: &mut Request) -> io::Result<u32> {
            unreachable!("the ring takes it")
        }

        fn on_ring(&self) -> Option<&dyn OnRing> {
            Some(self)
        }
    }

    /// Whether the thread sleeps, according to the kernel.
    fn sleeps(thread: rustix::thread::Pid) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/self/task/{}/stat", thread.as_raw_nonzero()));
        stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" S")))
    }

    #[test]
    fn poll_on_a_ring_wakes_for_each_completion() {
        if let Some(why) = refused() {
            eprintln!("skipped: {why}");
            return;
        }
        let arena = Arena::map(1 << 20).unwrap();
        let (from, to) = rustix::pipe::pipe().unwrap();
        let end: Arc<dyn Endpoint> = Arc::new(NeverReady(Facts::new("waits", EndpointKind::Pipe), from));
        let mut queue = RingQueue::<Narrow>::open([Some(end), None], 2, &arena).unwrap();
        let mut buffers = arena.carve(4096, 3);
        for ticket in 0..3 {
            let (side, op, buffer) = (Side::Source, Op::Read, buffers.remove(0));
            queue.submit(Request { slot: 0, ticket, side, op, offset: 0, len: 1, done: 0, until: 1, buffer });
            queue.flush().unwrap();
            let poller = rustix::thread::gettid();
            let writer = to.try_clone().unwrap();
            let write = std::thread::spawn(move || {
                while !sleeps(poller) {
                    std::thread::yield_now();
                }
                rustix::io::write(&writer, &[1]).unwrap();
            });
            let mut done = Vec::new();
            while done.is_empty() {
                queue.prepare_poll();
                let Ready::On { fd, events } = queue.ready() else { panic!("it is in flight") };
                let mut poll = [libc::pollfd { fd, events, revents: 0 }];
                // The kernel checks again when the time is up, so only the elapsed time shows a failure.
                let (began, for_good) = (Instant::now(), Duration::from_secs(20));
                wait_any(&mut poll, Some(for_good)).unwrap();
                assert!(began.elapsed() < for_good, "nobody woke who waited for request {ticket}");
                queue.reap(&mut done).unwrap();
            }
            write.join().unwrap();
        }
    }
}
