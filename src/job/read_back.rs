//! Verification after a copy: reads the dest back and compares it; blocks that differ are read again,
//! rewritten, and read again.
use crate::core::schedules;
use crate::core::stages::{Checklist, sample};
use crate::core::{
    Cache, Differences, DigestedBlock, Ended, Endpoint, Event, Extent, ExtentSet, Facts, Observer, OnError, Outcome,
    Plan, Portion, Result, Side, Verified,
};
use crate::disks;
use crate::engine::Endpoints;
use crate::job::session::{Session, Task};
use crate::plan;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Opens the dest for reading, if `plan` reads it back. Called before the first write, so that an unreadable
/// dest is refused then.
///
/// # Errors
/// As for [`disks::open_compared`].
pub(crate) fn reader(plan: &Plan, ends: &Endpoints) -> Result<Option<Arc<dyn Endpoint>>> {
    plan.read_back.as_ref().map(|_| to_read(plan, ends)).transpose()
}

/// Opens the dest of an open copy for reading.
///
/// # Errors
/// As for [`disks::open_compared`].
pub(crate) fn to_read(plan: &Plan, ends: &Endpoints) -> Result<Arc<dyn Endpoint>> {
    let dest = &ends[Side::Dest.index()];
    if plan.dest.through.is_some() {
        // A node serves all commands with one descriptor, and a second one would conflict with the first.
        return Ok(dest.clone());
    }
    let side = plan::read_back(plan, 0).dest;
    // The identity is that of the file that was just created, not that of its name.
    let facts: &Facts = dest.facts();
    disks::open_compared(&side, facts)
}

/// The result of reading one dest back.
pub(crate) struct ReadBackResult {
    pub(crate) verified: Verified,
    pub(crate) ended: Ended,
}

/// A dest to read back.
pub(crate) struct DestToVerify<'a> {
    /// The plan that wrote it.
    pub(crate) plan: &'a Plan,
    pub(crate) ends: &'a Endpoints,
    pub(crate) reader: Arc<dyn Endpoint>,
    /// Bytes of the copy on the destination.
    pub(crate) len: u64,
    /// Blocks that were already read back during the copy.
    pub(crate) behind: Vec<DigestedBlock>,
}

/// Minimum share of the blocks read back during the copy that is read again at the end: a drive that reports a
/// false capacity overwrites a large part of them, and one of these blocks detects that.
const AGAIN_PER_MILLION: u32 = 10_000;
const AGAIN_BLOCKS_MIN: u64 = 32;

/// Reads back the destination, or these blocks of it, and compares them with `list`.
pub(crate) fn read_back(
    session: &Session,
    written: DestToVerify<'_>,
    list: &Checklist,
    sample: Option<Vec<Extent>>,
) -> ReadBackResult {
    let began = Instant::now();
    let DestToVerify { plan, ends, reader, len, behind } = written;
    let block_bytes = plan.digest_blocks.map_or(1, |digests| digests.block_bytes);
    let reading = Verification { session, plan, ends, reader, list, len, block_bytes };
    let mut verified = Verified { sampled: sample.is_some(), ..Verified::default() };
    let ended = reading.verify(sample, &behind, &mut verified);
    verified.complete = matches!(ended, Ended::Complete);
    verified.elapsed = began.elapsed();
    ReadBackResult { verified, ended }
}

/// The blocks of a copy of `len` bytes that `plan` reads back; `None`: all.
pub(crate) fn drawn(plan: &Plan, len: u64) -> Option<Vec<Extent>> {
    let (options, digests) = (plan.read_back.as_ref()?, plan.digest_blocks?);
    let Portion::Sample { per_million } = options.portion else { return None };
    Some(draw(len, digests.block_bytes, per_million))
}

/// A random selection of `per_million` blocks of a million, including the first and the last.
pub(crate) fn draw(len: u64, block_bytes: u64, per_million: u32) -> Vec<Extent> {
    let random = RandomState::new();
    let mut drawn = 0u64;
    sample(len, block_bytes, per_million, |choices| {
        drawn += 1;
        random.hash_one(drawn) % choices
    })
}

