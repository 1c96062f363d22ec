//! The result of comparing two sides.
use super::signal::signal_name;
use crate::core::{Differences, Ended, Extent, ExtentSet, Outcome, Plan, Route, Side, Unread};
use crate::report::columns::{Columns, whole};
use crate::report::printable::printable;
use crate::report::style::{CARE, STRONG, paint};
use crate::report::units;

/// Maximum number of runs listed in text; JSON has all of them.
const RUNS_SHOWN: usize = 8;

/// The verdict in one clause.
pub(super) fn verdict(plan: &Plan, outcome: &Outcome, differences: &Differences) -> String {
    let compared = match plan.len {
        Some(len) if !matches!(outcome.ended, Ended::Complete) => {
            let claimed = outcome.claimed.len;
            format!("{} of {} ({} %)", units::size(claimed), units::size(len), units::percent(claimed, len))
        }
        _ => units::size(outcome.totals.copied_bytes()),
    };
    let verdict = match outcome.ended {
        _ if !differences.is_empty() => paint(CARE, "different"),
        Ended::Complete if !outcome.unread.iter().all(Unread::is_empty) => {
            "equal in everything that could be read".to_owned()
        }
        Ended::Complete => paint(STRONG, "equal"),
        _ => "no difference so far".to_owned(),
    };
    match outcome.ended {
        Ended::Complete => format!("{verdict}: {compared} compared"),
        Ended::Interrupted(signal) => format!("{verdict}: interrupted by {} after {compared}", signal_name(signal)),
        Ended::OutOfTime | Ended::Failed(_) => format!("{verdict}: stopped after {compared}"),
    }
}

/// Adds rows about the differences.
pub(super) fn rows(plan: &Plan, differences: &Differences, rows: &mut Columns) {
    if differences.bytes > 0 && plan.route == Route::ReadBack {
        rows.row("differing", format!("blocks with {}", whole(&units::bytes(differences.bytes))));
    } else if differences.bytes > 0 {
        let (count, at_least) = (differences.runs.count() as u64, if differences.unlisted { "more than " } else { "" });
        let runs = units::count(count, "run of sectors", "runs of sectors");
        rows.row("differing", format!("{} in {at_least}{}", whole(&units::bytes(differences.bytes)), whole(&runs)));
    }
    if let Some(first) = differences.first.filter(|_| plan.route != Route::ReadBack) {
        rows.row("first", place(plan, first));
    }
    rows.row("runs", runs(plan, &differences.runs));
    if let Some((side, lacks)) = differences.shorter {
        let name = match (plan.side(side).address.as_str(), side) {
            ("-", Side::Source) => "standard input".to_owned(),
            (address, _) => printable(address),
        };
        let lacks = lacks.map_or_else(|| "the remaining data".to_owned(), |lacks| whole(&units::exact(lacks)));
        rows.row("end", format!("{} {name} is shorter: {lacks} are missing", side.name()));
    }
}

/// The offset of a byte, on both sides if they differ.
fn place(plan: &Plan, offset: u64) -> String {
    let [source, dest] = [Side::Source, Side::Dest].map(|side| plan.side(side).map.at(offset));
    match source == dest {
        true => format!("byte {}", whole(&dest.to_string())),
        false => format!("byte {source} of the source, {dest} of the destination"),
    }
}

/// Some of the runs, as offset and length on the dest.
pub(super) fn runs(plan: &Plan, runs: &ExtentSet) -> String {
    let places: ExtentSet = runs.iter().flat_map(|run| plan.dest.map.places(run)).collect();
    let mut shown: Vec<String> = places.iter().take(RUNS_SHOWN).map(describe_run).collect();
    match places.count().saturating_sub(RUNS_SHOWN) {
        0 => {}
        more => shown.push(format!("and {more} more; all with --json")),
    }
    shown.join(", ")
}

/// A run as offset and length on the dest.
fn describe_run(run: Extent) -> String {
    whole(&format!("{}+{}", run.offset, run.len))
}
