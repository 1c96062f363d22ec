//! What comes after a copy: its dests are read back, and the files beside it get their last words.
use super::catch_up::CatchUp;
use super::opened::{Copied, Opened};
use super::verify_dests;
use crate::core::{Decision, Endpoint, Error, Outcome, Plan, Result, Series, Side};
use crate::hold::Held;
use rustix::fs::FileType;
use rustix::io::Errno;
use std::sync::Arc;
use std::time::SystemTime;

/// A copy that has come to its end.
pub(crate) struct Finished {
    /// By which it was made.
    pub(crate) decision: Decision,
    pub(crate) outcome: Outcome,
    /// How the copy went over time.
    pub(crate) series: Series,
    pub(crate) started: SystemTime,
    /// Files during the copy that could not be written. The copy is what it is.
    pub(crate) failed_files: Vec<Error>,
    /// The name of a dest leads to something else now.
    pub(crate) is_elsewhere: bool,
    /// Dests that were left behind, and what they lack.
    pub(crate) behind: Vec<CatchUp>,
    _held: Vec<Held>,
}

impl Copied {
    /// Reads back what is to be read back, and ends what was begun during the copy.
    pub(crate) fn finish(self) -> Finished {
        let Copied { opened, mut outcome, series, started, behind, journal } = self;
        let Opened { session, plans, ends, dests, several, mut collector, map, held, .. } = opened;
        if several.is_some() {
            verify_dests::each(&session, &plans, &dests, &ends, &mut collector, &mut outcome);
        } else {
            let written = verify_dests::CopiedDest { plan: &plans.all.plan, dest: &dests[0], behind };
            verify_dests::one(&session, written, &mut collector, &mut outcome);
        }
        let manifest = collector.finish(&mut outcome);
        if manifest.is_ok() {
            journal.iter().for_each(|left| left.settle(&mut outcome, &ends[Side::Dest.index()]));
        }
        let strayed = if several.is_none() { strayed(&plans.all.plan, &ends[Side::Dest.index()]) } else { None };
        let is_elsewhere = strayed.is_some();
        outcome.notes.extend(strayed);
        let map = map.map_or(Ok(()), |map| map.finish(&plans.all.plan, &outcome));
        let failed_files = [manifest, map].into_iter().filter_map(Result::err).collect();
        let behind = several.iter().flat_map(|several| several.behind());
        let behind = behind.map(|(number, claimed)| CatchUp::new(&plans, number, claimed.end())).collect();
        let decision = plans.all;
        Finished { decision, outcome, series, started, failed_files, is_elsewhere, behind, _held: held }
    }
}

/// What to report where the name of a destination file no longer leads to the file that was written: another program
/// renamed, removed or replaced it meanwhile.
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
