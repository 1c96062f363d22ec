//! A plan, carried out: memory, queues, the pump, the end of the dest, durability.
use super::closer_look::first_bad;
use super::engine_error::engine_error;
use super::meter::Meter;
use super::offload::{Copied, Offloaded, by_device, reflink};
use super::pace::{Governor, Pair};
use super::pump::{Failure, Parts, Pump};
use super::queues::Queues;
use crate::contract::{
    Arena, Change, Differences, Direction, Ended, Endpoint, EngineKind, Error, Event, Existing, Extent, Kind, Observer,
    Op, Order, Outcome, Pace, Phase, Plan, Result, Route, Schedule, Side, SideReport, Stop, Tally, Totals, Usage,
};
use crate::sys;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Both sides, open, by [`Side::index`].
pub type Ends = [Arc<dyn Endpoint>; 2];

/// Carries the plan out and tells how it ended. `schedule` hands out the extents of this plan; `stop` may be asked
/// for from any thread, `tally` read by any.
///
/// Nothing is in flight when it returns, however it ended.
pub fn run(
    plan: &Plan,
    ends: &Ends,
    schedule: &mut dyn Schedule,
    stop: &Stop,
    tally: &Tally,
    observer: &dyn Observer,
) -> Outcome {
    let cached_before = ends.each_ref().map(|end| end.cached_bytes());
    let mut run = Run::new(plan, ends, observer);
    tell(tally, observer, Phase::Copying);
    let mut meter = Meter::start();
    match run.offload(stop, tally) {
        Ok(true) => {}
        Ok(false) => {
            if let Some(pumped) = run.pump(schedule, stop, tally) {
                meter = pumped;
            }
        }
        Err(error) => run.ended = Ended::Failed(Box::new(error)),
    }
    if let (Ended::Complete, Some(signal), true) = (&run.ended, stop.asked(), run.cut_short()) {
        run.ended = Ended::Interrupted(signal);
    }
    let before_flush = meter.elapsed_now();
    run.finish(tally);
    tell(tally, observer, Phase::Ended);
    let elapsed = meter.elapsed_now();
    let flushing = if plan.route.writes() { elapsed.saturating_sub(before_flush) } else { Duration::ZERO };
    if let Ended::Failed(error) = &run.ended {
        observer.hear(&Event::Failed(error));
    }
    run.into_outcome(&meter, cached_before, elapsed, flushing)
}

fn tell(tally: &Tally, observer: &dyn Observer, phase: Phase) {
    tally.phase.store(phase as u8, Relaxed);
    observer.hear(&Event::Began(phase));
}

/// A run under way: what is known so far.
struct Run<'a> {
    plan: &'a Plan,
    ends: &'a Ends,
    observer: &'a dyn Observer,
    engine: EngineKind,
    detail: Vec<String>,
    notes: Vec<String>,
    ended: Ended,
    totals: Totals,
    claimed: Extent,
    digests: Vec<crate::contract::Digest>,
    pace: Pace,
    durable: bool,
    differences: Option<Differences>,
}

impl<'a> Run<'a> {
    fn new(plan: &'a Plan, ends: &'a Ends, observer: &'a dyn Observer) -> Self {
        Run {
            plan,
            ends,
            observer,
            engine: plan.engine,
            detail: Vec::new(),
            notes: Vec::new(),
            ended: Ended::Complete,
            totals: Totals::default(),
            claimed: Extent::new(0, 0),
            digests: Vec::new(),
            pace: Pace::default(),
            durable: false,
            differences: None,
        }
    }

    fn note(&mut self, note: String) {
        self.observer.hear(&Event::FellBack(&note));
        self.notes.push(note);
    }

    /// Lets the file system or the device do it, where the plan wants that. False: the bytes have to be moved.
    fn offload(&mut self, stop: &Stop, tally: &Tally) -> Result<bool> {
        match self.plan.engine {
            EngineKind::Reflink => self.share(),
            EngineKind::Offload => self.copy_by_device(stop, tally),
            EngineKind::Ring | EngineKind::Threads | EngineKind::Sync => Ok(false),
        }
    }

