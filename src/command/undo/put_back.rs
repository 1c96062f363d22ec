//! Putting originals back: what carries the session's content, and nothing else.
use super::AT_ONCE_BYTES;
use super::keep::Mover;
use crate::contract::{Endpoint, Error, Extent, ExtentSet, Kind, Op, Result, Side};
use crate::ledger::Fault;
use crate::ledger::undo::{Content, PIECE_BYTES, Undo};
use std::io;
use std::sync::Arc;

/// Places that a message names.
const NAMED: usize = 4;

/// What was put back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::command) struct PutBack {
    /// Bytes that were kept.
    pub(in crate::command) kept_bytes: u64,
    /// Those of them that had been written over.
    pub(in crate::command) written_bytes: u64,
}

/// Puts back what was kept, makes it durable, and then removes the journal. A sector that carries the session's content
/// has not been written by anybody since; one that is as it was needs nothing. Any other is somebody else's and stays;
/// then so does what cannot be read, for nobody knows whose it is.
///
/// # Errors
/// Refused where there are such sectors: the others are back, and the journal stays. Else what the device, or the file
/// system of the journal, said; the journal stays then, too.
pub(in crate::command) fn put_back(undo: Undo, end: &Arc<dyn Endpoint>) -> Result<PutBack> {
    let path = undo.path().display().to_string();
    let failed = |fault: Fault| fault.into_error(&path);
    let mut work = Work {
        content: Content::of(&undo.head().session),
        end,
        mover: Mover::new(end)?,
        unit: (end.facts().logical_block_bytes as usize).max(PIECE_BYTES),
        original: vec![0; AT_ONCE_BYTES as usize],
        foreign: ExtentSet::new(),
        unreadable: ExtentSet::new(),
        done: PutBack::default(),
    };
    for kept in undo.kept() {
        let original = work.original.get_mut(..kept.extent.len as usize).ok_or_else(|| senseless(&path))?;
        undo.original(kept, original).map_err(failed)?;
        work.one(kept.extent).map_err(|error| kept_still(error, &path))?;
    }
    if work.foreign.is_empty() {
        // It could be read before: nobody's data is there now, and the original may heal it.
        for kept in undo.kept() {
            let runs: Vec<Extent> = work.unreadable.within(kept.extent).collect();
            if runs.is_empty() {
                continue;
            }
            undo.original(kept, &mut work.original[..kept.extent.len as usize]).map_err(failed)?;
            work.write(kept.extent, runs).map_err(|error| kept_still(error, &path))?;
        }
    }
    end.make_durable().map_err(|error| kept_still(work.error(Op::Write, 0, error), &path))?;
    if !work.foreign.is_empty() {
        return Err(somebody_else(&work.foreign, &work.unreadable, &end.facts().address, &path));
    }
    undo.remove().map_err(failed)?;
    Ok(work.done)
}

struct Work<'a> {
    content: Content,
    end: &'a Arc<dyn Endpoint>,
    mover: Mover<'a>,
    /// What the device writes at least, in bytes.
    unit: usize,
    /// Originals of the piece that is put back.
    original: Vec<u8>,
    foreign: ExtentSet,
    /// Whoever wrote there last.
    unreadable: ExtentSet,
    done: PutBack,
}

impl Work<'_> {
    fn one(&mut self, extent: Extent) -> Result<()> {
        self.done.kept_bytes += extent.len;
        let ours = self.ours(extent)?;
        self.write(extent, ours.iter().collect())
    }

    /// Writes the originals of these runs of `extent`, which are in hand.
    fn write(&mut self, extent: Extent, runs: Vec<Extent>) -> Result<()> {
        for run in runs {
            let from = (run.offset - extent.offset) as usize;
            let original = &self.original[from..from + run.len as usize];
            self.mover.write(run.offset, original).map_err(|error| self.error(Op::Write, run.offset, error))?;
            self.done.written_bytes += run.len;
        }
        Ok(())
    }

    /// What of `extent` the session has written over; what somebody else wrote is noted.
    fn ours(&mut self, extent: Extent) -> Result<ExtentSet> {
        let mut ours = ExtentSet::new();
        match self.mover.read(extent) {
            Ok(now) => judge(extent, self.unit, &self.original, now, &self.content, &mut ours, &mut self.foreign),
            Err(error) if self.end.diagnose(Op::Read, extent.offset, &error) != Kind::Io => {
                return Err(self.error(Op::Read, extent.offset, error));
            }
            Err(_) => {
                let unit = self.unit as u64;
                for offset in (extent.offset..extent.end()).step_by(self.unit) {
                    let one = Extent::new(offset, unit.min(extent.end() - offset));
                    let original = &self.original[(offset - extent.offset) as usize..][..one.len as usize];
                    match self.mover.read(one) {
                        Ok(now) => {
                            judge(one, self.unit, original, now, &self.content, &mut ours, &mut self.foreign);
                        }
                        Err(_) => self.unreadable.insert(one),
                    }
                }
            }
        }
        Ok(ours)
    }

    fn error(&self, op: Op, offset: u64, error: io::Error) -> Error {
        let facts = self.end.facts();
        let kind = self.end.diagnose(op, offset, &error);
        Error::of_request(kind, op, Side::Dest, &facts.address, offset, error).in_sectors_of(facts.logical_block_bytes)
    }
}

