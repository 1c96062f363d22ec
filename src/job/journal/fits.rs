//! Checks whether a journal still fits: the identity of both sides, and samples of their data.
use super::ranges;
use crate::core::{
    Access, Arena, BlockDigest, Endpoint, EndpointKind, Error, Existing, Extent, Facts, HashKind, Kind, Op, Piece,
    Plan, PlanSide, Request, Result, Side,
};
use crate::disks;
use crate::ledger::journal::{FinalStamp, Head, Journal, Now, State, sample_places};
use crate::ledger::{Mismatch, SideIdentity};
use rustix::fs::{FileType, Stat};
use std::path::Path;
use std::sync::Arc;

/// Number and length of the samples of the source in a journal: enough to detect the contents of another disk.
pub(super) const SAMPLES: u64 = 16;

pub(super) const SAMPLE_BYTES: u64 = 64 << 10;

/// Number of samples of the durable data that are compared on both sides.
const COMPARED: u64 = 16;

/// Maximum number of mismatches in a message.
const NAMED: usize = 4;

/// Refuses a journal of another copy, or of sides that have changed.
///
/// # Errors
/// Refused, with every mismatch; the error of opening either side for reading.
pub(super) fn check(journal: &Journal, plan: &Plan, source: &Facts, dest: &Facts) -> Result<()> {
    let record_file = format!("journal {}", journal.path().display());
    check_state(&record_file, journal.head(), journal.state(), plan, source, dest)?;
    check_unwritten(&record_file, journal, &dest.path)
}

/// Refuses if another process wrote to a file after the copy to it ended in an orderly way. After a copy that
/// was killed that cannot be determined: it may have written data after its last line.
fn check_unwritten(record_file: &str, journal: &Journal, dest: &Path) -> Result<()> {
    let Some(then) = journal.ended() else { return Ok(()) };
    let Some(now) = rustix::fs::stat(dest).ok().and_then(|stat| ended_as(&stat)) else { return Ok(()) };
    if *then == now {
        return Ok(());
    }
    let advice = format!(
        "Nothing was written. Use --restart --delta to compare all data and copy what differs, or --restart to copy \
         from the start. If no data was changed, restore the time with touch -d {} and resume.",
        then.dest_mtime
    );
    let of = |ended: FinalStamp| (ended.dest_mtime, ended.dest_size_bytes);
    let mismatch = Mismatch::Written { then: of(then.clone()), now: of(now) };
    Err(Error::new(Kind::Refused, format!("cannot resume: {record_file} does not match: {mismatch}")).advise(advice))
}

/// The stamp of a regular file at the end of a copy; `None` for anything else.
pub(super) fn ended_as(stat: &Stat) -> Option<FinalStamp> {
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mtime = jiff::Timestamp::new(stat.st_mtime, i32::try_from(stat.st_mtime_nsec).ok()?).ok()?;
    Some(FinalStamp { dest_mtime: format!("{mtime:.9}"), dest_size_bytes: u64::try_from(stat.st_size).ok()? })
}

