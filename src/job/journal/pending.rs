//! Finds unfinished copies for lists, by their journals, without changing those.
use super::{about, directories, place};
use crate::core::{Device, EndpointKind, Error, Facts, Kind, PendingCopy, PendingSide, Result};
use crate::disks::probe;
use crate::files::open_to_read;
use crate::ledger::journal::{Head, Journal, is_in_use};
use crate::ledger::{Fault, FaultKind, SideIdentity};
use std::path::{Path, PathBuf};

/// The kind of record file for a journal of a device.
const KIND: &str = "journal";

/// Journals, and the copies that they describe.
#[derive(Default)]
pub(crate) struct PendingCopies {
    /// Unfinished copies, by the path of their journal.
    pub(crate) copies: Vec<PendingCopy>,
    /// Journals that cannot be read, and the reasons.
    pub(crate) faults: Vec<(PathBuf, Fault)>,
}

impl PendingCopies {
    /// The unfinished copies to devices.
    pub(crate) fn of_devices() -> PendingCopies {
        let mut found = PendingCopies::default();
        if !place::any_exists(KIND) {
            return found;
        }
        let mut devices = probe::devices::devices().map(|(devices, _)| devices).unwrap_or_default();
        find_all(&mut devices);
        for device in devices {
            found.copies.extend(device.pending);
            found.copies.extend(device.partitions.into_iter().filter_map(|part| part.pending));
        }
        let mut others: Vec<PathBuf> = directories::files().collect();
        others.retain(|path| path.extension().is_some_and(|kind| kind == KIND));
        others.retain(|path| !found.copies.iter().any(|copy| copy.journal == *path));
        others.sort();
        others.into_iter().for_each(|path| found.take(path));
        found
    }

    /// Adds those to files in `directory`, whose journals are next to them.
    pub(crate) fn take_beside_files_in(&mut self, directory: &Path) {
        place::beside_files_in(directory).into_iter().for_each(|path| self.take(path));
    }

    /// Adds the copy that `address` names: by its journal, or by its destination.
    ///
    /// # Errors
    /// It does not exist.
    pub(crate) fn take_named(&mut self, address: &str) -> Result<()> {
        let path = journal_of(address)?;
        match of_device(Path::new(address)).filter(|copy| copy.journal == path) {
            Some(copy) => self.copies.push(copy),
            None => self.take(path),
        }
        Ok(())
    }

    /// Adds the one with the journal at `path`.
    fn take(&mut self, path: PathBuf) {
        let path = in_resolved_directory(path);
        match of_journal(&path) {
            Ok(copy) => self.copies.push(copy),
            Err(fault) => self.faults.push((path, fault)),
        }
    }
}

/// The journal that `address` names: a journal itself, or the destination of an unfinished copy.
///
/// # Errors
/// It does not exist.
pub(super) fn journal_of(address: &str) -> Result<PathBuf> {
    let path = Path::new(address);
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    if is_file && !matches!(Journal::look(path), Err(Fault { kind: FaultKind::Other, .. })) {
        return Ok(path.to_owned());
    }
    let dest = probe::dest(address)?;
    place::of(&dest).filter(|journal| journal.symlink_metadata().is_ok()).ok_or_else(|| nothing(address))
}

pub(super) fn nothing(address: &str) -> Error {
    let what = format!("{address} is not a journal, and there is no journal of a copy to it");
    Error::new(Kind::Usage, what).advise("haul journal list shows the unfinished copies.")
}

/// Adds to each device and each partition the unfinished copy to it.
pub(crate) fn find_all(devices: &mut [Device]) {
    if !place::any_exists(KIND) {
        return;
    }
    for device in devices {
        device.pending = of_device(&device.path);
        device.partitions.iter_mut().for_each(|part| part.pending = of_device(&part.path));
    }
}

/// The unfinished copy to the device at `path`, by the journal at its default path.
fn of_device(path: &Path) -> Option<PendingCopy> {
    let facts = probe::source(path.to_str()?).ok().filter(|facts| facts.kind == EndpointKind::Block)?;
    let journal = place::of(&facts).filter(|journal| journal.exists())?;
    let head = about::peek(&journal).filter(|head| about::is_about(head, &facts) && is_of_size(head, &facts))?;
    let mut copy = of_journal(&journal).ok()?;
    copy.dest_now = Some(path.to_owned());
    copy.in_usual_place = true;
    copy.is_counted = is_counted(&head, None);
    Some(copy)
}

/// The path with symbolic links of its directories resolved: journals have destination paths in this form.
fn in_resolved_directory(path: PathBuf) -> PathBuf {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (directory.canonicalize(), path.file_name()) {
        (Ok(directory), Some(name)) => directory.join(name),
        _ => path,
    }
}

fn is_of_size(head: &Head, facts: &Facts) -> bool {
    head.dest.size_bytes == facts.size
}

/// The contents of the journal at `path`.
fn of_journal(path: &Path) -> std::result::Result<PendingCopy, Fault> {
    let reading = Journal::look(path)?;
    let opened = open_to_read(path).ok();
    let running = opened.as_ref().is_some_and(is_in_use);
    let saved = opened.and_then(|file| jiff::Timestamp::try_from(file.metadata().ok()?.modified().ok()?).ok());
    let (head, state) = (&reading.head, &reading.state);
    // The present path of a device is found by examining the devices.
    let file = Some(PathBuf::from(&head.dest.path)).filter(|file| head.dest.is_file() && file.exists());
    // An object is where its address leads, which this does not ask the store.
    let is_object = head.dest.kind == EndpointKind::Object.name();
    let object = is_object.then(|| PathBuf::from(&head.dest.path));
    let now_bytes = file.as_ref().and_then(|file| Some(file.metadata().ok()?.len()));
    let usual = Path::new(&head.dest.path);
    Ok(PendingCopy {
        journal: path.to_owned(),
        in_usual_place: if head.dest.is_file() {
            place::beside(usual).as_deref() == Some(path)
        } else {
            place::is_of_devices(path)
        },
        source: side(&head.source),
        dest: side(&head.dest),
        dest_now: file.or(object),
        len_bytes: head.len_bytes,
        of_ranges: head.ranges.is_some(),
        is_counted: is_counted(head, now_bytes),
        durable_bytes: state.durable.total_bytes(),
        unread_bytes: state.unread.total_bytes(),
        began: head.created.clone(),
        saved: saved.map(|time| format!("{time:.0}")),
        running,
    })
}

/// Whether a copy of the whole source would be a different one, or would truncate a destination file of
/// `dest_bytes`.
fn is_counted(head: &Head, dest_bytes: Option<u64>) -> bool {
    let Some(len) = head.len_bytes.filter(|_| head.ranges.is_none()) else { return false };
    let to_the_end = head.source.size_bytes.and_then(|size| size.checked_sub(head.source.offset_bytes)) == Some(len);
    !to_the_end || dest_bytes.is_some_and(|now| now > head.dest.offset_bytes.saturating_add(len))
}

fn side(side: &SideIdentity) -> PendingSide {
    let SideIdentity { path, kind, offset_bytes, size_bytes, model, serial, .. } = side.clone();
    PendingSide { path, kind, offset_bytes, size_bytes, model, serial }
}
