//! The steps after a copy: its dests are read back, and the files beside it are completed.
use super::block_map;
use super::catch_up::CatchUp;
use super::checksum as source_checksum;
use super::opened::{Copied, Opened};
use super::verify_dests;
use crate::core::{Decision, Endpoint, Error, Outcome, Plan, Result, Series, Side, Stop};
use crate::hold::Held;
use rustix::fs::FileType;
use rustix::io::Errno;
use std::sync::Arc;
use std::time::SystemTime;

/// A finished copy.
pub(crate) struct Finished {
    /// The decision that it executed.
    pub(crate) decision: Decision,
    pub(crate) outcome: Outcome,
    /// The tally over time.
    pub(crate) series: Series,
    pub(crate) started: SystemTime,
    /// Files beside the copy that could not be written. The copy is unaffected.
    pub(crate) failed_files: Vec<Error>,
    /// The name of a dest now refers to another file.
    pub(crate) is_elsewhere: bool,
    /// Dests that were left behind, and their missing parts.
    pub(crate) behind: Vec<CatchUp>,
    /// What a signal asks after the copy too.
    pub(super) stop: Arc<Stop>,
    _held: Vec<Held>,
}

impl Copied {
    /// Reads back if planned, and completes the files beside the copy.
    pub(crate) fn finish(self) -> Finished {
        let Copied { opened, mut outcome, series, started, behind, journal } = self;
        let Opened { session, checksum, plans, ends, dests, several, mut collector, map, held, .. } = opened;
        source_checksum::compare(checksum.as_ref(), &plans.all.plan.source.address, &mut outcome);
        block_map::note(&plans.all.plan, &mut outcome);
        if several.is_some() {
            verify_dests::each(&session, &plans, &dests, &ends, &mut collector, &mut outcome);
        } else {
            let written = verify_dests::CopiedDest { plan: &plans.all.plan, dest: &dests[0], behind };
            verify_dests::one(&session, written, &mut collector, &mut outcome);
        }
        let manifest = collector.finish(&mut outcome);
        if manifest.is_ok() {
            journal.iter().for_each(|left| left.close(&mut outcome, &ends[Side::Dest.index()]));
        }
        let strayed = if several.is_none() { strayed(&plans.all.plan, &ends[Side::Dest.index()]) } else { None };
        let is_elsewhere = strayed.is_some();
        outcome.notes.extend(strayed);
        let map = map.map_or(Ok(()), |map| map.finish(&plans.all.plan, &outcome));
        let failed_files = [manifest, map].into_iter().filter_map(Result::err).collect();
        let behind = several.iter().flat_map(|several| several.behind());
        let behind = behind.map(|(number, claimed)| CatchUp::new(&plans, number, claimed.end())).collect();
        let decision = plans.all;
        let stop = session.shared_stop();
        Finished { decision, outcome, series, started, failed_files, is_elsewhere, behind, stop, _held: held }
    }
}

/// The warning if the name of a destination file no longer refers to the file that was written, because another
/// program renamed, removed or replaced it in the meantime.
fn strayed(plan: &Plan, dest: &Arc<dyn Endpoint>) -> Option<String> {
    let written = rustix::fs::fstat(dest.descriptor()?).ok()?;
    if !plan.route.writes() || FileType::from_raw_mode(written.st_mode) != FileType::RegularFile {
        return None;
    }
    let address = &plan.dest.address;
    let what = match rustix::fs::stat(&plan.dest.path) {
        Ok(named) if (named.st_dev, named.st_ino) == (written.st_dev, written.st_ino) => return None,
        Ok(_) => "now refers to another file",
        Err(Errno::NOENT) => "no longer exists",
        Err(_) => return None,
    };
    Some(format!(
        "another program renamed, removed or replaced destination {address} during the copy: the name {what} and does \
         not hold the copied data. Copy again"
    ))
}
