//! `haul copy --also`: one read, several dests.
use super::copy::{carry_out, carry_out_paged, host, show, warn};
use super::journal;
use super::signals::Signals;
use super::{Exit, consent, page, saved};
use crate::contract::{Endpoint, Facts, Plan, PlanDest, Result, Side};
use crate::endpoint::several::Several;
use crate::plan::{self, JournalWish, Options};
use crate::report::{Out, text};
use crate::{endpoint, probe};
use std::sync::Arc;

/// As for a copy to one dest; every dest is looked at, and refused or asked for, before the first is opened.
pub(super) fn copy(options: &Options, words: &[String], out: Out) -> Result<Exit> {
    let signals = Signals::watch(out)?;
    let may = |side| options.passthrough.may(side);
    let mut source = probe::one_through(&options.source, Side::Source, may(Side::Source))?;
    saved::recall(&mut source, out);
    let addresses = std::iter::once(&options.dest).chain(&options.also);
    let dests: Vec<Facts> =
        addresses.map(|dest| probe::one_through(dest, Side::Dest, may(Side::Dest))).collect::<Result<_>>()?;
    let mut plans = plan::several(options, &source, &dests, &host(options))?;
    if options.dry_run {
        return show(options, &plans.all, &source, &dests[0], out);
    }
    let dest_sides = dests.iter().map(|dest| (Side::Dest, dest));
    let used: Vec<(Side, &Facts)> = std::iter::once((Side::Source, &source)).chain(dest_sides).collect();
    let page = page::place(options.report.as_deref(), &used)?;
    let mut looked = Vec::new();
    for (plan, dest) in plans.alone.iter().zip(&dests) {
        let mut found =
            journal::look(&Options { journal: JournalWish::Never, ..options.clone() }, plan, &source, dest)?;
        plans.all.warnings.append(&mut found.warnings);
        looked.push(found);
    }
    warn(options, &plans.all, out);
    for (plan, dest) in plans.alone.iter().zip(&dests) {
        if plan::needs_confirmation(plan, dest) && !options.yes {
            consent::ask(plan, &source, dest, out)?;
        }
    }
    let source_end = endpoint::open_source(&plans.all.source, &source)?;
    for (plan, found) in plans.alone.iter().zip(looked) {
        // No journal is kept of several dests, but an old one claims what is about to become untrue.
        found.begin(plan, &source_end)?;
    }
    let mut opened: Vec<(Arc<dyn Endpoint>, PlanDest)> = Vec::new();
    for (planned, facts) in plans.all.dests.iter().zip(&dests) {
        opened.push((endpoint::open_dest(&planned.side, facts)?, planned.clone()));
    }
    let several = Arc::new(Several::new(opened, plans.all.write_order));
    several.on_drop(Box::new(move |error| out.tell(&text::dropped(error))));
    let ends = [source_end, several.clone()];
    let exit = carry_out_paged(options, &plans.all, &ends, &signals, words, out, page)?;
    let Exit::Status(mut status) = exit else { return Ok(exit) };
    for (number, claimed) in several.behind() {
        match catch_up(options, &plans.all, &dests[number].address, claimed.end(), &signals, out)? {
            Exit::Status(also) => status = status.max(also),
            signal => return Ok(signal),
        }
    }
    Ok(Exit::Status(status))
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
        yes: true,
        ..options.clone()
    };
    out.tell(&text::catching_up(dest, from));
    let (source, facts) =
        probe::both_through(&options.source, dest, Side::BOTH.map(|side| options.passthrough.may(side)))?;
    let plan = plan::make(&options, &source, &facts, &host(&options))?;
    let source_end = endpoint::open_source(&plan.source, &source)?;
    let ends = [source_end, endpoint::open_dest(&plan.dest, &facts)?];
    let range = [("--skip", skip), ("--seek", seek), ("--count", left)];
    let mut words = vec!["copy".to_owned(), "--yes".to_owned()];
    words.extend(range.iter().flat_map(|(option, bytes)| [(*option).to_owned(), bytes.to_string()]));
    words.extend([options.source.clone(), dest.to_owned()]);
    carry_out(&options, &plan, &ends, signals, &words, out)
}
