//! One worker: it takes a shard, checks that both sides are those of the plan, and records what it did.
use super::claim::{Claim, Claiming, ShardPlace};
use super::heartbeat::{Attempt, Heartbeat, ShardCheckpoints};
use super::host::{runs, since_boot, this_worker};
use super::job_of::Job;
use super::{names, sides, task};
use crate::core::hash_tree::Subtree;
use crate::core::{
    Address, CheckpointPlan, Durability, Ended, Endpoint, Error, Extent, ExtentSet, HashKind, Kind, Outcome, Portion,
    Result, Side, Stop, Upload, byte_count,
};
use crate::disks::{object, probe};
use crate::engine::Endpoints;
use crate::job::journal::{check_state, digest_at};
use crate::job::shard_digests::ShardDigests;
use crate::job::{Finished, Opened, Prepared, ShardKeeping};
use crate::ledger::SideIdentity;
use crate::ledger::fleet::{AttemptRecord, FleetZeros, ShardDone};
use crate::ledger::journal::{Head, State};
use crate::plan::{JournalChoice, Options, ShardWish, When};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Longest time between two checkpoints.
const CHECKPOINT_MAX: Duration = Duration::from_secs(60);

/// A worker that has no shard yet.
pub(crate) struct Worker {
    job: Job,
    shard: u64,
}

/// What became of wanting a shard.
pub(crate) enum Taken {
    /// It was done before.
    Done(Box<ShardDone>),
    /// This worker has it.
    Mine(ShardWork),
}

/// A shard that this worker has.
pub(crate) struct ShardWork {
    attempt: Arc<Attempt>,
    extent: Extent,
    heartbeat: Option<Heartbeat>,
    /// If the plan has a digest of all data.
    digests: Option<Arc<ShardDigests>>,
}

impl Worker {
    /// Reads the plan and opens its state.
    ///
    /// # Errors
    /// The plan or the state cannot be used; Usage if there is no such shard.
    pub(crate) fn look(wish: &ShardWish) -> Result<Worker> {
        let job = Job::open(&wish.plan)?;
        let shard = task::shard(wish.choice, job.plan.shards, |name| std::env::var(name).ok())?;
        Ok(Worker { job, shard })
    }

    /// The shard, from 1, and the number of shards.
    pub(crate) fn numbers(&self) -> (u64, u64) {
        (self.shard, self.job.plan.shards)
    }

    /// Takes the shard. While another worker has it, waits for its end or its death, of which `on_wait` is called once.
    ///
    /// # Errors
    /// As for [`Claiming::look`].
    pub(crate) fn take(self, on_wait: impl Fn(&AttemptRecord, Duration)) -> Result<Taken> {
        let Worker { job, shard } = self;
        let (mut claiming, worker) = (Claiming::default(), this_worker());
        let mut has_waited = false;
        let place = ShardPlace { state: &job.state, plan: &job.plan, job: &job.id, shard };
        let (record, created) = loop {
            let before = since_boot();
            match claiming.look(place, &worker, before, runs)? {
                Claim::Done(done) => return Ok(Taken::Done(done)),
                Claim::Mine(record) => break (record, before),
                Claim::Wait(time, other) => {
                    if !has_waited {
                        on_wait(&other, Duration::from_secs(job.plan.lease_s));
                    }
                    has_waited = true;
                    thread::sleep(time);
                }
            }
        };
        let extent = job.plan.shard(shard).unwrap_or(Extent::new(0, 0));
        let attempt = Arc::new(Attempt::new(job.state, job.plan, *record, since_boot, created));
        let heartbeat = Some(Heartbeat::start(&attempt)?);
        let mut work = ShardWork { attempt, extent, heartbeat, digests: None };
        if let Some(digest) = &work.attempt.plan.digest {
            let values = work.attempt.record().values();
            work.digests = Some(Arc::new(ShardDigests::new(extent, digest.block_bytes, &values)?));
        }
        Ok(Taken::Mine(work))
    }
}

