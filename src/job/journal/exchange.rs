//! Converts a journal to a mapfile of GNU ddrescue, and back.
use super::fits::{self, SAMPLE_BYTES, SAMPLES};
use super::{head, place};
use crate::core::{Access, Error, Existing, Extent, Kind, PlanSide, Result, Side};
use crate::disks;
use crate::disks::probe;
use crate::files::{FileError, open_to_read};
use crate::job::host;
use crate::ledger::journal::{Journal, Sample, State, read, sample_places};
use crate::ledger::mapfile::{Mapfile, MapfileFile};
use crate::plan;
use crate::plan::{JournalChoice, Options};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Opens a record file for reading; anything but a regular file is refused.
pub(crate) fn opened(what: &str, path: &Path) -> Result<BufReader<File>> {
    let failed = |error: FileError| {
        let refused = matches!(error, FileError::NotRegular(_));
        let kind = if refused { Kind::Refused } else { Kind::Open };
        Error::new(kind, format!("cannot open {what} {}", path.display())).because(error.into())
    };
    open_to_read(path).map(BufReader::new).map_err(failed)
}

/// A mapfile that was exported from a journal.
pub(crate) struct Exported {
    pub(crate) finished_bytes: u64,
    pub(crate) bad_bytes: u64,
    /// Options of ddrescue for a copy of a part of the source; empty, or with a trailing space. `None`: the
    /// copy is of ranges, and ddrescue would copy the bytes between them.
    pub(crate) range: Option<String>,
}

/// A journal that was imported from a mapfile, and its claims.
pub(crate) struct Imported {
    pub(crate) journal: PathBuf,
    pub(crate) durable_bytes: u64,
    pub(crate) unread_bytes: u64,
    /// Length of the copy, in bytes.
    pub(crate) len: u64,
}

/// Exports the journal as a mapfile, which must not exist.
///
/// # Errors
/// The journal is not valid, or the mapfile exists or cannot be written.
pub(crate) fn export(journal: &Path, mapfile: &Path) -> Result<Exported> {
    let reading =
        read(opened("journal", journal)?).map_err(|fault| fault.into_error(&journal.display().to_string()))?;
    let (head, state) = (&reading.head, &reading.state);
    let map = state.to_mapfile(head);
    let failed = |fault: crate::ledger::Fault| fault.into_error(&mapfile.display().to_string());
    MapfileFile::create(mapfile).and_then(|file| file.close(&map)).map_err(failed)?;
    // ddrescue assumes the same offset on both sides, and that parts missing from a mapfile were not tried.
    let (from, to) = (head.source.offset_bytes, head.dest.offset_bytes);
    let range = match head.len_bytes {
        _ if head.ranges.is_some() => None,
        Some(len) if (from, to) != (0, 0) || head.source.size_bytes != Some(len) => {
            Some(format!("--input-position={from} --output-position={to} --size={len} "))
        }
        _ => Some(String::new()),
    };
    Ok(Exported { finished_bytes: state.durable.total_bytes(), bad_bytes: state.unread.total_bytes(), range })
}

/// Imports a mapfile of this copy as a journal. The dest is flushed before it is claimed.
///
/// # Errors
/// The mapfile cannot be read, is not about this copy, or does not match the dest; a journal already exists;
/// the copy itself is refused.
pub(crate) fn import(mapfile: &Path, options: &Options) -> Result<Imported> {
    let name = mapfile.display().to_string();
    let map = Mapfile::parse(opened("mapfile", mapfile)?).map_err(|fault| fault.into_error(&name))?;
    let (source, dest) = probe::both(&options.source, &options.dest)?;
    let plan = plan::make(options, &source, &dest, &host(options.engine))?.plan;
    let refused = |what: String, advice: &str| Err(Error::new(Kind::Refused, what).advise(advice));
    let Some(len) = plan.len else {
        return refused(
            "cannot import: the length of the copy is unknown".to_owned(),
            "Give the number of bytes with --count.",
        );
    };
    let state = State::of_mapfile(&map, Extent::new(plan.source.map.start(), len));
    if state.durable.is_empty() {
        return refused(
            format!("cannot import: mapfile {name} lists no finished part of this copy"),
            "Check that --skip, --seek and --count are those of that copy; otherwise copy from the start.",
        );
    }
    let path = match &options.journal {
        JournalChoice::At(path) => Some(path.clone()),
        _ => place::of(&dest),
    };
    let Some(path) = path else {
        return refused(
            "cannot import: neither XDG_STATE_HOME nor HOME is set, so there is no directory for journals of devices"
                .to_owned(),
            "Name a file with --journal.",
        );
    };
    let fault = |fault: crate::ledger::Fault| fault.into_error(&path.display().to_string());
    if place::open(&path).map_err(fault)?.is_some() {
        return Err(fault(crate::ledger::Fault::journal_exists()));
    }
    if !dest.exists {
        return refused(
            format!("cannot import: destination {} does not exist", plan.dest.address),
            "Name the file that ddrescue wrote.",
        );
    }
    let access = Access { exclusive: false, existing: Existing::Keep, ..plan.dest.access };
    let dest_end = disks::open_compared(&PlanSide { access, ..plan.dest.clone() }, &dest)?;
    // ddrescue does not flush: its data may still be only in memory.
    dest_end.make_durable().map_err(|source| {
        Error::new(Kind::Io, format!("cannot flush destination {}", plan.dest.address)).on(Side::Dest).because(source)
    })?;
    let mut head = head(&plan, &source, &dest);
    fits::check_state(&format!("mapfile {name}"), &head, &state, &plan, &source, &dest)?;
    let source_end = disks::open_source(&plan.source, &source)?;
    // Only finished parts: reading a bad sector would take minutes.
    for extent in sample_places(&state.durable, SAMPLES, SAMPLE_BYTES) {
        let on_source = plan.source.map.place(extent);
        if let Some(digest) = fits::digest_at(Side::Source, &source_end, on_source) {
            head.samples.push(Sample { offset_bytes: extent.offset, len_bytes: extent.len, digest });
        }
    }
    place::prepare(&path)
        .map_err(|source| Error::new(Kind::Io, format!("cannot create journal {}", path.display())).because(source))?;
    let mut journal = Journal::create(&path, head).map_err(fault)?;
    let (durable, unread): (Vec<_>, Vec<_>) = (state.durable.iter().collect(), state.unread.iter().collect());
    journal.append(&durable, &unread).map_err(fault)?;
    let (durable_bytes, unread_bytes) = (state.durable.total_bytes(), state.unread.total_bytes());
    Ok(Imported { journal: path, durable_bytes, unread_bytes, len })
}
