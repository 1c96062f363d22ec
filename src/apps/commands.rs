//! The list of commands; runs the command that the command line names.
use super::brief::{self, in_options};
use super::command::{Call, Command, Run, with_operands};
use super::config::ConfigArguments;
use super::copy::words::CopyArguments;
use super::definition::matched;
use super::exit::{Exit, printed};
use super::generate::{self, GenerateArguments};
use super::journal::words::JournalArguments;
use super::list::ListArguments;
use super::manifest::words::ManifestArguments;
use super::map::words::MapArguments;
use super::measuring::{ProfileArguments, TuneArguments};
use super::other_names::{self, NameAnswer};
use super::pattern::PatternArguments;
use super::rescue::words::RescueArguments;
use super::stack::with_stack;
use super::verify::words::VerifyArguments;
use super::{fleet, fronts, servers};
use crate::core::hidden_in;
use crate::report::{Out, text};
use clap::error::ErrorKind;
use std::ffi::OsString;

/// Every command, in the order in which help lists them.
static COMMANDS: &[Command] = &[
    Command::of::<CopyArguments>("copy", "Copy a disk, a partition, a file or a stream"),
    Command::of::<RescueArguments>("rescue", "Rescue a failing disk: what is readable first"),
    Command::of::<MapArguments>("map", "Show, compare and combine the maps of rescues"),
    Command::of::<VerifyArguments>("verify", "Compare two sides: what differs, and where"),
    Command::of::<ManifestArguments>("manifest", "Show, compare or export manifests of copies"),
    Command::of::<PatternArguments>("pattern", "Test a disk: write a pattern, then verify it"),
    Command::of::<JournalArguments>("journal", "List or remove journals; exchange them with GNU ddrescue"),
    fleet::PLAN,
    fleet::STATUS,
    fleet::FINISH,
    Command::of::<TuneArguments>("tune", "Find the best block size and queue depth for a disk"),
    Command::of::<ProfileArguments>("profile", "Measure a disk: rate by position, latency of commands"),
    Command::of::<ListArguments>("list", "List block devices: aliases, size, identity, use and partitions"),
    Command::of::<ConfigArguments>("config", "Show the configured defaults, and where each comes from"),
    Command {
        define: generate::define,
        manual: None,
        ..Command::of::<GenerateArguments>("generate", "Print a man page or shell completions")
    },
    fronts::DD,
    fronts::SG_DD,
    fronts::SGP_DD,
    fronts::SGM_DD,
];

/// Runs the command line; the first of `args` is the program's name.
pub fn run(args: Vec<OsString>) -> Exit {
    Out.fit_terminal();
    with_stack(|| servers::ended_after(|| run_command_line(args)))
}

fn run_command_line(args: Vec<OsString>) -> Exit {
    let out = Out;
    let args = in_options(args, |program| COMMANDS.iter().any(|command| command.is_program(program)));
    if let Some(exit) = with_operands(COMMANDS, &args, out) {
        return exit;
    }
    // Nothing that is printed or recorded from here on has a secret of an address.
    let args: Vec<OsString> = servers::joined(args).into_iter().map(hidden_in).collect();
    let args = match other_names::reaction_to(&args) {
        None => args,
        Some(NameAnswer::Instead(args)) => args,
        Some(NameAnswer::Told(line)) => {
            out.eprint(&line);
            return Exit::Status(2);
        }
    };
    let words: Vec<String> = args.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    match parsed(&args, &Call { words: &words, out, commands: COMMANDS }) {
        Ok(exit) => exit,
        Err(error) if error.use_stderr() => {
            let is_command = |word: &&str| COMMANDS.iter().any(|command| command.name == *word);
            let verb = words.first().map(String::as_str).filter(is_command);
            out.eprint(&text::usage(&error.render().to_string(), verb));
            Exit::Status(2)
        }
        Err(help) => printed(out, &help.render().ansi().to_string()),
    }
}

fn parsed(args: &[OsString], call: &Call<'_>) -> Result<Exit, clap::Error> {
    let (mut haul, matches) = matched(args, call.commands);
    let matches = match matches {
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            let help = brief::help_of(&haul, call.words).ok_or(error)?;
            return Ok(printed(call.out, &help.ansi().to_string()));
        }
        other => other?,
    };
    let (name, matches) = matches.subcommand().unwrap_or_else(|| unreachable!("a subcommand is required"));
    let command = call.commands.iter().find(|command| command.name == name);
    let Some(Command { run: Run::Words(run), .. }) = command else { unreachable!("{name} was run already") };
    run(matches, call).map_err(|(kind, what)| {
        let subcommand = haul.find_subcommand_mut(name).unwrap_or_else(|| unreachable!("{name} is a subcommand"));
        subcommand.error(kind, what)
    })
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