/// The result of reading back during the copy, for an incomplete copy.
pub(crate) fn so_far(block_bytes: u64, behind: &[DigestedBlock], list: &Checklist) -> Verified {
    let (bytes, wrong) = compared(behind, Checker::new(list, u64::MAX, block_bytes));
    Verified { bytes, behind_bytes: bytes, blocks: bytes.div_ceil(block_bytes), wrong, ..Verified::default() }
}

/// For blocks that were read back in order: the number of bytes in whole blocks, and the blocks that differ.
fn compared(behind: &[DigestedBlock], checker: Checker<'_>) -> (u64, ExtentSet) {
    behind.iter().for_each(|block| checker.on_event(&Event::Digested(*block)));
    let end = behind.last().map_or(0, |block| block.extent.end());
    let whole = if end == checker.len { end } else { end - end % checker.block_bytes };
    (whole, checker.into_differing())
}

/// Reads `extents` of the source, which are whole blocks, only to digest them; `collector` receives each
/// digest.
pub(crate) fn digest_again(
    session: &Session,
    plan: &Plan,
    on_error: OnError,
    source: &Arc<dyn Endpoint>,
    extents: Vec<Extent>,
    collector: &dyn Observer,
) -> Outcome {
    let nothing = disks::missing_side();
    let plan = plan::digest_again(plan, total(&extents), on_error);
    let ends = [source.clone(), nothing];
    session.run(Task::new(&plan, &ends, &mut *schedules::listed(&plan, &extents), collector))
}

struct Verification<'a> {
    session: &'a Session,
    plan: &'a Plan,
    ends: &'a Endpoints,
    reader: Arc<dyn Endpoint>,
    list: &'a Checklist,
    len: u64,
    block_bytes: u64,
}

impl Verification<'_> {
    fn verify(&self, sample: Option<Vec<Extent>>, behind: &[DigestedBlock], verified: &mut Verified) -> Ended {
        verified.cached_bytes = self.uncache();
        let (behind_bytes, mut wrong) = compared(behind, Checker::new(self.list, self.len, self.block_bytes));
        let (extents, again_bytes) = match behind_bytes {
            0 => (sample, 0),
            _ => self.rest(behind_bytes),
        };
        let first = self.pass(extents);
        wrong.insert_all(&first.differing);
        verified.behind_bytes = behind_bytes;
        verified.bytes = behind_bytes + first.bytes.saturating_sub(again_bytes);
        (verified.blocks, verified.wrong) = (verified.bytes.div_ceil(self.block_bytes), wrong);
        if !matches!(first.ended, Ended::Complete) || verified.wrong.is_empty() {
            return first.ended;
        }
        // An error during the transfer does not mean that the data on the medium is wrong.
        self.uncache();
        let again = self.pass(Some(verified.wrong.iter().collect()));
        if !matches!(again.ended, Ended::Complete) {
            return again.ended;
        }
        verified.misread = without(&verified.wrong, &again.differing);
        verified.wrong = again.differing;
        if verified.wrong.is_empty() {
            return again.ended;
        }
        let not_rewritten = self.plan.read_back.as_ref().and_then(|options| options.not_rewritten.clone());
        if not_rewritten.is_some() {
            verified.not_rewritten = not_rewritten;
            return again.ended;
        }
        self.rewrite_wrong(verified)
    }

    /// What must still be read after reading back during the copy: a sample of that part, whose size is
    /// returned, and everything after it.
    fn rest(&self, behind_bytes: u64) -> (Option<Vec<Extent>>, u64) {
        let blocks = behind_bytes.div_ceil(self.block_bytes);
        let least = (u128::from(AGAIN_BLOCKS_MIN) * 1_000_000).div_ceil(blocks.max(1).into()).min(1_000_000) as u32;
        let mut extents = draw(behind_bytes, self.block_bytes, least.max(AGAIN_PER_MILLION));
        let again_bytes = total(&extents);
        extents.push(Extent::new(behind_bytes, self.len - behind_bytes));
        (Some(extents), again_bytes)
    }

    /// Rewrites wrong blocks from the source, and checks the result.
    fn rewrite_wrong(&self, verified: &mut Verified) -> Ended {
        let extents: Vec<Extent> = verified.wrong.iter().collect();
        let rewrite = plan::rewrite(self.plan, total(&extents));
        let written = self.run(&rewrite, self.ends, Some(extents.clone()));
        verified.changed = written.differing.iter().collect();
        if !matches!(written.ended, Ended::Complete) {
            return written.ended;
        }
        self.uncache();
        let last = self.pass(Some(extents));
        if matches!(last.ended, Ended::Complete) {
            verified.rewritten = without(&verified.wrong, &last.differing);
            verified.wrong = last.differing;
        }
        last.ended
    }

    /// Reads blocks back: all of them, or those in `extents`.
    fn pass(&self, extents: Option<Vec<Extent>>) -> PassResult {
        let len = extents.as_ref().map_or(self.len, |extents| total(extents));
        let plan = plan::read_back(self.plan, len);
        let nothing = disks::missing_side();
        let ends = [nothing, self.reader.clone()];
        self.run(&plan, &ends, extents)
    }

    fn run(&self, plan: &Plan, ends: &Endpoints, extents: Option<Vec<Extent>>) -> PassResult {
        let mut schedule = match extents {
            Some(extents) => schedules::listed(plan, &extents),
            None => schedules::make(plan, &ends[0]),
        };
        let checker = Checker::new(self.list, self.len, self.block_bytes);
        let outcome = self.session.run(Task::new(plan, ends, &mut *schedule, &checker));
        let differing = checker.into_differing();
        PassResult { ended: outcome.ended, bytes: outcome.totals.dest_bytes(), differing }
    }

    /// Evicts the dest from the page cache. Returns the number of bytes that remain in it; `None`: unknown.
    fn uncache(&self) -> Option<u64> {
        let whole = self.plan.dest.map.hull(self.len);
        let cached = self.reader.uncache(whole);
        if self.plan.dest.through.is_some() || self.plan.dest.access.cache == Cache::Direct {
            // Direct reads bypass pages left in the cache, except for an unaligned end.
            let page = crate::core::PAGE_BYTES as u64;
            let tail = whole.end() % page;
            let odd = self.plan.dest.through.is_none() && tail > 0 && tail <= self.len;
            return if odd { self.reader.uncache(Extent::new(whole.end() - tail, tail)) } else { Some(0) };
        }
        cached
    }
}

