//! How far a job is, from all that its workers have recorded.
use super::claim::{ShardPlace, check_plan, removed};
use super::job_of::Job;
use super::names::{self, Listed};
use crate::core::hash_tree::merge;
use crate::core::{BlockDigest, Error, FinishedShard, FleetPhase, FleetStatus, Kind, Result, ShardAttempt};
use crate::ledger::fleet::{AttemptRecord, FleetPlan, ShardDone};

/// All that workers have recorded.
pub(crate) struct Overview {
    pub(crate) phase: FleetPhase,
    /// By shard, from the first.
    listed: Vec<Listed>,
    /// The records of shards that are done.
    pub(super) done: Vec<ShardDone>,
    /// The last attempts at the others.
    last: Vec<AttemptRecord>,
}

/// The names in the shared state: what can be known of a job without reading a record.
pub(super) struct Listing {
    pub(super) phase: FleetPhase,
    /// By shard, from the first.
    shards: Vec<Listed>,
}

impl Listing {
    /// Lists it.
    ///
    /// # Errors
    /// Io if the state does not answer; Refused if it is of another plan.
    pub(super) fn read(job: &Job) -> Result<Listing> {
        check_plan(&job.state, &job.id)?;
        let names = job.state.list("")?;
        let mut shards = vec![Listed::default(); usize::try_from(job.plan.shards).unwrap_or(0)];
        for name in &names {
            let Some(shard) = names::shard_of(name) else { continue };
            let Some(of) = shard.checked_sub(1).and_then(|at| shards.get_mut(usize::try_from(at).ok()?)) else {
                continue;
            };
            of.add(name);
        }
        let has = |name: &str| names.iter().any(|known| known == name);
        let phase = match () {
            () if has(names::DONE) => FleetPhase::Done,
            () if has(names::ABORTED) => FleetPhase::Aborted,
            () if has(names::FINISHING) => FleetPhase::Finishing,
            () => FleetPhase::Copying,
        };
        Ok(Listing { phase, shards })
    }

    /// The shards with an attempt that are not done.
    pub(super) fn begun(&self) -> impl Iterator<Item = u64> + '_ {
        let numbered = (1..).zip(&self.shards);
        numbered.filter(|(_, of)| !of.is_done && of.last_attempt > 0).map(|(shard, _)| shard)
    }
}

impl Overview {
    /// Reads it.
    ///
    /// # Errors
    /// As for [`Listing::read`]; Io if a record is damaged.
    pub(crate) fn read(job: &Job) -> Result<Overview> {
        let Listing { phase, shards: listed } = Listing::read(job)?;
        let numbered = || (1..).zip(&listed);
        let done_names: Vec<String> =
            numbered().filter(|(_, of)| of.is_done).map(|(shard, _)| names::shard_done(&job.plan, shard)).collect();
        let last_names: Vec<String> = numbered()
            .filter(|(_, of)| !of.is_done && of.last_attempt > 0)
            .map(|(shard, of)| names::attempt(&job.plan, shard, of.last_attempt))
            .collect();
        let done =
            texts(job, &done_names)?.iter().map(|(name, text)| parsed_done(job, name, text)).collect::<Result<_>>()?;
        let last = attempts_of(job, &last_names)?;
        Ok(Overview { phase, listed, done, last })
    }

    /// The shards that are not done.
    pub(crate) fn missing(&self) -> Vec<u64> {
        (1..).zip(&self.listed).filter(|(_, of)| !of.is_done).map(|(shard, _)| shard).collect()
    }

    /// Shards that two workers finished with different results.
    pub(crate) fn conflicts(&self) -> Vec<u64> {
        (1..).zip(&self.listed).filter(|(_, of)| of.has_conflict).map(|(shard, _)| shard).collect()
    }

    /// The digest of all data; `None`: a shard is missing, or the plan has no digest.
    pub(super) fn digest(&self, job: &Job) -> Option<BlockDigest> {
        let is_whole = job.plan.digest.is_some() && self.done.len() as u64 == job.plan.shards;
        is_whole.then(|| merge(self.done.iter().flat_map(|done| done.values.iter().copied()), job.plan.len_bytes))?
    }

