//! The run of a rescue, and of its rest when the source was lost and came back.
use super::found_heads::FoundHeads;
use super::opened::{Copied, Opened};
use super::operator::Operator;
use super::read_back;
use super::read_limits::{self, ByPhase};
use super::rescue::{Rescue, RescueFile, Rescued, Saves};
use super::returning::{self, Returning};
use super::session::Task;
use super::temperature;
use crate::core::rescue::{Course, ReadLimits, ReadResult, RescueLog, RescuePlan, RescueState, SharedRescue, Status};
use crate::core::schedules;
use crate::core::{
    CheckpointPlan, Ended, Error, Extent, Facts, NoObserver, Outcome, Result, Series, Side, Stop, Tally, locked,
};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// Time between two writings of the mapfile: the least, and the most where the dest is slow to flush.
const SAVED_EVERY: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];

/// How a rescue treats its source beyond the order of its reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Care {
    /// Limits of the time of a read.
    pub(crate) reads: ReadLimits,
    /// How long it waits for a source that was lost; `None`: not at all.
    pub(crate) reconnect: Option<Duration>,
    /// The temperature in °C above which no read begins.
    pub(crate) celsius_max: Option<u32>,
}

impl Care {
    /// Refuses what cannot be done for this source.
    ///
    /// # Errors
    /// Unsupported: its temperature cannot be read.
    pub(crate) fn check(&self, source: &Facts) -> Result<()> {
        self.celsius_max.map_or(Ok(()), |_| temperature::check(source))
    }
}

/// Logs that record several runs as one.
#[derive(Clone)]
struct SharedLogs(Arc<Mutex<Vec<Box<dyn RescueLog>>>>);

impl RescueLog for SharedLogs {
    fn on_phase(&mut self, state: &RescueState) {
        locked(&self.0).iter_mut().for_each(|log| log.on_phase(state));
    }

    fn on_read(&mut self, extent: Extent, result: ReadResult, state: &RescueState) {
        locked(&self.0).iter_mut().for_each(|log| log.on_read(extent, result, state));
    }

    /// The rescue may continue with another run.
    fn on_end(&mut self, _state: &RescueState) {}
}

/// What the runs of one rescue share.
struct Shared {
    state: SharedRescue,
    file: Arc<Mutex<RescueFile>>,
    logs: SharedLogs,
    operator: Arc<dyn Operator>,
}

/// A run, and whether all of it is durable and in the mapfile.
struct Ran {
    outcome: Outcome,
    series: Series,
    is_known: bool,
    unsaved: Option<Error>,
}

impl Ran {
    /// The same, ended by the request to stop that came while the rescue waited for its source, if one came.
    fn unless_stopped(mut self, stop: &Stop) -> Self {
        if let Some(ended) = stop.ending() {
            self.outcome.ended = ended;
        }
        self
    }
}

/// The time without the source is no time without a new byte, and a pause ends: the temperature is not known any more.
fn continue_after_loss(state: &mut RescueState) {
    state.resume(Instant::now());
    if let Some(temperature) = &mut state.temperature {
        temperature.is_paused = false;
    }
}

