//! `haul journal`: a journal as a mapfile of GNU ddrescue, and back.
pub(in crate::apps) mod words;

use crate::apps::exit::Exit;
use crate::core::Result;
use crate::job::journal::{Exported, Imported, export, import};
use crate::plan::Options;
use crate::report::{Out, text};
use std::path::Path;

/// Writes what the journal says as a mapfile, and says how to continue it.
pub(super) fn export_journal(journal: &Path, mapfile: &Path, out: Out) -> Result<Exit> {
    let Exported { finished_bytes, bad_bytes, range } = export(journal, mapfile)?;
    out.tell(&text::told(&format!(
        "mapfile {}: {finished_bytes} bytes finished, {bad_bytes} bad; to continue: ddrescue {range}SRC DST {0}",
        mapfile.display()
    )));
    Ok(Exit::Status(0))
}

/// Makes a journal of what the mapfile says about this copy.
pub(super) fn import_journal(mapfile: &Path, options: &Options, out: Out) -> Result<Exit> {
    let Imported { journal, durable_bytes, unread_bytes, len } = import(mapfile, options)?;
    out.tell(&text::told(&format!(
        "journal {}: {durable_bytes} of {len} bytes durable, {unread_bytes} unreadable; to continue: haul copy \
         --resume",
        journal.display()
    )));
    Ok(Exit::Status(0))
}
