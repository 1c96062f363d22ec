//! Taking a shard: of all workers, one at a time has it. Whether another is dead shows only by watching it.
use super::names::{self, Listed};
use crate::core::{EndpointKind, Error, Kind, Result};
use crate::disks::object::SharedState;
use crate::ledger::fleet::{AttemptRecord, FleetPlan, ShardDone, WorkerIdentity};
use std::time::Duration;

/// Where a shard of a job is recorded.
#[derive(Clone, Copy)]
pub(crate) struct ShardPlace<'a> {
    pub(crate) state: &'a SharedState,
    pub(crate) plan: &'a FleetPlan,
    pub(crate) job: &'a str,
    pub(crate) shard: u64,
}

/// What one look at a shard showed.
#[derive(Debug)]
pub(crate) enum Claim {
    /// It is done.
    Done(Box<ShardDone>),
    /// The shard is this worker's. What earlier attempts recorded is in the record of its own.
    Mine(Box<AttemptRecord>),
    /// Another worker has it: look again after this time.
    Wait(Duration, Box<AttemptRecord>),
}

/// The last sign of life of another worker.
struct Seen {
    attempt: u64,
    beat: u64,
    since: Duration,
}

/// A worker that wants a shard.
#[derive(Default)]
pub(crate) struct Claiming {
    seen: Option<Seen>,
    /// The job was not over at the first look.
    is_open: bool,
}

impl Claiming {
    /// Looks once, at the observer's time `now`, and takes the shard if it is free. `runs` tells whether a worker of
    /// this host still runs.
    ///
    /// # Errors
    /// Refused if the job is over; Io if the state does not answer.
    pub(crate) fn look(
        &mut self,
        place: ShardPlace<'_>,
        worker: &WorkerIdentity,
        now: Duration,
        runs: impl Fn(&WorkerIdentity) -> Option<bool>,
    ) -> Result<Claim> {
        loop {
            let ShardPlace { state, plan, shard, .. } = place;
            let listed = Listed::of(&state.list(&names::folder(plan, shard))?);
            if listed.is_done {
                return Ok(Claim::Done(Box::new(place.done()?)));
            }
            if listed.is_stopped {
                return Err(over("was aborted"));
            }
            if !self.is_open {
                check_plan(state, place.job)?;
                place.check_open()?;
                self.is_open = true;
            }
            let last = match listed.last_attempt {
                0 => None,
                number => place.attempt(number)?,
            };
            if let Some(last) = &last
                && let Some(rest) = self.alive_for(last, now, plan, &runs)
            {
                let beat = Duration::from_secs(plan.lease_s) / 4;
                return Ok(Claim::Wait(rest.min(beat), Box::new(last.clone())));
            }
            if let Some(last) = last.as_ref().filter(|last| last.ended.is_none() && runs(&last.worker) == Some(true)) {
                place.check_not_locked(last)?;
            }
            let mut record = AttemptRecord {
                job: place.job.to_owned(),
                shard,
                attempt: listed.last_attempt + 1,
                worker: worker.clone(),
                began: format!("{:.0}", jiff::Timestamp::now()),
                ..AttemptRecord::default()
            };
            record.written.clone_from(&record.began);
            if let Some(older) = place.newest(last, listed.last_attempt)? {
                record.continue_from(&older);
            }
            let text = record.to_text().map_err(|fault| fault.into_error("attempt"))?;
            if state.create(&names::attempt(plan, shard, record.attempt), &text)? {
                return place.begun(record);
            }
            // Another worker was faster; it is watched now.
        }
    }

    /// How long the worker of this attempt may be alive without another sign of life; `None`: it is dead, or has ended.
    fn alive_for(
        &mut self,
        last: &AttemptRecord,
        now: Duration,
        plan: &FleetPlan,
        runs: &impl Fn(&WorkerIdentity) -> Option<bool>,
    ) -> Option<Duration> {
        if last.ended.is_some() || runs(&last.worker) == Some(false) {
            return None;
        }
        let lease = Duration::from_secs(plan.lease_s);
        let seen = self.seen.take().filter(|seen| (seen.attempt, seen.beat) == (last.attempt, last.beat));
        let since = seen.map_or(now, |seen| seen.since);
        self.seen = Some(Seen { attempt: last.attempt, beat: last.beat, since });
        lease.checked_sub(now.saturating_sub(since)).filter(|rest| !rest.is_zero())
    }
}

