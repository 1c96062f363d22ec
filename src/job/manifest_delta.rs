//! `--delta=MANIFEST`: the manifest of the last copy to the dest describes its data.
//!
//! The source is read once for its digests, then the blocks are copied whose digests differ from the
//! manifest's. The manifest is used only after a check of some blocks of the dest. Before the first write, the
//! journal marks it as outdated: from then on it no longer describes the dest, even if this run fails.
use crate::core::schedules;
use crate::core::stages::Checklist;
use crate::core::{
    BlockHash, DigestedBlock, Ended, Error, Event, Extent, ExtentSet, Facts, Kind, Observer, OnError, Outcome, Plan,
    Result, Side,
};
use crate::disks;
use crate::engine::Endpoints;
use crate::job::digest_collector::DigestCollector;
use crate::job::digested::DigestedBlockList;
use crate::job::journal::{ActiveJournal, ExistingJournal};
use crate::job::manifest::{self, checklist, is};
use crate::job::read_back::{Checker, digest_again, draw, to_read};
use crate::job::session::{Session, Task};
use crate::ledger::manifest::Manifest;
use crate::plan;
use crate::plan::{Delta, Options};
use std::time::{Duration, Instant};

/// Number of blocks of the dest that are checked before the manifest is used, besides the first and the last.
const LOOKED_AT: u64 = 16;

/// The manifest that describes the dest.
pub(crate) struct ManifestDelta {
    path: String,
    manifest: Manifest,
}

/// The data that the dest already has.
pub(crate) struct BlocksInPlace {
    /// Extents of the copy: whole blocks that are equal on both sides according to the manifest.
    pub(crate) extents: ExtentSet,
    /// Time for checking the dest and reading the source.
    took: Duration,
    /// The part of it that was spent waiting for the source, for digests, and for the limit.
    waited: [Duration; 3],
    /// A note about it for the report.
    note: String,
}

impl ManifestDelta {
    /// Opens the manifest that `options` name, if any.
    ///
    /// # Errors
    /// It cannot be read, has other digests than a copy computes, or another block size than requested.
    pub(crate) fn open(options: &Options) -> Result<Option<Self>> {
        let Some(Delta::Manifest(path)) = &options.delta else { return Ok(None) };
        let manifest = manifest::open(path)?;
        let head = &manifest.head;
        let refused = |what: String, advice: &str| Err(Error::new(Kind::Usage, what).advise(advice));
        if head.algorithm == BlockHash::Sha256 {
            let what = format!("--delta={path}: its digests are {}, but copies use BLAKE3", head.algorithm.name());
            return refused(what, "Use --delta without a manifest, which reads the destination.");
        }
        if let Some(asked) = options.manifest_block_bytes.filter(|&asked| asked != head.block_bytes) {
            let what = format!("--delta={path}: its blocks have {} bytes, not {asked}", head.block_bytes);
            return refused(what, "Omit --manifest-block.");
        }
        Ok(Some(ManifestDelta { path: path.clone(), manifest }))
    }

    /// The options with the block size and the algorithm of the manifest.
    pub(crate) fn adjust(&self, options: &Options) -> Options {
        let head = &self.manifest.head;
        Options { manifest_block_bytes: Some(head.block_bytes), manifest_hash: Some(head.algorithm), ..options.clone() }
    }

