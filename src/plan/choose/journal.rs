//! Decides whether a journal is kept.
use super::{DestPreparation, Engines};
use crate::core::PlanNotes;
use crate::core::{EndpointKind, EngineKind, Error, Kind, Result};
use crate::plan::check::{Overlap, Range};
use crate::plan::plan_input::{PlanInput, in_memory};
use crate::plan::{Delta, JournalChoice};

/// Decides whether a journal is kept: always if one is useful, unless it was disabled.
///
/// # Errors
/// Usage if one was requested, or is to be resumed, but is impossible.
pub(crate) fn journal(
    asked: &PlanInput,
    range: &Range,
    overlap: Option<Overlap>,
    engines: &Engines,
    ends: &DestPreparation,
    notes: &mut PlanNotes,
) -> Result<bool> {
    let options = asked.options;
    if asked.one_of_several {
        notes.chose("journal", "none", "it describes a copy to one destination");
        return Ok(false);
    }
    let wanted = match (&options.journal, options.resume) {
        (_, true) => Some("--resume"),
        (JournalChoice::At(_), _) => Some("--journal"),
        _ if matches!(options.delta, Some(Delta::Manifest(_))) => Some("--delta=MANIFEST"),
        _ => None,
    };
    if options.resume {
        resumable(asked)?;
    }
    match (impossible(asked, range, overlap, engines, ends), wanted) {
        // Scripts may name a journal for a source of any length, even an empty one.
        (Some(why), Some("--journal")) if range.len == Some(0) => {
            notes.chose("journal", "none", why);
            Ok(false)
        }
        (Some(why), Some(option)) => {
            let advice = format!("Omit {option}.");
            Err(Error::new(Kind::Usage, format!("{option}: no journal is possible: {why}")).advise(advice))
        }
        (Some(why), None) => {
            notes.chose("journal", "none", why);
            Ok(false)
        }
        (None, Some(option)) => {
            notes.chose("journal", "kept", option);
            Ok(true)
        }
        (None, None) if options.journal == JournalChoice::Never => {
            notes.chose("journal", "none", "--no-journal");
            Ok(false)
        }
        (None, None) if in_memory(asked.dest) => {
            notes.chose("journal", "none", "the destination is in memory");
            Ok(false)
        }
        (None, None) => {
            let because = "records durable data periodically, for --resume";
            notes.chose("journal", "kept during the copy", because);
            Ok(true)
        }
    }
}

/// Why no copy could be resumed from a journal.
fn impossible(
    asked: &PlanInput,
    range: &Range,
    overlap: Option<Overlap>,
    engines: &Engines,
    ends: &DestPreparation,
) -> Option<&'static str> {
    let (source, dest, options) = (asked.source, asked.dest, asked.options);
    let one_file = source.kind == EndpointKind::File && source.id.is_some() && source.id == dest.id;
    let lasts = EndpointKind::is_storage;
    match (source.kind, dest.kind) {
        (kind, _) if kind.is_stream() => Some("the source is a stream, which cannot be read again"),
        (EndpointKind::Compressed, _) => Some("the source is compressed, and is decompressed from its start"),
        (kind, _) if !lasts(kind) => Some("the source generates its data"),
        (_, kind) if kind.is_stream() => Some("the destination is a stream, which cannot be continued"),
        (_, kind) if !lasts(kind) => Some("the destination stores nothing"),
        (_, EndpointKind::CompressedDest) if options.on_error.reads_around() => {
            Some("--on-error replaces unreadable sectors, which a later run cannot do in a compressed file")
        }
        (_, EndpointKind::Object) if options.on_error.reads_around() => {
            Some("--on-error replaces unreadable sectors, which a later run cannot do in an object")
        }
        _ if range.len.is_none() => Some("the length of the source is not known"),
        _ if range.len == Some(0) => Some("there is nothing to copy"),
        _ if overlap.is_some() => Some("source and destination overlap: the copied data is no longer in the source"),
        _ if one_file => Some("source and destination are one file"),
        _ if !ends.durable && !options.no_flush => Some("the destination cannot be flushed"),
        _ if !ends.durable => Some("--no-flush is given"),
        _ if engines.moving() == EngineKind::Reflink => Some("the file system shares all extents at once"),
        _ => None,
    }
}

/// Refuses options that a resumed copy does not support.
fn resumable(asked: &PlanInput) -> Result<()> {
    let options = asked.options;
    let conflict = |option: &str, why: &str| {
        let advice = format!("Omit {option}, or copy from the start with --restart instead of --resume.");
        Err(Error::new(Kind::Usage, format!("--resume copies the rest; {option} {why}")).advise(advice))
    };
    if options.offload {
        return conflict("--offload", "lets the device copy everything");
    }
    Ok(())
}
