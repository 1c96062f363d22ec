//! The interface to the caller of a job: asks before data is overwritten, and receives progress.
use super::journal::{ResumeChoice, Unfinished};
use super::undo::PutBack;
use crate::core::rescue::SharedRescue;
use crate::core::{Error, Facts, Observer, Plan, PlanNotes, Result, RunTally, Series, Stop};
use crate::engine::Endpoints;
use crate::measure::Forecast;
use std::sync::Arc;

/// A run of the engine that is about to begin.
pub(crate) struct Run<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) ends: &'a Endpoints,
    /// Requests its end.
    pub(crate) stop: &'a Arc<Stop>,
    /// Its tally, or those of several concurrent runs, one for each destination of the plan.
    pub(crate) watched: &'a [RunTally],
    pub(crate) forecast: Option<Forecast>,
    /// Its state, if it is a rescue.
    pub(crate) rescue: Option<SharedRescue>,
}

/// The display of a run.
pub(crate) trait RunDisplay: Observer + Send {
    /// Ends the display; later calls do nothing.
    fn finish(&self);

    /// The course of the run so far.
    fn series(&self) -> Series;
}

/// Answers the questions of a job, and shows its progress: a terminal, or a substitute.
pub(crate) trait Operator: Send + Sync {
    /// Receives a warning.
    fn warn(&self, warning: &str);

    /// Receives the notes of a plan, before any question.
    fn warn_of(&self, notes: &PlanNotes);

    /// Receives that the original data of an earlier measurement was restored on this device, before the copy
    /// with these notes.
    fn put_back(&self, address: &str, done: &PutBack, notes: &mut PlanNotes);

    /// Receives that a destination failed, and that the copy to the others continues.
    fn dropped(&self, error: &Error);

    /// Decides about an unfinished copy to the destination of `plan`.
    ///
    /// # Errors
    /// Refused: nothing may be written.
    fn resume_choice(&self, plan: &Plan, unfinished: &Unfinished) -> Result<ResumeChoice>;

    /// Confirms that the data on the destination may be overwritten.
    ///
    /// # Errors
    /// Refused: nothing may be written.
    fn confirm(&self, plan: &Plan, source: &Facts, dest: &Facts) -> Result<()>;

    /// Shows a run; from now on signals concern it.
    fn begin(&self, run: Run<'_>) -> Arc<dyn RunDisplay>;

    /// The last run has ended: a signal ends the process at once.
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

        fn resume_choice(&self, _plan: &Plan, _unfinished: &Unfinished) -> Result<ResumeChoice> {
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