impl Opened {
    /// Runs the rescue.
    ///
    /// # Errors
    /// Those of [`Care::check`].
    pub(crate) fn rescue(mut self, rescue: Rescue, how: RescuePlan, care: Care) -> Result<Rescued> {
        let started = SystemTime::now();
        let Rescue { state, file, mut logs, operator, .. } = rescue;
        let source = self.ends[Side::Source.index()].clone();
        let facts = source.facts().clone();
        let mut watch = temperature::watch(&facts, care.celsius_max, &state, &operator)?;
        let limits = read_limits::find(source, &facts, care.reads, operator.clone());
        let mut returning = Returning::new(&facts, care.reconnect, operator.clone());
        logs.push(Box::new(ByPhase(limits.clone())));
        logs.push(Box::new(FoundHeads::new(operator.clone())));
        let course = Course::new();
        logs.push(Box::new(course.clone()));
        let shared = Shared { state, file, logs: SharedLogs(Arc::new(Mutex::new(logs))), operator };
        let (mut elapsed, mut failing) = (Duration::ZERO, Duration::ZERO);
        let mut ran = loop {
            let ran = self.run_rescue(&shared, &how);
            // Its readings would end the pause that begins here.
            drop(watch.take());
            locked(&shared.state).pause(Instant::now());
            let goes_on = ran.is_known && !self.session.stop().is_requested();
            let last = locked(&shared.state).clone();
            let mut side = self.plans.all.plan.source.clone();
            let (back, stop) = (returning.as_mut().filter(|_| goes_on), self.session.stop());
            let Some(back) = back.and_then(|back| back.reopen(&ran.outcome.ended, &last, &mut side, stop)) else {
                break if goes_on { ran.unless_stopped(stop) } else { ran };
            };
            elapsed += ran.outcome.elapsed;
            failing += ran.outcome.unread[Side::Source.index()].failing;
            self.plans.all.plan.source = side;
            locked(&limits).reopened(back.end.clone(), &back.facts);
            for ends in self.dests.iter_mut().map(|dest| &mut dest.ends).chain([&mut self.ends]) {
                ends[Side::Source.index()] = back.end.clone();
            }
            continue_after_loss(&mut locked(&shared.state));
            // It was known before; without it the rescue continues.
            watch = temperature::watch(&back.facts, care.celsius_max, &shared.state, &shared.operator).unwrap_or(None);
        };
        drop(watch);
        let limits = locked(&limits).restore();
        let last = locked(&shared.state).clone();
        locked(&shared.logs.0).iter_mut().for_each(|log| log.on_end(&last));
        ran.outcome.elapsed += elapsed;
        ran.outcome.unread[Side::Source.index()].failing += failing;
        let Ran { outcome, series, is_known, unsaved } = ran;
        let (behind, journal, state) = (Vec::new(), None, shared.state);
        let finished = Copied { opened: self, outcome, series, started, behind, journal }.finish();
        Ok(Rescued { finished, state, is_saved: is_known && unsaved.is_none(), unsaved, limits, course })
    }

    /// Runs what is left of the rescue, and saves the mapfile.
    fn run_rescue(&self, shared: &Shared, how: &RescuePlan) -> Ran {
        let Shared { state, file, logs, operator } = shared;
        let already = locked(state).map.set_of(Status::Finished);
        let (plan, ends) = (&self.plans.all.plan, &self.ends);
        // Samples are not worth the end of a rescue: without a reader there are none.
        let reader = read_back::to_read(plan, ends).ok();
        let sink = Box::new(Saves {
            state: state.clone(),
            file: file.clone(),
            operator: operator.clone(),
            failed: false,
            durable: already.clone(),
            // The commands of a node have one sender.
            reader: reader.clone().filter(|_| plan.dest.through.is_none()),
        });
        let keeping = CheckpointPlan { sink, every: SAVED_EVERY, already, digested: Default::default() };
        let mut schedule = schedules::rescue(how.clone(), state.clone(), vec![Box::new(logs.clone())]);
        let task = Task::new(plan, ends, &mut *schedule, &NoObserver);
        let task = Task {
            keeping: Some(keeping),
            tally: Some(Arc::new(Tally::default())),
            rescue: Some(state.clone()),
            ..task
        };
        let (outcome, series) = self.session.run_shown(task);
        drop(schedule);
        if let Some(error) = returning::lost(&outcome.ended) {
            returning::mark(error.offset, how, &mut locked(state));
        }
        // After a failed flush it is unknown what the dest has: the mapfile remains that of the last flush.
        let dest_failed = matches!(&outcome.ended, Ended::Failed(error) if error.side == Some(Side::Dest));
        let is_known = if plan.durable { outcome.durable } else { !dest_failed };
        let last = locked(state).clone();
        if let Some(reader) = reader.filter(|_| is_known) {
            locked(file).dest.take_samples(&last.map.set_of(Status::Finished), &reader, true);
        }
        let unsaved = if is_known { locked(file).save(&last, last.map.clone()).err() } else { None };
        let unsaved = unsaved.map(|error| {
            let lost = "The map does not list what was rescued since its last writing: the next run reads that again.";
            let advice = format!("{} {lost}", error.advice);
            error.advise(advice)
        });
        Ran { outcome, series, is_known, unsaved }
    }
}
