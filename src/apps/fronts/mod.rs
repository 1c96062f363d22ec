//! The commands with the operands and messages of other programs: dd, and the sg_dd family.
//!
//! Each has a directory with its operands, decisions and messages, which no other module may use. `records` is
//! the copy by records, which both share.
pub mod dd;
mod earlier;
mod error_text;
mod help;
mod record_counts;
mod record_plan;
pub mod records;
pub mod sg_dd;
pub(super) mod sg_plan;

use super::command::{Command, Manual, Run};
use super::exit::Exit;
use crate::report::Out;
use record_counts::{RecordCounts, RecordTally};
use record_plan::{Diagnostic, RecordListener, RecordPlan};
use sg_plan::SgFront;
use std::ffi::{OsStr, OsString};

/// `haul dd`, and haul under the name dd.
pub(super) const DD: Command = Command {
    name: "dd",
    about: "Copy with the operands of GNU dd",
    define: |command, _| operands(command, "if=FILE of=FILE bs=BYTES …; see haul dd --help"),
    run: Run::Operands(|called, words, out| dd::dd(&called.join(OsStr::new(" ")), words, out)),
    manual: Some(Manual::Text(|| help::manual(include_str!("dd/manual.roff"), dd::cli::OPERANDS))),
};

/// `haul sg_dd`, and haul under that name.
pub(super) const SG_DD: Command = Command {
    manual: Some(Manual::Text(|| help::manual(include_str!("sg_dd/manual.roff"), sg_dd::cli::OPERANDS))),
    ..of_family(SgFront::Sg, "Copy with the operands of sg_dd of sg3_utils", |called, words, out| {
        sg_dd::sg_dd(SgFront::Sg, called, words, out)
    })
};

/// `haul sgp_dd`, and haul under that name.
pub(super) const SGP_DD: Command =
    of_family(SgFront::Sgp, "Copy with the operands of sgp_dd of sg3_utils", |called, words, out| {
        sg_dd::sg_dd(SgFront::Sgp, called, words, out)
    });

/// `haul sgm_dd`, and haul under that name.
pub(super) const SGM_DD: Command =
    of_family(SgFront::Sgm, "Copy with the operands of sgm_dd of sg3_utils", |called, words, out| {
        sg_dd::sg_dd(SgFront::Sgm, called, words, out)
    });

const fn of_family(front: SgFront, about: &'static str, run: fn(&[OsString], &[OsString], Out) -> Exit) -> Command {
    let define = |command: clap::Command, _: &[Command]| operands(command, "if=IFILE of=OFILE bs=BYTES …; see --help");
    Command { name: front.name(), about, define, run: Run::Operands(run), manual: None }
}

/// A command for help and completions; its operands are parsed before clap runs.
fn operands(command: clap::Command, operands: &'static str) -> clap::Command {
    let operands = clap::Arg::new("operand").num_args(0..).help(operands);
    command.disable_help_flag(true).arg(operands)
}
