//! Warnings of every command about a device whose original data is not restored.
use super::{mismatch, words};
use crate::core::{Device, EndpointKind, Error, Extent, Facts, WaitingUndo};
use crate::disks::probe;
use crate::job::journal;
use crate::ledger::undo::Undo;
use crate::ledger::{Fault, FaultKind, SideIdentity};
use std::path::PathBuf;

const KIND: &str = "undo";

/// An undo journal about bytes of a device.
struct UndoOnDevice {
    waiting: WaitingUndo,
    /// The device that was measured, if it is another one that shares bytes with this one.
    of_related: Option<String>,
}

impl UndoOnDevice {
    /// Those about `device`: its own, for a disk those of its partitions, and for a partition that of its disk
    /// if it contains bytes of the partition.
    fn about(device: &Facts) -> Vec<UndoOnDevice> {
        if device.kind != EndpointKind::Block || !journal::any_exists(KIND) {
            return Vec::new();
        }
        let own = journal::of_device(device, KIND).and_then(|path| UndoOnDevice::own(device, path));
        own.into_iter()
            .chain(
                journal::of_related(device, KIND).into_iter().filter_map(|path| UndoOnDevice::of_related(device, path)),
            )
            .collect()
    }

    fn own(device: &Facts, path: PathBuf) -> Option<UndoOnDevice> {
        let (waiting, undo) = opened(path)?;
        // About another device of that name: only a user who writes to this one is warned.
        undo.is_none_or(|undo| mismatch(&undo, device).is_none()).then_some(UndoOnDevice { waiting, of_related: None })
    }

    fn of_related(device: &Facts, path: PathBuf) -> Option<UndoOnDevice> {
        let (waiting, undo) = opened(path)?;
        let Some(undo) = undo else {
            let of_related = Some(format!("a disk or partition that shares bytes with {}", device.address));
            return Some(UndoOnDevice { waiting, of_related });
        };
        let (then, now) = (&undo.head().device, SideIdentity::of(device, 0));
        let is_of_same = (&then.model, &then.serial, &then.wwn) == (&now.model, &now.serial, &now.wwn);
        let here = Extent::new(journal::start_on_disk(device), device.size.unwrap_or(0));
        // The bytes in a journal of a partition are always on its disk.
        let is_here = here.offset == 0 || undo.kept().iter().any(|kept| kept.extent.intersection(&here).is_some());
        (is_of_same && is_here).then(|| UndoOnDevice { waiting, of_related: Some(then.path.clone()) })
    }

    /// The warning for a device that is only examined.
    fn warning(&self, address: &str) -> String {
        let WaitingUndo { path, kept_bytes } = &self.waiting;
        match (&self.of_related, kept_bytes) {
            (None, Some(_)) => words::not_put_back(address, path),
            (None, None) => words::being_measured(address),
            (Some(kin), Some(_)) => words::related_not_put_back(address, kin, path),
            (Some(kin), None) => words::being_measured(kin),
        }
    }
}

/// An existing one, and its content if no other process has it open. `None`: there is none that this user can
/// read.
fn opened(path: PathBuf) -> Option<(WaitingUndo, Option<Undo>)> {
    match Undo::open(&path) {
        Ok(Some(undo)) => {
            let kept_bytes = Some(undo.kept().iter().map(|kept| kept.extent.len).sum());
            Some((WaitingUndo { path, kept_bytes }, Some(undo)))
        }
        Err(Fault { kind: FaultKind::Busy, .. }) => Some((WaitingUndo { path, kept_bytes: None }, None)),
        _ => None,
    }
}

/// Warnings about original data not restored on a device that is only examined.
pub(crate) fn read_warnings(device: &Facts) -> Vec<String> {
    UndoOnDevice::about(device).iter().map(|found| found.warning(&device.address)).collect()
}

/// Warnings about a dest that is to be written, or would be without `dry_run`: its own original data is
/// restored first, which is reported then; that of a disk or partition that shares bytes with it is not.
pub(crate) fn write_warnings(dest: &Facts, dry_run: bool) -> Vec<String> {
    let reported = |found: &UndoOnDevice| match (&found.of_related, found.waiting.kept_bytes) {
        (None, Some(_)) => dry_run.then(|| words::to_be_put_back(&dest.address, &found.waiting.path)),
        (None, None) => dry_run.then(|| found.warning(&dest.address)),
        (Some(_), _) => Some(words::stays(&found.warning(&dest.address))),
    };
    UndoOnDevice::about(dest).iter().filter_map(reported).collect()
}

/// Completes the error of a dry run that resumes a copy: the present data was compared with the journal, but
/// the copy would restore the original data first.
pub(crate) fn explain(dest: &Facts, error: Error) -> Error {
    match UndoOnDevice::about(dest).iter().find(|found| found.of_related.is_none()) {
        Some(found) => error.advise(words::may_fit_later(&dest.address, &found.waiting.path)),
        None => error,
    }
}

/// Adds to each device and each partition what was not restored there.
pub(crate) fn find_all(devices: &mut [Device]) {
    if !journal::any_exists(KIND) {
        return;
    }
    let own = |path: &PathBuf| {
        let facts = path.to_str().and_then(|path| probe::source(path).ok())?;
        let found = journal::of_device(&facts, KIND).and_then(|path| UndoOnDevice::own(&facts, path))?;
        Some(found.waiting)
    };
    for device in devices {
        device.undo = own(&device.path);
        device.partitions.iter_mut().for_each(|part| part.undo = own(&part.path));
    }
}

/// Whether there is any undo journal.
pub(crate) fn any_exists() -> bool {
    journal::any_exists(KIND)
}
