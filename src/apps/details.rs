//! Removes repetition from the help of options: each has its short text or its long one, not both.

/// The command with its options and subcommands, without repeated descriptions.
pub(super) fn with_details(command: clap::Command) -> clap::Command {
    let below: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    let command = command.mut_args(only_the_detail);
    below.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_details))
}

/// The long help of an option without its first paragraph, which is the short help and is repeated in the rest.
fn only_the_detail(arg: clap::Arg) -> clap::Arg {
    let detail =
        arg.get_long_help().and_then(|help| help.to_string().split_once("\n\n").map(|(_, rest)| rest.to_owned()));
    match detail {
        Some(detail) => arg.long_help(detail),
        None => arg,
    }
}
