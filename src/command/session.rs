//! Runs of the engine that belong to one command: each with a progress of its own, one stop for all of them.
use super::signals::{Running, Signals};
use crate::contract::{Event, Keeping, Observer, Outcome, Plan, Schedule, Stop, Tally};
use crate::engine::{self, Ends};
use crate::plan::{Options, ProgressStyle};
use crate::report::Progress;
use std::sync::Arc;

/// What the runs of one command have in common.
pub(super) struct Session<'a> {
    options: &'a Options,
    /// `None`: none are listened to.
    signals: Option<&'a Signals>,
    stop: Arc<Stop>,
}

impl<'a> Session<'a> {
    pub(super) fn new(options: &'a Options, signals: Option<&'a Signals>) -> Self {
        Session { options, signals, stop: Arc::default() }
    }

    /// Carries a plan out; `also` hears what progress hears. `keeping`: the journal, where there is one.
    pub(super) fn run(
        &self,
        plan: &Plan,
        ends: &Ends,
        schedule: &mut dyn Schedule,
        also: &dyn Observer,
        keeping: Option<Keeping>,
    ) -> (Outcome, Arc<Progress>) {
        let tally = Arc::new(Tally::default());
        let progress = Arc::new(Progress::start(self.options.progress, plan, tally.clone()));
        if self.options.progress == ProgressStyle::Json {
            plan.warnings.iter().for_each(|warning| progress.hear(&Event::Warned(warning)));
        }
        if let Some(signals) = self.signals {
            let (stop, ends) = (self.stop.clone(), ends.clone());
            signals.now_running(Running { stop, ends, progress: Some(progress.clone()) });
        }
        let both = Both { progress: &progress, also };
        let outcome = engine::run_keeping(plan, ends, schedule, &self.stop, &tally, &both, keeping);
        self.signals.iter().for_each(|signals| signals.now_done());
        (outcome, progress)
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
