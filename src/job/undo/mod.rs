//! The original data of a device whose write rate is measured: saved, and restored, after a crash by the next
//! run.
mod keep;
mod put_back;
mod waiting;
mod words;

use crate::core::{EndpointKind, Error, Facts, Kind, PlanNotes, Result};
use crate::disks;
use crate::job::journal;
use crate::job::operator::Operator;
use crate::ledger::undo::Undo;
use crate::ledger::{Fault, Mismatch, SideIdentity};
use crate::plan;
pub(crate) use keep::{AT_ONCE_BYTES, Mover, UndoTask, keep};
pub(crate) use put_back::{NotPutBack, PutBack, put_back};
use std::path::{Path, PathBuf};
pub(crate) use waiting::{any_exists, explain, find_all, read_warnings, write_warnings};
pub(crate) use words::stays;

/// The path of the undo journal of a device, existing or not.
///
/// # Errors
/// There is no directory for it.
pub(crate) fn place(device: &Facts) -> Result<PathBuf> {
    journal::of_device(device, "undo").ok_or_else(|| {
        let what = "no directory to save the original data in: neither XDG_STATE_HOME nor HOME is set";
        Error::new(Kind::Refused, what).advise("Set one of them to a directory on another disk.")
    })
}

/// Restores the data that an earlier run overwrote on the device, if there was one.
///
/// # Errors
/// Another process wrote there, or is measuring now; the journal is damaged; the device or the file system
/// fails.
pub(crate) fn put_back_earlier(device: &Facts) -> Result<Option<PutBack>> {
    let Some(path) = of(device) else { return Ok(None) };
    let failed = |fault: Fault| fault.into_error(&path.display().to_string());
    let Some(undo) = Undo::open(&path).map_err(failed)? else { return Ok(None) };
    if let Some(mismatch) = mismatch(&undo, device) {
        let what = format!("undo journal {} belongs to another device: {mismatch}", path.display());
        let advice = "Attach that device and run haul tune PATH --restore, or move the file away.";
        return Err(Error::new(Kind::Refused, what).advise(advice));
    }
    let end = disks::open_dest_to_change(&plan::to_put_back(device), device)?;
    put_back(undo, &end).map(Some).map_err(|not_back| not_back.error)
}

/// The same before a copy to this dest, whose notes are `notes`.
///
/// # Errors
/// As for [`put_back_earlier`].
pub(crate) fn before_writing(dest: &Facts, notes: &mut PlanNotes, operator: &dyn Operator) -> Result<()> {
    if let Some(done) = put_back_earlier(dest)? {
        operator.put_back(&dest.address, &done, notes);
    }
    Ok(())
}

/// The path of the undo journal of a device; `None` for anything else.
fn of(device: &Facts) -> Option<PathBuf> {
    (device.kind == EndpointKind::Block).then(|| journal::of_device(device, "undo")).flatten()
}

/// How the device differs from its description in the journal.
fn mismatch(undo: &Undo, device: &Facts) -> Option<String> {
    let (then, now) = (&undo.head().device, SideIdentity::of(device, 0));
    if then.size_bytes != now.size_bytes {
        return Some(format!("it had {} bytes and has {}", size(then), size(&now)));
    }
    let side = crate::core::Side::Dest;
    then.mismatches(side, &now).first().map(Mismatch::to_string)
}

fn size(side: &SideIdentity) -> u64 {
    side.size_bytes.unwrap_or(0)
}

/// Creates the directory of `path`, so that its contents survive a power loss, too.
///
/// # Errors
/// It cannot be created.
pub(crate) fn make_directory(path: &Path) -> Result<()> {
    let made = journal::prepare(path).and_then(|()| {
        // Includes the parents that may have been created just now: state, haul.
        let mut ours = path.ancestors().skip(2).take(3).filter(|directory| !directory.as_os_str().is_empty());
        ours.try_for_each(|directory| std::fs::File::open(directory)?.sync_all())
    });
    made.map_err(|error: std::io::Error| {
        let what = format!("cannot create a file for the original data, {}", path.display());
        Error::new(Kind::Refused, what).because(error).advise("Set XDG_STATE_HOME to a writable directory.")
    })
}

#[cfg(test)]
mod tests;
