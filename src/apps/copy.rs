//! `haul copy`.
use super::certify::Copied;
use super::digest_collector::DigestCollector;
use super::journal::{self, ActiveJournal, Choice};
use super::judged::{self, Judged, ManifestDelta};
use super::mapfile::Map;
use super::page::{self, Went};
use super::session::Session;
use super::signals::Signals;
use super::{Exit, also, beside, certify, consent, estimate, read_back, saved, trailing, undo};
use crate::core::schedules;
use crate::core::{
    CheckpointPlan, Digest, Ended, Endpoint, EngineKind, Facts, Host, Observer, Outcome, Plan, Result, Route, Schedule,
    Side, Silent,
};
use crate::disks;
use crate::disks::probe;
use crate::engine;
use crate::engine::Ends;
use crate::hold::Held;
use crate::plan;
use crate::plan::{JournalWish, Options, ProgressStyle};
use crate::report::{Out, Progress, json, text};
use rustix::fs::FileType;
use rustix::io::Errno;
use std::sync::Arc;
use std::time::SystemTime;

/// Options to Facts to Plan to Outcome to Report. `words` is the command line behind the program's name.
pub(super) fn copy(options: &Options, words: &[String], out: Out) -> Result<Exit> {
    if !options.also.is_empty() {
        return also::copy(options, words, out);
    }
    let signals = Signals::watch(out)?;
    let asked = Copying { signals: &signals, words, out };
    match ManifestDelta::open(options)? {
        Some(judge) => copy_to_one(&judge.settle(options), Some(judge), &asked),
        None => copy_to_one(options, None, &asked),
    }
}

/// What a copy is given beside its options.
struct Copying<'a> {
    signals: &'a Signals,
    /// The command line behind the program's name.
    words: &'a [String],
    out: Out,
}

/// Tells of files beside the copy that could not be written, after the report: the copy is what it is. Status 0 would
/// be untrue then, and so would 3, which says that nothing was written. A signal stays what ended it.
pub(super) fn tell_files(files: impl IntoIterator<Item = Result<()>>, exit: Exit, out: Out) -> Exit {
    let failed = files.into_iter().filter_map(Result::err).inspect(|error| out.tell(&text::error(error))).count();
    if failed > 0 && exit == Exit::Status(0) { Exit::Status(1) } else { exit }
}

/// The same to one dest; `judge` knows what it has already.
fn copy_to_one(options: &Options, judge: Option<ManifestDelta>, asked: &Copying<'_>) -> Result<Exit> {
    let Copying { signals, words, out } = *asked;
    let through = Side::BOTH.map(|side| options.passthrough.may(side));
    let (mut source, mut dest) = probe::both_through(&options.source, &options.dest, through)?;
    saved::recall([&mut source, &mut dest], out);
    let mut plan = plan::make(options, &source, &dest, &host(options))?;
    beside::check(options, &[(Side::Source, &source), (Side::Dest, &dest)])?;
    let found = look(options, judge.as_ref(), &mut plan, [&source, &dest], out)?;
    if options.dry_run {
        return show(options, &plan, &source, &dest, out);
    }
    if found.settle_waiting(&plan, judge.is_none(), out)? == Choice::Resume {
        // It is locked by whoever has found it.
        drop(found);
        return copy_to_one(&resumed(options), None, asked);
    }
    let page = page::place(options.report.as_deref(), &[(Side::Source, &source), (Side::Dest, &dest)])?;
    warn(options, &plan, out);
    let _held = agree(options, &mut plan, &source, &dest, out)?;
    // Of what differs nothing can be foretold.
    let foretold = if judge.is_none() { estimate::of_copy(options, &plan, &source, &dest) } else { None };
    if (plan.read_back.is_some() || options.delta.is_some()) && dest.exists {
        probe::readable(&options.dest)?;
    }
    let mut gatherer = DigestCollector::begin(options, &plan, &source, &[&dest])?;
    let map = Map::begin(options.mapfile.as_deref())?;
    // The source first: opening the dest may empty it.
    let source_end = disks::open_source(&plan.source, &source)?;
    // An old journal goes before that: what it claims is about to become untrue.
    let mut begun = found.begin(&plan, &source_end)?;
    let ends = [source_end, open_dest(options, &plan, &dest)?];
    let reader = read_back::reader(&plan, &ends)?;

    let session = Session::new(options, Some(signals)).foretold(foretold);
    let there = match judge.zip(begun.as_mut()) {
        None => None,
        Some((judge, begun)) => match judge.judge(&session, &plan, &ends, &gatherer, begun)? {
            Judged::There(there) => Some(there),
            Judged::Interrupted(signal) => return Ok(judged::interrupted(signal, out)),
        },
    };
    let started = SystemTime::now();
    let (keeping, left) = begun.map(|ActiveJournal { keeping, left }| (keeping, left)).unzip();
    let mut schedule = what_is_left(&plan, &ends[0], keeping.as_ref());
    let copy = |hearer: &dyn Observer, tally| session.run_counted(&plan, &ends, &mut *schedule, hearer, keeping, tally);
    let ((mut outcome, progress), behind) = trailing::followed(&session, &plan, reader.as_ref(), &gatherer, copy);
    // Until the manifest is true again, the journal is what says that it is not.
    let renewed = there.map(|there| there.tell(&mut outcome)).is_some();
    let series = progress.series();
    if !renewed {
        left.iter().for_each(|left| left.settle(&mut outcome, &ends[Side::Dest.index()]));
    }
    let copied = Copied { plan: &plan, ends: &ends, reader, behind };
    let progress = certify::one(&session, copied, &mut gatherer, &mut outcome, progress);
    let manifest = gatherer.finish(&mut outcome);
    if renewed && manifest.is_ok() {
        left.iter().for_each(|left| left.settle(&mut outcome, &ends[Side::Dest.index()]));
    }
    let strayed = strayed(&plan, &ends[Side::Dest.index()]);
    let is_elsewhere = strayed.is_some();
    outcome.notes.extend(strayed);
    let files = [manifest, map.map_or(Ok(()), |map| map.finish(&plan, &outcome))];
    let exit = tell(options, &plan, &outcome, &progress, started, words, out)?;
    let exit = if is_elsewhere && exit == Exit::Status(0) { Exit::Status(Exit::DIFFERENT) } else { exit };
    let went = Went { options, plan: &plan, outcome: &outcome, series: &series, words, started };
    let exit = page.map_or(exit, |page| page.put(went, exit, out));
    Ok(tell_files(files, exit, out))
}