    /// The status, for people and programs.
    pub(crate) fn status(&self, job: &Job) -> FleetStatus {
        let (ended, running): (Vec<_>, Vec<_>) = self.last.iter().map(shown).partition(|last| last.ended.is_some());
        let of_done: u64 = self.done.iter().map(|done| done.len_bytes).sum();
        FleetStatus {
            sides: [job.plan.source.address.clone(), dest_address(&job.plan)],
            shard_bytes: job.plan.shard_bytes,
            job: job.id.clone(),
            state: job.plan.state.clone(),
            phase: self.phase,
            len_bytes: job.plan.len_bytes,
            lease_s: job.plan.lease_s,
            shards: job.plan.shards,
            done_shards: self.done.len() as u64,
            copied_bytes: of_done + self.last.iter().map(|last| last.copied_bytes).sum::<u64>(),
            unread_bytes: self.done.iter().map(|done| done.unread().total_bytes()).sum(),
            untouched_shards: self.listed.iter().filter(|of| !of.is_done && of.last_attempt == 0).count() as u64,
            done: self.done.iter().map(finished).collect(),
            running,
            failed: ended,
            conflicts: self.conflicts(),
            digest: self.digest(job),
        }
    }
}

/// The attempts with these names.
pub(super) fn attempts_of(job: &Job, names: &[String]) -> Result<Vec<AttemptRecord>> {
    let parsed = |(name, text): &(String, String)| {
        AttemptRecord::parse(text).map_err(|fault| fault.into_error(&format!("{}/{name}", job.state.address())))
    };
    texts(job, names)?.iter().map(parsed).collect()
}

fn texts(job: &Job, names: &[String]) -> Result<Vec<(String, String)>> {
    let found = job.state.get_all(names)?.into_iter().zip(names);
    found
        .map(|(text, name)| {
            let gone = || removed(&format!("{}/{name}", job.state.address()));
            text.map(|text| (name.clone(), text)).ok_or_else(gone)
        })
        .collect()
}

fn parsed_done(job: &Job, name: &str, text: &str) -> Result<ShardDone> {
    let shard = names::shard_of(name).unwrap_or(0);
    let place = ShardPlace { state: &job.state, plan: &job.plan, job: &job.id, shard };
    let done = place.parse_done(text)?;
    if done.shard == shard {
        return Ok(done);
    }
    Err(Error::new(Kind::Io, format!("{}/{name} is of shard {}", job.state.address(), done.shard)))
}

/// The address that the destination has in the end.
pub(super) fn dest_address(plan: &FleetPlan) -> String {
    plan.final_path.clone().unwrap_or_else(|| plan.dest.address.clone())
}

fn finished(done: &ShardDone) -> FinishedShard {
    let time = |text: &str| text.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_second);
    FinishedShard {
        shard: done.shard,
        attempt: done.attempt,
        host: done.worker.host.clone(),
        began_s: time(&done.began),
        ended_s: time(&done.ended),
        len_bytes: done.len_bytes,
    }
}

fn shown(record: &AttemptRecord) -> ShardAttempt {
    let time = |text: &str| text.parse::<jiff::Timestamp>().ok().map(|time| time.as_second());
    let worked_s = time(&record.written).zip(time(&record.began)).map(|(now, then)| now - then);
    let worked_s = worked_s.and_then(|time| u64::try_from(time).ok()).filter(|&time| time > 0);
    let silent_s = time(&record.written).map(|then| jiff::Timestamp::now().as_second() - then);
    ShardAttempt {
        silent_s: silent_s.and_then(|time| u64::try_from(time).ok()).filter(|_| record.ended.is_none()),
        shard: record.shard,
        attempt: record.attempt,
        host: record.worker.host.clone(),
        pid: record.worker.pid,
        written: record.written.clone(),
        beat: record.beat,
        copied_bytes: record.copied_bytes,
        bytes_per_s: worked_s.map(|time| record.copied_bytes.saturating_sub(record.already_bytes) / time),
        ended: record.ended.clone(),
    }
}
