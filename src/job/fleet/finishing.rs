//! The end of a job: what all workers copied becomes the destination.
use super::host::{runs, since_boot};
use super::job_of::Job;
use super::manifest::FleetManifest;
use super::names;
use super::overview::{Listing, Overview, attempts_of, dest_address};
use crate::core::{Address, Error, ExtentSet, FleetPhase, FleetStatus, Kind, ObjectAddress, Result, Side, byte_count};
use crate::disks::object;
use crate::files::{DirectoryEntry, FileError, Opening};
use crate::ledger::fleet::{AttemptRecord, FleetPlan, ShardDone};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// What became of a finish.
pub(crate) enum FinishEnd {
    /// The destination is complete, now or since earlier.
    Committed(Box<Committed>),
    /// Shards are missing.
    Missing(Vec<u64>, Box<FleetStatus>),
}

/// A destination that is complete.
pub(crate) struct Committed {
    pub(crate) status: FleetStatus,
    /// Its address.
    pub(crate) dest: String,
    /// Bytes of the source that could not be read, and are zeros.
    pub(crate) unread: ExtentSet,
    /// Attempts that never recorded their end: they might write to the destination still. Host and process.
    pub(crate) silent: Vec<(u64, String, u32)>,
    /// The manifest that was written.
    pub(crate) manifest: Option<String>,
}

/// How a finish waits for workers that have not recorded their end.
pub(crate) struct Waiting<'a> {
    pub(crate) now: &'a dyn Fn() -> Duration,
    pub(crate) sleep: &'a dyn Fn(Duration),
    /// Called once, before: the number of such attempts, and the lease in seconds.
    pub(crate) on_wait: &'a dyn Fn(usize, u64),
}

impl<'a> Waiting<'a> {
    /// By the clock of the host.
    pub(crate) fn new(on_wait: &'a dyn Fn(usize, u64)) -> Self {
        Waiting { now: &since_boot, sleep: &thread::sleep, on_wait }
    }
}

/// Completes the destination, if every shard is done, and writes a manifest of the whole to a new file.
///
/// # Errors
/// Refused if the job was given up; Usage if it has no digests for a manifest; Io if shards contradict each other, or
/// the state, the destination or the manifest fails.
pub(crate) fn finish(job: &Job, manifest: Option<&str>, waiting: &Waiting<'_>) -> Result<FinishEnd> {
    manifest.map_or(Ok(()), |path| FleetManifest::check(job, path))?;
    let overview = Overview::read(job)?;
    let status = overview.status(job);
    if overview.phase == FleetPhase::Aborted {
        let what = "this job was aborted: its destination was discarded";
        return Err(Error::new(Kind::Refused, what).advise("Plan the copy again with haul plan."));
    }
    let missing = overview.missing();
    if !missing.is_empty() {
        return Ok(FinishEnd::Missing(missing, Box::new(status)));
    }
    check_agree(overview.conflicts().first().copied())?;
    check_complete(&job.plan, &overview.done)?;
    check_digest(&job.plan, status.digest.is_some())?;
    let manifest = manifest.map(|path| FleetManifest::write(job, &overview.done, path)).transpose()?;
    let mut silent = Vec::new();
    if overview.phase != FleetPhase::Done {
        job.state.create(names::FINISHING, "")?;
        if job.state.get(names::ABORTED)?.is_some() {
            return Err(Error::new(Kind::Refused, "the job was aborted by another process, which discards it"));
        }
        if job.plan.upload.is_none() {
            // A worker that began without seeing that mark is listed now.
            let attempts = job.state.list("shard")?.into_iter().filter(|name| name.contains("/attempt-"));
            silent = wait_for_silence(job, attempts.collect(), waiting)?;
        }
        let mut listed = job.state.list("shard")?.into_iter();
        check_agree(listed.find(|name| name.contains("/conflict-")).and_then(|name| names::shard_of(&name)))?;
        commit(&job.plan, &overview.done)?;
        job.state.create(names::DONE, "")?;
    }
    let manifest = manifest.map(|manifest| manifest.close(status.digest)).transpose()?;
    let unread = overview.done.iter().flat_map(|done| done.unread().iter().collect::<Vec<_>>()).collect();
    let dest = dest_address(&job.plan);
    let status = FleetStatus { phase: FleetPhase::Done, ..status };
    let silent = silent.into_iter().map(|record| (record.shard, record.worker.host, record.worker.pid)).collect();
    Ok(FinishEnd::Committed(Box::new(Committed { status, dest, unread, silent, manifest })))
}

