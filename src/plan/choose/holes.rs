//! Chooses how zeros are handled.
use super::Engines;
use crate::core::PlanNotes;
use crate::core::{EndpointKind, EngineKind, Result, Side, Zeros};
use crate::plan::When;
use crate::plan::check::{Overlap, Range};
use crate::plan::numbers::{DETECT_BLOCK_BYTES, DETECT_FILE_BYTES};
use crate::plan::plan_input::PlanInput;

/// How zeros are handled.
#[derive(Clone, Debug)]
pub(crate) struct Holes {
    pub(crate) zeros: Zeros,
    /// The source is queried for its holes.
    pub(crate) ask: bool,
    /// Data is searched for zeros, in pieces of this many bytes.
    pub(crate) detect_bytes: Option<u32>,
    /// Choice and reason for the notes; `None`: no note.
    choice: Option<(String, &'static str)>,
}

impl Holes {
    /// Adds a note about the choice, unless the device copies the data itself: then zeros are copied like all
    /// other data.
    pub(crate) fn add_notes(&self, engines: &Engines, notes: &mut PlanNotes) {
        if let (Some((choice, because)), true) = (&self.choice, engines.engine != EngineKind::Offload) {
            notes.chose_of(Side::Dest, "zeros", choice.clone(), *because);
        }
    }
}

/// Chooses how zeros are handled. A discarded block does not necessarily read as zeros: facts are sparse only
/// if it does.
pub(crate) fn holes(
    asked: &PlanInput,
    range: &Range,
    overlap: Option<Overlap>,
    notes: &mut PlanNotes,
) -> Result<Holes> {
    let sparse = asked.options.sparse;
    if sparse == When::Never || overlap.is_some() {
        let because = if overlap.is_some() { "the ranges overlap" } else { "--sparse never" };
        let choice = Some(("read and written like data".to_owned(), because));
        return Ok(Holes { zeros: Zeros::Write, ask: false, detect_bytes: None, choice });
    }
    let ask = asked.source.sparse;
    let (zeros, because) = way(asked, range, ask);
    let piece = match asked.dest.kind {
        _ if sparse != When::Always || zeros == Zeros::Write => None,
        EndpointKind::File => Some(DETECT_FILE_BYTES),
        EndpointKind::Block | EndpointKind::Nbd => Some(DETECT_BLOCK_BYTES.max(asked.dest.logical_block_bytes)),
        _ => None,
    };
    if sparse == When::Always && piece.is_none() {
        notes.warn(format!("--sparse always has no effect: {because}"));
    }
    let choice = match zeros {
        Zeros::Leave => "left as holes",
        Zeros::Device if asked.dest.kind == EndpointKind::File => "made holes",
        Zeros::Device if asked.dest.kind == EndpointKind::Nbd => "zeroed by the server",
        Zeros::Device if asked.dest.encoding().is_some() => "compressed as zeros",
        Zeros::Device => "zeroed by the device",
        Zeros::Write | Zeros::Each => "written",
    };
    let found = match (ask, piece) {
        (true, Some(_)) => "holes of the source and zeros in data: ",
        (true, None) => "holes of the source, not read: ",
        (false, Some(_)) => "zeros in data: ",
        (false, None) => return Ok(Holes { zeros, ask, detect_bytes: None, choice: None }),
    };
    Ok(Holes { zeros, ask, detect_bytes: piece, choice: Some((format!("{found}{choice}"), because)) })
}

/// How zeros are written to the dest.
fn way(asked: &PlanInput, range: &Range, ask: bool) -> (Zeros, &'static str) {
    let dest = asked.dest;
    let no_holes = matches!(dest.filesystem.as_deref(), Some("vfat" | "msdos" | "exfat"));
    let block = u64::from(dest.logical_block_bytes.max(1));
    // A device zeroes whole sectors: unaligned runs would be split into small pieces.
    let at_block = |at: [u64; 2]| at[1].is_multiple_of(block) && (!ask || at[0].is_multiple_of(block));
    let aligned =
        at_block([range.skip, range.seek]) && (!range.is_listed() || range.pieces().all(|it| at_block(it.at)));
    match dest.kind {
        EndpointKind::File if asked.dest_begins_empty() => (Zeros::Leave, "unwritten parts of a new file are holes"),
        EndpointKind::File if no_holes => (Zeros::Write, "the destination file system does not support holes"),
        // Punching holes does not extend a file: without a known length, zeros beyond the old end must be
        // written.
        EndpointKind::File if range.len.is_none() => (Zeros::Write, "the stream may extend the destination file"),
        EndpointKind::File => (Zeros::Device, "range of an existing file: holes are punched"),
        EndpointKind::Block if dest.queue.write_zeroes_max_bytes == 0 => {
            (Zeros::Write, "the destination device does not support write zeroes")
        }
        EndpointKind::Nbd if dest.queue.write_zeroes_max_bytes == 0 => {
            (Zeros::Write, "the server does not support write zeroes")
        }
        EndpointKind::Nbd if aligned => (Zeros::Device, "the server supports write zeroes"),
        EndpointKind::Nbd => (Zeros::Write, "the range is not aligned to the blocks of the server"),
        EndpointKind::Block if !aligned => (Zeros::Write, "the range is not aligned to the destination sectors"),
        EndpointKind::Block => (Zeros::Device, "the destination device supports write zeroes"),
        _ if dest.encoding().is_some() => (Zeros::Device, "zeros take almost no space when compressed"),
        _ => (Zeros::Write, "the destination does not support holes"),
    }
}