/// Sorts the bytes that are there `now`, unit by unit.
fn judge(
    extent: Extent,
    unit: usize,
    original: &[u8],
    now: &[u8],
    content: &Content,
    ours: &mut ExtentSet,
    foreign: &mut ExtentSet,
) {
    let units = now.chunks(unit).zip(original.chunks(unit));
    for (offset, (now, original)) in (extent.offset..).step_by(unit).zip(units) {
        let here = Extent::new(offset, now.len() as u64);
        let pieces = || now.chunks(PIECE_BYTES).zip(original.chunks(PIECE_BYTES));
        if now == original {
            continue;
        }
        // A crash may have torn a unit that is larger than a sector.
        if pieces().all(|(now, original)| now == original || content.has_written(now)) {
            ours.insert(here);
        } else {
            foreign.insert(here);
        }
    }
}

fn senseless(path: &str) -> Error {
    Error::new(Kind::Io, format!("undo journal {path}: an extent is larger than haul keeps at once"))
        .advise("Use the haul that wrote it, or a later one.")
}

/// The same error, with where the originals are.
fn kept_still(error: Error, path: &str) -> Error {
    let advice = format!(
        "What stood there is in {path}. See to the device, then run haul tune PATH --restore; the next haul that \
         writes to it does the same."
    );
    error.advise(advice)
}

fn somebody_else(foreign: &ExtentSet, unreadable: &ExtentSet, address: &str, path: &str) -> Error {
    let unreadable = match unreadable.is_empty() {
        true => String::new(),
        false => format!(", {} cannot be read and may be somebody's, too", places(unreadable)),
    };
    let what = format!(
        "{address} was written to by somebody else since it was measured: {} are neither what stood there nor what \
         haul wrote{unreadable}; they stay as they are, everything else is back",
        places(foreign)
    );
    let advice = format!("What stood there is in {path}; move that file away once it is not wanted any more.");
    Error::new(Kind::Refused, what).advise(advice)
}

fn places(extents: &ExtentSet) -> String {
    let mut places: Vec<String> =
        extents.iter().take(NAMED).map(|extent| format!("{} bytes at byte {}", extent.len, extent.offset)).collect();
    let more = extents.iter().count().saturating_sub(NAMED);
    if more > 0 {
        places.push(format!("{more} more places"));
    }
    places.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{EndpointKind, Facts};
    use crate::endpoint::memory::{Fault, Memory};
    use crate::ledger::SideIdentity;
    use crate::ledger::undo::{Head, UndoMaking};

    const LEN: usize = 64 << 10;

    /// A disk on which everything was written over, with what stood there; `mine` of it is somebody's, and the sector
    /// at 32 KiB cannot be read.
    fn put_back_over(mine: usize) -> (Result<PutBack>, Vec<u8>, bool) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("disk.undo");
        let (session, device) = ([7; 32].into(), SideIdentity::of(&Facts::new("/dev/sdz", EndpointKind::Block), 0));
        let head = Head { version: String::new(), created: String::new(), device, session };
        let mut making = UndoMaking::begin(&path, head).unwrap();
        making.keep(0, &[1; LEN]).unwrap();
        let mut disk = Content::of(&session).bytes()[..LEN].to_vec();
        disk[LEN - mine..].fill(9);
        let bad = Fault::BadSectors { op: Op::Read, extent: Extent::new(32 << 10, 512), errno: libc::EIO };
        let memory = Arc::new(Memory::disk(disk, &[bad]));
        let end: Arc<dyn Endpoint> = memory.clone();
        let result = put_back(making.finish().unwrap(), &end);
        (result, memory.bytes(), path.exists())
    }

    #[test]
    fn a_place_that_cannot_be_read_gets_its_original_where_nobody_else_wrote() {
        let (result, disk, is_kept) = put_back_over(0);
        assert_eq!(result.unwrap(), PutBack { kept_bytes: LEN as u64, written_bytes: LEN as u64 });
        assert!(disk == [1; LEN] && !is_kept);
    }

    #[test]
    fn a_place_that_cannot_be_read_may_be_of_whoever_wrote_elsewhere() {
        let (result, disk, is_kept) = put_back_over(512);
        let told = result.unwrap_err().to_string();
        assert!(told.contains("512 bytes at byte 32768 cannot be read"), "{told}");
        let session = Content::of(&[7; 32].into());
        let stays = |at: usize| disk[at..at + 512] != [1; 512];
        assert!(session.has_written(&disk[32 << 10..][..512]) && stays(LEN - 512) && is_kept);
        assert!((0..LEN - 512).step_by(512).all(|at| at == 32 << 10 || !stays(at)));
    }
}
