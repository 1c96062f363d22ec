//! A copy with open sides, and its execution.
use super::digest_collector::DigestCollector;
use super::journal::{ActiveJournal, ExistingJournal, FinishedJournal};
use super::journal_digests::JournalDigests;
use super::manifest_delta::{DeltaResult, ManifestDelta};
use super::mapfile::Map;
use super::operator::Operator;
use super::prepared::{Confirmed, Prepared};
use super::session::{Session, Task};
use super::shard_digests::ShardDigests;
use super::{concurrent_readback, estimate, read_back, time_limit};
use crate::core::schedules;
use crate::core::{
    CheckpointPlan, DigestedBlock, Endpoint, Facts, Fence, Observer, Outcome, Plan, Result, Route, Schedule, Series,
    Side, Tally, Upload,
};
use crate::disks;
use crate::disks::several::Several;
use crate::engine::Endpoints;
use crate::hold::Held;
use crate::plan::{Checksum, Options, Plans};
use std::sync::Arc;
use std::time::SystemTime;

/// A copy whose sides are open: the source first, because opening a dest may truncate it. Before both, an old
/// journal was removed, because its claims become invalid.
pub(crate) struct Opened {
    pub(super) session: Session,
    /// What the source has to be.
    pub(super) checksum: Option<Checksum>,
    pub(super) plans: Plans,
    pub(super) ends: Endpoints,
    /// Each dest.
    pub(super) dests: Vec<OpenDest>,
    /// The endpoint that contains all of them, if there are several.
    pub(super) several: Option<Arc<Several>>,
    pub(super) collector: DigestCollector,
    pub(super) map: Option<Map>,
    /// Locks against other haul processes.
    pub(super) held: Vec<Held>,
    journal: Option<ActiveJournal>,
    /// Checkpoints that are recorded elsewhere.
    keeping: Option<CheckpointPlan>,
    delta: Option<ManifestDelta>,
}

/// What a shard of a copy continues from, and where its checkpoints are recorded.
pub(crate) struct ShardKeeping {
    pub(crate) keeping: CheckpointPlan,
    /// The upload to which it adds parts, if the dest is an object.
    pub(crate) upload: Option<Upload>,
    /// Receives the digests of its blocks, if the plan has a digest of all data.
    pub(crate) digests: Option<Arc<ShardDigests>>,
}

/// One dest, open.
pub(super) struct OpenDest {
    /// Both sides, with this one as the dest.
    pub(super) ends: Endpoints,
    /// `None`: it is not read back.
    pub(super) reader: Option<Arc<dyn Endpoint>>,
}

/// A copy after its execution, complete or not, that has not been read back yet.
pub(crate) struct Copied {
    pub(super) opened: Opened,
    pub(super) outcome: Outcome,
    pub(super) series: Series,
    pub(super) started: SystemTime,
    /// Blocks that were read back during the copy.
    pub(super) behind: Vec<DigestedBlock>,
    /// A journal to be removed when the updated manifest is complete.
    pub(super) journal: Option<FinishedJournal>,
}

/// The result of running a copy.
pub(crate) enum CopyResult {
    /// It was executed, whether complete or not.
    Copied(Box<Copied>),
    /// This signal arrived before the first write.
    Interrupted(i32),
}

impl Confirmed {
    /// Opens the sides, and the files beside the copy.
    ///
    /// # Errors
    /// The error of the file that cannot be opened. Nothing was written.
    pub(crate) fn open(self) -> Result<Opened> {
        self.open_keeping(None)
    }

    /// The same, with checkpoints that are recorded elsewhere than in a journal.
    ///
    /// # Errors
    /// As for [`Confirmed::open`].
    pub(crate) fn open_keeping(self, shard: Option<ShardKeeping>) -> Result<Opened> {
        let Confirmed { prepared, held } = self;
        let Prepared { operator, options, source, dests, plans, journals, delta } = prepared;
        // An estimate is impossible if only differences are copied or data is only read again, and the slowest
        // of several dests would determine the time.
        let rereads = options.resume && plans.all.plan.digests_all();
        let alone = delta.is_none() && dests.len() == 1 && !rereads;
        let estimated = if alone { estimate::of_copy(&options, &plans.all.plan, &source, &dests[0]) } else { None };
        let digests = shard.as_ref().and_then(|shard| shard.digests.clone());
        let each: Vec<&Facts> = dests.iter().collect();
        let collector = DigestCollector::begin(&options, &plans.all.plan, &source, &each, digests)?;
        // A copy to several dests has no journal.
        let recorded = journals.first().map(|found| found.digested(&plans.all.plan)).unwrap_or_default();
        let is_kept = journals.iter().any(ExistingJournal::is_kept);
        let to_journal = JournalDigests::of(&plans.all.plan).filter(|_| is_kept);
        let collector = collector.with_journal(&recorded, to_journal.clone());
        let map = Map::begin(options.mapfile.as_deref())?;
        let source_end = disks::open_source(&plans.all.plan.source, &source)?;
        let (keeping, shared) = shard.map_or((None, None), |shard| (Some(shard.keeping), shard.upload));
        let with_upload = |(facts, found): (Facts, &ExistingJournal)| Facts {
            upload: found.upload().or(shared.as_ref()).cloned(),
            ..facts
        };
        let dests: Vec<Facts> = dests.into_iter().zip(&journals).map(with_upload).collect();
        let begun =
            plans.alone.iter().zip(journals).map(|(plan, found)| found.begin(plan, &source_end, to_journal.clone()));
        let begun: Vec<_> = begun.collect::<Result<_>>()?;
        let opened = Opened::new(&options, plans, source_end, &dests, collector, operator)?;
        let session = opened.session.estimated(estimated);
        Ok(Opened { session, map, held, keeping, journal: begun.into_iter().flatten().next(), delta, ..opened })
    }
}

