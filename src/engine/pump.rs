//! The copy loop.
use super::meter::{Meter, Whereabouts};
use super::pace::{Governor, Pair};
use super::queues::Queues;
use crate::contract::{
    Arena, Buffer, Cache, Completion, DeviceError, Endpoint, Error, Event, Extent, Kind, Next, Observer, Op, Plan,
    Request, Run, RunKind, Schedule, Side, Stop, Tally, Totals, Zeros,
};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A block on its way.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// Which bytes, counted from the first byte of the copy.
    pub(super) extent: Extent,
    /// They are known to be zeros and were not read.
    pub(super) zero: bool,
    /// It has been everywhere but at the digests.
    digesting: bool,
}

/// Why the copy cannot go on.
pub(super) struct Failure {
    pub(super) error: Error,
    /// The block it happened to; those ahead of it are still brought home.
    ticket: u64,
    /// What was being read, to look closer for the bad place.
    pub(super) reading: Option<Extent>,
}

/// Moves blocks from source to dest until the schedule has no more. Every round: feed, hand over, wait, advance.
pub(super) struct Pump<'a> {
    pub(super) plan: &'a Plan,
    pub(super) ends: &'a [Arc<dyn Endpoint>; 2],
    pub(super) schedule: &'a mut dyn Schedule,
    stop: &'a Stop,
    pub(super) tally: &'a Tally,
    observer: &'a dyn Observer,
    pub(super) queues: Queues,
    pub(super) slots: Vec<Slot>,
    free: Vec<u32>,
    idle: Vec<Buffer>,
    /// Blocks on their way.
    in_hand: u32,
    pair: Pair,
    next_ticket: u64,
    finished: bool,
    pub(super) failure: Option<Failure>,
    pub(super) totals: Totals,
    pub(super) meter: Meter,
    /// Blocks that failed beside others and succeeded alone.
    pub(super) alone: u64,
    /// The stream ended before the count was reached.
    pub(super) ended_short: bool,
}

/// What a pump is made of.
pub(super) struct Parts<'a> {
    pub(super) plan: &'a Plan,
    pub(super) ends: &'a [Arc<dyn Endpoint>; 2],
    pub(super) schedule: &'a mut dyn Schedule,
    pub(super) stop: &'a Stop,
    pub(super) tally: &'a Tally,
    pub(super) observer: &'a dyn Observer,
    pub(super) queues: Queues,
}

impl<'a> Pump<'a> {
    pub(super) fn new(parts: Parts<'a>, pair: Pair) -> Self {
        let Parts { plan, ends, schedule, stop, tally, observer, queues } = parts;
        Pump {
            plan,
            ends,
            schedule,
            stop,
            tally,
            observer,
            queues,
            slots: Vec::new(),
            free: Vec::new(),
            idle: Vec::new(),
            in_hand: 0,
            pair,
            next_ticket: 0,
            finished: false,
            failure: None,
            totals: Totals::default(),
            meter: Meter::start(),
            alone: 0,
            ended_short: false,
        }
    }

    /// Pumps until there is no more, something failed, or the stop was asked for. Nothing is in flight when it
    /// returns; should the queues themselves fail, dropping them sees to that.
    pub(super) fn run(&mut self, governor: &mut Governor, buffers: Vec<Buffer>, arena: &Arc<Arena>) -> io::Result<()> {
        self.use_buffers(buffers);
        let mut change: Option<Pair> = None;
        let mut done: Vec<Completion> = Vec::with_capacity(self.slots.len());
        loop {
            if change.is_none() {
                self.feed();
            }
            if self.in_hand == 0 {
                if self.finished || self.ending() {
                    return Ok(());
                }
                let Some(pair) = change.take() else {
                    return Err(io::Error::other("the schedule waits for a block that is not on its way"));
                };
                self.repace(pair, governor, arena);
                continue;
            }
            if self.ending() {
                self.call_back(&mut done);
                if self.in_hand == 0 {
                    continue;
                }
            }
            let digesting = self.in_hand - self.queues.in_hand();
            if done.is_empty() {
                self.queues.turn(&mut done)?;
            }
            let (in_flight, limited) = (self.queues.waited_with, self.queues.waited_for_time);
            self.meter.round(self.queues.now, Whereabouts { in_flight, digesting, limited }, self.tally);
            // Writes go out by ascending offset within a round, whatever order their reads finished in.
            done.sort_unstable_by_key(|completion| completion.request.ticket);
            let other_bytes = self.totals.zeroed_bytes + self.totals.hole_bytes;
            done.drain(..).for_each(|completion| self.advance(completion));
            if self.totals.zeroed_bytes + self.totals.hole_bytes != other_bytes {
                governor.disturbed(self.meter.elapsed(), self.totals.written_bytes);
            }
            if change.is_none() {
                change = governor.observe(self.meter.elapsed(), self.totals.written_bytes);
            }
        }
    }

