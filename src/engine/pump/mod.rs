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
mod range_checks;
mod read_results;
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
use crate::engine::delta_method::DeltaMethod;
use crate::engine::locate_bad_block::Suspect;
use crate::engine::meter::{Meter, RoundState};
use crate::engine::queues::Queues;
use crate::engine::recover_from_dest::DestRecovery;
use crate::engine::valves::{Governor, Round};
use crate::engine::watch::Watch;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

/// Time between two questions to a schedule that is paused.
const PAUSE: Duration = Duration::from_millis(100);

/// A block in progress.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Slot {
    /// Extent in the copy.
    pub(in crate::engine) extent: Extent,
    /// Whether it is a zero run that was not read.
    pub(in crate::engine) zero: bool,
    /// Whether an earlier run copied it: it is digested and not written.
    pub(in crate::engine) reread: bool,
    /// On the route Delta, the batch of blocks that it is measured with.
    pub(in crate::engine) batch: Option<u64>,
    /// Whether any of it was written.
    pub(in crate::engine) is_written: bool,
    /// Whether only its digests are left to compute.
    digesting: bool,
    /// Fingerprint of the bytes that were read; `None` if they are not checked.
    fingerprint: Option<u128>,
    /// State of the search for bad logical blocks, after a read failed.
    pub(in crate::engine) around: BadBlockSearch,
}

impl Slot {
    /// A block of data.
    pub(in crate::engine) fn of(extent: Extent) -> Self {
        let around = BadBlockSearch::default();
        let (zero, reread, is_written, digesting) = (false, false, false, false);
        Slot { extent, zero, reread, batch: None, is_written, digesting, fingerprint: None, around }
    }
}

/// Why the copy cannot continue.
pub(in crate::engine) struct CopyFailure {
    pub(in crate::engine) error: Error,
    /// Ticket of the failed block; blocks before it are still completed.
    pub(in crate::engine) ticket: u64,
    /// Whether a signal requested the end during the search for a bad block: that is not a failure.
    pub(in crate::engine) by_signal: bool,
}

/// Moves blocks from source to dest until the schedule is exhausted. Every round: feed, flush, wait, advance.
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
    /// Number of blocks in progress.
    pub(in crate::engine) in_hand: u32,
    pub(in crate::engine) comparing: Comparing,
    /// How blocks of the route Delta are written.
    pub(in crate::engine) delta: DeltaMethod,
    pub(in crate::engine) unread: [Unread; 2],
    /// The current limits.
    pub(in crate::engine) limits: Limits,
    /// In bursts: whether it is the dest's turn.
    writing: bool,
    /// What completed in the current round, for the governor.
    round: Round,
    next_ticket: u64,
    finished: bool,
    pub(in crate::engine) failure: Option<CopyFailure>,
    /// Ticket of the first block that was abandoned when the run ended: no later block is written.
    pub(in crate::engine) abandoned_from: u64,
    pub(in crate::engine) totals: Totals,
    /// Bytes of finished blocks, including those that were only read again.
    pub(in crate::engine) done_bytes: u64,
    pub(in crate::engine) meter: Meter,
    /// Number of blocks that were written because the dest could not be read.
    pub(in crate::engine) unreadable_dest: u64,
    /// Blocks to retry alone.
    pub(in crate::engine) alone: AloneRetries,
    /// Unreadable places of the source whose bytes the dest has.
    pub(in crate::engine) recovery: Option<DestRecovery>,
    /// The block whose failed read ended the copy.
    pub(in crate::engine) suspect: Suspect,
    /// Whether the stream ended before `--count` was reached.
    pub(in crate::engine) ended_short: bool,
    /// The result of the memory check, if requested.
    pub(in crate::engine) memory_check: Option<MemoryCheck>,
    /// Whether the schedule depends on the result of each read.
    reports_reads: bool,
}