impl ShardPlace<'_> {
    /// The newest attempt that exists, which has all that the ones before it had: `last`, or one before `number`.
    pub(super) fn newest(&self, last: Option<AttemptRecord>, number: u64) -> Result<Option<AttemptRecord>> {
        if last.is_some() {
            return Ok(last);
        }
        (1..number).rev().find_map(|number| self.attempt(number).transpose()).transpose()
    }

    /// A finish or an abort that did not see this new attempt is seen here; a later one sees the attempt.
    pub(super) fn begun(&self, mut record: AttemptRecord) -> Result<Claim> {
        let listed = Listed::of(&self.state.list(&names::folder(self.plan, self.shard))?);
        let open = if listed.is_stopped { Err(over("was aborted")) } else { self.check_open() };
        let refused = match (listed.is_done, open) {
            (false, Ok(())) => return Ok(Claim::Mine(Box::new(record))),
            (true, _) => None,
            (false, Err(error)) => Some(error),
        };
        record.beat += 1;
        record.ended = Some("the shard was done, or the job was over, before it copied".to_owned());
        let text = record.to_text().map_err(|fault| fault.into_error("attempt"))?;
        self.state.replace(&names::attempt(self.plan, self.shard, record.attempt), &text)?;
        refused.map_or_else(|| Ok(Claim::Done(Box::new(self.done()?))), Err)
    }

    /// The record of an attempt; `None`: there is none.
    ///
    /// # Errors
    /// Io if the state does not answer, or the record is damaged; Refused if it is of another job.
    pub(crate) fn attempt(&self, number: u64) -> Result<Option<AttemptRecord>> {
        let name = names::attempt(self.plan, self.shard, number);
        let Some(text) = self.state.get(&name)? else { return Ok(None) };
        let record = AttemptRecord::parse(&text).map_err(|fault| fault.into_error(&self.full(&name)))?;
        self.check_job(&record.job, &name)?;
        Ok(Some(record))
    }

    /// The record of the shard that is done.
    ///
    /// # Errors
    /// As for [`ShardPlace::attempt`]; Io if there is none.
    pub(crate) fn done(&self) -> Result<ShardDone> {
        let name = names::shard_done(self.plan, self.shard);
        let missing = || removed(&self.full(&name));
        let text = self.state.get(&name)?.ok_or_else(missing)?;
        self.parse_done(&text)
    }

    /// The record in `text`.
    ///
    /// # Errors
    /// It is damaged, or of another job.
    pub(crate) fn parse_done(&self, text: &str) -> Result<ShardDone> {
        let name = names::shard_done(self.plan, self.shard);
        let done = ShardDone::parse(text).map_err(|fault| fault.into_error(&self.full(&name)))?;
        self.check_job(&done.job, &name)?;
        Ok(done)
    }

    fn check_job(&self, job: &str, name: &str) -> Result<()> {
        if job == self.job {
            return Ok(());
        }
        let what = format!("{} is of another job than this plan", self.full(name));
        Err(Error::new(Kind::Refused, what).advise("Use the plan in the shared state: plan.json."))
    }

    /// Refuses to wait for a worker of this host that hangs: its locks on the dest last as long as it.
    fn check_not_locked(&self, last: &AttemptRecord) -> Result<()> {
        let kind = self.plan.dest.identity.kind.as_str();
        if ![EndpointKind::File, EndpointKind::Block].iter().any(|locked| locked.name() == kind) {
            return Ok(());
        }
        let (pid, shard) = (last.worker.pid, last.shard);
        let what = format!(
            "process {pid} of this host has shard {shard}, and has given no sign of life: it hangs, or is stopped"
        );
        Err(Error::new(Kind::Io, what).advise("End that process, then run the command again."))
    }

    fn check_open(&self) -> Result<()> {
        if self.state.get(names::ABORTED)?.is_some() {
            return Err(over("was aborted"));
        }
        if self.state.get(names::FINISHING)?.is_some() {
            return Err(over("is being finished"));
        }
        Ok(())
    }

    pub(super) fn full(&self, name: &str) -> String {
        format!("{}/{name}", self.state.address())
    }
}

/// Refuses state that has not the plan of this job: a directory where another file system was mounted has nothing.
pub(super) fn check_plan(state: &SharedState, job: &str) -> Result<()> {
    let full = format!("{}/{}", state.address(), names::PLAN);
    let Some(text) = state.get(names::PLAN)? else { return Err(removed(&full)) };
    let plan = FleetPlan::read_file(text.as_bytes()).map_err(|fault| fault.into_error(&full))?;
    if plan.job().map_err(|fault| fault.into_error(&full))? == job {
        return Ok(());
    }
    let what = format!("{full} is another plan than the one of this command");
    Err(Error::new(Kind::Refused, what).advise("Use that plan, or plan the copy again in another place (--state)."))
}

/// The error of state that has lost a text.
pub(super) fn removed(full: &str) -> Error {
    let advice = "Check that the shared directory is mounted here. If its content was deleted, plan the copy again.";
    Error::new(Kind::Io, format!("{full} does not exist: the shared state was removed, or is another one"))
        .advise(advice)
}

fn over(what: &str) -> Error {
    Error::new(Kind::Refused, format!("the job of this plan {what}")).advise("Plan the copy again with haul plan.")
}
