//! Restores original data: overwrites the test data of the session, and nothing else.
use super::keep::{AT_ONCE_BYTES, Mover};
use crate::core::{Endpoint, Error, Extent, ExtentSet, Kind, Op, Result, Side};
use crate::ledger::undo::{Content, Original, PIECE_BYTES, Undo};
use crate::measure::NotRestored;
use std::io;
use std::sync::Arc;

/// Maximum number of extents in a message.
const NAMED: usize = 4;

/// Number of failures in one piece after which it is not split further: each of them may take a disk seconds.
const FAILURES_MAX: u32 = 64;

/// Number of consecutive pieces that fail completely after which the others are not tried.
const FAILED_PIECES_MAX: u32 = 2;

/// What was restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PutBack {
    /// Bytes that had been saved.
    pub(crate) kept_bytes: u64,
    /// The part of them that had been overwritten.
    pub(crate) written_bytes: u64,
}

/// Why the data was not restored completely, and what is missing.
#[derive(Debug)]
pub(crate) struct NotPutBack {
    /// The first failure, with the extents in its advice.
    pub(crate) error: Error,
    /// What was not restored, and where its original data is.
    pub(crate) left: NotRestored,
}

/// Restores the saved data, makes it durable, and then removes the journal. A sector with test data of the
/// session has not been written by another program since; one with its original data is skipped. Any other was
/// written by another program and is not changed; then unreadable sectors are not changed either, because their
/// origin is unknown. A failed extent does not prevent the others from being restored.
///
/// # Errors
/// Refused if there are sectors that another program wrote; else the first error of the device, or of the file
/// system of the journal. The journal is kept then.
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
    // The kernel reports earlier failed writes once to each open descriptor; errors from now on concern this
    // run.
    drop(end.make_durable());
    for kept in undo.kept() {
        work.one(&undo, kept);
    }
    if work.foreign.is_empty() {
        work.rewrite_unreadable(&undo);
    }
    if let Err(error) = end.make_durable() {
        // It is unknown which writes were lost.
        kept().for_each(|extent| work.left.insert(extent));
        work.record_failure(Op::Write, kept().next().map_or(0, |first| first.offset), error);
    }
    let Restore { failure, foreign, unreadable, mut left, done, .. } = work;
    let (address, path) = (&end.facts().address, journal.display().to_string());
    let theirs = (!foreign.is_empty()).then(|| describe_foreign(&foreign, &unreadable));
    let reported = match (failure, theirs) {
        (Some(failure), theirs) => Some(not_back(failure, &left, theirs.as_deref(), address, &path)),
        (None, Some(theirs)) => Some(foreign_writes(&theirs, address, &path)),
        (None, None) => undo.remove().err().map(|fault| fault.into_error(&path)),
    };
    let Some(error) = reported else { return Ok(done) };
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
    /// The smallest unit that the device writes, in bytes.
    unit: usize,
    /// Original data of the current piece.
    original: Vec<u8>,
    /// Extents that another process wrote.
    foreign: ExtentSet,
    /// Extents that cannot be read, so that their last writer is unknown.
    unreadable: ExtentSet,
    /// What could not be restored.
    left: ExtentSet,
    /// The first error about it.
    failure: Option<Error>,
    /// The device as a whole has failed: nothing more is tried.
    is_over: bool,
    /// Successful requests.
    done_requests: u64,
    /// Consecutive pieces without a successful request.
    failed_pieces: u32,
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
            failed_pieces: 0,
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
        // After a failed writeback the page cache may differ from the device.
        self.end.uncache(extent);
        let before = self.done_requests;
        let ours = self.ours(extent);
        let read = self.done_requests;
        self.write(extent, ours.iter());
        let is_barren = read == before || (self.done_requests == read && !ours.is_empty());
        self.failed_pieces = if is_barren { self.failed_pieces + 1 } else { 0 };
        self.is_over |= self.failed_pieces >= FAILED_PIECES_MAX;
    }

    /// Writes the original data of unreadable sectors if no other program wrote to the device. They were
    /// readable before, so they hold no data of another program, and writing may repair them.
    fn rewrite_unreadable(&mut self, undo: &Undo) {
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

    /// Writes the original data of these runs of `extent`, which is in memory.
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

    /// Loads original data from the journal.
    fn load(&mut self, undo: &Undo, kept: &Original) -> Result<()> {
        let path = undo.path().display().to_string();
        let original = self.original.get_mut(..kept.extent.len as usize).ok_or_else(|| invalid(&path))?;
        undo.original(kept, original).map_err(|fault| fault.into_error(&path))
    }

    /// The part of `extent` that the session overwrote; what another process wrote is recorded.
    fn ours(&mut self, extent: Extent) -> ExtentSet {
        let mut ours = ExtentSet::new();
        let read = |work: &mut Self, part: Extent| {
            let Restore { mover, unit, original, content, foreign, .. } = work;
            classify(part, *unit, within(original, extent, part), mover.read(part)?, content, &mut ours, foreign);
            Ok(())
        };
        let unreadable = self.by_parts(Op::Read, extent, read);
        unreadable.into_iter().for_each(|(part, _)| self.unreadable.insert(part));
        ours
    }

    /// Calls `act` for `extent`; if part of it fails, for its halves, and so on. Returns the single units that
    /// failed. Other failures are recorded.
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

    /// Records a part that could not be restored.
    fn fail(&mut self, op: Op, part: Extent, error: io::Error) {
        self.left.insert(part);
        self.record_failure(op, part.offset, error);
    }

    /// Stores the first error.
    fn record_failure(&mut self, op: Op, offset: u64, error: io::Error) {
        let facts = self.end.facts();
        let kind = self.end.diagnose(op, offset, &error);
        let reported = Error::of_request(kind, op, Side::Dest, &facts.address, offset, error);
        self.failure.get_or_insert(reported.in_sectors_of(facts.logical_block_bytes));
    }
}

