//! Verification after a copy: reads back the dest, or each of several.
use crate::core::stages::Checklist;
use crate::core::{DigestedBlock, Ended, Error, Extent, Kind, Outcome, Plan, Side, byte_count};
use crate::engine::Endpoints;
use crate::job::digest_collector::DigestCollector;
use crate::job::opened::OpenDest;
use crate::job::read_back::{self, DestToVerify, ReadBackResult};
use crate::job::session::Session;
use crate::plan::{self, Plans};

/// A copy to one dest after its execution.
pub(super) struct CopiedDest<'a> {
    /// The plan that was executed.
    pub(super) plan: &'a Plan,
    pub(super) dest: &'a OpenDest,
    /// Blocks that were read back during the copy.
    pub(super) behind: Vec<DigestedBlock>,
}

/// The steps after a complete copy to one dest: computes digests of data that only earlier runs copied, and
/// reads back.
pub(super) fn one(session: &Session, written: CopiedDest<'_>, collector: &mut DigestCollector, outcome: &mut Outcome) {
    let CopiedDest { plan, dest: OpenDest { ends, reader }, behind } = written;
    let len = outcome.claimed.end();
    if !matches!(outcome.ended, Ended::Complete) {
        if let (Some(digests), false) = (plan.digest_blocks, behind.is_empty()) {
            let list = Checklist::new(digests.hash, collector.take());
            outcome.verified = Some(read_back::so_far(digests.block_bytes, &behind, &list));
        }
        return;
    }
    let sample = read_back::drawn(plan, len);
    let mut missing = collector.missing();
    if let (Some(sample), false) = (&sample, collector.needs_all()) {
        missing = missing.intersection(&sample.iter().copied().collect());
    }
    if !missing.is_empty() {
        let bytes = byte_count(missing.total_bytes());
        outcome.notes.push(format!("read {bytes} of the source again: earlier runs recorded no digests"));
        let source = &ends[Side::Source.index()];
        let again = read_back::digest_again(session, plan, plan.on_error, source, missing.iter().collect(), collector);
        outcome.ended = match lost_since(plan, outcome, &again) {
            Some(error) if matches!(again.ended, Ended::Complete) => Ended::Failed(Box::new(error)),
            _ => again.ended,
        };
    }
    let (Some(reader), Some(digests), Ended::Complete) = (reader, plan.digest_blocks, &outcome.ended) else {
        return;
    };
    let list = Checklist::new(digests.hash, collector.take());
    let reader = reader.clone();
    let answer = read_back::read_back(session, DestToVerify { plan, ends, reader, len, behind }, &list, sample);
    outcome.verified = Some(answer.verified);
    if !matches!(answer.ended, Ended::Complete) {
        outcome.ended = answer.ended;
    }
}

/// Zeros replace data that could not be read `again`: if this run could not read it either, the dest has zeros,
/// too. If an earlier run could, the dest has data that can no longer be verified.
fn lost_since(plan: &Plan, outcome: &Outcome, again: &Outcome) -> Option<Error> {
    let [unread, lost] = [outcome, again].map(|outcome| &outcome.unread[Side::Source.index()].runs);
    let mut lost = lost.clone();
    lost.remove_all(unread);
    let first = lost.iter().next()?;
    let what = format!(
        "cannot read {} again ({} that an earlier run read): the expected data is unknown",
        plan.source.address,
        byte_count(lost.total_bytes())
    );
    let error = Error { offset: Some(first.offset), ..Error::new(Kind::Io, what).on(Side::Source) };
    Some(error.advise("The copy itself is complete. haul verify --on-error skip compares the readable part."))
}

/// The same after a copy to several dests: those that did not fail are read back concurrently.
pub(super) fn each(
    session: &Session,
    plans: &Plans,
    dests: &[OpenDest],
    ends: &Endpoints,
    collector: &mut DigestCollector,
    outcome: &mut Outcome,
) {
    let (all, alone) = (&plans.all.plan, &plans.alone);
    let complete = matches!(outcome.ended, Ended::Complete) && all.read_back.is_some();
    let Some(digests) = all.digest_blocks.filter(|_| complete) else { return };
    let list = Checklist::new(digests.hash, collector.take());
    let sample = read_back::drawn(all, outcome.claimed.end());
    let mut jobs = Vec::new();
    for (number, (dest, plan)) in dests.iter().zip(alone).enumerate() {
        let ended = &outcome.dests[number];
        let Some(reader) = dest.reader.clone().filter(|_| ended.error.is_none()) else { continue };
        // The copy of the rest begins at a whole block, and is read back then.
        let len = if ended.behind { whole_blocks(all, ended.claimed.end()) } else { ended.claimed.end() };
        if len == 0 && ended.behind {
            continue;
        }
        let sample: Option<Vec<Extent>> =
            sample.as_ref().map(|blocks| blocks.iter().copied().filter(|block| block.end() <= len).collect());
        let moved = sample.as_ref().map_or(len, |blocks| blocks.iter().map(|block| block.len).sum());
        jobs.push(((number, DestToVerify { plan, ends: &dest.ends, reader, len, behind: Vec::new() }, sample), moved));
    }
    if jobs.is_empty() {
        return;
    }
    let dests = jobs.iter().map(|((number, ..), _)| all.dests[*number].clone()).collect();
    let reading = plan::read_back_of(all, dests, jobs.iter().map(|(_, moved)| moved).sum());
    let answers = session.at_once(&reading, ends, jobs, |session, (number, written, sample)| {
        (number, read_back::read_back(session, written, &list, sample))
    });
    for (number, ReadBackResult { verified, ended }) in answers {
        let dest = &mut outcome.dests[number];
        dest.verified = Some(verified);
        match ended {
            Ended::Complete => {}
            Ended::Interrupted(_) | Ended::OutOfTime => outcome.ended = ended,
            // The others are not affected.
            Ended::Failed(error) => dest.error = Some(*error),
        }
    }
}

/// The largest number of bytes, up to `len`, that is whole digested blocks.
pub(super) fn whole_blocks(plan: &Plan, len: u64) -> u64 {
    len - plan.digest_blocks.map_or(0, |digests| len % digests.block_bytes)
}
