//! The command line as a whole, from which parser, help, man pages and completions all come.
use super::command::Command;
use crate::cli::help;

/// The definition of the command line with these commands.
pub(super) fn definition(commands: &[Command]) -> clap::Command {
    let haul = clap::Command::new("haul")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Block copier for Linux: disks, partitions, images, pipes")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .max_term_width(100)
        .after_long_help(help::text(&[include_str!("help/overview.txt"), help::EXIT_STATUS]));
    haul.subcommands(commands.iter().map(|command| with_details((command.define)(commands))))
}

/// The command, with options, and those of commands below it, that do not say twice what they do.
fn with_details(command: clap::Command) -> clap::Command {
    let below: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    let command = command.mut_args(only_the_detail);
    below.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_details))
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
