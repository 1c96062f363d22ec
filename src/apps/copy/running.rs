//! One run of `haul copy`, and its report.
use crate::apps::console::Console;
use crate::apps::exit::Exit;
use crate::apps::run_report::{FinishedRun, report_run};
use crate::core::{Error, Result};
use crate::job::operator::Operator;
use crate::job::{CopyResult, Finished, LostServers, Opened};
use crate::plan::{Options, ProgressStyle};
use crate::report::text;
use std::sync::Arc;

/// As [`run`]. If the server of the destination is lost, the copy continues once it is back.
pub(super) fn run_with_reconnects(
    opened: Opened,
    options: &Options,
    operator: &Arc<dyn Operator>,
) -> Result<std::result::Result<Finished, i32>> {
    let (mut lost, mut ended) = (LostServers::default(), run(opened)?);
    while let Ok(finished) = &mut ended {
        let Some(rest) = lost.reconnect(finished, options, operator) else { break };
        ended = run(rest)?;
    }
    Ok(ended)
}

/// Copies and reads back; `Err`: this signal arrived before the first write.
pub(super) fn run(opened: Opened) -> Result<std::result::Result<Finished, i32>> {
    Ok(match opened.copy()? {
        CopyResult::Copied(copied) => Ok(copied.finish()),
        CopyResult::Interrupted(signal) => Err(signal),
    })
}

/// The finished copy, for the report.
pub(super) fn finished_run<'a>(options: &'a Options, words: &'a [String], finished: &'a Finished) -> FinishedRun<'a> {
    let Finished { decision, outcome, started, .. } = finished;
    FinishedRun { options, decision, outcome, words, started: *started }
}

/// Reports the outcome, and the files that could not be written during the copy; the copy itself is unaffected.
/// Statuses 0 and 3 would both be wrong then, since 3 means that nothing was written. After a signal the status
/// is the signal's.
pub(super) fn report_with_failed_files(
    finished: &mut Finished,
    failed: &[Error],
    options: &Options,
    words: &[String],
    console: &Arc<Console>,
) -> Result<Exit> {
    // No line may follow the last line of JSON.
    let in_lines = options.progress == ProgressStyle::Json;
    if in_lines {
        finished.outcome.notes.extend(failed.iter().map(text::message));
    }
    let exit = report_run(&finished_run(options, words, finished), console)?;
    failed.iter().filter(|_| !in_lines).for_each(|error| console.out.eprint(&text::error(error)));
    Ok(if failed.is_empty() { exit } else { exit.at_least(1) })
}
