//! What a command of haul is: its words, and how it runs.
use super::defaults;
use super::details::with_details;
use super::exit::{Exit, failed, printed};
use crate::cli::defaults::Defaults;
use crate::cli::shown::{lead_units, with_units};
use crate::core::{Error, Result};
use crate::report::{Out, json};
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, FromArgMatches};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Why words that clap took are invalid.
pub(super) type UsageError = (ErrorKind, String);

/// What a command is given beside its words.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    /// The command line behind the program's name.
    pub(super) words: &'a [String],
    pub(super) out: Out,
    /// All commands there are.
    pub(super) commands: &'a [Command],
}

/// Words that clap reads.
pub(super) trait Words: Args + FromArgMatches {
    /// What they mean.
    type Options;

    /// Sections of its man page behind the options, in the form of the help texts.
    const PAGE: &'static [&'static str] = &[];

    /// The same with the configured defaults for what is not given.
    fn with_defaults(self, _defaults: &Defaults) -> Self {
        self
    }

    /// What these words mean.
    ///
    /// # Errors
    /// Why they are invalid.
    fn into_options(self) -> std::result::Result<Self::Options, UsageError>;

    /// Does it.
    ///
    /// # Errors
    /// What forbids it, or failed before there was anything to report.
    fn run(options: &Self::Options, call: &Call<'_>) -> Result<Exit>;

    /// Tells of an error that forbids to do it, where programs read along.
    ///
    /// # Errors
    /// The error itself where only people do.
    fn refuse(_options: &Self::Options, _call: &Call<'_>, error: Error) -> Result<Exit> {
        Err(error)
    }

    /// The name of the JSON that is printed where [`Words::run`] fails; `None`: people read along, or it has printed
    /// one.
    fn json_report(_options: &Self::Options) -> Option<&'static str> {
        None
    }
}

/// One line in the list of commands.
pub(super) struct Command {
    pub(super) name: &'static str,
    /// What the list of commands says of it: the first line of its help.
    pub(super) about: &'static str,
    /// Gives the command that clap is to know, which has its name and its line, its help, words and options.
    pub(super) define: fn(clap::Command, &[Command]) -> clap::Command,
    pub(super) run: Run,
    /// Its man page, `haul-NAME(1)`; `None` where it has none.
    pub(super) manual: Option<Manual>,
}

/// How a man page is made.
pub(super) enum Manual {
    /// Of the command's definition, with these sections behind the options.
    Sections(&'static [&'static str]),
    /// Of a text of its own.
    Text(fn() -> String),
}

/// How a command runs.
pub(super) enum Run {
    /// With words that clap has read.
    Words(fn(&ArgMatches, &Call<'_>) -> std::result::Result<Exit, UsageError>),
    /// With operands that it reads by itself, also where the program itself is called by its name. The first slice is
    /// how it was called, in one word or two.
    Operands(fn(&[OsString], &[OsString], Out) -> Exit),
}

impl Command {
    /// One whose words clap reads. Its help is laid out when this command is used, not whenever haul starts.
    pub(super) const fn of<W: Words>(name: &'static str, about: &'static str) -> Command {
        let define = |command: clap::Command, _: &[Command]| command.defer(in_full::<W>);
        Command { name, about, define, run: Run::Words(run::<W>), manual: Some(Manual::Sections(W::PAGE)) }
    }

    /// A program of this name behaves as this command.
    pub(super) fn is_program(&self, program: &OsStr) -> bool {
        Path::new(program).file_name().is_some_and(|name| name == self.name)
    }
}

fn run<W: Words>(matches: &ArgMatches, call: &Call<'_>) -> std::result::Result<Exit, UsageError> {
    let words = W::from_arg_matches(matches).unwrap_or_else(|error| unreachable!("clap has read them: {error}"));
    let (defaults, failed_to) = match defaults::load() {
        Ok(defaults) => (defaults, None),
        Err(error) => (Defaults::default(), Some(error)),
    };
    lead_units(matches, &defaults);
    let options = words.with_defaults(&defaults).into_options()?;
    let ran = match failed_to {
        Some(error) => W::refuse(&options, call, error),
        None => W::run(&options, call),
    };
    Ok(ran.unwrap_or_else(|error| {
        if let Some(report) = W::json_report(&options) {
            // What ended the run counts, and not that this could not be printed.
            let _ = printed(call.out, &json::text(&json::failed(report, call.words, &error)));
        }
        failed(call.out, &error)
    }))
}

/// The command with the help, words and options of `W`.
fn in_full<W: Words>(command: clap::Command) -> clap::Command {
    with_details(with_units(W::augment_args(command)))
}
