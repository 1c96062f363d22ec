//! `haul status`: how far a job is.
use super::options::StatusOptions;
use crate::apps::command::Call;
use crate::apps::exit::{Exit, printed};
use crate::apps::page;
use crate::core::{FleetPhase, Result};
use crate::disks::probe;
use crate::job::fleet::job_of::Job;
use crate::job::fleet::overview::Overview;
use crate::report::page::{FleetFound, fleet as page_of};
use crate::report::{fleet, json};
use std::thread;
use std::time::{Duration, SystemTime};

/// Time between two looks, at least.
const PAUSE_MIN: Duration = Duration::from_secs(5);

/// Prints how far a job is, once or until it is done, and writes it as a page.
pub(super) fn show(asked: &StatusOptions, call: &Call<'_>) -> Result<Exit> {
    let Call { words, out, .. } = *call;
    let job = Job::open(&asked.plan)?;
    let pause = PAUSE_MIN.max(Duration::from_secs(job.plan.lease_s) / 4);
    loop {
        let page = page::place(asked.report.as_deref(), &[])?;
        let status = Overview::read(&job)?.status(&job);
        let text = if asked.json { json::text(&json::fleet(&status)) } else { fleet::status(&status) };
        let mut exit = printed(out, &text);
        if let Some(page) = page {
            let found = FleetFound { status: &status, words, machine: &probe::machine(), read: SystemTime::now() };
            exit = page.write(&page_of(found), exit, out);
        }
        let is_over = status.done_shards == status.shards || status.phase != FleetPhase::Copying;
        if !asked.watch || is_over || exit != Exit::Status(0) {
            return Ok(exit);
        }
        thread::sleep(pause);
    }
}