    fn use_buffers(&mut self, buffers: Vec<Buffer>) {
        let extent = Extent::new(0, 0);
        let slot = Slot { extent, zero: false, digesting: false };
        self.slots = vec![slot; buffers.len()];
        self.free = (0..buffers.len() as u32).rev().collect();
        self.idle = buffers;
        self.tally.block_bytes.store(self.pair.block_bytes, Relaxed);
        self.tally.depth.store(self.pair.depth, Relaxed);
    }

    /// Goes on with another block size and depth. Nothing is in flight.
    fn repace(&mut self, pair: Pair, governor: &mut Governor, arena: &Arc<Arena>) {
        self.pair = pair;
        self.idle.clear();
        let buffers = arena.carve(pair.block_bytes, pair.depth);
        self.queues.paced(pair.depth, arena);
        self.use_buffers(buffers);
        governor.resumed(self.totals.written_bytes);
        let Pair { block_bytes, depth } = pair;
        self.observer.hear(&Event::Paced { block_bytes, depth, because: governor.taken_because() });
    }

    /// Nothing new is to be begun.
    fn ending(&self) -> bool {
        self.failure.is_some() || self.stop.asked().is_some()
    }

    /// Begins blocks as long as there are slots.
    fn feed(&mut self) {
        while !self.finished && !self.free.is_empty() && !self.ending() {
            match self.schedule.next(self.pair.block_bytes) {
                Ok(Next::Do(run)) => self.begin(run),
                Ok(Next::Wait) => return,
                Ok(Next::Finished) => self.finished = true,
                Err(source) => {
                    let what = format!("cannot find the holes of source {}", self.plan.source.address);
                    let error = Error::new(Kind::Io, what).on(Side::Source).because(source);
                    let error = error.advise("Copy it with --sparse never, which reads everything.");
                    self.failure = Some(Failure { error, ticket: self.next_ticket, reading: None });
                }
            }
        }
    }

    fn begin(&mut self, run: Run) {
        let slot = self.free.pop().expect("checked by the caller");
        let buffer = self.idle.pop().expect("a buffer for every slot");
        let (ticket, zero) = (self.next_ticket, run.kind == RunKind::Zero);
        self.next_ticket += 1;
        self.in_hand += 1;
        self.slots[slot as usize] = Slot { extent: run.extent, zero, digesting: false };
        let offset = self.plan.source.offset + run.extent.offset;
        let len = u32::try_from(run.extent.len).expect("a schedule's runs fit in 32 bits");
        let (side, op) = (Side::Source, Op::Read);
        let mut request = Request { slot, ticket, side, op, offset, len, done: 0, until: len, buffer };
        if zero {
            self.queues.pass(Side::Source, ticket);
            if self.plan.zeros == Zeros::Write {
                request.buffer.bytes_mut()[..len as usize].fill(0);
            }
            self.start_writing(request);
        } else {
            self.queues.submit(request);
        }
    }

