//! `haul pattern`.
mod cli;
pub mod plan;
mod survey;
mod words;

use crate::apps::command::Call;
use crate::apps::console::Console;
use crate::apps::exit::Exit;
use crate::apps::run_report::{carry_out, show_plan};
use crate::core::stages::{Inspector, Pattern};
use crate::core::{Error, Extent, Kind, PatternAct, PatternUse, Plan, Result, Side};
use crate::disks::{self, computed, probe};
use crate::job::operator::Operator;
use crate::job::{host, journal, undo};
use crate::plan::{JournalChoice, Options, needs_confirmation};
use crate::report::Out;
pub(in crate::apps) use cli::PatternArguments;
use cli::PatternTask;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use survey::survey;

/// A copy with the pattern on one side.
fn pattern(asked: &PatternTask, call: &Call<'_>) -> Result<Exit> {
    let PatternTask { act, options, run } = asked;
    match act {
        PatternAct::Write => write(options, run.unwrap_or_else(run_of_now), call.words, call.out),
        PatternAct::Check => check(options, *run, call.words, call.out),
    }
}

/// The current time, so that of two runs over one disk the later has the larger number, which also shows its
/// time.
fn run_of_now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(0)
}

fn write(options: &Options, run: u64, words: &[String], out: Out) -> Result<Exit> {
    let console = Console::new(options, "pattern write", words, out)?;
    let dest = probe::one_through(&options.dest, Side::Dest, options.passthrough.may(Side::Dest))?;
    let (mut decision, source) = plan::write(options, run, &dest, &host(options.engine))?;
    decision.notes.warnings.extend(undo::write_warnings(&dest, options.dry_run));
    if options.dry_run {
        return show_plan(options, &decision, [&source, &dest], out);
    }
    // A pattern has no journal, but an existing one becomes invalid.
    let none = Options { journal: JournalChoice::Never, restart: true, ..options.clone() };
    let mut found = journal::look(&none, &decision.plan, &source, &dest)?;
    decision.notes.warnings.append(&mut found.warnings);
    console.warn_of(&decision.notes);
    if needs_confirmation(&decision.plan, &dest) && !options.yes {
        console.confirm(&decision.plan, &source, &dest)?;
    }
    undo::before_writing(&dest, &mut decision.notes, &*console)?;
    let _held = disks::hold_dest(&decision.plan.dest, &dest)?;
    let made = computed::made(source, Arc::new(in_plan(&decision.plan, run)?));
    found.begin(&decision.plan, &made, None)?;
    let ends = [made, disks::open_dest(&decision.plan.dest, &dest)?];
    carry_out(options, &decision, &ends, words, &console)
}

fn check(options: &Options, run: Option<u64>, words: &[String], out: Out) -> Result<Exit> {
    let console = Console::new(options, "pattern check", words, out)?;
    let source = probe::one_through(&options.source, Side::Source, options.passthrough.may(Side::Source))?;
    let (mut decision, dest) = plan::check(options, run, &source, &host(options.engine))?;
    decision.notes.warnings.extend(undo::read_warnings(&source));
    if options.dry_run {
        return show_plan(options, &decision, [&source, &dest], out);
    }
    console.warn_of(&decision.notes);
    let plan = &mut decision.plan;
    let disk = disks::open_source(&plan.source, &source)?;
    let range = Extent::new(plan.source.map.start(), plan.len.unwrap_or(0));
    let found = survey(&disk, range, run);
    let Some(run) = run.or(found.map(|mark| mark.run)) else {
        let what = format!("no test pattern on source {}: samples contain no pattern block", options.source);
        return Err(Error::new(Kind::Io, what).on(Side::Source).advise(
            "Write one with 'haul pattern write'. If one was written, none of the samples survived; --run N checks \
             for that run anyway.",
        ));
    };
    if let (Some(settled), Some(mark)) = (&mut plan.pattern, found) {
        settled.block_bytes = mark.block_bytes;
    }
    plan.pattern = plan.pattern.map(|settled| PatternUse { run: Some(run), ..settled });
    let judge = Inspector::new(in_plan(plan, run)?, range);
    let ends = [disk, computed::judged(dest, Arc::new(judge))];
    carry_out(options, &decision, &ends, words, &console)
}

/// The pattern in a plan.
fn in_plan(plan: &Plan, run: u64) -> Result<Pattern> {
    let block_bytes = plan.pattern.map_or(0, |settled| settled.block_bytes);
    if !plan.source.map.start().is_multiple_of(block_bytes.max(1).into()) {
        let what =
            format!("--seek {}: the test pattern there has blocks of {block_bytes} bytes", plan.source.map.start());
        return Err(Error::new(Kind::Usage, what).advise("Give a multiple of that."));
    }
    let what = || format!("a test pattern cannot have blocks of {block_bytes} bytes");
    Pattern::new(block_bytes, run, 0).ok_or_else(|| Error::new(Kind::Unsupported, what()))
}
