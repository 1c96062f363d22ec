//! A queue of commands on a SCSI generic node: written to it, polled for, and read back when complete.
use super::disk::Disk;
use super::node::is_too_long;
use super::node::{self, SENSE_BYTES, is_full};
use super::probe::most_in_flight;
use super::reserve::Reserve;
use super::retry_policy::RetryPolicy;
use super::verdict::{CommandOutcome, interpret, kind_of};
use crate::core::{Completion, Op, Queue, Ready, Request, Transferred, Transfers, count};
use crate::sys::sg;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Interval of checks for completions after the device has disappeared: poll then returns immediately, before the
/// kernel has aborted the commands.
const DISAPPEARED_CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// After this many completions that arrived singly, only one in as many is followed by a check for another.
const ALONE_MAX: u32 = 16;

/// Maximum time beyond a command's timeout that the kernel may take to abort it, including resets.
const ABORT_TIME_MAX: Duration = Duration::from_secs(120);

/// A queue of commands on a node.
pub(super) struct SgQueue {
    disk: Arc<Disk>,
    /// Commands passed to the driver, by slot.
    flying: Vec<Option<CommandInFlight>>,
    senses: Senses,
    in_flight: u32,
    pending: VecDeque<PendingRequest>,
    /// Commands to retry, and when.
    later: Vec<(Instant, PendingRequest)>,
    finished: Vec<Completion>,
    timer: OwnedFd,
    /// An epoll descriptor for the node and the timer, used while a retry is waiting.
    both: OwnedFd,
    /// When the device was found to have disappeared.
    disappeared_at: Option<Instant>,
    /// The events of the node at the last poll; `None` if it was not polled.
    events: Option<i16>,
    /// Number of consecutive completions that arrived singly.
    alone: u32,
    /// Maximum number of commands in flight.
    most: u32,
    reserve: Reserve,
}

/// A request and the retries of its command.
struct PendingRequest {
    request: Request,
    patience: RetryPolicy,
}

/// Sense buffers by slot. The kernel writes to them while we hold only shared references, hence atomics.
type Senses = Arc<[[AtomicU8; SENSE_BYTES]]>;

/// A command in flight. It owns all memory that the kernel may write to.
struct CommandInFlight {
    waiting: PendingRequest,
    len: u32,
    place: super::verdict::CommandRange,
    senses: Senses,
}

impl CommandInFlight {
    /// The sense data that the kernel stored for this slot.
    fn sense(&self, slot: usize, len: u8) -> [u8; SENSE_BYTES] {
        let mut sense = [0; SENSE_BYTES];
        let stored = sense.iter_mut().zip(&self.senses[slot]).take(len.into());
        stored.for_each(|(byte, stored)| *byte = stored.load(Relaxed));
        sense
    }
}

/// Leaks the blocks and sense buffers of commands that the kernel has not completed, because it may write to them at
/// any time.
fn abandon(flying: &mut Vec<Option<CommandInFlight>>) {
    flying.drain(..).for_each(std::mem::forget);
}