    /// Refuses a dest that the manifest does not describe, or no longer describes.
    ///
    /// # Errors
    /// Refused, with the reason.
    pub(crate) fn fits(&self, plan: &Plan, dest: &Facts, found: &ExistingJournal) -> Result<()> {
        let (head, path, address) = (&self.manifest.head, &self.path, &dest.address);
        let refused = |what: String, advice: &str| Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice));
        if found.is_unfinished() {
            let what = format!("a copy to destination {address} was interrupted, so {path} no longer describes it");
            return refused(
                what,
                "Continue that copy with --resume, or use --delta without a manifest, which reads the destination.",
            );
        }
        if !found.is_kept() {
            let what = "--delta=MANIFEST needs a journal, but neither XDG_STATE_HOME nor HOME is set";
            return refused(what.to_owned(), "Name a file with --journal.");
        }
        // The copy that made the manifest wrote the dest, or read it.
        let sides = head.dests().map(|side| (side, Side::Dest)).chain([(&head.source, Side::Source)]);
        let began: Vec<u64> =
            sides.filter(|(then, side)| is(then, *side, dest)).map(|(then, _)| then.offset_bytes).collect();
        if began.is_empty() {
            let what = format!(
                "{path} describes a copy from {} to {}; destination {address} is neither of them",
                head.source.path, head.dest.path
            );
            return refused(
                what,
                "Give the manifest of the last copy to this destination, or use --delta without a manifest.",
            );
        }
        if self.manifest.is_listed() {
            return refused(
                format!("{path} describes a copy of ranges, not of one contiguous range"),
                "Use --delta without a manifest, which reads the destination.",
            );
        }
        if !began.contains(&plan.dest.map.start()) {
            let what = format!(
                "{path} describes a copy that did not start at byte {} of destination {address}",
                plan.dest.map.start()
            );
            return refused(
                what,
                "Give the --seek of that copy, or use --delta without a manifest, which reads the destination.",
            );
        }
        Ok(())
    }

    /// Checks some blocks of the dest, then reads the source. `collector` receives the digests of the blocks
    /// that the dest already has, and the journal their extents.
    ///
    /// # Errors
    /// The dest does not match the manifest: Refused. A side that cannot be read.
    pub(crate) fn examine(
        &self,
        session: &Session,
        plan: &Plan,
        ends: &Endpoints,
        collector: &DigestCollector,
        begun: &mut ActiveJournal,
    ) -> Result<DeltaResult> {
        let judged = self.read(session, plan, ends, collector);
        match &judged {
            Ok(DeltaResult::InPlace(in_place)) => begun.adopt(&in_place.extents, &ends[Side::Dest.index()])?,
            // Nothing was written.
            _ => begun.discard(),
        }
        judged
    }

    fn read(
        &self,
        session: &Session,
        plan: &Plan,
        ends: &Endpoints,
        collector: &DigestCollector,
    ) -> Result<DeltaResult> {
        let began = Instant::now();
        let head = &self.manifest.head;
        let list = checklist(&self.manifest);
        if let Some(signal) = self.look(session, plan, ends, &list)? {
            return Ok(DeltaResult::Interrupted(signal));
        }
        let len = plan.len.unwrap_or(0);
        let reader =
            Reader { checker: Checker::new(&list, len, head.block_bytes), digested: DigestedBlockList::default() };
        let source = &ends[Side::Source.index()];
        // The copy itself handles unreadable sectors.
        let outcome = digest_again(session, plan, OnError::default(), source, vec![Extent::new(0, len)], &reader);
        if let Some(signal) = signal_that_ended(outcome.ended)? {
            return Ok(DeltaResult::Interrupted(signal));
        }
        let mut extents: ExtentSet = [Extent::new(0, len)].into_iter().collect();
        extents.remove_all(&self.in_blocks(&reader.checker.into_differing(), len));
        for block in reader.digested.into_blocks() {
            for part in extents.within(block.extent) {
                // Only runs of zeros do not coincide with blocks.
                collector.on_event(&Event::Digested(DigestedBlock { extent: part, ..block }));
            }
        }
        let (equal_bytes, read_s) = (extents.total_bytes(), outcome.elapsed.as_secs_f64());
        let note = format!(
            "read the source first, in {read_s:.1} s: according to {}, {equal_bytes} of its {len} bytes are already on \
             the destination",
            self.path
        );
        let waited = [outcome.sides[Side::Source.index()].waited, outcome.digest_waited, outcome.limit_waited];
        Ok(DeltaResult::InPlace(BlocksInPlace { extents, took: began.elapsed(), waited, note }))
    }

    /// The whole blocks in which data differs, or was unreadable when the manifest was made.
    fn in_blocks(&self, differing: &ExtentSet, len: u64) -> ExtentSet {
        let block_bytes = self.manifest.head.block_bytes;
        let whole = |part: Extent| {
            let start = part.offset - part.offset % block_bytes;
            let end = part.end().next_multiple_of(block_bytes).min(len);
            Extent::new(start, end.saturating_sub(start))
        };
        differing.iter().chain(self.manifest.unread.iter()).map(whole).filter(|block| !block.is_empty()).collect()
    }

    /// Reads some blocks of the dest, and refuses it if one does not match the manifest. Returns the signal
    /// that ended it, if any.
    fn look(&self, session: &Session, plan: &Plan, ends: &Endpoints, list: &Checklist) -> Result<Option<i32>> {
        let (len, block_bytes) = (self.manifest.closing.len_bytes, self.manifest.head.block_bytes);
        let per_million = (LOOKED_AT * 1_000_000).div_ceil(len.div_ceil(block_bytes).max(1)).min(1_000_000);
        let places = draw(len, block_bytes, per_million as u32);
        let reading = plan::read_back(plan, places.iter().map(|place| place.len).sum());
        let reader = to_read(plan, ends)?;
        // The medium must be read, not the page cache; if eviction fails, the cache has the same data.
        let _ = reader.uncache(plan.dest.map.hull(len));
        let ends: Endpoints = [disks::missing_side(), reader];
        let checker = Checker::new(list, len, block_bytes);
        let outcome = session.run(Task::new(&reading, &ends, &mut *schedules::listed(&reading, &places), &checker));
        if let Some(signal) = signal_that_ended(outcome.ended)? {
            return Ok(Some(signal));
        }
        let Some(wrong) = checker.into_differing().iter().next() else { return Ok(None) };
        let (address, path) = (&plan.dest.address, &self.path);
        let what =
            format!("destination {address} does not match {path} at byte {}: it was modified since", wrong.offset);
        let advice = "Nothing was written. Use --delta without a manifest, which reads the destination.";
        Err(Error::new(Kind::Refused, what).on(Side::Dest).advise(advice))
    }
}

