//! What happens to zeros.
use super::Engines;
use crate::core::PlanNotes;
use crate::core::{EndpointKind, EngineKind, Result, Side, Zeros};
use crate::plan::When;
use crate::plan::check::{Overlap, Range};
use crate::plan::numbers::{DETECT_BLOCK_BYTES, DETECT_FILE_BYTES};
use crate::plan::plan_input::PlanInput;

/// What happens to zeros.
#[derive(Clone, Debug)]
pub(crate) struct Holes {
    pub(crate) zeros: Zeros,
    /// The source is asked for its holes.
    pub(crate) ask: bool,
    /// Zeros are searched for in data, in pieces of this many bytes.
    pub(crate) detect_bytes: Option<u32>,
    /// Choice and reason; `None`: there are no zeros to tell of.
    told: Option<(String, &'static str)>,
}

impl Holes {
    /// Tells of them, unless the device copies by itself: then zeros are copied like all else.
    pub(crate) fn add_notes(&self, engines: &Engines, notes: &mut PlanNotes) {
        if let (Some((choice, because)), true) = (&self.told, engines.engine != EngineKind::Offload) {
            notes.chose_of(Side::Dest, "zeros", choice.clone(), *because);
        }
    }
}

/// Chooses what happens to zeros. That a device discarded something does not mean that it reads as zeros: facts are
/// sparse only where it does.
pub(crate) fn holes(
    asked: &PlanInput,
    range: &Range,
    overlap: Option<Overlap>,
    notes: &mut PlanNotes,
) -> Result<Holes> {
    let sparse = asked.options.sparse;
    if sparse == When::Never || overlap.is_some() {
        let because = if overlap.is_some() { "the ranges overlap" } else { "--sparse never" };
        let told = Some(("read and written like data".to_owned(), because));
        return Ok(Holes { zeros: Zeros::Write, ask: false, detect_bytes: None, told });
    }
    let ask = asked.source.sparse;
    let (zeros, because) = way(asked, range, ask);
    let piece = match asked.dest.kind {
        _ if sparse != When::Always || zeros == Zeros::Write => None,
        EndpointKind::File => Some(DETECT_FILE_BYTES),
        EndpointKind::Block => Some(DETECT_BLOCK_BYTES.max(asked.dest.logical_block_bytes)),
        _ => None,
    };
    if sparse == When::Always && piece.is_none() {
        notes.warn(format!("--sparse always has no effect: {because}"));
    }
    let choice = match zeros {
        Zeros::Leave => "left as holes",
        Zeros::Device if asked.dest.kind == EndpointKind::File => "made holes",
        Zeros::Device => "zeroed by the device",
        Zeros::Write | Zeros::Each => "written",
    };
    let found = match (ask, piece) {
        (true, Some(_)) => "holes of the source and zeros in data: ",
        (true, None) => "holes of the source, not read: ",
        (false, Some(_)) => "zeros in data: ",
        (false, None) => return Ok(Holes { zeros, ask, detect_bytes: None, told: None }),
    };
    Ok(Holes { zeros, ask, detect_bytes: piece, told: Some((format!("{found}{choice}"), because)) })
}

/// How zeros get to the dest.
fn way(asked: &PlanInput, range: &Range, ask: bool) -> (Zeros, &'static str) {
    let dest = asked.dest;
    let no_holes = matches!(dest.filesystem.as_deref(), Some("vfat" | "msdos" | "exfat"));
    let block = u64::from(dest.logical_block_bytes.max(1));
    // A device zeroes whole sectors: runs that begin elsewhere on it would be cut into scraps.
    let aligned = range.seek.is_multiple_of(block) && (!ask || range.skip.is_multiple_of(block));
    match dest.kind {
        EndpointKind::File if asked.dest_begins_empty() => (Zeros::Leave, "unwritten parts of a new file are holes"),
        EndpointKind::File if no_holes => (Zeros::Write, "the destination file system does not support holes"),
        // Punching does not move the end of a file: without a known end, zeros behind the old end have to be written.
        EndpointKind::File if range.len.is_none() => (Zeros::Write, "the stream may extend the destination file"),
        EndpointKind::File => (Zeros::Device, "range of an existing file: holes are punched"),
        EndpointKind::Block if dest.queue.write_zeroes_max_bytes == 0 => {
            (Zeros::Write, "the destination device does not support write zeroes")
        }
        EndpointKind::Block if !aligned => (Zeros::Write, "the range is not aligned to the destination sectors"),
        EndpointKind::Block => (Zeros::Device, "the destination device supports write zeroes"),
        _ => (Zeros::Write, "the destination does not support holes"),
    }
}