impl ShardWork {
    /// The options of the copy of this shard; `shown` has those about the output.
    pub(crate) fn options(&self, shown: &Options) -> Options {
        let plan = &self.attempt.plan;
        Options {
            source: plan.source.address.clone(),
            dest: plan.dest.address.clone(),
            skip_bytes: Some(plan.source.identity.offset_bytes + self.extent.offset),
            seek_bytes: Some(plan.dest.identity.offset_bytes + self.extent.offset),
            count_bytes: Some(self.extent.len),
            shard_of: None,
            is_shard: true,
            sparse: match plan.zeros {
                FleetZeros::Holes => When::Auto,
                FleetZeros::Detect => When::Always,
                FleetZeros::Write => When::Never,
            },
            on_error: plan.on_error(),
            verify: plan.verify.then_some(Portion::Afterwards),
            limit_bytes_per_s: plan.limit_bytes_per_s,
            reflink: When::Never,
            journal: JournalChoice::Never,
            restart: true,
            yes: true,
            no_estimate: true,
            // Of one block, parts do not give the digest.
            hashes: if plan.is_one_block() { vec![HashKind::Blake3] } else { Vec::new() },
            hashes_are_defaults: false,
            digests_from_bytes: plan.digest.as_ref().map(|_| self.extent.offset),
            manifest_block_bytes: plan.digest.as_ref().map(|digest| digest.block_bytes),
            ..shown.clone()
        }
    }

    /// What the copy continues from, and where it records checkpoints, after comparing what earlier attempts made
    /// durable with the source.
    ///
    /// # Errors
    /// Refused if the dest has changed, or the upload does not exist any more; Open or Io if a side cannot be read.
    pub(crate) fn keeping(&self, prepared: &Prepared) -> Result<ShardKeeping> {
        let (already, upload) = self.already()?;
        self.check_durable(prepared, &already)?;
        let wake = self.heartbeat.as_ref().map(Heartbeat::waker);
        let sink = ShardCheckpoints::new(self.attempt.clone(), wake, already.clone(), self.digests.clone());
        let every = [self.attempt.interval(), self.attempt.interval().max(CHECKPOINT_MAX)];
        let keeping = CheckpointPlan { sink: Box::new(sink), every, already, digested: ExtentSet::new() };
        Ok(ShardKeeping { keeping, upload, digests: self.digests.clone() })
    }

    /// The error of a worker that failed before it copied: if the shard is no longer its own, that is the reason.
    pub(crate) fn error(&self, error: Error) -> Error {
        let stop = Stop::default();
        stop.guard(self.attempt.fence.clone());
        match stop.ending() {
            Some(Ended::Failed(over)) => *over,
            _ => error,
        }
    }

    /// The copy stops when the shard is no longer this worker's.
    pub(crate) fn guard(&self, opened: &Opened) {
        opened.guard(self.attempt.fence.clone());
        self.attempt.cancels(opened.ends());
    }

    /// Checks that both sides are those of the plan.
    ///
    /// # Errors
    /// Refused if one is another, or has another size; Open if it cannot be examined.
    pub(crate) fn check_sides(&self) -> Result<()> {
        let plan = &self.attempt.plan;
        let (source, dest) = (&probe::source(&plan.source.address)?, &probe::dest(&plan.dest.address)?);
        let words = sides::differences(plan, source, dest)?;
        if words.is_empty() { Ok(()) } else { Err(changed(&words.join("; "))) }
    }

