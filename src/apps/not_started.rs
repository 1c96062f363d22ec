//! Reports on runs without an outcome: refused, not started, or interrupted before the first write.
use super::exit::{Exit, printed};
use super::signals;
use crate::core::Result;
use crate::plan::{Options, ProgressStyle};
use crate::report::json::NotStarted;
use crate::report::progress::last_line;
use crate::report::{Out, json, text};
use serde::Serialize;

/// The report of a rescue, which has not the fields of a copy.
pub(super) const RESCUE: &str = "rescue";

/// Reports a run that was refused or could not begin, to programs that read JSON: every run ends with a JSON
/// document. `report` is the name of the report that they expect.
///
/// # Errors
/// The error itself if no JSON was requested.
pub(super) fn report_not_started(
    result: Result<Exit>,
    report: &str,
    options: &Options,
    words: &[String],
    out: Out,
) -> Result<Exit> {
    let Err(error) = result else { return result };
    if !options.json && options.progress != ProgressStyle::Json {
        return Err(error);
    }
    print_not_started(NotStarted::Failed(&error), report, options, words, out);
    Ok(Exit::Status(error.kind.exit_status()))
}

/// Handles a signal before there is a run: with JSON it is reported; as text it is not, because users know what
/// they did.
pub(super) fn by_signal(options: &Options, report: &'static str, words: &[String], out: Out) -> signals::PreRunSignals {
    let reports_idle = options.progress != ProgressStyle::Json;
    let (options, words) = (options.clone(), words.to_vec());
    // Showing a plan is not a run.
    let print = move |signal| {
        if !options.dry_run {
            print_not_started(NotStarted::Interrupted(signal), report, &options, &words, out);
        }
    };
    signals::PreRunSignals { report: Box::new(print), reports_idle }
}

/// Reports a signal that arrived before the first write. Nothing was changed.
pub(super) fn report_interrupted(signal: i32, options: &Options, words: &[String], out: Out) -> Exit {
    if options.progress != ProgressStyle::Json {
        out.eprint(&text::info("interrupted before the first write: the destination is unchanged"));
    }
    print_not_started(NotStarted::Interrupted(signal), "copy", options, words, out);
    Exit::Signal(signal)
}

/// Reports a copy that an earlier run, or another worker, had done.
pub(super) fn report_done(done: NotStarted<'_>, options: &Options, words: &[String], out: Out) {
    print_not_started(done, "copy", options, words, out);
}

fn print_not_started(why: NotStarted<'_>, report: &str, options: &Options, words: &[String], out: Out) {
    match report {
        RESCUE => print_document(&json::failed(report, words, why), why, options, out),
        _ => print_document(&json::not_started(report, options.label.as_deref(), words, why), why, options, out),
    }
}

fn print_document(document: &impl Serialize, why: NotStarted<'_>, options: &Options, out: Out) {
    match (options.progress, why) {
        // The document contains the error, and no other text may appear between lines of JSON.
        (ProgressStyle::Json, _) => out.eprint(&last_line(document)),
        (_, NotStarted::Failed(error)) => out.eprint(&text::error(error)),
        (_, NotStarted::Interrupted(_) | NotStarted::Done { .. }) => {}
    }
    if options.json {
        // The signal determines the status, not a failure to print.
        let _ = printed(out, &json::text(document));
    }
}