/// What is to be told where the name of a destination file no longer leads to the file that was written: another
/// program renamed, removed or replaced it meanwhile.
fn strayed(plan: &Plan, dest: &Arc<dyn Endpoint>) -> Option<String> {
    let written = rustix::fs::fstat(dest.descriptor()?).ok()?;
    if !plan.route.writes() || FileType::from_raw_mode(written.st_mode) != FileType::RegularFile {
        return None;
    }
    let address = &plan.dest.address;
    let what = match rustix::fs::stat(&plan.dest.path) {
        Ok(named) if (named.st_dev, named.st_ino) == (written.st_dev, written.st_ino) => return None,
        Ok(_) => "leads to another file now",
        Err(Errno::NOENT) => "is gone",
        Err(_) => return None,
    };
    Some(format!(
        "another program renamed, removed or replaced destination {address} during the copy: the name {what}, and the \
         bytes that were copied are not in it; copy again"
    ))
}

/// The same, to go on with the copy that waits: its journal is there, whether one was wanted or not.
fn resumed(options: &Options) -> Options {
    let journal = match &options.journal {
        JournalWish::Never => JournalWish::Auto,
        other => other.clone(),
    };
    Options { resume: true, journal, ..options.clone() }
}

/// What there is of an earlier copy. Its journal is held against what stands on the dest: that has to be what the copy
/// wrote, so what measuring left there goes first. Only originals are written by that.
fn look(
    options: &Options,
    judge: Option<&ManifestDelta>,
    plan: &mut Plan,
    [source, dest]: [&Facts; 2],
    out: Out,
) -> Result<journal::ExistingJournal> {
    if options.resume && !options.dry_run {
        undo::before_writing(dest, options.progress, plan, out)?;
    }
    let looked = journal::look(options, plan, source, dest);
    let looks_only = options.resume && options.dry_run;
    let mut found = looked.map_err(|error| if looks_only { undo::explain(dest, error) } else { error })?;
    plan.warnings.append(&mut found.warnings);
    if let Some(judge) = judge {
        judge.fits(plan, dest, &found)?;
    }
    plan.warnings.extend(undo::read_warnings(source));
    plan.warnings.extend(undo::write_warnings(dest, options.dry_run));
    if options.dry_run {
        plan.warnings.extend(found.foretell(&dest.address));
    }
    Ok(found)
}

/// The schedule of what is left to be copied.
fn what_is_left(plan: &Plan, source: &Arc<dyn Endpoint>, keeping: Option<&CheckpointPlan>) -> Box<dyn Schedule> {
    match keeping {
        Some(CheckpointPlan { already, .. }) if !already.is_empty() => schedules::rest(plan, source, already),
        _ => schedules::make(plan, source),
    }
}

/// Opens the dest, for reading too where what is there counts.
fn open_dest(options: &Options, plan: &Plan, dest: &Facts) -> Result<Arc<dyn Endpoint>> {
    match plan.route {
        Route::Delta { .. } => disks::open_dest_to_change(&plan.dest, dest),
        // Beside a gap it may have what the source gives no more.
        _ if options.resume && plan.on_error.skip => disks::open_dest_to_change(&plan.dest, dest),
        _ => disks::open_dest(&plan.dest, dest),
    }
}

/// Asks before a device is overwritten; then puts back what measuring it by writing left there, for the copy may be of
/// a part. Last it locks a file that is there against other hauls.
fn agree(options: &Options, plan: &mut Plan, source: &Facts, dest: &Facts, out: Out) -> Result<Option<Held>> {
    if plan::needs_confirmation(plan, dest) && !options.yes {
        consent::ask(plan, source, dest, out)?;
    }
    undo::before_writing(dest, options.progress, plan, out)?;
    disks::hold_dest(&plan.dest, dest)
}

