//! Saves the original data of a device before anything is written to it.
use crate::core::{Arena, Endpoint, Error, Extent, Facts, Kind, Op, Request, Result, Side, Stop};
use crate::ledger::SideIdentity;
use crate::ledger::undo::{Head, Undo, UndoMaking};
use crate::measure::BadRange;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Size of the pieces that are saved and restored, in bytes: large enough for the full rate of any disk.
pub(crate) const AT_ONCE_BYTES: u32 = 4 << 20;

/// What to save, and how much of it.
pub(crate) struct UndoTask<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) end: &'a Arc<dyn Endpoint>,
    /// The extents to save, at most.
    pub(crate) places: &'a [Extent],
    /// Time limit; something of every extent is saved in any case.
    pub(crate) time: Duration,
}

/// What was saved.
pub(crate) struct KeptOriginals {
    pub(crate) undo: Undo,
    /// The extents that may be overwritten now, each from its start.
    pub(crate) extents: Vec<Extent>,
    /// The extents that could not be read; they are neither saved nor overwritten.
    pub(crate) bad: Vec<BadRange>,
}

/// Saves original data in the file at `path`. When this returns it is durable, and the saved extents may be
/// overwritten. `None`: it was stopped, and the file was removed.
///
/// # Errors
/// Nothing could be read, or nothing can be saved there.
pub(crate) fn keep(path: &Path, asked: &UndoTask<'_>, stop: &Stop) -> Result<Option<KeptOriginals>> {
    let UndoTask { facts, end, places, time } = *asked;
    let failed = |fault: crate::ledger::Fault| fault.into_error(&path.display().to_string());
    let head = Head {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        created: format!("{:.0}", jiff::Timestamp::now()),
        device: SideIdentity::of(facts, 0),
        session: std::array::from_fn(|_| fastrand::u8(..)).into(),
    };
    let mut making = UndoMaking::begin(path, head).map_err(failed)?;
    let mut mover = Mover::new(end)?;
    let (mut kept, mut open) = (vec![0; places.len()], vec![true; places.len()]);
    let (began, mut bad) = (Instant::now(), Vec::new());
    // In turn, so that every extent is partly saved when the time limit is reached.
    while open.contains(&true) && (began.elapsed() < time || kept.iter().all(|&bytes| bytes == 0)) {
        for (at, place) in places.iter().enumerate().filter(|(at, _)| open[*at]).collect::<Vec<_>>() {
            if stop.is_requested() {
                return Ok(None);
            }
            let len = (place.len - kept[at]).min(AT_ONCE_BYTES.into());
            let extent = Extent::new(place.offset + kept[at], len);
            match mover.read(extent) {
                Ok(bytes) => making.keep(extent.offset, bytes).map_err(failed)?,
                Err(error) if matches!(end.diagnose(Op::Read, extent.offset, &error), Kind::Disconnected) => {
                    return Err(Error::of_request(
                        Kind::Disconnected,
                        Op::Read,
                        Side::Dest,
                        &facts.address,
                        extent.offset,
                        error,
                    ));
                }
                Err(error) => {
                    bad.push(BadRange::of(extent.offset, extent.len as u32, &error));
                    open[at] = false;
                    continue;
                }
            }
            kept[at] += extent.len;
            open[at] = kept[at] < place.len;
        }
        // The time limit includes writing.
        making.sync().map_err(failed)?;
    }
    let extents: Vec<Extent> = places
        .iter()
        .zip(kept)
        .filter(|(_, len)| *len > 0)
        .map(|(place, len)| Extent::new(place.offset, len))
        .collect();
    if extents.is_empty() {
        let why = bad.first().map_or_else(String::new, |bad: &BadRange| format!(": {}", bad.why));
        let what = format!("cannot read {} at any of the places to measure{why}", facts.address);
        let advice = "haul overwrites only data that it has saved; --destroy measures without saving.";
        return Err(Error::new(Kind::Io, what).advise(advice));
    }
    let undo = making.finish().map_err(failed)?;
    Ok(Some(KeptOriginals { undo, extents, bad }))
}

/// Reads and writes pieces, one at a time.
pub(crate) struct Mover<'a> {
    end: &'a Arc<dyn Endpoint>,
    request: Request,
}

impl<'a> Mover<'a> {
    pub(crate) fn new(end: &'a Arc<dyn Endpoint>) -> Result<Self> {
        let no_memory = |error| Error::new(Kind::Io, "no memory for a block").because(error);
        let buffer = Arena::lone(AT_ONCE_BYTES).map_err(no_memory)?;
        let (side, op) = (Side::Dest, Op::Read);
        let request = Request { slot: 0, ticket: 0, side, op, offset: 0, len: 0, done: 0, until: 0, buffer };
        Ok(Mover { end, request })
    }

    /// The bytes of `extent`, at most [`AT_ONCE_BYTES`].
    pub(crate) fn read(&mut self, extent: Extent) -> std::io::Result<&[u8]> {
        self.transfer(Op::Read, extent)?;
        Ok(&self.request.buffer.bytes()[..extent.len as usize])
    }

    /// Writes `bytes` at `offset`.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.request.buffer.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        self.transfer(Op::Write, Extent::new(offset, bytes.len() as u64))
    }

    fn transfer(&mut self, op: Op, extent: Extent) -> std::io::Result<()> {
        let request = &mut self.request;
        (request.op, request.offset, request.done) = (op, extent.offset, 0);
        request.len = u32::try_from(extent.len).map_err(std::io::Error::other)?;
        request.until = request.len;
        while request.done < request.len {
            match self.end.perform(request)? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                moved => request.done += moved,
            }
        }
        Ok(())
    }
}
