//! Plans and outcomes, told: the report goes to standard error, and what programs read to standard output.
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

/// How a run went.
pub(super) struct FinishedRun<'a> {
    pub(super) options: &'a Options,
    pub(super) decision: &'a Decision,
    pub(super) outcome: &'a Outcome,
    /// The command line behind the program's name.
    pub(super) words: &'a [String],
    pub(super) started: SystemTime,
}

/// Shows what a copy would do.
pub(super) fn show(options: &Options, prepared: &Prepared, out: Out) -> Result<Exit> {
    let sides = prepared.sides();
    show_plan(options, prepared.decision(), [sides[0].1, sides[1].1], out)
}

/// Shows a plan.
pub(super) fn show_plan(options: &Options, decision: &Decision, [source, dest]: [&Facts; 2], out: Out) -> Result<Exit> {
    let plan = &decision.plan;
    // Of several dests the slowest would bind, and only the first is examined.
    let unknown = options.no_estimate || plan.dests.len() > 1;
    let estimated = if unknown { None } else { estimate::of_plan(plan, source, dest) };
    let estimate = estimated.map(|estimated| estimated.estimate);
    let text = if options.json {
        json::text(&json::plan(decision, source, dest, estimate))
    } else {
        text::plan(decision, source, dest, estimate)
    };
    Ok(printed(out, &text))
}

/// Carries a plan out that moves no byte for good, and reports how it went. Both sides are open.
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

/// Tells how a run went.
pub(super) fn report_run(run: &FinishedRun<'_>, console: &Console) -> Result<Exit> {
    let FinishedRun { options, decision, outcome, words, started } = *run;
    let plan = &decision.plan;
    let out = console.out;
    let report = json::outcome(decision, outcome, words, Some(started));
    console.finish_with(&report);
    let stdout_is_dest = (options.dest == "-" || options.also.iter().any(|dest| dest == "-")) && plan.route.writes();
    // Progress in JSON has ended with the report: nothing else may be between its lines.
    let printed_as_json = options.progress == ProgressStyle::Json;
    let print = |text: &str| {
        if stdout_is_dest {
            // Where lines of JSON are printed to standard error, the last of them has the digests.
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
            // What only the manifest needs was not asked for here.
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

/// The name in a line of checksums: of a part of the source, it must not pass for the sum of the whole.
fn digest_name(options: &Options, plan: &Plan) -> String {
    let address = &plan.source.address;
    if let Some(ranges) = &plan.ranges {
        return format!("{address}, {}", ranges.name());
    }
    match plan.len {
        Some(len) if options.skip_bytes.is_some() || options.count_bytes.is_some() => {
            format!("{address} bytes {}+{len}", plan.source.offset)
        }
        _ => address.clone(),
    }
}
