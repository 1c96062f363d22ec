//! Options say what they do once: in short, or in full.

/// The command, with options, and those of commands below it, that do not say twice what they do.
pub(super) fn with_details(command: clap::Command) -> clap::Command {
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