    /// Compares the samples of the plan with the open source.
    ///
    /// # Errors
    /// Refused if one differs; Io if one cannot be read.
    pub(crate) fn check_samples(&self, ends: &Endpoints) -> Result<()> {
        let plan = &self.attempt.plan;
        let source = &ends[Side::Source.index()];
        let (mut read, mut first) = (0, None);
        for sample in &plan.samples {
            let place = Extent::new(plan.source.identity.offset_bytes + sample.offset_bytes, sample.len_bytes);
            match digest_at(Side::Source, source, place) {
                Some(digest) if digest == sample.digest => read += 1,
                Some(_) => {
                    return Err(changed(&format!(
                        "{} of the source at byte {} changed",
                        byte_count(place.len),
                        place.offset
                    )));
                }
                None => first = first.or(Some(place)),
            }
        }
        match first {
            // Copies of failing disks continue if some of their samples are as they were.
            Some(place) if read == 0 || !plan.on_error().reads_around() => {
                let what = format!("cannot read {} of the source at byte {}", byte_count(place.len), place.offset);
                Err(Error::new(Kind::Io, what).on(Side::Source))
            }
            _ => Ok(()),
        }
    }

    /// What earlier attempts made durable, and the upload that has it.
    fn already(&self) -> Result<(ExtentSet, Option<Upload>)> {
        let plan = &self.attempt.plan;
        let Some(upload) = &plan.upload else { return Ok((self.attempt.record().durable(), None)) };
        let Address::Object(address) = Address::parse(&plan.dest.address, Side::Dest)? else {
            return Err(Error::new(Kind::Refused, "the plan has an upload, and its destination is no object"));
        };
        let from = self.extent.offset;
        let mut parts = object::stored(&address, &upload.id, upload.part_bytes, self.extent, plan.len_bytes)?;
        if self.digests.is_some() {
            // Of a part that was stored after the last checkpoint, the digests are not known.
            let recorded = self.attempt.record().durable();
            let place = |number: u32| Extent::new(u64::from(number) * upload.part_bytes, upload.part_bytes);
            let within = |number| place(number).intersection(&self.extent).unwrap_or(Extent::new(from, 0));
            let is_known = |part: Extent| recorded.contains(Extent::new(part.offset - from, part.len));
            parts.retain(|(number, _)| is_known(within(*number)));
        }
        let upload = Upload { id: upload.id.clone(), part_bytes: upload.part_bytes, parts, shard: Some(self.extent) };
        let stored = upload.bytes();
        let already = stored.within(self.extent).map(|extent| Extent::new(extent.offset - from, extent.len)).collect();
        Ok((already, Some(upload)))
    }

    /// Compares some of what is durable with the source.
    fn check_durable(&self, prepared: &Prepared, already: &ExtentSet) -> Result<()> {
        let (source, dest, plan) = (&prepared.source, &prepared.dests[0], &prepared.plans.all.plan);
        let head = Head {
            version: String::new(),
            created: String::new(),
            len_bytes: plan.len,
            ranges: None,
            source: SideIdentity::of(source, plan.source.map.start()),
            dest: SideIdentity::of(dest, plan.dest.map.start()),
            samples: Vec::new(),
            source_ranges: Vec::new(),
        };
        let state = State { durable: already.clone(), ..State::default() };
        let record = self.attempt.record();
        let name = format!("the record of an earlier attempt at shard {}", record.shard);
        check_state(&name, &head, &state, plan, source, dest)
    }

