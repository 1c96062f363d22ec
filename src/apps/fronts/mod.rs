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
pub mod sg_dd;
pub(super) mod sg_plan;

use super::exit::Exit;
use crate::apps::command_line::Artifact;
use crate::apps::fronts::sg_plan::SgFront;
use crate::report::Out;
use std::ffi::OsString;

/// haul under dd's name or that of one of its kin, or its command of that name. Their operands are no options, so clap
/// never sees them.
pub(super) fn named(args: &[OsString], out: Out) -> Option<Exit> {
    let (program, words) = args.split_first()?;
    if dd::is_called(program) {
        return Some(dd::dd(program, words, out));
    }
    if let Some(front) = sg_dd::is_called(program) {
        return Some(sg_dd::sg_dd(front, &args[..1], words, out));
    }
    let (verb, words) = words.split_first()?;
    if verb == "dd" {
        let mut name = program.clone();
        name.push(" dd");
        return Some(dd::dd(&name, words, out));
    }
    let front = SgFront::ALL.into_iter().find(|front| verb == front.name())?;
    Some(sg_dd::sg_dd(front, &args[..2], words, out))
}

/// The man page of a front; `None`: it is not one of theirs.
pub(super) fn manual(artifact: Artifact) -> Option<Vec<u8>> {
    let page = match artifact {
        Artifact::ManDd => help::manual(include_str!("dd/manual.roff"), dd::cli::OPERANDS),
        Artifact::ManSgDd => help::manual(include_str!("sg_dd/manual.roff"), sg_dd::cli::OPERANDS),
        _ => return None,
    };
    Some(page.into_bytes())
}
