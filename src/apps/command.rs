//! What a command of haul consists of: its arguments, and the function that runs it.
use super::defaults;
use super::details::with_details;
use super::exit::{Exit, failed, printed};
use crate::cli::defaults::Defaults;
use crate::cli::help::is_omitted;
use crate::cli::shown::{lead_units, with_units};
use crate::core::{Error, Result};
use crate::report::json::NotStarted;
use crate::report::{Out, json};
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, FromArgMatches};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Why arguments that clap accepted are invalid.
pub(super) type UsageError = (ErrorKind, String);

/// What a command receives in addition to its options.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    /// The command line without the program's name.
    pub(super) words: &'a [String],
    pub(super) out: Out,
    /// All commands.
    pub(super) commands: &'a [Command],
}

/// Arguments that clap parses.
pub(super) trait Words: Args + FromArgMatches {
    /// The options that they become.
    type Options;

    /// Sections of its man page after the options, in the form of the help texts.
    const PAGE: &'static [&'static str] = &[];

    /// Takes the configured default for each argument that was omitted.
    fn with_defaults(self, _defaults: &Defaults) -> Self {
        self
    }

    /// Converts the arguments into options.
    ///
    /// # Errors
    /// Why the arguments are invalid.
    fn into_options(self) -> std::result::Result<Self::Options, UsageError>;

    /// Runs the command.
    ///
    /// # Errors
    /// The reason for refusing, or a failure before there was anything to report.
    fn run(options: &Self::Options, call: &Call<'_>) -> Result<Exit>;

    /// Reports, to programs that read JSON, an error that prevents the command from running.
    ///
    /// # Errors
    /// The error itself if no JSON was requested.
    fn refuse(_options: &Self::Options, _call: &Call<'_>, error: Error) -> Result<Exit> {
        Err(error)
    }

    /// The name of the JSON document to print when [`Words::run`] fails; `None`: the output is text, or a
    /// document has already been printed.
    fn json_report(_options: &Self::Options) -> Option<&'static str> {
        None
    }
}

/// One line in the list of commands.
pub(super) struct Command {
    pub(super) name: &'static str,
    /// Its description in the list of commands: the first line of its help.
    pub(super) about: &'static str,
    /// Completes the clap command, which has its name and description, with its help, arguments and options.
    pub(super) define: fn(clap::Command, &[Command]) -> clap::Command,
    pub(super) run: Run,
    /// Its man page, `haul-NAME(1)`; `None` if it has none.
    pub(super) manual: Option<Manual>,
}

/// How a man page is made.
pub(super) enum Manual {
    /// From the command's definition, with these sections after the options.
    Sections(&'static [&'static str]),
    /// With a separate text.
    Text(fn() -> String),
}

/// How a command runs.
pub(super) enum Run {
    /// With arguments that clap has parsed.
    Words(fn(&ArgMatches, &Call<'_>) -> std::result::Result<Exit, UsageError>),
    /// With operands that it parses itself, also when the program is called by the command's name. The first
    /// slice is the name by which it was called, one word or two.
    Operands(fn(&[OsString], &[OsString], Out) -> Exit),
}

impl Command {
    /// A command whose arguments clap parses. Its help is built when this command is used, not whenever haul
    /// starts.
    pub(super) const fn of<W: Words>(name: &'static str, about: &'static str) -> Command {
        let define = |command: clap::Command, _: &[Command]| command.defer(in_full::<W>);
        Command { name, about, define, run: Run::Words(run::<W>), manual: Some(Manual::Sections(W::PAGE)) }
    }

    /// Whether a program of this name behaves as this command.
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
            // The error that ended the run determines the status, not a failure to print it.
            let _ = printed(call.out, &json::text(&json::failed(report, call.words, NotStarted::Failed(&error))));
        }
        failed(call.out, &error)
    }))
}

/// The command with the help, arguments and options of `W`.
fn in_full<W: Words>(command: clap::Command) -> clap::Command {
    let command = with_units(W::augment_args(command));
    if is_omitted() { command } else { with_details(command) }
}

/// Runs a command that parses its own operands, called by its own name or as a command of haul, without clap.
pub(super) fn with_operands(commands: &[Command], args: &[OsString], out: Out) -> Option<Exit> {
    let program = args.first()?;
    for command in commands {
        let Run::Operands(run) = command.run else { continue };
        let names = match args.get(1) {
            _ if command.is_program(program) => 1,
            Some(verb) if verb == command.name => 2,
            _ => continue,
        };
        defaults::load_for_fronts();
        return Some(run(&args[..names], &args[names..], out));
    }
    None
}
