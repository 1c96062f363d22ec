//! `haul journal`: unfinished copies listed and given up; a journal as a mapfile of GNU ddrescue, and back.
pub(in crate::apps) mod words;

use crate::apps::console::agreed;
use crate::apps::exit::{Exit, printed};
use crate::core::{Error, Kind, Result};
use crate::job::journal::{Exported, Imported, PendingCopies, Removal, export, folders_of_devices, import};
use crate::plan::Options;
use crate::report::{Out, json, pending, text};
use std::path::{Path, PathBuf};

/// Shows the unfinished copies at `paths`; without any, in the usual places.
pub(super) fn list_journals(paths: &[String], as_json: bool, out: Out) -> Result<Exit> {
    let (folders, named): (Vec<&String>, Vec<&String>) = paths.iter().partition(|path| Path::new(path).is_dir());
    let mut looked_at: Vec<PathBuf> = folders.into_iter().map(PathBuf::from).collect();
    let mut found = PendingCopies::default();
    if paths.is_empty() {
        looked_at = vec![std::env::current_dir().unwrap_or(PathBuf::from("."))];
        found = PendingCopies::of_devices();
    }
    looked_at.iter().for_each(|folder| found.take_beside_files_in(folder));
    named.into_iter().try_for_each(|path| found.take_named(path))?;
    let PendingCopies { copies, faults } = found;
    let faults: Vec<(PathBuf, String)> = faults.into_iter().map(|(path, fault)| (path, fault.to_string())).collect();
    if paths.is_empty() {
        looked_at.splice(0..0, folders_of_devices());
    }
    let text = match as_json {
        true => json::text(&json::journals(&copies, &faults)),
        false => pending::human(&copies, &faults, &looked_at),
    };
    Ok(printed(out, &text))
}

/// Removes journals, each of which is shown and asked about before, unless `yes` was said.
pub(super) fn remove_journals(paths: &[String], yes: bool, out: Out) -> Result<Exit> {
    // None is removed where another cannot be.
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

/// Writes what the journal says as a mapfile, and says how to continue it.
pub(super) fn export_journal(journal: &Path, mapfile: &Path, out: Out) -> Result<Exit> {
    let Exported { finished_bytes, bad_bytes, range } = export(journal, mapfile)?;
    out.eprint(&text::info(&format!(
        "mapfile {}: {finished_bytes} bytes finished, {bad_bytes} bad; to continue: ddrescue {range}SRC DST {0}",
        mapfile.display()
    )));
    Ok(Exit::Status(0))
}

/// Makes a journal of what the mapfile says about this copy.
pub(super) fn import_journal(mapfile: &Path, options: &Options, out: Out) -> Result<Exit> {
    let Imported { journal, durable_bytes, unread_bytes, len } = import(mapfile, options)?;
    out.eprint(&text::info(&format!(
        "journal {}: {durable_bytes} of {len} bytes durable, {unread_bytes} unreadable; to continue: haul copy \
         --resume",
        journal.display()
    )));
    Ok(Exit::Status(0))
}