/// Plan to Outcome to Report, with both sides open.
pub(super) fn carry_out(
    options: &Options,
    plan: &Plan,
    ends: &Ends,
    signals: &Signals,
    words: &[String],
    out: Out,
) -> Result<Exit> {
    let session = Session::new(options, Some(signals));
    let started = SystemTime::now();
    let (outcome, progress) = session.run(plan, ends, &mut *schedules::make(plan, &ends[0]), &Silent, None);
    tell(options, plan, &outcome, &progress, started, words, out)
}

/// Tells what the plan warns of. Whoever reads JSON lines gets that as such, once progress has begun.
pub(super) fn warn(options: &Options, plan: &Plan, out: Out) {
    if options.progress != ProgressStyle::Json {
        plan.warnings.iter().for_each(|warning| out.tell(&text::warning(warning)));
    }
}

/// What this machine and this process may do. The ring is asked only where a plan could want it.
pub(super) fn host(options: &Options) -> Host {
    host_of(options.engine)
}

/// The same for an engine that was asked for, or not.
pub(super) fn host_of(engine: Option<EngineKind>) -> Host {
    let wanted = matches!(engine, None | Some(EngineKind::Ring));
    let ring_refused = if wanted { engine::ring_refused() } else { None };
    Host { ring_refused }
}

pub(super) fn show(options: &Options, plan: &Plan, source: &Facts, dest: &Facts, out: Out) -> Result<Exit> {
    // Of several dests the slowest would bind, and only the first is looked at.
    let unknown = options.no_estimate || plan.dests.len() > 1;
    let foretold = if unknown { None } else { estimate::of_plan(plan, source, dest) };
    let estimate = foretold.map(|foretold| foretold.estimate);
    let text = if options.json {
        json::text(&json::plan(plan, source, dest, estimate))
    } else {
        text::plan(plan, source, dest, estimate)
    };
    Ok(super::printed(out, &text))
}

/// The report goes to standard error and what programs read to standard output, unless that is the dest.
pub(super) fn tell(
    options: &Options,
    plan: &Plan,
    outcome: &Outcome,
    progress: &Progress,
    started: SystemTime,
    words: &[String],
    out: Out,
) -> Result<Exit> {
    let report = json::outcome(plan, outcome, words, Some(started));
    progress.finish_with(&report);
    let stdout_is_dest = (options.dest == "-" || options.also.iter().any(|dest| dest == "-")) && plan.route.writes();
    let print = |text: &str| {
        if stdout_is_dest {
            out.tell(text);
            return Exit::Status(0);
        }
        super::printed(out, text)
    };
    // Progress in JSON has ended with the report: nothing else may stand between its lines.
    let told = options.progress == ProgressStyle::Json;
    let printed = match (options.json, &outcome.ended) {
        (true, ended) => {
            if let (Ended::Failed(error), false) = (ended, told) {
                out.tell(&text::error(error));
            }
            print(&json::text(&report))
        }
        (false, _) => {
            if !told {
                out.tell(&text::outcome(plan, outcome, words));
            }
            // What only the manifest needs was not asked for here.
            let asked = outcome.digests.iter().filter(|digest| options.hashes.contains(&digest.kind));
            let asked: Vec<Digest> = asked.cloned().collect();
            print(&text::digest_lines(&asked, &digest_name(options, plan)))
        }
    };
    Ok(match &outcome.ended {
        Ended::Complete if outcome.any_dest_failed() || outcome.any_dest_wrong() => Exit::Status(Exit::DIFFERENT),
        Ended::Complete if outcome.unread.iter().any(|unread| !unread.is_empty()) => Exit::Status(Exit::UNREAD),
        Ended::Complete if outcome.damage.as_ref().is_some_and(|found| !found.is_empty()) => {
            Exit::Status(Exit::DIFFERENT)
        }
        Ended::Complete if outcome.differences.as_ref().is_some_and(|found| !found.is_empty()) => {
            Exit::Status(Exit::DIFFERENT)
        }
        Ended::Complete => printed,
        Ended::Interrupted(signal) => Exit::Signal(*signal),
        Ended::Failed(error) => Exit::Status(error.kind.exit_status()),
    })
}

/// The name that stands in a line of sums: of a part of the source, it must not pass for the sum of the whole.
fn digest_name(options: &Options, plan: &Plan) -> String {
    let address = &plan.source.address;
    match plan.len {
        Some(len) if options.skip_bytes.is_some() || options.count_bytes.is_some() => {
            format!("{address} bytes {}+{len}", plan.source.offset)
        }
        _ => address.clone(),
    }
}

/// Both sides of a running copy, for whoever has to make blocked calls return.
pub(super) fn cancel(ends: &[Arc<dyn Endpoint>; 2]) {
    ends.iter().for_each(|end| end.cancel());
}
