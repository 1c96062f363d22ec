//! Runs of the engine that belong to one command: each with a progress of its own, one stop for all of them.
use super::estimate::Foretold;
use super::signals::{Running, Signals};
use crate::core::{CheckpointPlan, Event, Observer, Outcome, Plan, Schedule, Side, Stop, Tally};
use crate::engine::{self, Ends};
use crate::measure::Forecast;
use crate::plan::{Options, ProgressStyle};
use crate::report::{Progress, Watched};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

/// What the runs of one command have in common.
pub(super) struct Session<'a> {
    options: &'a Options,
    /// `None`: none are listened to.
    signals: Option<&'a Signals>,
    foretold: Option<Foretold>,
    stop: Arc<Stop>,
    /// One of several that run at once and are shown together; `None`: each run is shown by itself.
    among: Option<Among>,
}

/// One of several at once: where its numbers go, and who shows those of all.
struct Among {
    tally: Arc<Tally>,
    progress: Arc<Progress>,
}

impl<'a> Session<'a> {
    pub(super) fn new(options: &'a Options, signals: Option<&'a Signals>) -> Self {
        Session { options, signals, foretold: None, stop: Arc::default(), among: None }
    }

    /// The same, of whose copy something is foretold.
    pub(super) fn foretold(self, foretold: Option<Foretold>) -> Self {
        Session { foretold, ..self }
    }

    /// What asks all of them to end.
    pub(super) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Carries a plan out; `also` hears what progress hears. `keeping`: the journal, where there is one.
    pub(super) fn run(
        &self,
        plan: &Plan,
        ends: &Ends,
        schedule: &mut dyn Schedule,
        also: &dyn Observer,
        keeping: Option<CheckpointPlan>,
    ) -> (Outcome, Arc<Progress>) {
        let tally = Tally { dests: ends[Side::Dest.index()].dest_tallies(), ..Tally::default() };
        self.run_counted(plan, ends, schedule, also, keeping, Arc::new(tally))
    }

    /// The same with numbers that somebody else looks at, too.
    pub(super) fn run_counted(
        &self,
        plan: &Plan,
        ends: &Ends,
        schedule: &mut dyn Schedule,
        also: &dyn Observer,
        keeping: Option<CheckpointPlan>,
        tally: Arc<Tally>,
    ) -> (Outcome, Arc<Progress>) {
        if let Some(Among { tally, progress }) = &self.among {
            let outcome = engine::run_keeping(plan, ends, schedule, &self.stop, tally, also, keeping);
            return (outcome, progress.clone());
        }
        // What is written once more, or read back, is another pass.
        let foretold = self.foretold.as_ref().filter(|foretold| plan.route.writes() && foretold.is_of(plan));
        let already_bytes = keeping.as_ref().map_or(0, |keeping| keeping.already.total_bytes());
        let estimate = foretold.map(|foretold| foretold.behind(already_bytes));
        let forecast = foretold.map(|foretold| foretold.forecast.clone());
        let progress = self.show(plan, ends, &[Watched { tally: tally.clone(), total_bytes: plan.len }], forecast);
        if self.options.progress == ProgressStyle::Json {
            plan.warnings.iter().for_each(|warning| progress.hear(&Event::Warned(warning)));
        }
        let both = Both { progress: &progress, also };
        let mut outcome = engine::run_keeping(plan, ends, schedule, &self.stop, &tally, &both, keeping);
        outcome.estimate = estimate;
        self.signals.iter().for_each(|signals| signals.now_done());
        (outcome, progress)
    }

    /// Does something with each of `jobs` at once, which come with the bytes that they have to move. Each gets a
    /// session of its own; their runs are shown together, as one that carries `plan` out, with a row for each of its
    /// dests. `ends` are given up when a signal comes.
    pub(super) fn at_once<J: Send, T: Send>(
        &self,
        plan: &Plan,
        ends: &Ends,
        jobs: Vec<(J, u64)>,
        work: impl Fn(&Session<'_>, J) -> T + Sync,
    ) -> (Vec<T>, Arc<Progress>) {
        let watched = |(_, len): &(J, u64)| Watched { tally: Arc::default(), total_bytes: Some(*len) };
        let runs: Vec<Watched> = jobs.iter().map(watched).collect();
        let progress = self.show(plan, ends, &runs, None);
        let done = thread::scope(|scope| {
            let run = |((job, _), watched): ((J, u64), &Watched)| {
                let among = Some(Among { tally: watched.tally.clone(), progress: progress.clone() });
                let session =
                    Session { options: self.options, signals: None, stop: self.stop.clone(), foretold: None, among };
                let work = &work;
                scope.spawn(move || work(&session, job))
            };
            let threads: Vec<_> = jobs.into_iter().zip(&runs).map(run).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        self.signals.iter().for_each(|signals| signals.now_done());
        progress.finish();
        (done, progress)
    }

    fn show(&self, plan: &Plan, ends: &Ends, runs: &[Watched], forecast: Option<Forecast>) -> Arc<Progress> {
        let progress = Arc::new(Progress::start(self.options.progress, plan, runs, forecast));
        if let Some(signals) = self.signals {
            let (stop, ends) = (self.stop.clone(), ends.clone());
            signals.now_running(Running { stop, ends, progress: Some(progress.clone()) });
        }
        progress
    }

    /// A run has come to its end: its bar goes, unless others are still shown in it.
    pub(super) fn ended(&self, progress: &Progress) {
        if self.among.is_none() {
            progress.finish();
        }
    }
}

/// Two who hear the same.
struct Both<'a> {
    progress: &'a Progress,
    also: &'a dyn Observer,
}

impl Observer for Both<'_> {
    fn hear(&self, event: &Event<'_>) {
        self.progress.hear(event);
        self.also.hear(event);
    }
}
