//! `haul journal`: lists and removes journals of unfinished copies; converts between journals and mapfiles of
//! GNU ddrescue.
pub(in crate::apps) mod words;

use crate::apps::console::agreed;
use crate::apps::exit::{Exit, printed};
use crate::core::{Error, Kind, ObjectAddress, Result, byte_count};
use crate::disks::object;
use crate::job::journal::{Exported, Imported, PendingCopies, Removal, directories_of_devices, export, import};
use crate::plan::Options;
use crate::report::{Out, json, pending, text};
use std::path::{Path, PathBuf};

/// Lists the unfinished copies at `paths`; without paths, in the default directories.
pub(super) fn list_journals(paths: &[String], as_json: bool, out: Out) -> Result<Exit> {
    let (directories, named): (Vec<&String>, Vec<&String>) = paths.iter().partition(|path| Path::new(path).is_dir());
    let mut looked_at: Vec<PathBuf> = directories.into_iter().map(PathBuf::from).collect();
    let mut found = PendingCopies::default();
    if paths.is_empty() {
        looked_at = vec![std::env::current_dir().unwrap_or(PathBuf::from("."))];
        found = PendingCopies::of_devices();
    }
    looked_at.iter().for_each(|directory| found.take_beside_files_in(directory));
    named.into_iter().try_for_each(|path| found.take_named(path))?;
    let PendingCopies { copies, faults } = found;
    let faults: Vec<(PathBuf, String)> = faults.into_iter().map(|(path, fault)| (path, fault.to_string())).collect();
    if paths.is_empty() {
        looked_at.splice(0..0, directories_of_devices());
    }
    let text = match as_json {
        true => json::text(&json::journals(&copies, &faults)),
        false => pending::human(&copies, &faults, &looked_at),
    };
    Ok(printed(out, &text))
}

/// Removes journals after showing each and asking for confirmation, unless `yes`.
pub(super) fn remove_journals(paths: &[String], yes: bool, out: Out) -> Result<Exit> {
    // If one cannot be removed, none is.
    let removals: Vec<Removal> = paths.iter().map(|path| Removal::of(path)).collect::<Result<_>>()?;
    for removal in removals {
        let name = removal.path().display().to_string();
        let question = || text::remove_journal(removal.copy.as_ref(), &name);
        if !yes && !agreed(question, out)? {
            return Err(Error::new(Kind::Refused, format!("not confirmed: journal {name} was not removed")));
        }
        removal.carry_out()?;
        out.eprint(&text::info(&format!("journal {name} is removed: --resume cannot continue this copy any more")));
    }
    Ok(Exit::Status(0))
}

/// Lists the incomplete uploads in an object store.
pub(super) fn list_uploads(address: &ObjectAddress, out: Out) -> Result<Exit> {
    Ok(printed(out, &text::uploads(&object::list(address)?)))
}

/// Aborts an incomplete upload after asking for confirmation, unless `yes`.
pub(super) fn abort_upload(address: &ObjectAddress, id: &str, yes: bool, out: Out) -> Result<Exit> {
    let name = address.to_string();
    if !yes && !agreed(|| text::abort_upload(&name, id), out)? {
        return Err(Error::new(Kind::Refused, format!("not confirmed: the upload to {name} was not aborted")));
    }
    object::abort(address, id)?;
    out.eprint(&text::info(&format!("the upload to {name} is aborted: the store removes its parts")));
    Ok(Exit::Status(0))
}

/// Writes the journal as a mapfile, and prints how to continue the copy.
pub(super) fn export_journal(journal: &Path, mapfile: &Path, out: Out) -> Result<Exit> {
    let Exported { finished_bytes, bad_bytes, range } = export(journal, mapfile)?;
    let mapfile = mapfile.display();
    let next = match range {
        Some(range) => format!("to continue: ddrescue {range}SRC DST {mapfile}"),
        None => {
            "the copy is of ranges, and ddrescue would also copy the data between them: to continue, use haul copy \
                 --resume"
                .to_owned()
        }
    };
    out.eprint(&text::info(&format!(
        "mapfile {mapfile}: {} finished, {bad_bytes} bad; {next}",
        byte_count(finished_bytes)
    )));
    Ok(Exit::Status(0))
}

/// Creates a journal for this copy from the mapfile.
pub(super) fn import_journal(mapfile: &Path, options: &Options, out: Out) -> Result<Exit> {
    let Imported { journal, durable_bytes, unread_bytes, len } = import(mapfile, options)?;
    out.eprint(&text::info(&format!(
        "journal {}: {durable_bytes} of {} durable, {unread_bytes} unreadable; to continue: haul copy \
         --resume",
        journal.display(),
        byte_count(len)
    )));
    Ok(Exit::Status(0))
}
