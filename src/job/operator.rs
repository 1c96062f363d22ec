//! Who started a job: asked before anything is lost, and shown what runs.
use super::journal::{ResumeChoice, Unfinished};
use super::undo::PutBack;
use crate::core::{Error, Facts, Observer, Plan, PlanNotes, Result, RunTally, Series, Stop};
use crate::engine::Endpoints;
use crate::measure::Forecast;
use std::sync::Arc;

/// A run of the engine that is about to begin.
pub(crate) struct Run<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) ends: &'a Endpoints,
    /// Asks it to end.
    pub(crate) stop: &'a Arc<Stop>,
    /// Its numbers, or those of several that run at once, one for each destination of the plan.
    pub(crate) watched: &'a [RunTally],
    pub(crate) forecast: Option<Forecast>,
}

/// A run that is shown.
pub(crate) trait RunDisplay: Observer + Send {
    /// Ends it; later calls do nothing.
    fn finish(&self);

    /// How the run went until now.
    fn series(&self) -> Series;
}

/// Answers what a job asks, and shows what it does. A terminal, or a substitute.
pub(crate) trait Operator: Send + Sync {
    /// Receives what may be wrong.
    fn warn(&self, warning: &str);

    /// Receives what there is to know about a plan, before anything is asked.
    fn warn_of(&self, notes: &PlanNotes);

    /// Receives that what an earlier measurement left on this device was put back, before the copy that these notes are
    /// of.
    fn put_back(&self, address: &str, done: &PutBack, notes: &mut PlanNotes);

    /// Receives that a destination failed, and that the copy to the others continues.
    fn dropped(&self, error: &Error);

    /// Says what happens to an unfinished copy to the destination of `plan`.
    ///
    /// # Errors
    /// Refused: nothing is to be written.
    fn settle(&self, plan: &Plan, unfinished: &Unfinished) -> Result<ResumeChoice>;

    /// Agrees that what is on the destination is overwritten.
    ///
    /// # Errors
    /// Refused: nothing is to be written.
    fn confirm(&self, plan: &Plan, source: &Facts, dest: &Facts) -> Result<()>;

    /// Shows a run; from now on a signal is about it.
    fn begin(&self, run: Run<'_>) -> Arc<dyn RunDisplay>;

    /// The run is over: a signal ends the process at once.
    fn done(&self);
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::core::NoObserver;

    /// Agrees to everything, and shows nothing.
    pub(in crate::job) struct AcceptAll;

    impl Operator for AcceptAll {
        fn warn(&self, _warning: &str) {}

        fn warn_of(&self, _notes: &PlanNotes) {}

        fn put_back(&self, _address: &str, _done: &PutBack, _notes: &mut PlanNotes) {}

        fn dropped(&self, _error: &Error) {}

        fn settle(&self, _plan: &Plan, _unfinished: &Unfinished) -> Result<ResumeChoice> {
            Ok(ResumeChoice::Restart)
        }

        fn confirm(&self, _plan: &Plan, _source: &Facts, _dest: &Facts) -> Result<()> {
            Ok(())
        }

        fn begin(&self, _run: Run<'_>) -> Arc<dyn RunDisplay> {
            Arc::new(NoObserver)
        }

        fn done(&self) {}
    }

    impl RunDisplay for NoObserver {
        fn finish(&self) {}

        fn series(&self) -> Series {
            Series::default()
        }
    }
}