/// The original data of a `part` of `extent`.
fn within(original: &[u8], extent: Extent, part: Extent) -> &[u8] {
    &original[(part.offset - extent.offset) as usize..][..part.len as usize]
}

fn merged(extents: impl Iterator<Item = Extent>) -> Vec<Extent> {
    extents.collect::<ExtentSet>().iter().collect()
}

/// Classifies the current bytes of the device, unit by unit.
fn classify(
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

fn invalid(path: &str) -> Error {
    Error::new(Kind::Io, format!("undo journal {path}: an extent exceeds the size limit"))
        .advise("Use the haul that wrote it, or a later one.")
}

/// The same error, with the extents that were not restored and the location of their original data.
fn not_back(error: Error, left: &ExtentSet, theirs: Option<&str>, address: &str, path: &str) -> Error {
    let theirs = theirs.map(|theirs| format!(" Another program wrote there: {theirs}.")).unwrap_or_default();
    let next = if error.kind == Kind::Disconnected {
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

fn foreign_writes(theirs: &str, address: &str, path: &str) -> Error {
    let what = format!(
        "another program has written to {address} since the measurement: {theirs}; haul keeps those and restored \
         everything else"
    );
    let advice = format!("The original data is in {path}; move that file away when it is no longer needed.");
    Error::new(Kind::Refused, what).advise(advice)
}

fn describe_foreign(foreign: &ExtentSet, unreadable: &ExtentSet) -> String {
    let unreadable = match unreadable.is_empty() {
        true => String::new(),
        false => format!(", {} cannot be read and may also be from another program", places(unreadable)),
    };
    format!("{} are neither the original data nor written by haul{unreadable}", places(foreign))
}

/// The first extents, and the number of the others.
fn places(extents: &ExtentSet) -> String {
    let mut places: Vec<String> =
        extents.iter().take(NAMED).map(|extent| format!("{} bytes at byte {}", extent.len, extent.offset)).collect();
    let more = extents.iter().count().saturating_sub(NAMED);
    if more > 0 {
        places.push(format!("{more} more places"));
    }
    places.join(", ")
}
