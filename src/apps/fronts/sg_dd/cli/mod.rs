//! The operands of sg_dd, sgp_dd and sgm_dd.
mod convert;
mod number;
mod operands;
#[cfg(test)]
mod tests;

use crate::apps::fronts::help;
use crate::apps::fronts::sg_dd::plan::SgUsage;
use crate::apps::fronts::sg_plan::{SgFront, SgPlan};
use operands::{InfoOption, Words};
use std::ffi::OsString;

/// Every operand and word, for `--help` and the man page.
pub(in crate::apps::fronts) const OPERANDS: &str = include_str!("operands.txt");

/// What `--help` prints for `program`, which behaves as `front`.
pub fn help_text(program: &str, front: SgFront) -> String {
    help::help(include_str!("help.txt"), OPERANDS, program, front.name())
}

/// The request of a command line.
#[derive(Clone, Debug, PartialEq)]
pub enum SgCommand {
    /// `--help`.
    Help,
    /// `--version`.
    Version,
    /// A copy, or a comparison.
    Copy(Box<SgPlan>),
}

/// Parses the arguments after the name of `front`.
///
/// # Errors
/// Why they are invalid.
pub fn parse(front: SgFront, words: &[OsString]) -> Result<SgCommand, SgUsage> {
    let mut taken = Words::default();
    for word in words {
        match taken.take(front, word)? {
            Some(InfoOption::Help) => return Ok(SgCommand::Help),
            Some(InfoOption::Version) => return Ok(SgCommand::Version),
            None => {}
        }
    }
    convert::into_options(front, taken).map(|plan| SgCommand::Copy(Box::new(plan)))
}