impl SgQueue {
    /// A queue for `depth` blocks.
    ///
    /// # Errors
    /// No file descriptor is available.
    pub(super) fn open(disk: Arc<Disk>, depth: u32) -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        let both = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&both, disk.node.fd(), EventData::new_u64(0), EventFlags::IN)?;
        epoll::add(&both, &timer, EventData::new_u64(1), EventFlags::IN)?;
        Ok(SgQueue {
            reserve: Reserve::new(disk.node.options.transfers),
            events: None,
            alone: 0,
            most: most_in_flight(&disk.node),
            disk,
            flying: (0..depth).map(|_| None).collect(),
            senses: (0..depth).map(|_| [const { AtomicU8::new(0) }; SENSE_BYTES]).collect(),
            in_flight: 0,
            pending: VecDeque::with_capacity(depth as usize),
            later: Vec::with_capacity(depth as usize),
            finished: Vec::with_capacity(depth as usize),
            timer,
            both,
            disappeared_at: None,
        })
    }

    fn finish(&mut self, request: Request, result: io::Result<u32>) {
        let result = Transferred::of(result.map(Some), kind_of);
        self.finished.push(Completion { request, result });
    }

    /// Submits the next command to the driver. False if its queue is full.
    fn submit_command(&mut self, mut waiting: PendingRequest) -> bool {
        let request = &mut waiting.request;
        let len = self.disk.command_bytes(request.left());
        let (cdb, place) = match self.disk.command(request.op, request.at(), len) {
            Ok(command) => command,
            Err(error) => {
                self.finish(waiting.request, Err(error));
                return true;
            }
        };
        let slot = request.slot as usize;
        let mut header = node::header(&cdb, self.disk.timeout_ms(request.op));
        header.sbp = self.senses[slot].as_ptr().cast_mut().cast();
        header.dxfer_len = len;
        header.pack_id = slot as i32;
        (header.dxfer_direction, header.dxferp) = match request.op {
            Op::Read => (sg::DXFER_FROM_DEV, request.rest_mut().as_mut_ptr().cast()),
            _ => (sg::DXFER_TO_DEV, request.rest().as_ptr().cast_mut().cast()),
        };
        header.flags = match self.disk.node.options.transfers {
            Transfers::Direct => sg::FLAG_DIRECT_IO,
            Transfers::Copied => 0,
            Transfers::Shared => {
                header.dxferp = std::ptr::null_mut();
                sg::FLAG_MMAP_IO
            }
        };
        assert!(self.flying[slot].is_none(), "slot {slot} is in flight twice");
        self.reserve.fit(&self.disk.node, len);
        // SAFETY: the buffer and the sense buffer are owned by the flight, which stays in `flying` until its
        // completion; this queue drains before it is dropped, or leaks the rest. The driver copies the command now.
        match unsafe { sg::submit(self.disk.node.fd(), &header) } {
            Ok(()) => {
                self.flying[slot] = Some(CommandInFlight { waiting, len, place, senses: self.senses.clone() });
                self.in_flight += 1;
                true
            }
            Err(error) if is_full(&error) => {
                self.hold_back(waiting);
                false
            }
            Err(error) if is_too_long(&error) && self.disk.shorten(len) => {
                self.pending.push_front(waiting);
                true
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.pending.push_front(waiting);
                true
            }
            Err(error) => {
                self.finish(waiting.request, Err(error));
                true
            }
        }
    }

    /// Keeps a request while the driver's queue is full, until completions of haul or other processes free it.
    fn hold_back(&mut self, waiting: PendingRequest) {
        if self.in_flight > 0 {
            self.pending.push_front(waiting);
        } else {
            self.later.push((Instant::now() + Duration::from_millis(1), waiting));
        }
    }

    /// Called when a command has completed.
    fn on_completion(&mut self, header: &sg::SgIoHdr) {
        let slot = header.pack_id as usize;
        let Some(flight) = self.flying.get_mut(slot).and_then(Option::take) else { return };
        self.in_flight -= 1;
        let sense = flight.sense(slot, header.sb_len_wr);
        let CommandInFlight { mut waiting, len, place, .. } = flight;
        let node = &self.disk.node;
        let answer = node::answer(header, &sense);
        if node.options.transfers == Transfers::Direct {
            let direct = header.info & sg::INFO_DIRECT_IO_MASK == sg::INFO_DIRECT_IO;
            node.note_direct(direct);
            self.reserve.moved(direct);
        }
        match interpret(&answer, len, place) {
            CommandOutcome::Done { moved, recovered } => {
                node.note_done(moved < len, recovered);
                self.finish(waiting.request, Ok(moved));
            }
            CommandOutcome::Failed { error, on_the_way } => {
                let error = node.reported_error(error, on_the_way);
                self.finish(waiting.request, Err(error));
            }
            CommandOutcome::Again(why, error) => {
                let now = Instant::now();
                match waiting.patience.again(why, &node.options, now) {
                    Some(pause) => {
                        node.counts.again(why);
                        self.later.push((now + pause, waiting));
                    }
                    None => {
                        let error = node.exhausted(why, error, answer.sense.is_none());
                        self.finish(waiting.request, Err(error));
                    }
                }
            }
        }
    }

    /// Submits due retries before other commands.
    fn resume(&mut self) {
        let now = Instant::now();
        let mut at = 0;
        while at < self.later.len() {
            if self.later[at].0 <= now {
                let (_, waiting) = self.later.swap_remove(at);
                self.pending.push_front(waiting);
            } else {
                at += 1;
            }
        }
    }

    /// Sets the timer to the next due retry, or stops it if there is none.
    fn set_timer(&self) -> io::Result<()> {
        let due = self.later.iter().map(|(due, _)| *due).min();
        let wait = due.map(|due| due.saturating_duration_since(Instant::now()).max(Duration::from_micros(1)));
        let wait =
            if self.disappeared_at.is_some() && self.in_flight > 0 { Some(DISAPPEARED_CHECK_INTERVAL) } else { wait }
                .unwrap_or_default();
        let value = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }

    /// Fails if the kernel does not complete commands of a device that disappeared long ago.
    fn check_abort_time(&self) -> io::Result<()> {
        let patience = self.disk.node.options.timeout + ABORT_TIME_MAX;
        if self.in_flight > 0 && self.disappeared_at.is_some_and(|since| since.elapsed() > patience) {
            let (name, left) = (&self.disk.name, self.in_flight);
            return Err(io::Error::other(format!(
                "{name} disappeared, and the kernel does not complete {}",
                count(left, "command", "commands")
            )));
        }
        Ok(())
    }

    /// Whether another read is worthwhile after a completion: poll does not report their number. A disk that executes
    /// single commands never has a second one.
    fn may_have_another(&mut self) -> bool {
        self.alone += 1;
        self.alone < ALONE_MAX || self.alone.is_multiple_of(ALONE_MAX)
    }

    fn receive_completions(&mut self) -> io::Result<()> {
        let events = self.events;
        if events == Some(0) {
            return Ok(());
        }
        let mut received = 0;
        while self.in_flight > 0 {
            if events.is_some() && received == 1 && !self.may_have_another() {
                break;
            }
            match sg::receive(self.disk.node.fd()) {
                Ok(header) => {
                    self.on_completion(&header);
                    received += 1;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ENXIO)) => break,
                Err(error) => return Err(error),
            }
        }
        if received > 1 {
            self.alone = 0;
        }
        if events.is_some() {
            // Poll reports it again if there are more.
            self.events = Some(0);
        }
        if events.is_some() && received > 0 {
            return Ok(());
        }
        if self.in_flight > 0 && self.disappeared_at.is_none() {
            let mut poll = [libc::pollfd { fd: self.disk.node.fd().as_raw_fd(), events: 0, revents: 0 }];
            crate::sys::wait_any(&mut poll, Some(Duration::ZERO))?;
            self.disappeared_at = (poll[0].revents & (libc::POLLHUP | libc::POLLERR) != 0).then(Instant::now);
        }
        Ok(())
    }
}

