//! `haul copy`.
mod choose;
mod choosing;
mod ranges;
pub(in crate::apps) mod words;

use crate::apps::command::Call;
use crate::apps::console::Console;
use crate::apps::exit::Exit;
use crate::apps::not_started::{report_interrupted, report_not_started};
use crate::apps::page;
use crate::apps::run_report::{FinishedRun, report_run, show};
use crate::core::{Error, Result};
use crate::job::operator::Operator;
use crate::job::{CatchUp, CopyResult, Finished, Opened, Prepared};
use crate::plan::{Options, ProgressStyle, Verbosity};
use crate::report::text;
use std::mem;
use std::sync::Arc;

/// Copies from the source to every dest.
fn copy(options: &Options, call: &Call<'_>) -> Result<Exit> {
    let Call { words, out, .. } = *call;
    let chosen = if options.dest.is_empty() { Some(choose::dest(options, words, out)?) } else { None };
    let (options, words) = chosen.as_ref().map_or((options, words), |(options, words)| (options, words.as_slice()));
    let options = &ranges::read(options)?;
    let console = Console::new(options, "copy", words, out)?;
    let operator: Arc<dyn Operator> = console.clone();
    let prepared = Prepared::look(options, &operator)?;
    if options.dry_run {
        return show(options, &prepared, out);
    }
    let page = page::place(options.report.as_deref(), &prepared.sides())?;
    let mut finished = match run(prepared.agree()?.open()?)? {
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
    let mut exit = if finished.is_elsewhere { exit.at_least(Exit::DIFFERENT) } else { exit };
    for rest in &finished.behind {
        let Exit::Status(status) = exit else { break };
        exit = match catch_up(rest, options, &console) {
            Ok(Exit::Status(also)) => Exit::Status(status.max(also)),
            Ok(signal) => signal,
            // Not its own status: 3 would say that nothing was written.
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

/// Carries the copy out, and reads back; `Err`: this signal came before the first write.
fn run(opened: Opened) -> Result<std::result::Result<Finished, i32>> {
    Ok(match opened.copy()? {
        CopyResult::Copied(copied) => Ok(copied.finish()),
        CopyResult::Interrupted(signal) => Err(signal),
    })
}

/// How it went, for the report.
fn finished_run<'a>(options: &'a Options, words: &'a [String], finished: &'a Finished) -> FinishedRun<'a> {
    let Finished { decision, outcome, started, .. } = finished;
    FinishedRun { options, decision, outcome, words, started: *started }
}

/// Tells how it went, and which files during the copy could not be written: the copy is what it is. Status 0 would be
/// untrue then, and so would 3, which says that nothing was written. A signal stays what ended it.
fn report_with_failed_files(
    finished: &mut Finished,
    failed: &[Error],
    options: &Options,
    words: &[String],
    console: &Arc<Console>,
) -> Result<Exit> {
    // Nothing may follow the last line of JSON.
    let in_lines = options.progress == ProgressStyle::Json;
    if in_lines {
        finished.outcome.notes.extend(failed.iter().map(text::message));
    }
    let exit = report_run(&finished_run(options, words, finished), console)?;
    failed.iter().filter(|_| !in_lines).for_each(|error| console.out.eprint(&text::error(error)));
    Ok(if failed.is_empty() { exit } else { exit.at_least(1) })
}

/// Copies what a dest lacks that was left behind.
fn catch_up(rest: &CatchUp, options: &Options, console: &Arc<Console>) -> Result<Exit> {
    let CatchUp { dest, from, skip_bytes, seek_bytes, count_bytes } = rest;
    if *count_bytes == 0 {
        return Ok(Exit::Status(0));
    }
    let options = &rest.options(options);
    let message = text::catching_up(dest, *from);
    console.notify(&text::info(&message), &message);
    let range = [("--skip", skip_bytes), ("--seek", seek_bytes), ("--count", count_bytes)];
    let mut words = vec!["copy".to_owned(), "--yes".to_owned()];
    words.extend(range.iter().flat_map(|(option, bytes)| [(*option).to_owned(), bytes.to_string()]));
    words.extend([options.source.clone(), dest.clone()]);
    let mut finished = match run(rest.open(options, console.clone())?)? {
        Ok(finished) => finished,
        Err(signal) => return Ok(report_interrupted(signal, options, &words, console.out)),
    };
    let failed = mem::take(&mut finished.failed_files);
    report_with_failed_files(&mut finished, &failed, options, &words, console)
}