    fn copy_by_device(&mut self, stop: &Stop, tally: &Tally) -> Result<bool> {
        let dest = &self.ends[Side::Dest.index()];
        let Copied { bytes, failed } = by_device(self.plan, dest, stop, tally);
        match (&failed, self.plan.engine_instead) {
            (Some(refusal), Some(instead)) if bytes == 0 && refusal.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                self.note("the device refuses to copy by itself: the bytes go through haul".to_owned());
                self.engine = instead;
                return Ok(false);
            }
            _ => {}
        }
        self.totals.offloaded_bytes = bytes;
        self.claimed = Extent::new(0, bytes);
        self.pace.because = "no byte went through haul: the device copied by itself".to_owned();
        let Some(source) = failed else { return Ok(true) };
        let (offset, facts) = (self.plan.dest.offset + bytes, dest.facts());
        let kind = dest.diagnose(Op::Write, offset, &source);
        let error = Error::of_request(kind, Op::Write, Side::Dest, &facts.address, offset, source);
        Err(error
            .in_sectors_of(facts.logical_block_bytes)
            .advise("Its own copy failed, in reading or in writing; without --offload the error says which."))
    }

    fn share(&mut self) -> Result<bool> {
        match (reflink(self.plan, self.ends), self.plan.engine_instead) {
            (Offloaded::Done(extent), _) => {
                self.claimed = extent;
                self.totals.shared_bytes = extent.len;
                self.pace.because = "no byte went through haul: the file system shares the extents".to_owned();
                Ok(true)
            }
            // Expected wherever the file system shares nothing: not worth a word.
            (Offloaded::Refused(_), Some(instead)) => {
                self.engine = instead;
                Ok(false)
            }
            (Offloaded::Refused(source), None) => {
                let dest = &self.plan.dest.address;
                let what = format!("cannot share the extents of source {} with dest {dest}", self.plan.source.address);
                let error = Error::new(Kind::Unsupported, what).on(Side::Dest).because(source);
                Err(error.advise(
                    "Both must be files of one file system that can share extents; or copy without --reflink always.",
                ))
            }
        }
    }

    fn cut_short(&self) -> bool {
        self.plan.len.is_none_or(|len| self.claimed.len < len)
    }

    /// Moves the bytes. `None`: it failed before the first request.
    fn pump(&mut self, schedule: &mut dyn Schedule, stop: &Stop, tally: &Tally) -> Option<Meter> {
        let tuning = self.plan.tuning;
        let arena_bytes = match tuning.adaptive {
            true => tuning.in_flight_bytes_max as usize,
            false => (tuning.block_bytes as usize).next_multiple_of(4096) * tuning.depth as usize,
        };
        let (ends, plan) = (self.ends, Plan { engine: self.engine, ..self.plan.clone() });
        let slots = if tuning.adaptive { tuning.depth_max } else { tuning.depth };
        let opened = self.prepare().and_then(|()| {
            let no_memory = |source| Error::new(Kind::Io, "cannot get memory for blocks").because(source);
            let arena = Arena::map(arena_bytes).map_err(no_memory)?;
            let buffers = arena.carve(tuning.block_bytes, tuning.depth);
            let queues = self.open_queues(&plan, slots, &arena)?;
            Ok((arena, buffers, queues))
        });
        let (arena, buffers, queues) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                self.ended = Ended::Failed(Box::new(error));
                return None;
            }
        };
        self.detail.clone_from(&queues.detail);
        // Of small blocks nobody expects it; for the others it is worth more than anything else that was set up.
        if sys::huge_page_bytes() > 0 {
            self.detail.push("huge pages".to_owned());
        }
        queues.notes.iter().for_each(|note| self.note(note.clone()));
        let pair = Pair { block_bytes: tuning.block_bytes, depth: tuning.depth };
        let mut governor = Governor::new(tuning, plan.len);
        let parts = Parts { plan: &plan, ends, schedule, stop, tally, observer: self.observer, queues };
        let mut pump = Pump::new(parts, pair);
        let pumped = pump.run(&mut governor, buffers, &arena);
        self.take_results(&mut pump, &governor, pumped.is_ok());
        let ended_short = pump.ended_short;
        // Drains what a failed queue still has in flight before anything else is touched.
        let (failure, meter) = pump.close();
        match (pumped, failure) {
            (Err(source), _) => self.ended = Ended::Failed(Box::new(engine_error(self.engine, source))),
            (Ok(()), Some(failure)) => self.ended = Ended::Failed(Box::new(self.locate(failure, &arena))),
            (Ok(()), None) if ended_short => self.ended = Ended::Failed(Box::new(self.too_short())),
            (Ok(()), None) => {}
        }
        Some(meter)
    }

    fn take_results(&mut self, pump: &mut Pump<'_>, governor: &Governor, drained: bool) {
        self.totals = pump.totals;
        self.differences = pump.differences();
        self.claimed = pump.claimed();
        let Pair { block_bytes, depth } = governor.current();
        self.pace = Pace { block_bytes, depth, because: governor.because().to_owned(), tried: governor.tried() };
        if pump.alone > 0 {
            let blocks = pump.alone;
            self.notes.push(format!("blocks that failed together with a bad neighbour and succeeded alone: {blocks}"));
        }
        if drained {
            self.digests = pump.queues.finish_digests(self.observer);
        }
    }

    /// A stream that ended before the count: what came has arrived, but it is not what was asked for.
    fn too_short(&self) -> Error {
        let (count, end) = (self.plan.len.unwrap_or(0), self.claimed.end());
        let what = format!("source {} ended before the {count} bytes that were asked for", self.plan.source.address);
        let error = Error { offset: Some(end), ..Error::new(Kind::EndedEarly, what).on(Side::Source) };
        error.advise("What came before has arrived. Without --count, the end of the stream is the end of the copy.")
    }

    /// Opens the queues; a ring that cannot be had after all is replaced by helper threads.
    fn open_queues(&mut self, plan: &Plan, slots: u32, arena: &Arena) -> Result<Queues> {
        let source = match Queues::open(plan, self.ends, slots, arena) {
            Ok(queues) => return Ok(queues),
            Err(source) if plan.engine != EngineKind::Ring => source,
            Err(source) => {
                self.note(format!("the ring could not be set up ({source}): helper threads make the calls"));
                self.engine = EngineKind::Threads;
                let plan = Plan { engine: EngineKind::Threads, ..plan.clone() };
                match Queues::open(&plan, self.ends, slots, arena) {
                    Ok(queues) => return Ok(queues),
                    Err(source) => source,
                }
            }
        };
        Err(engine_error(self.engine, source))
    }

    fn prepare(&self) -> Result<()> {
        let (true, Some(len)) = (self.plan.preallocate, self.plan.len) else { return Ok(()) };
        let dest = &self.ends[Side::Dest.index()];
        dest.prepare(Extent::new(self.plan.dest.offset, len)).map_err(|source| {
            let what = format!("cannot allocate {len} bytes for dest {}", self.plan.dest.address);
            let error = Error::new(dest.diagnose(Op::Write, self.plan.dest.offset, &source), what);
            error.on(Side::Dest).because(source).advise("Make room there, or choose another place.")
        })
    }

    /// A failed read of a whole block, made precise.
    fn locate(&self, failure: Failure, arena: &Arc<Arena>) -> Error {
        let Failure { mut error, reading, .. } = failure;
        let Some((side, extent)) = reading else { return error };
        let end = &self.ends[side.index()];
        if (error.kind, end.facts().order) == (Kind::Io, Order::Any) {
            match first_bad(side, end, extent, arena) {
                Some(offset) => error.offset = Some(offset),
                None => "The same bytes could be read a moment later: the error may be passing. Try again."
                    .clone_into(&mut error.advice),
            }
        }
        error
    }

    /// Sets the end of the dest and makes it durable, whatever came before: what is claimed has to be there.
    fn finish(&mut self, tally: &Tally) {
        let complete = matches!(self.ended, Ended::Complete);
        self.note_change();
        let dest = &self.ends[Side::Dest.index()];
        let truthful_end = self.plan.set_end || self.plan.dest.access.existing == Existing::Create;
        let mut result = Ok(());
        if truthful_end && self.plan.direction == Direction::Forward {
            let mut end = self.plan.dest.offset + self.claimed.end();
            if !complete && self.plan.dest.access.existing == Existing::Keep {
                // What the copy did not get to is still the user's.
                end = end.max(dest.facts().size.unwrap_or(0));
            }
            result = dest.end_at(end).map_err(|source| self.finish_error("set the end of", source));
        }
        if self.plan.durable || self.dest_failed() {
            tell(tally, self.observer, Phase::Flushing);
            let flushed = dest.make_durable().map_err(|source| self.finish_error("make durable", source));
            self.durable = flushed.is_ok();
            if flushed.is_err() {
                // Acknowledged by the page cache, and lost somewhere behind it: nobody knows which bytes.
                self.claimed = Extent::new(0, 0);
            }
            result = result.and(flushed);
        }
        match result {
            Err(error) if complete => self.ended = Ended::Failed(Box::new(error)),
            Err(error) => self.notes.push(error.to_string()),
            Ok(()) => {}
        }
        if !complete {
            self.digests.clear();
        }
    }

    /// A write failed. Through the page cache, that may have been any of those acknowledged before, so that nothing can
    /// be claimed without asking.
    fn dest_failed(&self) -> bool {
        self.plan.route.writes() && matches!(&self.ended, Ended::Failed(error) if error.side == Some(Side::Dest))
    }

    fn finish_error(&self, doing: &str, source: io::Error) -> Error {
        let dest = &self.ends[Side::Dest.index()];
        let offset = self.plan.dest.offset + self.claimed.end();
        let what = format!("cannot {doing} dest {}", self.plan.dest.address);
        let error = Error::new(dest.diagnose(Op::Write, offset, &source), what).on(Side::Dest).because(source);
        error.advise("What was written may be lost: check the device and the kernel's log, then copy again.")
    }

    fn note_change(&mut self) {
        let [from, to] = self.ends.each_ref().map(|end| end.facts().id);
        if from.is_some() && from == to {
            // Within one file or device, it was we who changed it.
            return;
        }
        let comparing = !self.plan.route.writes();
        let looked_at = match self.plan.route {
            Route::Copy => &[Side::Source][..],
            Route::Compare { .. } => &Side::BOTH,
            Route::ReadBack => &[Side::Dest],
        };
        for side in looked_at {
            let (name, address) = (side.name(), &self.plan.side(*side).address);
            let during = if comparing { "while it was compared" } else { "during the copy" };
            let note = match (self.ends[side.index()].change(), comparing) {
                (Some(Change::Grew(bytes)), true) => format!("{name} {address} grew by {bytes} bytes {during}"),
                (Some(Change::Grew(bytes)), false) => {
                    format!("{name} {address} grew by {bytes} bytes {during}; they are not copied")
                }
                (Some(Change::Shrank(bytes)), _) => format!("{name} {address} shrank by {bytes} bytes {during}"),
                (Some(Change::Modified), true) => format!("{name} {address} was written to {during}"),
                (Some(Change::Modified), false) => {
                    format!("{name} {address} was written to {during}: the copy may be a mixture")
                }
                (None, _) => continue,
            };
            self.observer.hear(&Event::Warned(&note));
            self.notes.push(note);
        }
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
            report.cached_after_bytes = self.ends[side.index()].cached_bytes();
        }
        let (mut detail, mut notes) = (self.detail, self.notes);
        for (side, end) in Side::BOTH.into_iter().zip(self.ends) {
            detail.extend(end.detail().map(|detail| format!("{} by {detail}", side.name())));
            notes.extend(end.notes());
        }
        let sys::Used { user, system, peak_resident_bytes } = sys::used();
        Outcome {
            ended: self.ended,
            engine: self.engine,
            engine_detail: detail.join(", "),
            totals: self.totals,
            claimed: self.claimed,
            elapsed,
            flushing,
            durable: self.durable,
            sides,
            digest_waited: meter.digest_waited(),
            limit_waited: meter.limit_waited(),
            pace: self.pace,
            usage: Usage { user, system, peak_resident_bytes },
            differences: self.differences,
            digests: self.digests,
            notes,
        }
    }
}
