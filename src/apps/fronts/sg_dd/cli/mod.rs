//! The operands of sg_dd, sgp_dd and sgm_dd: what haul was asked for under one of these names.
mod help;
mod number;
mod operands;
mod settle;
#[cfg(test)]
mod tests;

pub use help::{MANUAL_TEXT, SIGNALS, STATUSES, groups, text as help_text};

use crate::apps::fronts::sg_dd::plan::SgUsage;
use crate::core::{SgFront, SgPlan};
use operands::{Instead, Words};
use std::ffi::OsString;

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
/// Why they cannot be meant.
pub fn parse(front: SgFront, words: &[OsString]) -> Result<SgCommand, SgUsage> {
    let mut taken = Words::default();
    for word in words {
        match taken.take(front, word)? {
            Some(Instead::Help) => return Ok(SgCommand::Help),
            Some(Instead::Version) => return Ok(SgCommand::Version),
            None => {}
        }
    }
    settle::into_options(front, taken).map(|plan| SgCommand::Copy(Box::new(plan)))
}