impl Opened {
    /// Opens the dests; the source is already open.
    pub(super) fn new(
        options: &Options,
        plans: Plans,
        source: Arc<dyn Endpoint>,
        facts: &[Facts],
        collector: DigestCollector,
        operator: Arc<dyn Operator>,
    ) -> Result<Opened> {
        let open = |(plan, facts): (&Plan, &Facts)| {
            let ends: Endpoints = [source.clone(), open_dest(options, plan, facts)?];
            let reader = read_back::reader(plan, &ends)?;
            Ok(OpenDest { ends, reader })
        };
        let dests: Vec<OpenDest> = plans.alone.iter().zip(facts).map(open).collect::<Result<_>>()?;
        let each = || dests.iter().map(|dest| dest.ends[Side::Dest.index()].clone());
        let several = (dests.len() > 1).then(|| {
            let parts = each().zip(plans.all.plan.dests.clone()).collect();
            let several = Arc::new(Several::new(parts, plans.all.plan.write_order));
            let reporter = operator.clone();
            several.on_drop(Box::new(move |error| reporter.dropped(error)));
            several
        });
        let dest =
            several.clone().map_or_else(|| each().next().expect("a copy has a destination"), |several| several as _);
        let session = Session::new(operator);
        let (map, held, journal, delta) = (None, Vec::new(), None, None);
        let checksum = options.checksum.clone();
        Ok(Opened {
            session,
            checksum,
            plans,
            ends: [source, dest],
            dests,
            several,
            collector,
            map,
            held,
            journal,
            keeping: None,
            delta,
        })
    }

    /// Both sides.
    pub(crate) fn ends(&self) -> &Endpoints {
        &self.ends
    }

    /// The copy stops when `fence` is over.
    pub(crate) fn guard(&self, fence: Arc<Fence>) {
        self.session.stop().guard(fence);
    }

    /// Executes the copy.
    ///
    /// # Errors
    /// The dest does not match `--delta=MANIFEST`, or no thread is available; nothing was written then. Other
    /// failures are in the outcome.
    pub(crate) fn copy(mut self) -> Result<CopyResult> {
        let started = SystemTime::now();
        let in_place = match self.delta.take().zip(self.journal.as_mut()) {
            None => None,
            Some((delta, journal)) => {
                match delta.examine(&self.session, &self.plans.all.plan, &self.ends, &self.collector, journal)? {
                    DeltaResult::InPlace(in_place) => Some(in_place),
                    DeltaResult::Interrupted(signal) => return Ok(CopyResult::Interrupted(signal)),
                }
            }
        };
        let journal = self.journal.take().map(|ActiveJournal { keeping, left }| (keeping, left));
        let (keeping, journal) = journal.unzip();
        let keeping = keeping.or(self.keeping.take());
        let (session, plan, ends) = (&self.session, &self.plans.all.plan, &self.ends);
        let mut schedule = what_is_left(plan, &ends[0], keeping.as_ref());
        let dests = ends[Side::Dest.index()].dest_tallies();
        let tally = Arc::new(Tally { dests, ..Tally::default() });
        let copy = |observer: &dyn Observer, tally| {
            session.run_shown(Task { keeping, tally: Some(tally), ..Task::new(plan, ends, &mut *schedule, observer) })
        };
        let reader = self.dests[0].reader.as_ref().filter(|_| self.several.is_none());
        let ((mut outcome, series), behind) = time_limit::bounded(plan.time_limit, session.stop(), ends, || {
            concurrent_readback::followed(session, plan, reader, &self.collector, tally, copy)
        })?;
        if outcome.ended_well() {
            // The time limit does not apply to reading back.
            session.stop().clear_time_limit();
        }
        // Until the manifest is valid again, the journal marks it as outdated.
        let renews = in_place.map(|in_place| in_place.add_to(&mut outcome)).is_some();
        if !renews {
            journal.iter().for_each(|left| left.close(&mut outcome, &ends[Side::Dest.index()]));
        }
        let journal = journal.filter(|_| renews);
        Ok(CopyResult::Copied(Box::new(Copied { opened: self, outcome, series, started, behind, journal })))
    }
}

/// The schedule of the data that is still to be copied.
fn what_is_left(plan: &Plan, source: &Arc<dyn Endpoint>, keeping: Option<&CheckpointPlan>) -> Box<dyn Schedule> {
    match keeping {
        Some(CheckpointPlan { already, digested, .. }) if !already.is_empty() => {
            schedules::rest(plan, source, already, digested)
        }
        _ => schedules::make(plan, source),
    }
}

/// Opens the dest, also for reading if its present data is needed.
fn open_dest(options: &Options, plan: &Plan, dest: &Facts) -> Result<Arc<dyn Endpoint>> {
    match plan.route {
        Route::Delta { .. } => disks::open_dest_to_change(&plan.dest, dest),
        // Next to unreadable sectors it may have data that the source no longer returns.
        _ if options.resume && plan.on_error.skip => disks::open_dest_to_change(&plan.dest, dest),
        _ => disks::open_dest(&plan.dest, dest),
    }
}