/// The result of one pass.
struct PassResult {
    ended: Ended,
    bytes: u64,
    differing: ExtentSet,
}

/// Compares the digests of what is read with the expected ones.
pub(crate) struct Checker<'a> {
    list: &'a Checklist,
    /// Bytes of the copy.
    len: u64,
    block_bytes: u64,
    differing: Mutex<ExtentSet>,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(list: &'a Checklist, len: u64, block_bytes: u64) -> Self {
        Checker { list, len, block_bytes, differing: Mutex::default() }
    }

    /// Whether a whole block, or the copy, ends there.
    fn is_end(&self, at: u64) -> bool {
        at == self.len || at.is_multiple_of(self.block_bytes)
    }

    pub(crate) fn into_differing(self) -> ExtentSet {
        self.differing.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The differences as a report lists them, in whole blocks.
    pub(crate) fn into_differences(self) -> Differences {
        let mut differences = Differences::default();
        self.into_differing().iter().for_each(|run| differences.add(run, run.offset, run.len));
        differences
    }
}

impl Observer for Checker<'_> {
    fn on_event(&self, event: &Event<'_>) {
        let Event::Digested(block) = event else { return };
        // If a pass was interrupted within a block, that block is not compared.
        let end = block.extent.end();
        let whole_end = if self.is_end(end) { end } else { end - end % self.block_bytes };
        let Some(whole) = whole_end.checked_sub(block.extent.offset).filter(|&whole| whole > 0) else { return };
        let block = DigestedBlock { extent: Extent::new(block.extent.offset, whole), ..*block };
        let wrong = self.list.differing(&block);
        self.differing.lock().unwrap_or_else(PoisonError::into_inner).extend(wrong);
    }
}

fn total(extents: &[Extent]) -> u64 {
    extents.iter().map(|extent| extent.len).sum()
}

fn without(all: &ExtentSet, some: &ExtentSet) -> ExtentSet {
    let mut rest = all.clone();
    rest.remove_all(some);
    rest
}

#[cfg(test)]
#[path = "read_back_tests.rs"]
mod tests;
