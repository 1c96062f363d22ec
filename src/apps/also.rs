//! `haul copy --also`: one read, several dests.
use super::certify::{self, Copied, OpenDest};
use super::copy::{host, show, tell, tell_files, warn};
use super::digest_collector::DigestCollector;
use super::journal::ExistingJournal;
use super::page::{self, Went};
use super::session::Session;
use super::signals::Signals;
use super::{Exit, beside, consent, journal, read_back, saved, undo};
use crate::core::schedules;
use crate::core::{Endpoint, Facts, Plan, PlanDest, Result, Side};
use crate::disks;
use crate::disks::probe;
use crate::disks::several::Several;
use crate::engine::Ends;
use crate::hold::Held;
use crate::plan::{self, JournalWish, Options, Plans};
use crate::report::{Out, text};
use std::sync::Arc;
use std::time::SystemTime;

/// As for a copy to one dest; every dest is looked at, and refused or asked for, before the first is opened.
pub(super) fn copy(options: &Options, words: &[String], out: Out) -> Result<Exit> {
    let signals = Signals::watch(out)?;
    let may = |side| options.passthrough.may(side);
    let mut source = probe::one_through(&options.source, Side::Source, may(Side::Source))?;
    let addresses = std::iter::once(&options.dest).chain(&options.also);
    let mut dests: Vec<Facts> =
        addresses.map(|dest| probe::one_through(dest, Side::Dest, may(Side::Dest))).collect::<Result<_>>()?;
    saved::recall(std::iter::once(&mut source).chain(&mut dests), out);
    let mut plans = plan::several(options, &source, &dests, &host(options))?;
    plans.all.warnings.extend(undo::read_warnings(&source));
    plans.all.warnings.extend(dests.iter().flat_map(|dest| undo::write_warnings(dest, options.dry_run)));
    let used: Vec<_> = [(Side::Source, &source)].into_iter().chain(dests.iter().map(|it| (Side::Dest, it))).collect();
    beside::check(options, &used)?;
    let looked = look(options, &mut plans, &source, &dests)?;
    if options.dry_run {
        return show(options, &plans.all, &source, &dests[0], out);
    }
    let page = page::place(options.report.as_deref(), &used)?;
    for (plan, found) in plans.alone.iter().zip(&looked) {
        found.settle_waiting(plan, false, out)?;
    }
    warn(options, &plans.all, out);
    for (plan, dest) in plans.alone.iter().zip(&dests) {
        if plan::needs_confirmation(plan, dest) && !options.yes {
            consent::ask(plan, &source, dest, out)?;
        }
    }
    if options.verify.is_some() {
        let there = dests.iter().filter(|dest| dest.exists);
        there.map(|dest| &dest.address).try_for_each(|dest| probe::readable(dest))?;
    }
    dests.iter().try_for_each(|dest| undo::before_writing(dest, options.progress, &mut plans.all, out))?;
    let _held = hold(&plans, &dests)?;
    let mut gatherer = DigestCollector::begin(options, &plans.all, &source, &dests.iter().collect::<Vec<_>>())?;
    let source_end = disks::open_source(&plans.all.source, &source)?;
    for (plan, found) in plans.alone.iter().zip(looked) {
        found.begin(plan, &source_end)?;
    }
    let opened = open(&plans, &dests, &source_end)?;
    let parts = opened.iter().map(|dest| dest.ends[Side::Dest.index()].clone()).zip(plans.all.dests.clone());
    let several = Arc::new(Several::new(parts.collect(), plans.all.write_order));
    several.on_drop(Box::new(move |error| out.tell(&text::dropped(error))));
    let ends: Ends = [source_end, several.clone()];

    let (session, started, plan) = (Session::new(options, Some(&signals)), SystemTime::now(), &plans.all);
    let mut schedule = schedules::make(plan, &ends[0]);
    let (mut outcome, copying) = session.run(plan, &ends, &mut *schedule, &gatherer, None);
    let series = copying.series();
    copying.finish();
    let verified = certify::each(&session, &plans, &opened, &ends, &mut gatherer, &mut outcome);
    let manifest = gatherer.finish(&mut outcome);
    let exit = tell(options, plan, &outcome, &verified.unwrap_or(copying), started, words, out)?;
    let went = Went { options, plan, outcome: &outcome, series: &series, words, started };
    let exit = page.map_or(exit, |page| page.put(went, exit, out));
    let exit = tell_files([manifest], exit, out);
    let Exit::Status(mut status) = exit else { return Ok(exit) };
    for (number, claimed) in several.behind() {
        let from = certify::whole_blocks(plan, claimed.end());
        match catch_up(options, plan, &dests[number].address, from, &signals, out)? {
            Exit::Status(also) => status = status.max(also),
            signal => return Ok(signal),
        }
    }
    Ok(Exit::Status(status))
}

