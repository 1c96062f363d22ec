//! `haul generate`: files that packages install with the program, made from the list of commands.
mod completions;

use super::command::{Call, Command, Manual, UsageError, Words};
use super::definition::definition;
use super::exit::{Exit, printed};
use crate::cli::help::{ENVIRONMENT, EXIT_STATUS, FILES};
use crate::cli::manual;
use crate::core::Error;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser};
use clap_complete::Shell;

/// Print a man page or shell completions
#[derive(Debug, Parser)]
#[command(name = "generate", hide = true)]
pub(super) struct GenerateArguments {
    /// man, the man page of a command, or the completions of a shell
    artifact: String,
}

/// The command, with the names of all man pages as values.
pub(super) fn define(command: clap::Command, commands: &[Command]) -> clap::Command {
    let page = |name: &str| format!("the man page haul{}(1)", name.strip_prefix(PAGE).unwrap_or_default());
    let pages = commands.iter().filter(|command| command.manual.is_some()).map(|command| page_of(command.name));
    let pages =
        std::iter::once(PAGE.to_owned()).chain(pages).map(|name| PossibleValue::new(name.clone()).help(page(&name)));
    let guides =
        GUIDES.iter().map(|(name, ..)| PossibleValue::new(page_of(name)).help(format!("the man page haul-{name}(7)")));
    let shells = SHELLS.iter().map(|(name, _)| PossibleValue::new(*name).help(format!("completions for {name}")));
    let names: Vec<PossibleValue> = pages.chain(guides).chain(shells).collect();
    GenerateArguments::augment_args(command)
        .mut_arg("artifact", |word| word.value_parser(PossibleValuesParser::new(names)))
}

/// The name of the command, which is for packagers and hidden from users.
const NAME: &str = "generate";

/// The man page `haul(1)`.
pub(super) const PAGE: &str = "man";

const SHELLS: &[(&str, Shell)] = &[("bash", Shell::Bash), ("zsh", Shell::Zsh), ("fish", Shell::Fish)];

/// The guides of section 7: name, summary and sections.
const GUIDES: &[(&str, &str, &str)] =
    &[("fleet", "one copy by many machines, under any scheduler", include_str!("../help/fleet.txt"))];

/// The sections of `haul(1)`.
const OVERVIEW: &[&str] =
    &[EXIT_STATUS, ENVIRONMENT, FILES, include_str!("../help/overview.txt"), include_str!("../help/see-also.txt")];

/// The name of the man page of one command.
fn page_of(command: &str) -> String {
    format!("{PAGE}-{command}")
}

impl Words for GenerateArguments {
    /// The name of the artifact.
    type Options = String;

    fn into_options(self) -> Result<String, UsageError> {
        Ok(self.artifact)
    }

    /// The artifacts do not depend on the user's configuration, so an invalid one is ignored.
    fn refuse(artifact: &String, call: &Call<'_>, _error: Error) -> crate::core::Result<Exit> {
        Self::run(artifact, call)
    }

    fn run(artifact: &String, call: &Call<'_>) -> crate::core::Result<Exit> {
        Ok(printed(call.out, &render(artifact, call.commands)))
    }
}

/// The contents of the artifact: the same on every run of the same version, because they have no date.
pub(super) fn render(artifact: &str, commands: &[Command]) -> String {
    if let Some((_, shell)) = SHELLS.iter().find(|(name, _)| *name == artifact) {
        return completions::script(*shell, commands, NAME);
    }
    if let Some((name, about, text)) = GUIDES.iter().find(|(name, ..)| page_of(name) == artifact) {
        return manual::guide(name, about, &[text]);
    }
    let haul = definition(commands);
    let command = commands.iter().find(|command| page_of(command.name) == artifact);
    match command.and_then(|command| Some((command.name, command.manual.as_ref()?))) {
        Some((name, Manual::Sections(sections))) => manual::page(haul, name, sections),
        Some((_, Manual::Text(text))) => text(),
        None => manual::overview(haul, OVERVIEW),
    }
}
