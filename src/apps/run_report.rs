//! Reports of plans and outcomes: text goes to standard error, machine-readable output to standard output.
use super::console::Console;
use super::exit::{Exit, printed};
use crate::core::schedules;
use crate::core::{Decision, Digest, Ended, Facts, NoObserver, Outcome, Plan, Result};
use crate::engine::Endpoints;
use crate::job::session::{Session, Task};
use crate::job::{Prepared, estimate};
use crate::plan::{Options, ProgressStyle};
use crate::report::{Out, json, text};
use std::sync::Arc;
use std::time::SystemTime;

/// A finished run.
pub(super) struct FinishedRun<'a> {
    pub(super) options: &'a Options,
    pub(super) decision: &'a Decision,
    pub(super) outcome: &'a Outcome,
    /// The command line after the program's name.
    pub(super) words: &'a [String],
    pub(super) started: SystemTime,
}

/// Prints the plan of a copy.
pub(super) fn show(options: &Options, prepared: &Prepared, out: Out) -> Result<Exit> {
    let sides = prepared.sides();
    show_plan(options, prepared.decision(), [sides[0].1, sides[1].1], out)
}

/// Prints a plan.
pub(super) fn show_plan(options: &Options, decision: &Decision, [source, dest]: [&Facts; 2], out: Out) -> Result<Exit> {
    let plan = &decision.plan;
    // The slowest of several dests would determine the time, and only the first is examined.
    let unknown = options.no_estimate || plan.dests.len() > 1;
    let estimated = if unknown { None } else { estimate::of_plan(plan, source, dest) };
    let rereads = plan.digests_all();
    let estimate = estimated.map(|estimated| estimated.behind(decision.notes.already_bytes, rereads));
    let text = if options.json {
        json::text(&json::plan(decision, source, dest, estimate))
    } else {
        text::plan(decision, source, dest, estimate)
    };
    Ok(printed(out, &text))
}

/// Executes a plan that changes nothing permanently, and reports the outcome. Both sides are open.
pub(super) fn carry_out(
    options: &Options,
    decision: &Decision,
    ends: &Endpoints,
    words: &[String],
    console: &Arc<Console>,
) -> Result<Exit> {
    let session = Session::new(console.clone());
    let started = SystemTime::now();
    let plan = &decision.plan;
    let outcome = &session.run(Task::new(plan, ends, &mut *schedules::make(plan, &ends[0]), &NoObserver));
    report_run(&FinishedRun { options, decision, outcome, words, started }, console)
}

/// Reports the outcome of a run.
pub(super) fn report_run(run: &FinishedRun<'_>, console: &Console) -> Result<Exit> {
    let FinishedRun { options, decision, outcome, words, started } = *run;
    let plan = &decision.plan;
    let out = console.out;
    let report = json::outcome(decision, outcome, words, Some(started));
    console.finish_with(&report);
    let stdout_is_dest = (options.dest == "-" || options.also.iter().any(|dest| dest == "-")) && plan.route.writes();
    // JSON progress has ended with the report: no other text may appear between its lines.
    let printed_as_json = options.progress == ProgressStyle::Json;
    let print = |text: &str| {
        if stdout_is_dest {
            // If lines of JSON are printed to standard error, the last of them has the digests.
            if !printed_as_json {
                out.eprint(text);
            }
            return Exit::Status(0);
        }
        printed(out, text)
    };
    let printed = match (options.json, &outcome.ended) {
        (true, ended) => {
            if let (Ended::Failed(error), false) = (ended, printed_as_json) {
                out.eprint(&text::error(error));
            }
            print(&json::text(&report))
        }
        (false, _) => {
            if !printed_as_json {
                out.eprint(&text::outcome(decision, outcome, words, options.verbosity));
            }
            // Digests that only the manifest needs were not requested here.
            let asked = outcome.digests.iter().filter(|digest| options.hashes.contains(&digest.kind));
            let asked: Vec<Digest> = asked.cloned().collect();
            print(&text::digest_lines(&asked, &digest_name(options, plan)))
        }
    };
    Ok(console.end(match &outcome.ended {
        Ended::Complete if outcome.is_wrong() => Exit::Status(Exit::DIFFERENT),
        Ended::Complete if outcome.is_unread() => Exit::Status(Exit::UNREAD),
        Ended::Complete => printed,
        Ended::Interrupted(signal) => Exit::Signal(*signal),
        Ended::OutOfTime => Exit::Status(Exit::OUT_OF_TIME),
        Ended::Failed(error) => Exit::Status(error.kind.exit_status()),
    }))
}

/// The name in a line of checksums: the digest of a part of the source must not look like that of the whole.
fn digest_name(options: &Options, plan: &Plan) -> String {
    let address = &plan.source.address;
    if let Some(list) = plan.source.map.name() {
        return format!("{address}, {list}");
    }
    match plan.len {
        Some(len) if options.skip_bytes.is_some() || options.count_bytes.is_some() => {
            format!("{address} bytes {}+{len}", plan.source.map.start())
        }
        _ => address.clone(),
    }
}
