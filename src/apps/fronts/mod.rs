//! The commands that speak in the words of other programs: dd, and sg_dd and its kin.
//!
//! A folder for each has everything of it: its operands, what it decides, what it says. `records` is the copy by
//! records that both are made of. Nothing outside may know their words.
pub mod dd;
mod earlier;
mod help;
mod record_counts;
mod record_plan;
pub mod records;
mod said;
pub mod sg_dd;
pub(super) mod sg_plan;

use super::command::{Command, Run};
use super::exit::Exit;
use crate::report::Out;
use record_counts::{RecordCounts, RecordTally};
use record_plan::{Diagnostic, RecordListener, RecordPlan};
use sg_plan::SgFront;
use std::ffi::{OsStr, OsString};

/// `haul dd`, and haul under the name dd.
pub(super) const DD: Command = Command {
    name: "dd",
    define: |_| {
        operands("dd", "Copy with the operands of dd, as GNU dd does", "if=FILE of=FILE bs=BYTES …; see haul dd --help")
    },
    run: Run::Operands(|called, words, out| dd::dd(&called.join(OsStr::new(" ")), words, out)),
    manual: Some(|_| help::manual(include_str!("dd/manual.roff"), dd::cli::OPERANDS)),
    section: "",
};

/// `haul sg_dd`, and haul under that name.
pub(super) const SG_DD: Command = Command {
    manual: Some(|_| help::manual(include_str!("sg_dd/manual.roff"), sg_dd::cli::OPERANDS)),
    ..of_family(
        SgFront::Sg,
        |_| of_family_for_help(SgFront::Sg),
        |called, words, out| sg_dd::sg_dd(SgFront::Sg, called, words, out),
    )
};

/// `haul sgp_dd`, and haul under that name.
pub(super) const SGP_DD: Command = of_family(
    SgFront::Sgp,
    |_| of_family_for_help(SgFront::Sgp),
    |called, words, out| sg_dd::sg_dd(SgFront::Sgp, called, words, out),
);

/// `haul sgm_dd`, and haul under that name.
pub(super) const SGM_DD: Command = of_family(
    SgFront::Sgm,
    |_| of_family_for_help(SgFront::Sgm),
    |called, words, out| sg_dd::sg_dd(SgFront::Sgm, called, words, out),
);

const fn of_family(
    front: SgFront,
    define: fn(&[Command]) -> clap::Command,
    run: fn(&[OsString], &[OsString], Out) -> Exit,
) -> Command {
    Command { name: front.name(), define, run: Run::Operands(run), manual: None, section: "" }
}

/// One of the family, left out of the list of commands: who needs it knows it.
fn of_family_for_help(front: SgFront) -> clap::Command {
    let about = format!("Copy with the operands of {} of sg3_utils", front.name());
    operands(front.name(), &about, "if=IFILE of=OFILE bs=BYTES …; see --help").hide(true)
}

/// A command as help and completions know it, whose operands it reads by itself, before clap sees any.
fn operands(name: &'static str, about: &str, operands: &'static str) -> clap::Command {
    let operands = clap::Arg::new("operand").num_args(0..).help(operands);
    clap::Command::new(name).about(about.to_owned()).disable_help_flag(true).arg(operands)
}
