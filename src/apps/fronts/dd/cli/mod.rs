//! The operands of `haul dd`, and of haul under the name dd.
mod convert;
mod number;
mod operands;
#[cfg(test)]
mod tests;

use crate::apps::fronts::dd::plan::{DdUsage, DdWarning};
use crate::apps::fronts::help;
use crate::apps::fronts::record_plan::RecordPlan;
use operands::Operands;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// Every operand and word, for `--help` and the man page.
pub(in crate::apps::fronts) const OPERANDS: &str = include_str!("operands.txt");

/// What `--help` prints for `program`.
pub fn help_text(program: &str) -> String {
    help::help(include_str!("help.txt"), OPERANDS, program, "dd")
}

/// What a command line of dd requests.
#[derive(Clone, Debug, PartialEq)]
pub enum DdCommand {
    /// `--help`.
    Help,
    /// `--version`.
    Version,
    /// A copy.
    Copy {
        /// Its plan.
        plan: Box<RecordPlan>,
        /// `--explain`: print how it would be copied, and exit.
        explain: bool,
    },
}

/// The request, and messages to print before the copy.
#[derive(Debug, PartialEq)]
pub struct Parsed {
    /// The command, or why it is invalid.
    pub command: Result<DdCommand, DdUsage>,
    /// In the order in which they were noticed.
    pub warnings: Vec<DdWarning>,
}

/// Parses the arguments after dd's name. `--explain`, which dd does not have, precedes all others.
pub fn parse(words: &[OsString]) -> Parsed {
    let mut warnings = Vec::new();
    let command = read(words, &mut warnings);
    Parsed { command, warnings }
}

fn read(words: &[OsString], warnings: &mut Vec<DdWarning>) -> Result<DdCommand, DdUsage> {
    let explain = words.first().is_some_and(|word| word == "--explain");
    let words = &words[usize::from(explain)..];
    if let Some(command) = option(words)? {
        return Ok(command);
    }
    let mut operands = Operands::default();
    let mut only_operands = false;
    for word in words {
        if !only_operands && word == "--" {
            only_operands = true;
            continue;
        }
        operands.take(word, warnings)?;
    }
    let plan = Box::new(convert::into_options(operands, warnings)?);
    Ok(DdCommand::Copy { plan, explain })
}

/// The first option, anywhere among the operands.
fn option(words: &[OsString]) -> Result<Option<DdCommand>, DdUsage> {
    for word in words {
        let bytes = word.as_bytes();
        if bytes == b"--" {
            break;
        }
        match bytes {
            [b'-', b'-', name @ ..] => return long_option(word, name).map(Some),
            [b'-', letter, ..] => return Err(DdUsage::ShortOption(*letter)),
            _ => {}
        }
    }
    Ok(None)
}

fn long_option(word: &OsString, name: &[u8]) -> Result<DdCommand, DdUsage> {
    let end = name.iter().position(|byte| *byte == b'=');
    let beginning = &name[..end.unwrap_or(name.len())];
    let fits = |option: &str| option.as_bytes().starts_with(beginning);
    let (option, command) = match (fits("help"), fits("version")) {
        (true, true) => return Err(DdUsage::Ambiguous(word.clone())),
        (true, false) => ("--help", DdCommand::Help),
        (false, true) => ("--version", DdCommand::Version),
        (false, false) => return Err(DdUsage::LongOption(word.clone())),
    };
    if end.is_some() { Err(DdUsage::NoArgument(option)) } else { Ok(command) }
}