    /// Takes a block whose request came back to where it goes next.
    fn advance(&mut self, completion: Completion) {
        let Completion { mut request, result } = completion;
        let slot = self.slots[request.slot as usize];
        if slot.digesting {
            self.retire(request);
            return;
        }
        self.meter.completed(request.side, self.queues.sent_at(request.slot));
        match (result, request.op) {
            // A signal, or no memory for the request just then: nothing has happened.
            (Err(error), _) if matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN)) => {
                self.queues.submit_again(request);
            }
            (Err(error), op) => match (self.tried_alone(&mut request, error), op) {
                (Err(error), _) => self.failed(request, error),
                (Ok(moved), Op::Read) => self.was_read(request, moved),
                (Ok(moved), _) => self.was_written(request, moved),
            },
            (Ok(moved), Op::Read) => self.was_read(request, moved),
            (Ok(moved), Op::Write | Op::Zero) => self.was_written(request, moved),
        }
    }

    fn was_read(&mut self, mut request: Request, moved: u32) {
        self.totals.read_requests += 1;
        self.totals.read_bytes += u64::from(moved);
        self.tally.read_bytes.fetch_add(u64::from(moved), Relaxed);
        request.done += moved;
        if moved == 0 {
            self.source_ended(request);
        } else if request.done < request.len {
            self.queues.submit(request);
        } else {
            self.queues.pass(Side::Source, request.ticket);
            self.start_writing(request);
        }
    }

    /// A read gave nothing: the end of a stream, and an error for everything that had a size.
    fn source_ended(&mut self, request: Request) {
        let source = &self.ends[Side::Source.index()];
        if source.facts().size.is_some() {
            self.failed(request, io::Error::from(io::ErrorKind::UnexpectedEof));
            return;
        }
        let end = self.slots[request.slot as usize].extent.offset + u64::from(request.done);
        self.schedule.ends_at(end);
        self.finished = true;
        self.ended_short = self.plan.len.is_some();
        // Reads that wait for their turn on the stream would only hear the same.
        let mut never = Vec::new();
        self.queues.recall(Side::Source, &mut never);
        never.into_iter().for_each(|request| self.retire(request));
        self.write_what_came(request);
    }

    /// Goes on with the part of a block that has been read; there will be no more of it.
    fn write_what_came(&mut self, mut request: Request) {
        if request.done == 0 {
            self.retire(request);
            return;
        }
        request.len = request.done;
        self.slots[request.slot as usize].extent.len = u64::from(request.len);
        self.queues.pass(Side::Source, request.ticket);
        self.start_writing(request);
    }

    /// All of a block has arrived.
    pub(super) fn arrived(&mut self, mut request: Request) {
        let slot = &mut self.slots[request.slot as usize];
        slot.digesting = true;
        let (extent, zero) = (slot.extent, slot.zero);
        self.queues.pass(Side::Dest, request.ticket);
        self.schedule.settled(extent);
        if self.plan.hashes.is_empty() {
            self.retire(request);
        } else {
            request.op = if zero { Op::Zero } else { Op::Write };
            self.queues.digest(request);
        }
    }

    /// The block layer merges neighbours into one request and, if it fails, fails all of them. A block that went direct
    /// is tried once more alone, so that only the bad one is blamed and those before it arrive.
    fn tried_alone(&mut self, request: &mut Request, source: io::Error) -> io::Result<u32> {
        let side = self.plan.side(request.side);
        let end = &self.ends[request.side.index()];
        let worth_it = side.access.cache == Cache::Direct && request.op != Op::Zero && !self.ending();
        // What has no number did not come from the kernel: the call was never made, for want of a thread.
        let worth_it = worth_it && source.raw_os_error().is_some();
        if !worth_it || end.diagnose(request.op, request.at(), &source) != Kind::Io {
            return Err(source);
        }
        let moved = end.perform(request)?;
        self.alone += u64::from(moved > 0);
        Ok(moved)
    }

    pub(super) fn failed(&mut self, request: Request, source: io::Error) {
        let cancelled = source.raw_os_error() == Some(libc::ECANCELED);
        if cancelled && self.ending() {
            if request.op == Op::Read && self.failure.is_none() {
                self.write_what_came(request);
            } else {
                // Those behind it are let through to be cancelled too: nothing else would ever let them go.
                self.queues.pass(request.side, request.ticket);
                self.retire(request);
            }
            return;
        }
        let Request { side, op, ticket, .. } = request;
        let end = &self.ends[side.index()];
        let kind = end.diagnose(op, request.at(), &source);
        let address = &end.facts().address;
        let said = DeviceError::of(&source).cloned();
        let place = said.as_ref().and_then(|said| said.offset);
        let error = Error::of_request(kind, op, side, address, place.unwrap_or(request.at()), source)
            .in_sectors_of(end.facts().logical_block_bytes)
            .advise(said.map_or("", |said| said.advice));
        let reading = (op == Op::Read && place.is_none()).then(|| Extent::new(request.at(), u64::from(request.left())));
        if self.failure.as_ref().is_none_or(|first| ticket < first.ticket) {
            self.failure = Some(Failure { error, ticket, reading });
        }
        self.retire(request);
        // A read that waits for somebody else's bytes would keep us from ending.
        self.ends[Side::Source.index()].cancel();
    }

    /// On the way out: gives up what has not started, but brings home the blocks ahead of the one that failed.
    fn call_back(&mut self, done: &mut Vec<Completion>) {
        let limit = self.failure.as_ref().map(|failure| failure.ticket);
        for side in Side::BOTH {
            let mut back = Vec::new();
            self.queues.recall(side, &mut back);
            for request in back {
                let goes_on = match limit {
                    Some(failed) => request.ticket < failed,
                    None => side == Side::Dest,
                };
                if goes_on {
                    self.queues.submit(request);
                } else {
                    self.retire(request);
                }
            }
        }
        if limit.is_some() {
            self.queues.recall_digests(done);
        }
    }

    /// Whether a block whose read is done is still to be written.
    pub(super) fn may_write(&self, request: &Request) -> bool {
        self.failure.as_ref().is_none_or(|failure| request.ticket < failure.ticket)
    }

    pub(super) fn retire(&mut self, request: Request) {
        self.free.push(request.slot);
        self.idle.push(request.buffer);
        self.in_hand -= 1;
    }

    /// Closes the queues, which waits for what is in flight, and gives up the buffers.
    pub(super) fn close(self) -> (Option<Failure>, Meter) {
        let Pump { failure, meter, queues, idle, .. } = self;
        drop(queues);
        drop(idle);
        (failure, meter)
    }

    /// Bytes that may be claimed.
    pub(super) fn claimed(&self) -> Extent {
        self.schedule.claimed()
    }
}
