//! `haul copy`.
mod choose;
mod choosing;
mod running;
mod shard;
pub(in crate::apps) mod words;

use crate::apps::command::Call;
use crate::apps::console::Console;
use crate::apps::exit::Exit;
use crate::apps::not_started::{report_interrupted, report_not_started};
use crate::apps::page;
use crate::apps::ranges;
use crate::apps::run_report::show;
use crate::core::Result;
use crate::job::operator::Operator;
use crate::job::{CatchUp, Finished, Prepared};
use crate::plan::{Options, ProgressStyle, Verbosity};
use crate::report::{rescue, text};
use running::{finished_run, report_with_failed_files, run, run_with_reconnects};
use std::mem;
use std::sync::Arc;

/// Copies the source to every dest.
fn copy(options: &Options, call: &Call<'_>) -> Result<Exit> {
    let Call { words, out, .. } = *call;
    if let Some(wish) = &options.shard_of {
        return shard::copy(wish, options, call);
    }
    let options = &ranges::read(options)?;
    let chosen = if options.dest.is_empty() { Some(choose::dest(options, words, out)?) } else { None };
    let (options, words) = chosen.as_ref().map_or((options, words), |(options, words)| (options, words.as_slice()));
    let console = Console::new(options, "copy", words, out)?;
    let operator: Arc<dyn Operator> = console.clone();
    let prepared = Prepared::look(options, &operator)?;
    if options.dry_run {
        return show(options, &prepared, out);
    }
    let page = page::place(options.report.as_deref(), &prepared.sides())?;
    let mut finished = match run_with_reconnects(prepared.agree()?.open()?, options, &operator)? {
        Ok(finished) => finished,
        Err(signal) => return Ok(report_interrupted(signal, options, words, out)),
    };
    let (mut failed, mut made) = (mem::take(&mut finished.failed_files), None);
    match page.map(|page| page.put(&finished_run(options, words, &finished), &finished.series)) {
        Some(Ok(path)) => made = Some(path),
        Some(Err(error)) => failed.push(error),
        None => {}
    }
    let exit = report_with_failed_files(&mut finished, &failed, options, words, &console)?;
    if let Some(path) =
        made.filter(|_| options.progress != ProgressStyle::Json && options.verbosity != Verbosity::Quiet)
    {
        out.eprint(&text::paged(&path));
    }
    advise_rescue(options, &finished, failed.is_empty(), &console);
    let mut exit = if finished.is_elsewhere { exit.at_least(Exit::DIFFERENT) } else { exit };
    for rest in &finished.behind {
        let Exit::Status(status) = exit else { break };
        exit = match catch_up(rest, options, &console) {
            Ok(Exit::Status(also)) => Exit::Status(status.max(also)),
            Ok(signal) => signal,
            // Status 1, not that of the error: 3 would mean that nothing was written.
            Err(error) => {
                if let Err(error) = report_not_started(Err(error), "copy", options, words, out) {
                    out.eprint(&text::error(&error));
                }
                Exit::FAILED
            }
        };
    }
    Ok(console.end(exit))
}

/// Names the command that rescues what could not be read, if the mapfile was written.
fn advise_rescue(options: &Options, finished: &Finished, has_files: bool, console: &Console) {
    let mapfile = options.mapfile.as_deref().filter(|_| has_files && options.progress != ProgressStyle::Json);
    if let Some(message) = mapfile.and_then(|map| rescue::continues(&finished.decision.plan, &finished.outcome, map)) {
        console.notify(&text::info(&message), &message);
    }
}

/// Copies the missing part to a dest that was left behind.
fn catch_up(rest: &CatchUp, options: &Options, console: &Arc<Console>) -> Result<Exit> {
    let CatchUp { dest, from, count_bytes, .. } = rest;
    if *count_bytes == 0 {
        return Ok(Exit::Status(0));
    }
    let options = &rest.options(options);
    let message = text::catching_up(dest, *from);
    console.notify(&text::info(&message), &message);
    let mut words = vec!["copy".to_owned(), "--yes".to_owned()];
    words.extend(rest.range_words());
    words.extend([options.source.clone(), dest.clone()]);
    let mut finished = match run(rest.open(options, console.clone())?)? {
        Ok(finished) => finished,
        Err(signal) => return Ok(report_interrupted(signal, options, &words, console.out)),
    };
    let failed = mem::take(&mut finished.failed_files);
    report_with_failed_files(&mut finished, &failed, options, &words, console)
}
