//! The copy loop.
mod alone;
mod checkpoints;
mod comparing;
mod delta;
mod failing;
mod feeding;
mod locate_bad_block;
mod memory_check;
mod pacing;
mod recover_from_dest;
mod reread;
mod source_end;
mod unreadable;
mod writing;

use crate::core::{
    Completion, Endpoint, Error, Extent, Limits, MemoryCheck, Op, Plan, Pool, Request, Route, Schedule, Side, Totals,
    Transferred, Unread,
};
use crate::engine::alone::AloneRetries;
use crate::engine::bad_block_search::BadBlockSearch;
use crate::engine::checkpoints::Checkpoints;
use crate::engine::comparing::Comparing;
use crate::engine::locate_bad_block::Suspect;
use crate::engine::meter::{Meter, RoundState};
use crate::engine::queues::Queues;
use crate::engine::recover_from_dest::DestRecovery;
use crate::engine::valves::{Governor, Round};
use crate::engine::watch::Watch;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A block on its way.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Slot {
    /// Which bytes, counted from the first byte of the copy.
    pub(in crate::engine) extent: Extent,
    /// They are known to be zeros and were not read.
    pub(in crate::engine) zero: bool,
    /// An earlier run copied them: they are digested and not written.
    pub(in crate::engine) reread: bool,
    /// It has been everywhere but at the digests.
    digesting: bool,
    /// Of its bytes as they were read; `None`: they are not checked.
    fingerprint: Option<u128>,
    /// How it is read, once a read of it has failed.
    pub(in crate::engine) around: BadBlockSearch,
}

impl Slot {
    /// A block of data.
    pub(in crate::engine) fn of(extent: Extent) -> Self {
        let around = BadBlockSearch::default();
        Slot { extent, zero: false, reread: false, digesting: false, fingerprint: None, around }
    }
}

/// Why the copy cannot go on.
pub(in crate::engine) struct CopyFailure {
    pub(in crate::engine) error: Error,
    /// The block it happened to; those ahead of it are still brought home.
    pub(in crate::engine) ticket: u64,
    /// A signal asked for the end while a bad place was examined: that is no failure.
    pub(in crate::engine) by_signal: bool,
}

/// Moves blocks from source to dest until the schedule has no more. Every round: feed, hand over, wait, advance.
pub(in crate::engine) struct Pump<'a> {
    pub(in crate::engine) plan: &'a Plan,
    pub(in crate::engine) ends: &'a [Arc<dyn Endpoint>; 2],
    pub(in crate::engine) schedule: &'a mut dyn Schedule,
    pub(in crate::engine) watch: Watch<'a>,
    pub(in crate::engine) queues: Queues,
    pub(in crate::engine) checkpoints: Option<Checkpoints>,
    pub(in crate::engine) slots: Vec<Slot>,
    pub(in crate::engine) free: Vec<u32>,
    pool: Pool,
    /// Blocks on their way.
    pub(in crate::engine) in_hand: u32,
    pub(in crate::engine) comparing: Comparing,
    pub(in crate::engine) unread: [Unread; 2],
    /// What it keeps to.
    pub(in crate::engine) limits: Limits,
    /// In bursts: the turn is the dest's.
    writing: bool,
    /// What came in the present round, for the governor.
    round: Round,
    next_ticket: u64,
    finished: bool,
    pub(in crate::engine) failure: Option<CopyFailure>,
    /// Of the blocks that were given up on the way out, the first: none behind it is written.
    pub(in crate::engine) given_up: u64,
    pub(in crate::engine) totals: Totals,
    /// Bytes of blocks that the dest has, those included that were only read again.
    pub(in crate::engine) done_bytes: u64,
    pub(in crate::engine) meter: Meter,
    /// Blocks of which the dest could not be read, and which were therefore written.
    pub(in crate::engine) unreadable_dest: u64,
    /// Blocks that failed beside others.
    pub(in crate::engine) alone: AloneRetries,
    /// Bad places of the source that the dest has the bytes of.
    pub(in crate::engine) recovery: Option<DestRecovery>,
    /// The block whose read ended the copy.
    pub(in crate::engine) suspect: Suspect,
    /// The stream ended before the count was reached.
    pub(in crate::engine) ended_short: bool,
    /// Whether blocks stay the same in memory, where that is examined.
    pub(in crate::engine) memory_check: Option<MemoryCheck>,
}

