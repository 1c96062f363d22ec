//! `haul pattern` in the list of commands.
use super::cli::{PatternArguments, PatternTask, PatternVerb};
use crate::apps::command::{Call, UsageError, Words};
use crate::apps::exit::Exit;
use crate::apps::not_started::report_not_started;
use crate::cli::defaults::Defaults;
use crate::core::{Error, PatternAct};

impl Words for PatternArguments {
    type Options = PatternTask;
    const PAGE: &'static [&'static str] = super::cli::PAGE;

    fn into_options(self) -> Result<PatternTask, UsageError> {
        let (act, (options, run)) = match self.verb {
            PatternVerb::Write(words) => (PatternAct::Write, words.into_options()?),
            PatternVerb::Check(words) => (PatternAct::Check, words.into_options()?),
        };
        Ok(PatternTask { act, options, run })
    }

    fn with_defaults(mut self, defaults: &Defaults) -> Self {
        self.verb.take_defaults(defaults);
        self
    }

    fn refuse(asked: &PatternTask, call: &Call<'_>, error: Error) -> crate::core::Result<Exit> {
        report_not_started(Err(error), asked.report(), &asked.options, call.words, call.out)
    }

    fn run(asked: &PatternTask, call: &Call<'_>) -> crate::core::Result<Exit> {
        report_not_started(super::pattern(asked, call), asked.report(), &asked.options, call.words, call.out)
    }
}
