//! The original data of a device whose write rate is measured: saved, and restored; also by the next run, where a crash
//! came between.
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
pub(crate) use waiting::{are_there, explain, find_all, read_warnings, write_warnings};
pub(crate) use words::stays;

/// Where the undo journal of a device is, or would be.
///
/// # Errors
/// There is no folder for it.
pub(crate) fn place(device: &Facts) -> Result<PathBuf> {
    journal::of_device(device, "undo").ok_or_else(|| {
        let what = "no directory to save the original data in: neither XDG_STATE_HOME nor HOME is set";
        Error::new(Kind::Refused, what).advise("Set one of them to a directory on another disk.")
    })
}

/// Puts back what an earlier run left on the device, if any did.
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

/// The same before a copy to this dest, of which `notes` are.
///
/// # Errors
/// As for [`put_back_earlier`].
pub(crate) fn before_writing(dest: &Facts, notes: &mut PlanNotes, operator: &dyn Operator) -> Result<()> {
    if let Some(done) = put_back_earlier(dest)? {
        operator.put_back(&dest.address, &done, notes);
    }
    Ok(())
}

/// Where it would be, for a device; nothing else has one.
fn of(device: &Facts) -> Option<PathBuf> {
    (device.kind == EndpointKind::Block).then(|| journal::of_device(device, "undo")).flatten()
}

/// What about the device is not as the journal remembers it.
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

/// Makes the folder of `path`, so that what is in it survives a power loss, too.
///
/// # Errors
/// It cannot be made.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    let made = journal::prepare(path).and_then(|()| {
        // As far up as a folder may have been made just now: state, haul.
        let mut ours = path.ancestors().skip(2).take(3).filter(|folder| !folder.as_os_str().is_empty());
        ours.try_for_each(|folder| std::fs::File::open(folder)?.sync_all())
    });
    made.map_err(|error: std::io::Error| {
        let what = format!("cannot create a file for the original data, {}", path.display());
        Error::new(Kind::Refused, what).because(error).advise("Set XDG_STATE_HOME to a writable directory.")
    })
}

#[cfg(test)]
mod tests;
