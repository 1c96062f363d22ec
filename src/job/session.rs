//! Runs of the engine that belong to one command: each is shown separately, and one stop request ends all of
//! them.
use super::estimate::Estimated;
use super::operator::{Operator, Run, RunDisplay};
use crate::core::rescue::SharedRescue;
use crate::core::{
    CheckpointPlan, Event, Observer, Outcome, Plan, RunTally, Schedule, Series, Side, Stop, Tally, run_beside,
};
use crate::engine::{self, Endpoints};
use crate::measure::Forecast;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

/// What the runs of one command share.
pub(crate) struct Session {
    operator: Arc<dyn Operator>,
    estimated: Option<Estimated>,
    stop: Arc<Stop>,
    /// One of several concurrent runs that are shown together; `None`: each run is shown separately.
    among: Option<OneOfSeveral>,
}

/// One of several concurrent runs: its tally, and the common display.
struct OneOfSeveral {
    tally: Arc<Tally>,
    shown: Arc<dyn RunDisplay>,
}

/// One run of the engine.
pub(crate) struct Task<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) ends: &'a Endpoints,
    pub(crate) schedule: &'a mut dyn Schedule,
    /// Passes all events to the operator.
    pub(crate) observer: &'a dyn Observer,
    /// The journal, if there is one.
    pub(crate) keeping: Option<CheckpointPlan>,
    /// A tally that an observer reads; `None`: no observer.
    pub(crate) tally: Option<Arc<Tally>>,
    /// The state of a rescue.
    pub(crate) rescue: Option<SharedRescue>,
}

impl<'a> Task<'a> {
    /// A task without a journal.
    pub(crate) fn new(
        plan: &'a Plan,
        ends: &'a Endpoints,
        schedule: &'a mut dyn Schedule,
        observer: &'a dyn Observer,
    ) -> Self {
        Task { plan, ends, schedule, observer, keeping: None, tally: None, rescue: None }
    }
}

impl Session {
    pub(crate) fn new(operator: Arc<dyn Operator>) -> Self {
        Session { operator, estimated: None, stop: Arc::default(), among: None }
    }

    /// The same, with the estimate of the copy.
    pub(crate) fn estimated(self, estimated: Option<Estimated>) -> Self {
        Session { estimated, ..self }
    }

    /// The stop request for all runs.
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// The stop request, for users that outlive the session.
    pub(super) fn shared_stop(&self) -> Arc<Stop> {
        self.stop.clone()
    }

    /// Executes a plan.
    pub(crate) fn run(&self, task: Task<'_>) -> Outcome {
        self.run_shown(task).0
    }

    /// The same, and returns the course of the run.
    pub(crate) fn run_shown(&self, task: Task<'_>) -> (Outcome, Series) {
        let Task { plan, ends, schedule, observer, keeping, tally, rescue } = task;
        if let Some(OneOfSeveral { tally, shown }) = &self.among {
            let outcome =
                engine::run_keeping(plan, ends, schedule, engine::Watch::new(&self.stop, tally, observer), keeping);
            return (outcome, shown.series());
        }
        let dests = ends[Side::Dest.index()].dest_tallies();
        let tally = tally.unwrap_or_else(|| Arc::new(Tally { dests, ..Tally::default() }));
        // Rewriting and reading back are not part of the estimate.
        let estimated = self.estimated.as_ref().filter(|estimated| plan.route.writes() && estimated.is_of(plan));
        let already_bytes = keeping.as_ref().map_or(0, |keeping| keeping.already.total_bytes());
        let estimate = estimated.map(|estimated| estimated.behind(already_bytes, !plan.hashes.is_empty()));
        let forecast = estimated.map(|estimated| estimated.forecast.clone());
        let shown =
            self.show(plan, ends, &[RunTally { tally: tally.clone(), total_bytes: plan.len }], forecast, rescue);
        let both = ObserverPair { shown: &*shown, observer };
        let mut outcome =
            engine::run_keeping(plan, ends, schedule, engine::Watch::new(&self.stop, &tally, &both), keeping);
        outcome.estimate = estimate;
        self.operator.done();
        let series = shown.series();
        shown.finish();
        (outcome, series)
    }

    /// Calls a function for each of `jobs` concurrently; each job comes with the number of bytes that it
    /// transfers. Each gets a separate session; their runs are shown together, as one that executes `plan`,
    /// with a row for each of its dests. `ends` are cancelled on a signal.
    pub(crate) fn at_once<J: Send, T: Send>(
        &self,
        plan: &Plan,
        ends: &Endpoints,
        jobs: Vec<(J, u64)>,
        work: impl Fn(&Session, J) -> T + Sync,
    ) -> Vec<T> {
        let watched = |(_, len): &(J, u64)| RunTally { tally: Arc::default(), total_bytes: Some(*len) };
        let runs: Vec<RunTally> = jobs.iter().map(watched).collect();
        let shown = self.show(plan, ends, &runs, None, None);
        let done = thread::scope(|scope| {
            let run = |((job, _), watched): ((J, u64), &RunTally)| {
                let among = Some(OneOfSeveral { tally: watched.tally.clone(), shown: shown.clone() });
                let (operator, stop) = (self.operator.clone(), self.stop.clone());
                let session = Session { operator, stop, estimated: None, among };
                let work = &work;
                run_beside(scope, "haul-copy", move || work(&session, job))
            };
            let threads: Vec<_> = jobs.into_iter().zip(&runs).map(run).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        self.operator.done();
        shown.finish();
        done
    }

    fn show(
        &self,
        plan: &Plan,
        ends: &Endpoints,
        watched: &[RunTally],
        forecast: Option<Forecast>,
        rescue: Option<SharedRescue>,
    ) -> Arc<dyn RunDisplay> {
        self.operator.begin(Run { plan, ends, stop: &self.stop, watched, forecast, rescue })
    }
}

/// Passes the same events to two observers.
struct ObserverPair<'a> {
    shown: &'a dyn RunDisplay,
    observer: &'a dyn Observer,
}

impl Observer for ObserverPair<'_> {
    fn on_event(&self, event: &Event<'_>) {
        self.shown.on_event(event);
        self.observer.on_event(event);
    }
}
