//! Sides from which no record can be read or written: nodes that accept only commands.
use crate::apps::fronts::record_plan::{Diagnostic, RecordPlan};
use crate::core::Side;
use crate::disks::probe;
use crate::sys;
use rustix::fs::{FileType, Stat};
use std::ffi::OsStr;
use std::io;

/// Refuses sides that accept only commands, before anything is opened: a read of a SCSI generic node would
/// block forever, and it interprets writes as commands. `by_commands`: sides that are reached by commands.
///
/// # Errors
/// The side, and what to use instead.
pub fn check_nodes(plan: &RecordPlan, by_commands: [bool; 2]) -> Result<(), (Side, Diagnostic)> {
    let source = plan.source.path.as_deref();
    let sides = [(Side::Source, source), (Side::Dest, plan.dest.path.as_deref())];
    for (side, path) in sides.into_iter().filter(|(side, _)| !by_commands[side.index()]) {
        if side == Side::Dest || plan.pattern.is_none() {
            check(path, side)?;
        }
    }
    plan.second.as_deref().map_or(Ok(()), |path| check(Some(path), Side::Dest))
}

fn check(path: Option<&OsStr>, side: Side) -> Result<(), (Side, Diagnostic)> {
    let Some(stat) = look(path, side).filter(is_character) else { return Ok(()) };
    let standard = if side == Side::Source { "(standard input)" } else { "(standard output)" };
    let name = path.map_or(standard.into(), OsStr::to_string_lossy);
    match probe::takes_commands_only(&name, stat.st_rdev, side) {
        Some(error) => Err((side, Diagnostic::CommandsOnly(Box::new(error)))),
        None => Ok(()),
    }
}

/// The status of the file; `None` if it cannot be read: then opening the file reports why.
fn look(path: Option<&OsStr>, side: Side) -> Option<Stat> {
    match (path, side) {
        (Some(path), _) => rustix::fs::stat(path).ok(),
        (None, _) if sys::was_closed(side.index() as u8) => None,
        (None, Side::Source) => rustix::fs::fstat(io::stdin()).ok(),
        (None, Side::Dest) => rustix::fs::fstat(io::stdout()).ok(),
    }
}

fn is_character(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice
}
