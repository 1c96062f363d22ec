//! The operands of sg_dd, sgp_dd and sgm_dd: what haul was asked for under one of these names.
mod number;
mod operands;
mod settle;
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

/// What a command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum SgCommand {
    /// `--help`.
    Help,
    /// `--version`.
    Version,
    /// To copy, or to compare.
    Copy(Box<SgPlan>),
}

/// Reads the words behind the name of `front`.
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
    settle::into_options(front, taken).map(|plan| SgCommand::Copy(Box::new(plan)))
}