/// The same for a record file.
///
/// # Errors
/// As for [`check`].
pub(super) fn check_state(
    record_file: &str,
    head: &Head,
    state: &State,
    plan: &Plan,
    source: &Facts,
    dest: &Facts,
) -> Result<()> {
    let (from, to) = (SideIdentity::of(source, plan.source.map.start()), SideIdentity::of(dest, plan.dest.map.start()));
    let then: Vec<_> = head.samples.iter().map(|sample| Some(sample.digest)).collect();
    let ranges = ranges::digest(plan);
    let maps = Side::BOTH.map(|side| &plan.side(side).map);
    let now = Now { len_bytes: plan.len, ranges, maps, source: &from, dest: &to, samples: &then, dest_differs: &[] };
    // Before any data is read: if it is another disk, no read is necessary.
    refuse(record_file, head.mismatches(state, &now))?;
    if state.durable.is_empty() {
        return Ok(());
    }
    let source_end = disks::open_source(&plan.source, source)?;
    let samples: Vec<_> = head
        .samples
        .iter()
        .map(|sample| Extent::new(plan.source.map.at(sample.offset_bytes), sample.len_bytes))
        .map(|place| digest_at(Side::Source, &source_end, place))
        .collect();
    let samples = passed_over(samples, &then, plan);
    if dest.kind == EndpointKind::Object {
        // Parts of an upload cannot be read; the store lists them with their tags.
        return refuse(record_file, head.mismatches(state, &Now { samples: &samples, ..now }));
    }
    let access = Access { exclusive: false, existing: Existing::Keep, ..plan.dest.access };
    // Where the frames of a compressed file are.
    let dest = Facts { upload: state.upload.clone(), ..dest.clone() };
    let dest_end = disks::open_compared(&PlanSide { access, ..plan.dest.clone() }, &dest)?;
    let (mut dest_differs, mut unreadable) = (Vec::new(), Vec::new());
    for place in sample_places(&state.durable, COMPARED, SAMPLE_BYTES) {
        let Some(Piece { copy: place, at }) = plan.pieces(place).next() else { continue };
        let [on_source, on_dest] = at.map(|at| Extent::new(at, place.len));
        match digest_at(Side::Source, &source_end, on_source) {
            Some(digest) if Some(digest) == digest_at(Side::Dest, &dest_end, on_dest) => {}
            Some(_) => dest_differs.push(place),
            None if plan.on_error.reads_around() => {}
            None => unreadable.push(Mismatch::Unreadable { side: Side::Source, extent: on_source }),
        }
    }
    let mut mismatches = head.mismatches(state, &Now { samples: &samples, dest_differs: &dest_differs, ..now });
    mismatches.append(&mut unreadable);
    refuse(record_file, mismatches)
}

/// Ignores samples that can no longer be read. A source that is partly unreadable counts as unchanged if some
/// of its samples can be read and match: copies of failing disks must be resumable.
fn passed_over(now: Vec<Option<BlockDigest>>, then: &[Option<BlockDigest>], plan: &Plan) -> Vec<Option<BlockDigest>> {
    if !plan.on_error.reads_around() || now.iter().all(Option::is_none) {
        return now;
    }
    now.into_iter().zip(then).map(|(now, then)| now.or(*then)).collect()
}

fn refuse(record_file: &str, mismatches: Vec<Mismatch>) -> Result<()> {
    if mismatches.is_empty() {
        return Ok(());
    }
    let mut words: Vec<String> = mismatches.iter().take(NAMED).map(ToString::to_string).collect();
    if mismatches.len() > NAMED {
        words.push(format!("and {} more", mismatches.len() - NAMED));
    }
    let what = format!("cannot resume: {record_file} does not match: {}", words.join("; "));
    let mut advice =
        "Nothing was written. Give the source and the destination of that copy, unmodified, or copy from the start \
         with haul copy --restart."
            .to_owned();
    if mismatches.iter().all(|mismatch| matches!(mismatch, Mismatch::Unreadable { .. })) {
        advice = "Nothing was written. To continue despite unreadable sectors, use --on-error skip.".to_owned();
    }
    Err(Error::new(Kind::Refused, what).advise(advice))
}

/// The digest of these bytes of one side; `None` if they cannot be read, or do not exist.
pub(super) fn digest_at(side: Side, end: &Arc<dyn Endpoint>, extent: Extent) -> Option<BlockDigest> {
    let len = u32::try_from(extent.len).ok().filter(|&len| u64::from(len) <= SAMPLE_BYTES)?;
    let arena = Arena::map(SAMPLE_BYTES as usize).ok()?;
    let buffer = arena.carve(SAMPLE_BYTES as u32, 1).pop()?;
    let (slot, ticket, op, offset) = (0, 0, Op::Read, extent.offset);
    let mut request = Request { slot, ticket, side, op, offset, len, done: 0, until: len, buffer };
    while request.done < len {
        match end.perform(&mut request) {
            Ok(0) | Err(_) => return None,
            Ok(moved) => request.done += moved,
        }
    }
    Some(BlockDigest::of(HashKind::Blake3, &request.buffer.bytes()[..len as usize]))
}
