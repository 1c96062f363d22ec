//! Putting originals back: what carries the session's content, and nothing else.
use super::keep::{AT_ONCE_BYTES, Mover};
use crate::core::{Endpoint, Error, Extent, ExtentSet, Kind, Op, Result, Side};
use crate::ledger::undo::{Content, Original, PIECE_BYTES, Undo};
use crate::measure::NotRestored;
use std::io;
use std::sync::Arc;

/// Places that a message names.
const NAMED: usize = 4;

/// Failures in one piece after which it is not cut any smaller: each of them may take a disk seconds.
const FAILURES_MAX: u32 = 64;

/// So many pieces one after the other of which nothing could be read or written: the others are not tried.
const BARREN_MAX: u32 = 2;

/// What was put back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PutBack {
    /// Bytes that were kept.
    pub(crate) kept_bytes: u64,
    /// Those of them that had been written over.
    pub(crate) written_bytes: u64,
}

/// Why not everything is back, and what is not.
#[derive(Debug)]
pub(crate) struct NotPutBack {
    /// What failed first, with the places in its advice.
    pub(crate) error: Error,
    /// What is not back, and where its originals are.
    pub(crate) left: NotRestored,
}

/// Puts back what was kept, makes it durable, and then removes the journal. A sector that carries the session's content
/// has not been written by another program since; one that is as it was needs nothing. Any other was written by another
/// program and stays; then so does what cannot be read, for its origin is unknown. A place that fails keeps no other
/// from being put back.
///
/// # Errors
/// Refused where there are sectors that another program wrote; else what the device, or the file system of the
/// journal, said first. The journal stays then.
pub(crate) fn put_back(undo: Undo, end: &Arc<dyn Endpoint>) -> std::result::Result<PutBack, Box<NotPutBack>> {
    let kept = || undo.kept().iter().map(|kept| kept.extent);
    let journal = undo.path().to_owned();
    let mut work = match Restore::new(&undo, end) {
        Ok(work) => work,
        Err(error) => {
            let left = NotRestored { journal, places: merged(kept()) };
            return Err(Box::new(NotPutBack { error, left }));
        }
    };
    // Whoever has the device open hears once of writes that failed before; errors from now on concern this run.
    drop(end.make_durable());
    for kept in undo.kept() {
        work.one(&undo, kept);
    }
    if work.foreign.is_empty() {
        work.heal(&undo);
    }
    if let Err(error) = end.make_durable() {
        // It is unknown which of them it lost.
        kept().for_each(|extent| work.left.insert(extent));
        work.record_failure(Op::Write, kept().next().map_or(0, |first| first.offset), error);
    }
    let Restore { failure, foreign, unreadable, mut left, done, .. } = work;
    let (address, path) = (&end.facts().address, journal.display().to_string());
    let theirs = (!foreign.is_empty()).then(|| whose(&foreign, &unreadable));
    let told = match (failure, theirs) {
        (Some(failure), theirs) => Some(not_back(failure, &left, theirs.as_deref(), address, &path)),
        (None, Some(theirs)) => Some(somebody_else(&theirs, address, &path)),
        (None, None) => undo.remove().err().map(|fault| fault.into_error(&path)),
    };
    let Some(error) = told else { return Ok(done) };
    if !foreign.is_empty() {
        left.insert_all(&foreign);
        left.insert_all(&unreadable);
    }
    Err(Box::new(NotPutBack { error, left: NotRestored { journal, places: left.iter().collect() } }))
}

struct Restore<'a> {
    content: Content,
    end: &'a Arc<dyn Endpoint>,
    mover: Mover<'a>,
    /// What the device writes at least, in bytes.
    unit: usize,
    /// Originals of the piece that is put back.
    original: Vec<u8>,
    /// What another process wrote.
    foreign: ExtentSet,
    /// The last writer there.
    unreadable: ExtentSet,
    /// What could not be put back.
    left: ExtentSet,
    /// The first message about it.
    failure: Option<Error>,
    /// The device as a whole has failed: nothing more is tried.
    is_over: bool,
    /// Requests that did not fail.
    done_requests: u64,
    /// Pieces one after the other with none.
    barren: u32,
    done: PutBack,
}