    /// Records the end. Of a complete shard that is its record, unless another worker was first.
    ///
    /// # Errors
    /// Io if the state does not answer, or another worker finished with another result.
    pub(crate) fn finish(mut self, finished: &Finished, ends: &Endpoints) -> Result<()> {
        // It writes nothing after the last record.
        self.heartbeat = None;
        let outcome = &finished.outcome;
        let is_complete = outcome.ended_well()
            && outcome.durable
            && !outcome.is_wrong()
            && !finished.is_elsewhere
            && finished.failed_files.is_empty();
        if !is_complete {
            return self.attempt.sign_off(&how_it_ended(outcome));
        }
        let [source, dest] = [Side::Source, Side::Dest].map(|side| &ends[side.index()]);
        if source.change().is_some() {
            self.attempt.sign_off("failed: the source changed during the copy")?;
            let what = format!("the source changed while shard {} was copied", self.attempt.record().shard);
            return Err(Error::new(Kind::Io, what).on(Side::Source).advise("Plan the copy again."));
        }
        let done = match self.done(outcome, dest) {
            Ok(done) => done,
            Err(error) => {
                self.attempt.sign_off(&format!("failed: {error}"))?;
                return Err(error);
            }
        };
        let place = self.attempt.place();
        let text = done.to_text().map_err(|fault| fault.into_error("record of the shard"))?;
        let name = names::shard_done(&self.attempt.plan, done.shard);
        self.attempt.check_kept()?;
        if self.attempt.state.create(&name, &text)? {
            return self.attempt.sign_off("done");
        }
        let first = place.done()?;
        if first == done || first.agrees_with(&done) {
            return self.attempt.sign_off("done by another worker");
        }
        self.attempt.state.replace(&names::conflict(&self.attempt.plan, done.shard, done.attempt), &text)?;
        self.attempt.sign_off("conflict")?;
        let what = format!("another worker finished shard {} with another result", done.shard);
        let advice = "The source may have changed. Compare the records in the shared state, or discard the job with \
            haul finish --abort.";
        Err(Error::new(Kind::Io, what).advise(advice))
    }

    fn done(&self, outcome: &Outcome, dest: &Arc<dyn Endpoint>) -> Result<ShardDone> {
        let values = self.values(outcome)?;
        let record = self.attempt.record();
        let whole = [Extent::new(0, self.extent.len)].into_iter().collect();
        let mut parts = dest.kept(whole).upload.map(|upload| upload.parts).unwrap_or_default();
        parts.sort_unstable();
        let unread = outcome.unread[Side::Source.index()].runs.iter();
        Ok(ShardDone {
            job: record.job,
            shard: record.shard,
            attempt: record.attempt,
            worker: record.worker,
            began: record.began,
            ended: format!("{:.0}", jiff::Timestamp::now()),
            len_bytes: self.extent.len,
            verified: outcome.verified.is_some(),
            in_memory: outcome.durability() == Durability::Memory,
            parts,
            unread: unread.map(|extent| (extent.offset, extent.len)).collect(),
            values,
            ..ShardDone::default()
        })
    }

    /// What the shard gives to the digest of all data.
    fn values(&self, outcome: &Outcome) -> Result<Vec<Subtree>> {
        let Some(digests) = &self.digests else { return Ok(Vec::new()) };
        self.attempt.record_digests(digests, &[Extent::new(0, self.extent.len)].into_iter().collect())?;
        if !self.attempt.plan.is_one_block() {
            return digests.complete();
        }
        let digest = outcome.digests.iter().find(|digest| digest.kind == HashKind::Blake3);
        let value = digest.and_then(|digest| digest.hex.parse().ok());
        let missing = || Error::new(Kind::Io, "the digest of the shard is unknown");
        Ok(vec![Subtree::at(self.extent, value.ok_or_else(missing)?)])
    }
}

impl Drop for ShardWork {
    /// Another worker need not wait for the lease of one that failed before it copied.
    fn drop(&mut self) {
        self.heartbeat = None;
        if self.attempt.record().ended.is_none() {
            let _ = self.attempt.sign_off("failed");
        }
    }
}

fn changed(why: &str) -> Error {
    let what = format!("this is not the copy of the plan: {why}");
    let advice = "Nothing was written. Restore the side that the plan was made for, or plan the copy again.";
    Error::new(Kind::Refused, what).advise(advice)
}

fn how_it_ended(outcome: &Outcome) -> String {
    match &outcome.ended {
        Ended::Complete => "failed: the data is wrong".to_owned(),
        Ended::Interrupted(signal) => format!("interrupted by signal {signal}"),
        Ended::OutOfTime => "out of time".to_owned(),
        Ended::Failed(error) => format!("failed: {error}"),
    }
}