impl Queue for SgQueue {
    fn submit(&mut self, request: Request) {
        self.pending.push_back(PendingRequest { request, patience: RetryPolicy::default() });
    }

    fn takes(&self, request: &Request) -> bool {
        self.disk.takes(request)
    }

    /// One call per command: this interface has no batches.
    fn flush(&mut self) -> io::Result<()> {
        while self.in_flight < self.most {
            let Some(waiting) = self.pending.pop_front() else { break };
            if !self.submit_command(waiting) {
                break;
            }
        }
        if self.later.is_empty() && self.disappeared_at.is_none() { Ok(()) } else { self.set_timer() }
    }

    fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        if self.in_flight > 0 {
            self.receive_completions()?;
            self.check_abort_time()?;
        }
        self.resume();
        done.append(&mut self.finished);
        Ok(())
    }

    fn polled(&mut self, events: Option<i16>) {
        // A poll of the timer says nothing about the node.
        let is_node = self.disappeared_at.is_none() && self.later.is_empty();
        self.events = events.filter(|_| is_node);
    }

    fn withdraw(&mut self, continues: &dyn Fn(&Request) -> bool, back: &mut Vec<Request>) {
        let later = self.later.extract_if(.., |(_, waiting)| !continues(&waiting.request));
        back.extend(later.map(|(_, waiting)| waiting.request));
        let (kept, ended): (VecDeque<_>, _) = self.pending.drain(..).partition(|waiting| continues(&waiting.request));
        self.pending = kept;
        back.extend(VecDeque::into_iter(ended).map(|waiting| waiting.request));
    }

    fn ready(&self) -> Ready {
        let on = |fd: i32| Ready::On { fd, events: libc::POLLIN };
        if !self.finished.is_empty() {
            Ready::Now
        } else if self.disappeared_at.is_some() && self.in_flight > 0 {
            on(self.timer.as_raw_fd())
        } else if !self.later.is_empty() {
            on(self.both.as_raw_fd())
        } else if self.in_flight > 0 || !self.pending.is_empty() {
            on(self.disk.node.fd().as_raw_fd())
        } else {
            Ready::Idle
        }
    }
}

impl Drop for SgQueue {
    /// Waits for commands in flight: their buffers must outlive the kernel's use of them.
    fn drop(&mut self) {
        self.pending.clear();
        self.later.clear();
        self.events = None;
        let patience = self.disk.node.options.timeout + ABORT_TIME_MAX;
        let until = Instant::now() + patience;
        while self.in_flight > 0 && Instant::now() < until && self.receive_completions().is_ok() {
            self.later.clear();
            let mut poll = [libc::pollfd { fd: self.disk.node.fd().as_raw_fd(), events: libc::POLLIN, revents: 0 }];
            if self.disappeared_at.is_some() {
                std::thread::sleep(DISAPPEARED_CHECK_INTERVAL);
            } else if crate::sys::wait_any(&mut poll, Some(Duration::from_secs(1))).is_err() {
                break;
            }
        }
        if self.in_flight > 0 {
            abandon(&mut self.flying);
        }
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
