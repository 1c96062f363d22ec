//! Executes a plan: memory, queues, the pump, the end of the dest, flushing.
use super::checkpoints::Checkpoints;
use super::engine_error::engine_error;
use super::meter::Meter;
use super::offload::{OffloadResult, Offloaded, by_device, reflink, refusal_note};
use super::pump::Pump;
use super::queues::Queues;
use super::recover_from_dest::DestRecovery;
use super::valves::{Governor, Start};
use super::watch::Watch;
use crate::core::{
    CheckpointPlan, Differences, Ended, Endpoint, EngineKind, Error, Event, Extent, Kind, MemoryCheck, Op, Outcome,
    Pace, Phase, Plan, Pool, RequestError, Result, Schedule, Side, SideReport, Totals, Unread, Usage, byte_count,
};
use crate::sys;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Maximum memory that is made resident before the first block, in bytes.
const READY_BYTES_MAX: u64 = 16 << 20;

/// Both open sides, by [`Side::index`].
pub type Endpoints = [Arc<dyn Endpoint>; 2];

/// Executes the plan and reports the outcome. `schedule` must belong to this plan.
///
/// Nothing is in flight when it returns, whatever the outcome.
pub fn run(plan: &Plan, ends: &Endpoints, schedule: &mut dyn Schedule, watch: Watch<'_>) -> Outcome {
    run_keeping(plan, ends, schedule, watch, None)
}

/// The same with checkpoints, which are recorded in `keeping`. `schedule` must omit the bytes that are already durable.
pub fn run_keeping(
    plan: &Plan,
    ends: &Endpoints,
    schedule: &mut dyn Schedule,
    watch: Watch<'_>,
    keeping: Option<CheckpointPlan>,
) -> Outcome {
    let cached_before = ends.each_ref().map(cached_bytes);
    let mut run = Run::new(plan, ends, watch);
    if let Some(keeping) = keeping {
        // Bytes that are read again are counted as they are read.
        let is_read = !plan.hashes.is_empty();
        let already_bytes = if is_read { &keeping.digested } else { &keeping.already }.total_bytes();
        watch.tally.already_bytes.store(already_bytes, Relaxed);
        run.checkpoints = Some(Checkpoints::new(keeping, &ends[Side::Dest.index()], Instant::now()));
    }
    watch.begin(Phase::Copying);
    let mut meter = Meter::start();
    match run.offload() {
        Ok(true) => {}
        Ok(false) => {
            if let Some(pumped) = run.pump(schedule) {
                meter = pumped;
            }
        }
        Err(error) => run.ended = Ended::Failed(Box::new(error)),
    }
    if let (Ended::Complete, Some(ending), true) = (&run.ended, watch.stop.ending(), run.is_incomplete()) {
        run.ended = ending;
    }
    let before_flush = meter.elapsed_now();
    run.finish();
    watch.begin(Phase::Ended);
    let elapsed = meter.elapsed_now();
    let flushing = if plan.durable { elapsed.saturating_sub(before_flush) } else { Duration::ZERO };
    if let Ended::Failed(error) = &run.ended {
        watch.observer.on_event(&Event::Failed(error));
    }
    run.into_outcome(&meter, cached_before, elapsed, flushing)
}

/// Bytes of this side in the page cache, if known.
fn cached_bytes(end: &Arc<dyn Endpoint>) -> Option<u64> {
    end.descriptor().and_then(sys::page_cache::cached_bytes)
}

/// A run in progress and its results so far.
pub(super) struct Run<'a> {
    pub(super) plan: &'a Plan,
    pub(super) ends: &'a Endpoints,
    pub(super) watch: Watch<'a>,
    pub(super) engine: EngineKind,
    detail: Vec<String>,
    pub(super) notes: Vec<String>,
    fallbacks: Vec<String>,
    pub(super) ended: Ended,
    pub(super) totals: Totals,
    /// Bytes of finished blocks.
    done_bytes: u64,
    pub(super) claimed: Extent,
    /// The smallest length of the dest, whatever was copied.
    pub(super) dest_len_min: u64,
    pub(super) digests: Vec<crate::core::Digest>,
    pace: Pace,
    pub(super) durable: bool,
    /// Allocating the dest failed; nothing has changed on it.
    pub(super) has_no_space: bool,
    differences: Option<Differences>,
    pub(super) checkpoints: Option<Checkpoints>,
    pub(super) unread: [Unread; 2],
    memory_check: Option<MemoryCheck>,
}