impl<'a> Restore<'a> {
    fn new(undo: &Undo, end: &'a Arc<dyn Endpoint>) -> Result<Self> {
        Ok(Restore {
            content: Content::of(&undo.head().session),
            end,
            mover: Mover::new(end)?,
            unit: (end.facts().logical_block_bytes as usize).max(PIECE_BYTES),
            original: vec![0; AT_ONCE_BYTES as usize],
            foreign: ExtentSet::new(),
            unreadable: ExtentSet::new(),
            left: ExtentSet::new(),
            failure: None,
            is_over: false,
            done_requests: 0,
            barren: 0,
            done: PutBack::default(),
        })
    }

    fn one(&mut self, undo: &Undo, kept: &Original) {
        let extent = kept.extent;
        self.done.kept_bytes += extent.len;
        if self.is_over {
            return self.left.insert(extent);
        }
        if let Err(error) = self.load(undo, kept) {
            self.left.insert(extent);
            self.failure.get_or_insert(error);
            return;
        }
        // What a failed writeback left in the page cache is not what is on the device.
        self.end.uncache(extent);
        let before = self.done_requests;
        let ours = self.ours(extent);
        let read = self.done_requests;
        self.write(extent, ours.iter());
        let is_barren = read == before || (self.done_requests == read && !ours.is_empty());
        self.barren = if is_barren { self.barren + 1 } else { 0 };
        self.is_over |= self.barren >= BARREN_MAX;
    }

    /// Writes the originals of what cannot be read, where no other program wrote: it could be read before, so nobody's
    /// data is there now, and the original may heal it.
    fn heal(&mut self, undo: &Undo) {
        let unreadable = self.unreadable.clone();
        for kept in undo.kept().iter().filter(|kept| unreadable.overlaps(kept.extent)) {
            match self.load(undo, kept) {
                Ok(()) => self.write(kept.extent, unreadable.within(kept.extent)),
                Err(error) => {
                    unreadable.within(kept.extent).for_each(|part| self.left.insert(part));
                    self.failure.get_or_insert(error);
                }
            }
        }
    }

    /// Writes the originals of these runs of `extent`, which are in hand.
    fn write(&mut self, extent: Extent, runs: impl Iterator<Item = Extent>) {
        for run in runs {
            let write = |work: &mut Self, part: Extent| {
                work.mover.write(part.offset, within(&work.original, extent, part))?;
                work.done.written_bytes += part.len;
                Ok(())
            };
            for (part, error) in self.by_parts(Op::Write, run, write) {
                self.fail(Op::Write, part, error);
            }
        }
    }

    /// Originals from the journal.
    fn load(&mut self, undo: &Undo, kept: &Original) -> Result<()> {
        let path = undo.path().display().to_string();
        let original = self.original.get_mut(..kept.extent.len as usize).ok_or_else(|| senseless(&path))?;
        undo.original(kept, original).map_err(|fault| fault.into_error(&path))
    }

    /// What of `extent` the session has written over; what another process wrote is noted.
    fn ours(&mut self, extent: Extent) -> ExtentSet {
        let mut ours = ExtentSet::new();
        let read = |work: &mut Self, part: Extent| {
            let Restore { mover, unit, original, content, foreign, .. } = work;
            judge(part, *unit, within(original, extent, part), mover.read(part)?, content, &mut ours, foreign);
            Ok(())
        };
        let unreadable = self.by_parts(Op::Read, extent, read);
        unreadable.into_iter().for_each(|(part, _)| self.unreadable.insert(part));
        ours
    }