/// Refuses a shard that two workers finished with different results.
fn check_agree(conflict: Option<u64>) -> Result<()> {
    let Some(shard) = conflict else { return Ok(()) };
    let what = format!("two workers finished shard {shard} with different results");
    let advice =
        "The source may have changed. Compare the records in the shared state; haul finish --abort discards the job.";
    Err(Error::new(Kind::Io, what).advise(advice))
}

/// The records have to be about each byte.
fn check_complete(plan: &FleetPlan, done: &[ShardDone]) -> Result<()> {
    let is_whole = |done: &&ShardDone| plan.shard(done.shard).is_none_or(|extent| extent.len != done.len_bytes);
    match done.iter().find(is_whole) {
        Some(wrong) => Err(Error::new(Kind::Io, format!("the record of shard {} has another length", wrong.shard))),
        None => Ok(()),
    }
}

/// If the plan has a digest of all data, the shards have to give it.
fn check_digest(plan: &FleetPlan, is_known: bool) -> Result<()> {
    if plan.digest.is_none() || is_known {
        return Ok(());
    }
    let what = "the digests that the workers recorded are not those of one whole";
    Err(Error::new(Kind::Io, what).advise("Compare the records in the shared state, or plan the copy again."))
}

/// Waits until no attempt that has not recorded its end gives a sign of life, and returns those.
fn wait_for_silence(job: &Job, mut names: Vec<String>, waiting: &Waiting<'_>) -> Result<Vec<AttemptRecord>> {
    let may_live = |record: &AttemptRecord| record.ended.is_none() && runs(&record.worker) != Some(false);
    let lease = Duration::from_secs(job.plan.lease_s);
    let mut seen: BTreeMap<(u64, u64), (u64, Duration)> = BTreeMap::new();
    let mut has_waited = false;
    loop {
        let (before, now) = ((waiting.now)(), attempts_of(job, &names)?);
        let left: Vec<AttemptRecord> = now.into_iter().filter(may_live).collect();
        names = left.iter().map(|record| names::attempt(&job.plan, record.shard, record.attempt)).collect();
        let mut all_silent = true;
        for record in &left {
            let last = seen.entry((record.shard, record.attempt)).or_insert((record.beat, before));
            if last.0 != record.beat {
                *last = (record.beat, before);
            }
            all_silent &= before.saturating_sub(last.1) >= lease;
        }
        if all_silent {
            return Ok(left);
        }
        if !has_waited {
            (waiting.on_wait)(left.len(), job.plan.lease_s);
        }
        has_waited = true;
        (waiting.sleep)(lease / 4);
    }
}

