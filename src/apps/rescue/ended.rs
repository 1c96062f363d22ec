//! What is printed about a rescue that has ended, and the exit status.
use crate::apps::console::Console;
use crate::apps::exit::{Exit, printed};
use crate::core::{Ended, Error, Outcome};
use crate::plan::{Options, ProgressStyle, Verbosity};
use crate::report::json::{self, RescueEnd};
use crate::report::{rescue as report, text};
use std::path::Path;

/// The exit of a rescue after which so many bytes are missing.
pub(super) fn exit(outcome: &Outcome, missing_bytes: u64) -> Exit {
    match &outcome.ended {
        Ended::Complete if missing_bytes > 0 => Exit::Status(Exit::UNREAD),
        Ended::Complete => Exit::Status(0),
        Ended::Interrupted(signal) => Exit::Signal(*signal),
        Ended::OutOfTime => Exit::Status(Exit::OUT_OF_TIME),
        Ended::Failed(error) => Exit::Status(error.kind.exit_status().max(1)),
    }
}

/// Prints the result: the error that ended it, the text, the files that could not be written, the path of the page, the
/// JSON document.
pub(super) fn print(
    options: &Options,
    end: &RescueEnd<'_>,
    failures: &[&Error],
    page: Option<&Path>,
    console: &Console,
) -> Exit {
    let (out, document) = (console.out, json::rescue(end));
    if options.progress == ProgressStyle::Json {
        // No text may appear between lines of JSON, and the last of them has the result.
        failures.iter().for_each(|error| console.notify("", &text::message(error)));
        console.finish_with(&document);
    } else {
        if let Ended::Failed(error) = &end.outcome.ended {
            out.eprint(&text::error(error));
        }
        if !matches!(options.verbosity, Verbosity::Quiet) || end.missing_bytes > 0 {
            out.eprint(&report::rescued(end));
        }
        failures.iter().for_each(|error| out.eprint(&text::error(error)));
        let page = page.filter(|_| !matches!(options.verbosity, Verbosity::Quiet));
        page.iter().for_each(|path| out.eprint(&text::paged(path)));
    }
    if options.json { printed(out, &json::text(&document)) } else { Exit::Status(0) }
}
