//! The whole command line, from which parser, help, man pages and completions are made.
use super::command::Command;
use crate::cli::help;
use clap::ArgMatches;
use std::ffi::OsString;

/// The definition of the command line with these commands.
pub(super) fn definition(commands: &[Command]) -> clap::Command {
    definition_without(commands, "")
}

/// The same without the command named `left_out`.
pub(super) fn definition_without(commands: &[Command], left_out: &str) -> clap::Command {
    let haul = clap::Command::new("haul")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Block copier for Linux: disks, partitions, images, pipes")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .max_term_width(100)
        .after_long_help(help::text(&[include_str!("help/overview.txt"), help::EXIT_STATUS]));
    let define = |command: &Command| {
        let line = clap::Command::new(command.name).about(command.about);
        (command.define)(line, commands)
    };
    let named = clap::Arg::new("command").value_name("COMMAND").num_args(0..).help("Which command; none: haul itself");
    let help = clap::Command::new("help").about("Print the help of haul or of a command").arg(named);
    let version = clap::Command::new("version").about("Print the version");
    haul.subcommands(commands.iter().filter(|command| command.name != left_out).map(define))
        .subcommands([help, version])
}

/// Parses `args`; returns the definition of the command line too. It has texts of help only if `args` request help or
/// are invalid.
pub(super) fn matched(args: &[OsString], commands: &[Command]) -> (clap::Command, Result<ArgMatches, clap::Error>) {
    let parse = || {
        let mut haul = definition(commands);
        let matches = haul.try_get_matches_from_mut(args);
        (haul, matches)
    };
    match help::omitted_while(parse) {
        (_, Err(_)) => parse(),
        valid => valid,
    }
}