impl<'a> Run<'a> {
    fn new(plan: &'a Plan, ends: &'a Endpoints, watch: Watch<'a>) -> Self {
        Run {
            plan,
            ends,
            watch,
            engine: plan.engine,
            detail: Vec::new(),
            notes: Vec::new(),
            fallbacks: Vec::new(),
            ended: Ended::Complete,
            totals: Totals::default(),
            done_bytes: 0,
            claimed: Extent::new(0, 0),
            dest_len_min: 0,
            digests: Vec::new(),
            pace: Pace::default(),
            durable: false,
            has_no_space: false,
            differences: None,
            checkpoints: None,
            unread: [Unread::default(), Unread::default()],
            memory_check: None,
        }
    }

    fn fall_back(&mut self, note: String) {
        self.watch.observer.on_event(&Event::FellBack(&note));
        self.fallbacks.push(note);
    }

    /// Copies by the file system or the device, if planned. False if the bytes have to be transferred.
    fn offload(&mut self) -> Result<bool> {
        match self.plan.engine {
            EngineKind::Reflink => self.share(),
            EngineKind::Offload => self.copy_by_device(),
            EngineKind::Ring | EngineKind::Threads | EngineKind::Sync => Ok(false),
        }
    }

    fn copy_by_device(&mut self) -> Result<bool> {
        let dest = &self.ends[Side::Dest.index()];
        let OffloadResult { bytes, failed } = by_device(self.plan, dest, self.watch);
        let refused = failed.as_ref().filter(|_| bytes == 0).and_then(refusal_note);
        if let (Some(note), Some(instead)) = (refused, self.plan.engine_instead) {
            self.watch.observer.on_event(&Event::FellBack(&note));
            // The user requested it, so the fallback is reported.
            self.notes.push(note);
            self.engine = instead;
            return Ok(false);
        }
        self.totals.offloaded_bytes = bytes;
        self.claimed = Extent::new(0, bytes);
        self.pace.because = "offloaded: the device copied the data".to_owned();
        let Some(source) = failed else { return Ok(true) };
        let offset = self.plan.dest.map.at(bytes);
        let error = RequestError::of(&**dest, Op::Write, offset, source);
        Err(error
            .into_error(dest.facts(), Op::Write, Side::Dest, offset)
            .advise("The offloaded copy failed while reading or writing; omit --offload to see which."))
    }

    fn share(&mut self) -> Result<bool> {
        match (reflink(self.plan, self.ends), self.plan.engine_instead) {
            (Offloaded::Done(extent), _) => {
                self.claimed = extent;
                self.totals.shared_bytes = extent.len;
                self.pace.because = "the file system shares the extents".to_owned();
                Ok(true)
            }
            // Expected on file systems without shared extents: not reported.
            (Offloaded::Refused(_), Some(instead)) => {
                self.engine = instead;
                Ok(false)
            }
            (Offloaded::Refused(source), None) => {
                let dest = &self.plan.dest.address;
                let what =
                    format!("cannot share the extents of source {} with destination {dest}", self.plan.source.address);
                let error = Error::new(Kind::Unsupported, what).on(Side::Dest).because(source);
                Err(error.advise(
                    "Both must be files of one file system that supports shared extents. Otherwise omit --reflink \
                     always.",
                ))
            }
        }
    }

    /// Whether something is missing on the dest, or in the digests of all data.
    fn is_incomplete(&self) -> bool {
        let undigested = || self.plan.len.is_some_and(|total| self.done_bytes < total);
        self.plan.len.is_none_or(|len| self.claimed.len < len) || !self.plan.hashes.is_empty() && undigested()
    }

