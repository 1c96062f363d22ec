//! Words in, the command that they ask for out: the list of all commands, its help and what is generated of it.
//!
//! A new command is a line in `arguments` and one in [`parse`].
mod arguments;
mod copy;
mod exchange;
pub mod generate;
mod manifest;
mod verify;

#[cfg(test)]
mod tests;

pub use generate::Artifact;
pub use manifest::ManifestAsked;

use crate::apps::fronts::sg_plan::SgFront;
use crate::apps::measuring::plan::{ProfileOptions, TuneOptions};
use crate::apps::pattern::cli::{self as pattern, PatternVerb};
use crate::cli::help::{EXIT_STATUS, SIZES};
use crate::core::PatternAct;
use crate::plan::Options;
use arguments::Verb;
use clap::{CommandFactory, FromArgMatches};
use exchange::JournalVerb;
use std::ffi::OsString;
use std::path::PathBuf;

const ENDPOINTS: &str = include_str!("help/endpoints.txt");
const COPY_EXAMPLES: &str = include_str!("help/copy-examples.txt");
const SIGNALS: &str = include_str!("help/signals.txt");

/// Behind the options in the man page.
const MANUAL: &[&str] =
    &[ENDPOINTS, SIZES, EXIT_STATUS, SIGNALS, COPY_EXAMPLES, pattern::DAMAGE, include_str!("help/notes.txt")];

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `haul copy`.
    Copy(Box<Options>),
    /// `haul verify`.
    Verify(Box<Options>),
    /// `haul manifest`.
    Manifest(ManifestAsked),
    /// `haul pattern`.
    Pattern {
        /// What is done with the pattern.
        act: PatternAct,
        /// Source or dest, and how.
        options: Box<Options>,
        /// The run; `None`: auto.
        run: Option<u64>,
    },
    /// `haul journal export`.
    ExportJournal {
        /// The journal.
        journal: PathBuf,
        /// The mapfile to be made.
        mapfile: PathBuf,
    },
    /// `haul journal import`.
    ImportJournal {
        /// The mapfile.
        mapfile: PathBuf,
        /// The copy that is to go on.
        options: Box<Options>,
    },
    /// `haul tune`.
    Tune(Box<TuneOptions>),
    /// `haul profile`.
    Profile(Box<ProfileOptions>),
    /// `haul list`.
    List {
        /// As JSON on standard output.
        json: bool,
    },
    /// `haul generate`: what packages install beside the program.
    Generate(Artifact),
}

/// The command that `args` ask for; the first of them is the program's name.
///
/// # Errors
/// A usage error, or help or version that was asked for: [`clap::Error::exit_code`] is 2 or 0, and its text is for
/// standard error or standard output by [`clap::Error::use_stderr`].
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(args)?;
    let arguments = arguments::Arguments::from_arg_matches(&matches)?;
    let (name, settled) = match arguments.verb {
        Verb::Copy(words) => ("copy", words.into_options().map(|options| Command::Copy(Box::new(options)))),
        Verb::Verify(words) => ("verify", words.into_options().map(|options| Command::Verify(Box::new(options)))),
        Verb::Manifest { what } => ("manifest", what.into_options().map(Command::Manifest)),
        Verb::Pattern { verb } => {
            let (act, settled) = match verb {
                PatternVerb::Write(words) => (PatternAct::Write, words.into_options()),
                PatternVerb::Check(words) => (PatternAct::Check, words.into_options()),
            };
            ("pattern", settled.map(|(options, run)| Command::Pattern { act, options: Box::new(options), run }))
        }
        Verb::Journal { verb: JournalVerb::Export { journal, mapfile } } => {
            return Ok(Command::ExportJournal { journal, mapfile });
        }
        Verb::Journal { verb: JournalVerb::Import(words) } => {
            let import = |(mapfile, options)| Command::ImportJournal { mapfile, options: Box::new(options) };
            ("journal", words.into_options().map(import))
        }
        Verb::Tune(words) => ("tune", words.into_options().map(|options| Command::Tune(Box::new(options)))),
        Verb::Profile(words) => ("profile", words.into_options().map(|options| Command::Profile(Box::new(options)))),
        Verb::List { json } => return Ok(Command::List { json }),
        Verb::Generate { artifact } => return Ok(Command::Generate(artifact)),
    };
    settled.map_err(|(kind, what)| {
        let subcommand = command.find_subcommand_mut(name).unwrap_or_else(|| unreachable!("{name} is a subcommand"));
        subcommand.error(kind, what)
    })
}

/// Whether `word` is one of haul's commands.
pub fn is_verb(word: &str) -> bool {
    command().find_subcommand(word).is_some()
}

/// The definition of the command line, from which parser, help, man page and completions all come.
pub fn command() -> clap::Command {
    let haul = arguments::Arguments::command();
    let haul = with_details(haul, &["copy", "verify", "pattern", "journal", "tune", "profile"]);
    haul.subcommand(dd_for_help()).subcommands(SgFront::ALL.map(sg_dd_for_help))
}

/// dd as help and completions know it. Its operands are read by the front itself, before any of this.
fn dd_for_help() -> clap::Command {
    let operands = clap::Arg::new("operand").num_args(0..).help("if=FILE of=FILE bs=BYTES …; see haul dd --help");
    clap::Command::new("dd").about("Copy with the operands of dd, as GNU dd does").disable_help_flag(true).arg(operands)
}

/// The same of its kin, left out of the list of commands: who needs them knows them.
fn sg_dd_for_help(front: SgFront) -> clap::Command {
    let operands = clap::Arg::new("operand").num_args(0..).help("if=IFILE of=OFILE bs=BYTES …; see --help");
    let about = format!("Copy with the operands of {} of sg3_utils", front.name());
    clap::Command::new(front.name()).about(about).hide(true).disable_help_flag(true).arg(operands)
}

/// The command, with options of the subcommands `names` and of those below them that do not say twice what they do.
fn with_details(command: clap::Command, names: &[&str]) -> clap::Command {
    let known: Vec<&str> = names.iter().copied().filter(|name| command.find_subcommand(name).is_some()).collect();
    known.into_iter().fold(command, |command, name| {
        command
            .mut_subcommand(name, |words| with_details(words.mut_args(only_the_detail), &["write", "check", "export"]))
    })
}

/// The long help of an option without its first paragraph, the short help, which the rest says again in full.
fn only_the_detail(arg: clap::Arg) -> clap::Arg {
    let detail =
        arg.get_long_help().and_then(|help| help.to_string().split_once("\n\n").map(|(_, rest)| rest.to_owned()));
    match detail {
        Some(detail) => arg.long_help(detail),
        None => arg,
    }
}