/// What there is of earlier copies to each dest. No journal is kept of several, but an old one claims what is about to
/// become untrue.
fn look(options: &Options, plans: &mut Plans, source: &Facts, dests: &[Facts]) -> Result<Vec<ExistingJournal>> {
    let options = Options { journal: JournalWish::Never, ..options.clone() };
    let mut looked = Vec::new();
    for (plan, dest) in plans.alone.iter().zip(dests) {
        let mut found = journal::look(&options, plan, source, dest)?;
        plans.all.warnings.append(&mut found.warnings);
        if options.dry_run {
            plans.all.warnings.extend(found.foretell(&dest.address));
        }
        looked.push(found);
    }
    Ok(looked)
}

/// What other hauls write to stays as it is, and so does everything else.
fn hold(plans: &Plans, dests: &[Facts]) -> Result<Vec<Option<Held>>> {
    plans.all.dests.iter().zip(dests).map(|(plan, dest)| disks::hold_dest(&plan.side, dest)).collect()
}

/// Each dest, open for writing, and for reading back where that is wanted.
fn open(plans: &Plans, dests: &[Facts], source: &Arc<dyn Endpoint>) -> Result<Vec<OpenDest>> {
    let open_one = |((planned, facts), alone): ((&PlanDest, &Facts), &Plan)| {
        let ends: Ends = [source.clone(), disks::open_dest(&planned.side, facts)?];
        let reader = read_back::reader(alone, &ends)?;
        Ok(OpenDest { ends, reader })
    };
    plans.all.dests.iter().zip(dests).zip(&plans.alone).map(open_one).collect()
}

/// Copies what a dest lacks that was left behind: a copy of its own, to which it has agreed already.
fn catch_up(options: &Options, plan: &Plan, dest: &str, from: u64, signals: &Signals, out: Out) -> Result<Exit> {
    let Some(left) = plan.len.map(|len| len - from).filter(|&left| left > 0) else { return Ok(Exit::Status(0)) };
    let (skip, seek) = (plan.source.offset + from, plan.dest.offset + from);
    let options = Options {
        dest: dest.to_owned(),
        also: Vec::new(),
        skip_bytes: Some(skip),
        seek_bytes: Some(seek),
        count_bytes: Some(left),
        journal: JournalWish::Never,
        hashes: Vec::new(),
        manifest: None,
        report: None,
        yes: true,
        ..options.clone()
    };
    out.tell(&text::catching_up(dest, from));
    let (source, facts) =
        probe::both_through(&options.source, dest, Side::BOTH.map(|side| options.passthrough.may(side)))?;
    let plan = plan::make(&options, &source, &facts, &host(&options))?;
    let source_end = disks::open_source(&plan.source, &source)?;
    let ends = [source_end, disks::open_dest(&plan.dest, &facts)?];
    let reader = read_back::reader(&plan, &ends)?;
    let mut gatherer = DigestCollector::begin(&options, &plan, &source, &[&facts])?;
    let range = [("--skip", skip), ("--seek", seek), ("--count", left)];
    let mut words = vec!["copy".to_owned(), "--yes".to_owned()];
    words.extend(range.iter().flat_map(|(option, bytes)| [(*option).to_owned(), bytes.to_string()]));
    words.extend([options.source.clone(), dest.to_owned()]);
    let (session, started) = (Session::new(&options, Some(signals)), SystemTime::now());
    let (mut outcome, progress) = session.run(&plan, &ends, &mut *schedules::make(&plan, &ends[0]), &gatherer, None);
    let copied = Copied { plan: &plan, ends: &ends, reader, behind: Vec::new() };
    let progress = certify::one(&session, copied, &mut gatherer, &mut outcome, progress);
    tell(&options, &plan, &outcome, &progress, started, &words, out)
}