/// The result of the check.
pub(crate) enum DeltaResult {
    /// The dest already has these blocks.
    InPlace(BlocksInPlace),
    /// A signal arrived before anything was written.
    Interrupted(i32),
}

fn signal_that_ended(ended: Ended) -> Result<Option<i32>> {
    match ended {
        Ended::Complete => Ok(None),
        Ended::Interrupted(signal) => Ok(Some(signal)),
        Ended::OutOfTime => unreachable!("the time of a copy begins behind this"),
        Ended::Failed(error) => Err(*error),
    }
}

/// Compares the digests of the source with the manifest, and stores them.
struct Reader<'a> {
    checker: Checker<'a>,
    digested: DigestedBlockList,
}

impl Observer for Reader<'_> {
    fn on_event(&self, event: &Event<'_>) {
        self.checker.on_event(event);
        self.digested.on_event(event);
    }
}

impl BlocksInPlace {
    /// Adds to the report what was not written, and the time for determining that.
    pub(crate) fn add_to(self, outcome: &mut Outcome) {
        outcome.elapsed += self.took;
        let [source, digests, limit] = self.waited;
        outcome.sides[Side::Source.index()].waited += source;
        outcome.digest_waited += digests;
        outcome.limit_waited += limit;
        outcome.totals.unchanged_bytes += self.extents.total_bytes();
        // These blocks were not written by an earlier run of this copy.
        outcome.kept.iter_mut().for_each(|kept| kept.already_bytes = 0);
        outcome.notes.push(self.note);
    }
}