impl<'a> Pump<'a> {
    /// A pump at the pace that the plan begins with. Checkpoints are added where there are any.
    pub(in crate::engine) fn new(
        plan: &'a Plan,
        ends: &'a [Arc<dyn Endpoint>; 2],
        schedule: &'a mut dyn Schedule,
        watch: Watch<'a>,
        queues: Queues,
        pool: Pool,
    ) -> Self {
        let blocks = pool.blocks_max();
        let comparing = Comparing::new(plan, ends[Side::Dest.index()].facts(), blocks as usize);
        Pump {
            plan,
            ends,
            schedule,
            watch,
            queues,
            checkpoints: None,
            slots: vec![Slot::of(Extent::new(0, 0)); blocks as usize],
            free: (0..blocks).rev().collect(),
            pool,
            in_hand: 0,
            comparing,
            unread: ends
                .each_ref()
                .map(|end| Unread { sector_bytes: end.facts().logical_block_bytes.max(512), ..Unread::default() }),
            limits: plan.tuning.limits,
            writing: false,
            round: Round::default(),
            next_ticket: 0,
            finished: false,
            failure: None,
            given_up: u64::MAX,
            totals: Totals::default(),
            done_bytes: 0,
            meter: Meter::start(),
            alone: AloneRetries::new(blocks as usize),
            recovery: None,
            suspect: Suspect::default(),
            unreadable_dest: 0,
            ended_short: false,
            memory_check: plan.checks_memory.then(MemoryCheck::default),
        }
    }

    /// Pumps until there is no more, something failed, or the stop was asked for. Nothing is in flight when it
    /// returns; should the queues themselves fail, dropping them sees to that.
    pub(in crate::engine) fn run(&mut self, governor: &mut Governor) -> io::Result<()> {
        self.keep_to(governor.limits());
        let mut done: Vec<Completion> = Vec::with_capacity(self.slots.len());
        loop {
            self.feed();
            self.take_turns();
            if self.in_hand == 0 {
                if self.finished || self.ending() {
                    return Ok(());
                }
                return Err(io::Error::other("the schedule waits for a block that is not on its way"));
            }
            if self.ending() {
                self.cancel_queued();
                if self.in_hand == 0 {
                    continue;
                }
            }
            let recovering = self.recovery.as_ref().map_or(0, DestRecovery::waiting);
            let aside = self.alone.waiting() + self.suspect.waiting() + recovering;
            let digesting = self.in_hand - self.queues.in_hand() - aside;
            if done.is_empty() {
                self.queues.poll(&mut done)?;
            }
            let (in_flight, limited) = (self.queues.waited_with, self.queues.waited_for_time);
            self.meter.round(self.queues.now, RoundState { in_flight, digesting, limited }, self.watch.tally);
            self.queues.report_digested(self.watch.observer);
            // Writes go out by ascending offset within a round, whatever order their reads finished in.
            done.sort_unstable_by_key(|completion| completion.request.ticket);
            let other_bytes = self.totals.other_bytes();
            self.round = Round { in_flight, disturbed: limited, ..Round::default() };
            done.drain(..).for_each(|completion| self.advance(completion));
            self.round.disturbed |= self.totals.other_bytes() != other_bytes;
            self.checkpoint();
            self.govern(governor);
        }
    }

    /// Nothing new is to be begun.
    pub(in crate::engine) fn ending(&self) -> bool {
        self.failure.is_some() || self.stop_asked()
    }

    /// A signal has asked for the end.
    pub(in crate::engine) fn stop_asked(&self) -> bool {
        self.watch.stop.is_asked()
    }

    /// Turns a block whose bytes are there, or need not be read, towards the dest.
    pub(in crate::engine) fn on_block_ready(&mut self, request: Request) {
        if self.slots[request.slot as usize].reread {
            self.on_reread(request);
            return;
        }
        self.take_fingerprint(&request);
        match self.plan.route {
            Route::Copy => self.start_writing(request),
            Route::Compare { .. } => self.start_comparing(request),
            Route::Delta { .. } => self.start_delta(request),
            Route::ReadBack => self.on_block_done(request),
        }
    }

