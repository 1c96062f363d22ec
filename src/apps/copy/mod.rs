//! `haul copy`.
pub(in crate::apps) mod words;

use crate::apps::command::Call;
use crate::apps::console::Console;
use crate::apps::exit::Exit;
use crate::apps::page;
use crate::apps::told::{Went, show, tell};
use crate::apps::unbegun::tell_interrupted;
use crate::core::{Error, Result};
use crate::job::operator::Operator;
use crate::job::{CatchUp, Finished, Opened, Prepared, Ran};
use crate::plan::Options;
use crate::report::{Out, text};
use std::sync::Arc;

/// Copies from the source to every dest.
fn copy(options: &Options, call: &Call<'_>) -> Result<Exit> {
    let Call { words, out, .. } = *call;
    let console = Console::new(options, "copy", words, out)?;
    let operator: Arc<dyn Operator> = console.clone();
    let prepared = Prepared::look(options, &operator)?;
    if options.dry_run {
        return show(options, &prepared, out);
    }
    let page = page::place(options.report.as_deref(), &prepared.sides())?;
    let finished = match run(prepared.agree()?.open()?)? {
        Ok(finished) => finished,
        Err(signal) => return Ok(tell_interrupted(signal, options, words, out)),
    };
    let Finished { decision, outcome, series, started, failed_files, is_elsewhere, behind, .. } = &finished;
    let went = Went { options, decision, outcome, words, started: *started };
    let exit = tell(&went, &console)?;
    let exit = if *is_elsewhere { exit.at_least(Exit::DIFFERENT) } else { exit };
    let exit = page.map_or(exit, |page| page.put(&went, series, exit, out));
    let mut exit = tell_files(failed_files, exit, out);
    for rest in behind {
        let Exit::Status(status) = exit else { break };
        exit = match catch_up(rest, options, &console)? {
            Exit::Status(also) => Exit::Status(status.max(also)),
            signal => signal,
        };
    }
    Ok(console.end(exit))
}

/// Carries the copy out, and reads back; `Err`: this signal came before the first write.
fn run(opened: Opened) -> Result<std::result::Result<Finished, i32>> {
    Ok(match opened.copy()? {
        Ran::Copied(copied) => Ok(copied.finish()),
        Ran::Interrupted(signal) => Err(signal),
    })
}

/// Tells of files beside the copy that could not be written, after the report: the copy is what it is. Status 0 would
/// be untrue then, and so would 3, which says that nothing was written. A signal stays what ended it.
fn tell_files(failed: &[Error], exit: Exit, out: Out) -> Exit {
    failed.iter().for_each(|error| out.tell(&text::error(error)));
    if failed.is_empty() { exit } else { exit.at_least(1) }
}

/// Copies what a dest lacks that was left behind.
fn catch_up(rest: &CatchUp, options: &Options, console: &Arc<Console>) -> Result<Exit> {
    let CatchUp { dest, from, skip_bytes, seek_bytes, count_bytes } = rest;
    if *count_bytes == 0 {
        return Ok(Exit::Status(0));
    }
    let options = &rest.options(options);
    console.out.tell(&text::catching_up(dest, *from));
    let range = [("--skip", skip_bytes), ("--seek", seek_bytes), ("--count", count_bytes)];
    let mut words = vec!["copy".to_owned(), "--yes".to_owned()];
    words.extend(range.iter().flat_map(|(option, bytes)| [(*option).to_owned(), bytes.to_string()]));
    words.extend([options.source.clone(), dest.clone()]);
    let finished = match run(rest.open(options, console.clone())?)? {
        Ok(finished) => finished,
        Err(signal) => return Ok(tell_interrupted(signal, options, &words, console.out)),
    };
    let Finished { decision, outcome, started, failed_files, .. } = &finished;
    let exit = tell(&Went { options, decision, outcome, words: &words, started: *started }, console)?;
    Ok(tell_files(failed_files, exit, console.out))
}
