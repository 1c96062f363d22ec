//! `haul verify`.
pub(in crate::apps) mod words;

use crate::apps::command::Call;
use crate::apps::console::Console;
use crate::apps::exit::Exit;
use crate::apps::ranges;
use crate::apps::run_report::{FinishedRun, carry_out, report_run, show_plan};
use crate::core::schedules;
use crate::core::{BlockDigests, Result, Side, count};
use crate::disks;
use crate::disks::probe;
use crate::job::manifest::{checklist, doubts, is_range, map_on, open};
use crate::job::operator::Operator;
use crate::job::read_back::Checker;
use crate::job::session::{Session, Task};
use crate::job::{host, image_content, undo};
use crate::plan;
use crate::plan::{DigestComparison, DigestedCopy, Options};
use crate::report::Out;
use std::time::SystemTime;

/// Like a copy, but both sides are read.
fn verify(options: &Options, call: &Call<'_>) -> Result<Exit> {
    let Call { words, out, .. } = *call;
    let options = &ranges::read(options)?;
    if let Some(path) = &options.manifest {
        return against_manifest(options, path, words, out);
    }
    let console = Console::new(options, "verify", words, out)?;
    let through = Side::BOTH.map(|side| options.passthrough.may(side));
    let (source, dest) = probe::both_to_read(&options.source, &options.dest, through)?;
    let compared = image_content(options, source, dest)?;
    let (options, source, dest) = (&compared.options, compared.source, compared.dest);
    let mut decision = plan::compare(options, &source, &dest, &host(options.engine))?;
    decision.notes.warnings.extend(compared.warnings);
    decision.notes.warnings.extend([&source, &dest].into_iter().flat_map(undo::read_warnings));
    if options.dry_run {
        return show_plan(options, &decision, [&source, &dest], out);
    }
    console.warn_of(&decision.notes);
    let plan = &decision.plan;
    let ends = [disks::open_source(&plan.source, &source)?, disks::open_compared(&plan.dest, &dest)?];
    carry_out(options, &decision, &ends, words, &console)
}

/// Reads only the dest, and compares it with the contents of a manifest.
fn against_manifest(options: &Options, path: &str, words: &[String], out: Out) -> Result<Exit> {
    let console = Console::new(options, "verify", words, out)?;
    let manifest = open(path)?;
    let dest = probe::dest_to_read(&options.dest, options.passthrough.may(Side::Dest))?;
    let head = &manifest.head;
    let copy = DigestedCopy {
        address: path.to_owned(),
        len: manifest.closing.len_bytes,
        digests: BlockDigests { hash: head.algorithm, block_bytes: head.block_bytes, from_bytes: 0 },
        map: map_on(options, &manifest, &dest)?,
        is_range: is_range(&manifest),
    };
    let DigestComparison { mut decision, source, shorter } =
        plan::compare_digests(options, &copy, &dest, &host(options.engine))?;
    decision.notes.warnings.extend(doubts(head, &dest, decision.plan.dest.map.start()));
    decision.notes.warnings.extend(undo::read_warnings(&dest));
    if options.dry_run {
        return show_plan(options, &decision, [&source, &dest], out);
    }
    console.warn_of(&decision.notes);
    let plan = &decision.plan;
    let nothing = disks::missing_side();
    let ends = [nothing, disks::open_compared(&plan.dest, &dest)?];
    let session = Session::new(console.clone());
    let started = SystemTime::now();
    let list = checklist(&manifest);
    let checker = Checker::new(&list, copy.len, copy.digests.block_bytes);
    let mut outcome = session.run(Task::new(plan, &ends, &mut *schedules::make(plan, &ends[0]), &checker));
    let mut differences = checker.into_differences();
    differences.shorter = shorter.map(|(side, lacks)| (side, Some(lacks)));
    outcome.differences = Some(differences);
    if !manifest.unread.is_empty() {
        let bytes = count(manifest.unread.total_bytes(), "byte was", "bytes were");
        outcome.notes.push(format!("{bytes} unreadable during the copy: zeros are expected"));
    }
    report_run(&FinishedRun { options, decision: &decision, outcome: &outcome, words, started }, &console)
}