    /// Takes a block whose request came back to where it goes next.
    fn advance(&mut self, completion: Completion) {
        let slot = completion.request.slot;
        if self.slots[slot as usize].digesting {
            self.retire(completion.request);
            return;
        }
        if self.suspect.is_searched() {
            self.on_suspect_read(completion);
            return;
        }
        if self.alone.is_retrying(slot) {
            self.on_retried_alone(completion);
            return;
        }
        if self.recovery.as_ref().is_some_and(|recovery| recovery.reads_for(slot)) {
            self.on_recovery_read(completion);
            return;
        }
        let Completion { request, result } = completion;
        self.meter.completed(request.side, self.queues.took(request.slot));
        self.count(&request, &result);
        match result {
            Transferred::Moved(moved) if request.op == Op::Read => self.on_read(request, moved),
            Transferred::Moved(moved) => self.on_write(request, moved),
            Transferred::Retry => self.queues.submit_again(request),
            Transferred::Failed(error) if self.should_salvage(&request, &error) => self.retry_smaller(request, error),
            Transferred::Failed(error) if self.may_retry_alone(&request, &error) => self.retry_alone(request, error),
            Transferred::Failed(error) => self.failed(request, error),
        }
    }

    pub(in crate::engine) fn on_read(&mut self, mut request: Request, moved: u32) {
        if request.side == Side::Dest {
            self.on_dest_read(request, moved);
            return;
        }
        self.totals.read_requests += 1;
        self.totals.read_bytes += u64::from(moved);
        self.watch.tally.read_bytes.fetch_add(u64::from(moved), Relaxed);
        request.done += moved;
        if moved == 0 {
            self.source_ended(request);
        } else if request.done < request.len {
            self.submit_rest(request);
        } else {
            self.all_read(request);
        }
    }

    /// A block has been read to its end.
    pub(in crate::engine) fn all_read(&mut self, request: Request) {
        if request.side == Side::Dest {
            self.on_both_read(request);
            return;
        }
        self.queues.release_ticket(Side::Source, request.ticket);
        self.on_block_ready(request);
    }

    /// All of a block has arrived.
    pub(in crate::engine) fn on_block_done(&mut self, request: Request) {
        if self.has_changed(&request) {
            self.fail_changed(request);
            return;
        }
        let extent = self.slots[request.slot as usize].extent;
        self.schedule.settled(extent);
        if let Some(checkpoints) = &mut self.checkpoints {
            checkpoints.on_block_done(extent, &self.unread[Side::Source.index()].runs, self.plan.source.offset);
        }
        self.digest(request);
    }

    /// The dest has the block: what is left is to digest it, where that is asked for.
    pub(in crate::engine) fn digest(&mut self, mut request: Request) {
        let slot = &mut self.slots[request.slot as usize];
        slot.digesting = true;
        let (extent, zero) = (slot.extent, slot.zero);
        self.done_bytes += extent.len;
        self.queues.release_ticket(Side::Dest, request.ticket);
        if self.queues.digests() {
            request.op = if zero { Op::Zero } else { Op::Write };
            // For the digests of blocks, which may have the extents of only a part of the copy.
            request.offset = extent.offset;
            self.queues.digest(request);
        } else {
            self.retire(request);
        }
    }

    /// Whether a block whose read is done is still to be written.
    pub(in crate::engine) fn may_write(&self, request: &Request) -> bool {
        let failed = self.failure.as_ref().map_or(u64::MAX, |failure| failure.ticket);
        request.ticket < failed.min(self.given_up)
    }

    /// The source is taken to end at `end` of the copy: nothing behind it is begun.
    pub(in crate::engine) fn end_at(&mut self, end: u64) {
        self.schedule.ends_at(end);
        self.finished = true;
    }

    /// Closes the queues, which waits for what is in flight.
    pub(in crate::engine) fn close(self) -> (Option<CopyFailure>, Meter) {
        let Pump { failure, meter, queues, .. } = self;
        drop(queues);
        (failure, meter)
    }

    /// Bytes that may be claimed.
    pub(in crate::engine) fn claimed(&self) -> Extent {
        self.schedule.claimed()
    }
}