    /// Does it with `extent`; where that fails because of a place, with its halves, and so on. Returns the single units
    /// that failed. What else could not be done is noted.
    fn by_parts(
        &mut self,
        op: Op,
        extent: Extent,
        mut act: impl FnMut(&mut Self, Extent) -> io::Result<()>,
    ) -> Vec<(Extent, io::Error)> {
        let (mut parts, mut units, mut failures) = (vec![extent], Vec::new(), 0);
        while let Some(part) = parts.pop() {
            if self.is_over {
                self.left.insert(part);
                continue;
            }
            let Err(error) = act(self, part) else {
                self.done_requests += 1;
                continue;
            };
            failures += 1;
            self.is_over = self.end.diagnose(op, part.offset, &error) != Kind::Io;
            let half = part.len / 2 / self.unit as u64 * self.unit as u64;
            if self.is_over || (half > 0 && failures > FAILURES_MAX) {
                self.fail(op, part, error);
            } else if half == 0 {
                units.push((part, error));
            } else {
                parts.push(Extent::new(part.offset + half, part.len - half));
                parts.push(Extent::new(part.offset, half));
            }
        }
        units
    }

    /// Notes what could not be put back.
    fn fail(&mut self, op: Op, part: Extent, error: io::Error) {
        self.left.insert(part);
        self.record_failure(op, part.offset, error);
    }

    /// Keeps the first message.
    fn record_failure(&mut self, op: Op, offset: u64, error: io::Error) {
        let facts = self.end.facts();
        let kind = self.end.diagnose(op, offset, &error);
        let told = Error::of_request(kind, op, Side::Dest, &facts.address, offset, error);
        self.failure.get_or_insert(told.in_sectors_of(facts.logical_block_bytes));
    }
}

/// The originals of a `part` of `extent`.
fn within(original: &[u8], extent: Extent, part: Extent) -> &[u8] {
    &original[(part.offset - extent.offset) as usize..][..part.len as usize]
}

fn merged(extents: impl Iterator<Item = Extent>) -> Vec<Extent> {
    extents.collect::<ExtentSet>().iter().collect()
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
    Error::new(Kind::Io, format!("undo journal {path}: an extent exceeds the size limit"))
        .advise("Use the haul that wrote it, or a later one.")
}

/// The same error, with what is not back and where its originals are.
fn not_back(error: Error, left: &ExtentSet, theirs: Option<&str>, address: &str, path: &str) -> Error {
    let theirs = theirs.map(|theirs| format!(" Another program wrote there: {theirs}.")).unwrap_or_default();
    let next = if error.kind == Kind::Gone {
        "Attach the device again: the next haul that writes to it restores them, or run haul tune PATH --restore with \
         its new path."
            .to_owned()
    } else {
        format!(
            "Check the device, then run haul tune {address} --restore; the next haul that writes to it does the same. \
             Move that file away when it is no longer needed."
        )
    };
    error.advise(format!("Not restored: {}; the original data is in {path}.{theirs} {next}", places(left)))
}

fn somebody_else(theirs: &str, address: &str, path: &str) -> Error {
    let what = format!(
        "another program has written to {address} since the measurement: {theirs}; haul keeps those and restored \
         everything else"
    );
    let advice = format!("The original data is in {path}; move that file away when it is no longer needed.");
    Error::new(Kind::Refused, what).advise(advice)
}

fn whose(foreign: &ExtentSet, unreadable: &ExtentSet) -> String {
    let unreadable = match unreadable.is_empty() {
        true => String::new(),
        false => format!(", {} cannot be read and may also be from another program", places(unreadable)),
    };
    format!("{} are neither the original data nor written by haul{unreadable}", places(foreign))
}

/// The first places, and how many more there are.
fn places(extents: &ExtentSet) -> String {
    let mut places: Vec<String> =
        extents.iter().take(NAMED).map(|extent| format!("{} bytes at byte {}", extent.len, extent.offset)).collect();
    let more = extents.iter().count().saturating_sub(NAMED);
    if more > 0 {
        places.push(format!("{more} more places"));
    }
    places.join(", ")
}