    /// Transfers the bytes. `None` if it failed before the first request.
    fn pump(&mut self, schedule: &mut dyn Schedule) -> Option<Meter> {
        let (ends, plan) = (self.ends, self.plan);
        let prepared = self.prepare();
        self.has_no_space = prepared.is_err();
        let opened = prepared.and_then(|()| {
            let no_memory = |source| Error::new(Kind::Io, "cannot get memory for blocks").because(source);
            let pool = self.pool().map_err(no_memory)?;
            let queues = self.open_queues(&pool)?;
            // Zeros can only destroy bytes that an earlier run has read.
            let may_lose = self.checkpoints.is_some() && plan.on_error.skip;
            let recovery = may_lose.then(|| DestRecovery::new(plan, ends[Side::Source.index()].facts()));
            Ok((pool, queues, recovery.transpose().map_err(no_memory)?))
        });
        let (pool, queues, recovery) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                self.ended = Ended::Failed(Box::new(error));
                return None;
            }
        };
        self.detail.clone_from(&queues.set.detail);
        // Huge pages are not used for small blocks; otherwise they matter more than the other details.
        if sys::huge_page_bytes() > 0 {
            self.detail.push("huge pages".to_owned());
        }
        queues.set.notes.iter().for_each(|note| self.fall_back(note.clone()));
        let rotational = [plan.source.moves_head, plan.dest.moves_head];
        let mut governor = Governor::new(Start { tuning: plan.tuning, len: plan.len, rotational });
        let mut pump = Pump::new(plan, ends, schedule, self.watch, queues, pool);
        (pump.checkpoints, pump.recovery) = (self.checkpoints.take(), recovery);
        let pumped = pump.run(&mut governor);
        self.take_results(&mut pump, &governor, pumped.is_ok());
        let ended_short = pump.ended_short;
        // Drains requests in flight, also after a queue has failed.
        let (failure, meter) = pump.close();
        match (pumped, failure) {
            (Err(source), _) => self.ended = Ended::Failed(Box::new(engine_error(self.engine, source))),
            (Ok(()), Some(failure)) if failure.by_signal => {}
            (Ok(()), Some(failure)) => self.ended = Ended::Failed(Box::new(failure.error)),
            (Ok(()), None) if ended_short => self.ended = Ended::Failed(Box::new(self.too_short())),
            (Ok(()), None) => {}
        }
        Some(meter)
    }

    fn take_results(&mut self, pump: &mut Pump<'_>, governor: &Governor, drained: bool) {
        (self.totals, self.done_bytes) = (pump.totals, pump.done_bytes);
        self.differences = pump.differences();
        self.checkpoints = pump.checkpoints.take();
        self.unread = std::mem::take(&mut pump.unread);
        (self.claimed, self.dest_len_min) = (pump.claimed(), pump.dest_len_min());
        self.memory_check = pump.memory_check;
        self.pace = Pace {
            limits: governor.limits(),
            because: governor.because(),
            trials: governor.trials().to_vec(),
            search_cost: governor.lost(),
        };
        if pump.alone.succeeded > 0 {
            let blocks = pump.alone.succeeded;
            self.notes.push(format!("blocks that failed with a larger request and succeeded alone: {blocks}"));
        }
        if pump.unreadable_dest > 0 {
            let blocks = pump.unreadable_dest;
            self.notes.push(format!("unreadable blocks of the destination, rewritten: {blocks}"));
        }
        if pump.delta.unread_dest_bytes > 0 {
            let bytes = pump.delta.unread_dest_bytes;
            self.notes.push(format!("bytes written without comparing them first, which was faster: {bytes}"));
        }
        if let Some(bytes) = pump.recovery.as_ref().map(|recovery| recovery.recovered_bytes).filter(|&bytes| bytes > 0)
        {
            self.notes.push(format!(
                "bytes that an earlier run copied and that can no longer be read from the source, read from the \
                 destination: {bytes}"
            ));
        }
        if drained {
            self.digests = pump.queues.finish_digests(self.watch.observer);
        }
    }

    /// The error of a stream that ended before `--count`: fewer bytes than requested were copied.
    fn too_short(&self) -> Error {
        let (count, end) = (self.plan.len.unwrap_or(0), self.claimed.end());
        let what = format!("source {} ended before the requested {}", self.plan.source.address, byte_count(count));
        let error = Error { offset: Some(end), ..Error::new(Kind::EndedEarly, what).on(Side::Source) };
        error.advise(match self.plan.is_listed() {
            true => "The data before the end is copied. The list needs a longer source.",
            false => "The data before the end is copied. Without --count, the copy ends with the stream.",
        })
    }

    /// The memory for blocks. What is in flight at the start becomes resident now and can be registered with a ring.
    /// The rest becomes resident on first use, because populating it takes as long as several dozen blocks.
    fn pool(&self) -> io::Result<Pool> {
        let tuning = self.plan.tuning;
        let units = (tuning.pool_bytes / tuning.unit_bytes()).max(1);
        let needed = self.plan.len.map_or(u64::MAX, |len| len.next_multiple_of(tuning.unit_bytes().into()));
        let first: u64 = tuning.limits.in_flight.into_iter().map(u64::from).sum();
        let first_bytes = (first * u64::from(tuning.limits.block_bytes)).min(READY_BYTES_MAX);
        let ready_bytes = first_bytes.min(needed).min(tuning.pool_bytes.into()) as usize;
        Pool::new(tuning.unit_bytes(), units, ready_bytes)
    }

    /// Opens the queues. A ring that is not available is replaced with helper threads.
    fn open_queues(&mut self, pool: &Pool) -> Result<Queues> {
        let (slots, arena) = (pool.blocks_max(), pool.arena());
        let opened = match Queues::open(self.plan, self.engine, self.ends, slots, arena) {
            Err(source) if self.engine == EngineKind::Ring => {
                self.fall_back(format!("cannot set up io_uring ({source}): helper threads are used"));
                self.engine = EngineKind::Threads;
                Queues::open(self.plan, self.engine, self.ends, slots, arena)
            }
            opened => opened,
        };
        opened.map_err(|source| engine_error(self.engine, source))
    }

    fn into_outcome(
        self,
        meter: &Meter,
        cached_before: [Option<u64>; 2],
        elapsed: Duration,
        flushing: Duration,
    ) -> Outcome {
        let mut sides = meter.reports();
        for side in Side::BOTH {
            let report: &mut SideReport = &mut sides[side.index()];
            report.cached_before_bytes = cached_before[side.index()];
            report.cached_after_bytes = cached_bytes(&self.ends[side.index()]);
            report.slowest_part = self.ends[side.index()].slowest_part();
        }
        let (mut detail, mut notes, mut fallbacks) = (self.detail, self.notes, self.fallbacks);
        let (mut damage, mut dests, mut stored_digest) = (None, Vec::new(), None);
        for (side, end) in Side::BOTH.into_iter().zip(self.ends) {
            let closing = end.closing();
            detail.extend(closing.detail.map(|detail| format!("{}: {detail}", side.name())));
            notes.extend(closing.notes);
            fallbacks.extend(closing.fallbacks);
            damage = damage.or(closing.damage);
            dests.extend(closing.dests);
            stored_digest = stored_digest.or(closing.stored_digest);
        }
        damage.iter_mut().for_each(|damage| damage.leave_out(&self.unread[Side::Source.index()].runs));
        let sys::Used { user, system, peak_resident_bytes } = sys::used();
        Outcome {
            ended: self.ended,
            engine: self.engine,
            engine_detail: detail.join(", "),
            totals: self.totals,
            claimed: self.claimed,
            estimate: None,
            elapsed,
            flushing,
            durable: self.durable,
            memory: self.ends[Side::Dest.index()].facts().memory.clone(),
            sides,
            digest_waited: meter.digest_waited(),
            limit_waited: meter.limit_waited(),
            pace: self.pace,
            usage: Usage { user, system, peak_resident_bytes },
            differences: self.differences,
            unread: self.unread,
            dests,
            damage,
            verified: None,
            memory_check: self.memory_check,
            manifest: None,
            digests: self.digests,
            stored_digest,
            kept: self.checkpoints.map(Checkpoints::into_kept),
            notes,
            fallbacks,
        }
    }
}