impl<'a> Pump<'a> {
    /// A pump with the initial limits of the plan. Checkpoints are added later.
    pub(in crate::engine) fn new(
        plan: &'a Plan,
        ends: &'a [Arc<dyn Endpoint>; 2],
        schedule: &'a mut dyn Schedule,
        watch: Watch<'a>,
        queues: Queues,
        pool: Pool,
    ) -> Self {
        let blocks = pool.blocks_max();
        let reports_reads = schedule.depends_on_results();
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
            delta: DeltaMethod::of(plan),
            unread: ends
                .each_ref()
                .map(|end| Unread { sector_bytes: end.facts().logical_block_bytes.max(512), ..Unread::default() }),
            limits: plan.tuning.limits,
            writing: false,
            round: Round::default(),
            next_ticket: 0,
            finished: false,
            failure: None,
            abandoned_from: u64::MAX,
            totals: Totals::default(),
            done_bytes: 0,
            meter: Meter::start(),
            alone: AloneRetries::new(blocks as usize),
            recovery: None,
            suspect: Suspect::default(),
            unreadable_dest: 0,
            ended_short: false,
            memory_check: plan.checks_memory.then(MemoryCheck::default),
            reports_reads,
        }
    }

    /// Pumps until the schedule is exhausted, a block failed, or a stop was requested. Nothing is in flight when it
    /// returns, except after an error of the queues, which drain when they are dropped.
    pub(in crate::engine) fn run(&mut self, governor: &mut Governor) -> io::Result<()> {
        self.keep_to(governor.limits());
        let mut done: Vec<Completion> = Vec::with_capacity(self.slots.len());
        loop {
            self.check_ranges();
            self.feed();
            self.take_turns();
            if self.in_hand == 0 {
                if self.finished || self.ending() {
                    return Ok(());
                }
                if self.schedule.is_paused() {
                    self.checkpoint();
                    thread::sleep(PAUSE);
                    continue;
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
            // Within a round, submit writes by ascending offset, regardless of the order in which their reads
            // completed.
            done.sort_unstable_by_key(|completion| completion.request.ticket);
            let other_bytes = self.totals.other_bytes();
            self.round = Round { in_flight, disturbed: limited, ..Round::default() };
            done.drain(..).for_each(|completion| self.advance(completion));
            self.round.disturbed |= self.totals.other_bytes() != other_bytes;
            self.checkpoint();
            self.govern(governor);
        }
    }

    /// Whether no new blocks may be started.
    pub(in crate::engine) fn ending(&self) -> bool {
        self.failure.is_some() || self.stop_requested()
    }

    /// Whether a stop was requested.
    pub(in crate::engine) fn stop_requested(&self) -> bool {
        self.watch.stop.is_requested()
    }

    /// Passes on a block whose bytes were read, or need not be read.
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

    /// Passes a completed request on to the next step of its block.
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
            Transferred::Failed(error) if self.reports_failure(&request, &error) => {
                self.report_failure(request, &error)
            }
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
        self.watch.tally.note_parts(Side::Source, &*self.ends[Side::Source.index()]);
        request.done += moved;
        if moved == 0 {
            self.source_ended(request);
        } else if request.done < request.len {
            self.submit_rest(request);
        } else {
            self.all_read(request);
        }
    }

    /// Called when all of a block was read.
    pub(in crate::engine) fn all_read(&mut self, request: Request) {
        if request.side == Side::Dest {
            self.on_both_read(request);
            return;
        }
        if self.reports_reads {
            self.report_read(&request);
        }
        self.queues.release_ticket(Side::Source, request.ticket);
        self.on_block_ready(request);
    }

    /// Called when all of a block was written or compared.
    pub(in crate::engine) fn on_block_done(&mut self, request: Request) {
        if self.has_changed(&request) {
            self.fail_changed(request);
            return;
        }
        self.measure_method(&request);
        let extent = self.slots[request.slot as usize].extent;
        self.schedule.complete(extent);
        if let Some(checkpoints) = &mut self.checkpoints {
            let on_source = self.plan.source.map.at(extent.offset);
            checkpoints.on_block_done(extent, &self.unread[Side::Source.index()].runs, on_source);
        }
        self.digest(request);
    }

    /// Digests a finished block, if requested.
    pub(in crate::engine) fn digest(&mut self, mut request: Request) {
        let slot = &mut self.slots[request.slot as usize];
        slot.digesting = true;
        let (extent, zero) = (slot.extent, slot.zero);
        self.done_bytes += extent.len;
        self.queues.release_ticket(Side::Dest, request.ticket);
        if self.queues.digests() {
            request.op = if zero { Op::Zero } else { Op::Write };
            // The digests need offsets in the copy; block extents may cover only a part of it.
            request.offset = extent.offset;
            self.queues.digest(request);
        } else {
            self.retire(request);
        }
    }

    /// Whether a block that was read may still be written.
    pub(in crate::engine) fn may_write(&self, request: &Request) -> bool {
        request.ticket < self.first_missing_ticket()
    }

    /// The ticket of the first block that failed or was abandoned: only blocks before it complete.
    pub(in crate::engine) fn first_missing_ticket(&self) -> u64 {
        self.failure.as_ref().map_or(u64::MAX, |failure| failure.ticket).min(self.abandoned_from)
    }

    /// Ends the source at offset `end` of the copy: no block past it is started.
    pub(in crate::engine) fn end_at(&mut self, end: u64) {
        self.schedule.ends_at(end);
        self.finished = true;
    }

    /// Closes the queues, which waits for requests in flight.
    pub(in crate::engine) fn close(self) -> (Option<CopyFailure>, Meter) {
        let Pump { failure, meter, queues, .. } = self;
        drop(queues);
        (failure, meter)
    }

    /// The contiguous extent that was copied.
    pub(in crate::engine) fn claimed(&self) -> Extent {
        self.schedule.claimed()
    }

    /// The smallest length of the dest, whatever was copied.
    pub(in crate::engine) fn dest_len_min(&self) -> u64 {
        self.schedule.dest_len_min()
    }
}