/// Makes the destination what it is to be. May be repeated.
fn commit(plan: &FleetPlan, done: &[ShardDone]) -> Result<()> {
    if let Some((address, id)) = upload(plan)? {
        let tags = tags(plan, done)?;
        return object::complete(&address, id, tags, plan.len_bytes, plan.dest.identity.version.as_deref());
    }
    let Some(path) = &plan.final_path else { return Ok(()) };
    let bytes = plan.dest.identity.offset_bytes + plan.len_bytes;
    let cannot = |error: FileError| {
        let what = format!("cannot rename {} to {path}", plan.dest.address);
        let advice = "Correct that, then run haul finish again.";
        Error::new(Kind::Io, what).on(Side::Dest).because(error.into()).advise(advice)
    };
    let [temporary, last] = [Path::new(&plan.dest.address), Path::new(path)]
        .map(|path| DirectoryEntry::of(path).map_err(|error| cannot(error.into())));
    let (temporary, last) = (temporary?, last?);
    let size = |place: &DirectoryEntry| {
        place.look().map(|stat| stat.map(|stat| stat.st_size.unsigned_abs())).map_err(|error| cannot(error.into()))
    };
    match (size(&temporary)?, size(&last)?) {
        // It was renamed before.
        (None, Some(found)) if found == bytes => Ok(()),
        (None, _) => Err(cannot(io::Error::from(io::ErrorKind::NotFound).into())),
        (Some(found), _) if found != bytes => {
            let what = format!("{} has {}, and not {bytes} as planned", plan.dest.address, byte_count(found));
            Err(Error::new(Kind::Io, what).on(Side::Dest).advise("Another program changed it: plan the copy again."))
        }
        (Some(_), _) => temporary.rename_to(&last).map_err(cannot),
    }
}

/// The upload of the plan.
fn upload(plan: &FleetPlan) -> Result<Option<(ObjectAddress, &str)>> {
    let Some(upload) = &plan.upload else { return Ok(None) };
    match Address::parse(&plan.dest.address, Side::Dest)? {
        Address::Object(address) => Ok(Some((address, &upload.id))),
        _ => Err(Error::new(Kind::Refused, "the plan has an upload, and its destination is no object")),
    }
}

/// The tags of all parts, in order.
fn tags(plan: &FleetPlan, done: &[ShardDone]) -> Result<Vec<String>> {
    let part_bytes = plan.upload.as_ref().map_or(1, |upload| upload.part_bytes);
    let parts: BTreeMap<u32, &String> =
        done.iter().flat_map(|done| done.parts.iter().map(|(number, tag)| (*number, tag))).collect();
    let count = plan.len_bytes.div_ceil(part_bytes);
    let is_whole = parts.len() as u64 == count && parts.keys().copied().eq(0..parts.len() as u32);
    if !is_whole {
        let what =
            format!("the records of the shards have {} of {}", parts.len(), crate::core::count(count, "part", "parts"));
        return Err(Error::new(Kind::Io, what).advise("Plan the copy again with haul plan."));
    }
    Ok(parts.into_values().cloned().collect())
}

/// Gives the job up: workers stop, and what was prepared of the destination is discarded.
///
/// # Errors
/// Refused if it was finished; Io if the state or the destination fails.
pub(crate) fn abort(job: &Job) -> Result<()> {
    // A job that has a damaged record can be discarded too.
    let listing = Listing::read(job)?;
    if matches!(listing.phase, FleetPhase::Done | FleetPhase::Finishing) {
        return Err(is_finishing());
    }
    job.state.create(names::ABORTED, "")?;
    if job.state.get(names::FINISHING)?.is_some() {
        job.state.remove(names::ABORTED)?;
        return Err(is_finishing());
    }
    for shard in listing.begun() {
        job.state.create(&names::shard_stop(&job.plan, shard), "")?;
    }
    if let Some((address, id)) = upload(&job.plan)? {
        return object::abort(&address, id);
    }
    if job.plan.final_path.is_none() {
        return Ok(());
    }
    let cannot = |error: FileError| {
        Error::new(Kind::Io, format!("cannot remove {}", job.plan.dest.address)).because(error.into())
    };
    let place = DirectoryEntry::of(Path::new(&job.plan.dest.address)).map_err(|error| cannot(error.into()))?;
    match place.open(Opening::Own).map_err(cannot)? {
        Some(file) => place.remove(&file).map_err(cannot),
        None => Ok(()),
    }
}

fn is_finishing() -> Error {
    let what = "this job is finished, or a finish has begun: nothing is discarded";
    Error::new(Kind::Refused, what).advise("Run haul finish, then remove the destination.")
}
