//! `haul status`: how far a job is.
use super::options::StatusOptions;
use crate::apps::exit::{Exit, printed};
use crate::core::{FleetPhase, Result};
use crate::job::fleet::job_of::Job;
use crate::job::fleet::overview::Overview;
use crate::report::{Out, fleet, json};
use std::thread;
use std::time::Duration;

/// Time between two looks, at least.
const PAUSE_MIN: Duration = Duration::from_secs(5);

/// Prints how far a job is, once or until it is done.
pub(super) fn show(asked: &StatusOptions, out: Out) -> Result<Exit> {
    let job = Job::open(&asked.plan)?;
    let pause = PAUSE_MIN.max(Duration::from_secs(job.plan.lease_s) / 4);
    loop {
        let status = Overview::read(&job)?.status(&job);
        let text = if asked.json { json::text(&json::fleet(&status)) } else { fleet::status(&status) };
        let exit = printed(out, &text);
        let is_over = status.done_shards == status.shards || status.phase != FleetPhase::Copying;
        if !asked.watch || is_over || exit != Exit::Status(0) {
            return Ok(exit);
        }
        thread::sleep(pause);
    }
}
