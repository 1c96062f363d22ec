//! The report in three lines: what was copied, how fast, and the bottleneck. Every problem has its rows as in
//! the full report, because the copy cannot be repeated to see them.
use super::ending::{claimed, how_fast, journal, what};
use super::{damage, dests, differences, memory_check, unread, verified};
use crate::core::{Ended, Outcome, PatternAct, Plan, Route, Side, side_and_part};
use crate::report::columns::{Columns, whole, width, wrap};
use crate::report::printable::printable;
use crate::report::style::{STRONG, paint};
use crate::report::units;
use std::time::Duration;

/// The indentation of lines after `haul: `.
const INDENT: &str = "      ";

/// The lines, each ended.
pub(super) fn lines(plan: &Plan, outcome: &Outcome) -> String {
    let what = what(plan, outcome) + &between(plan);
    let mut text = wrap(&format!("{} ", paint(STRONG, "haul:")), INDENT, &what, width());
    text += &wrap(INDENT, INDENT, &how_fast(plan, outcome), width());
    // If it is incomplete, the next step is at the end.
    if matches!(outcome.ended, Ended::Complete) {
        let limit = bottleneck(plan, outcome);
        text += &if limit.is_empty() { limit } else { wrap(INDENT, INDENT, &limit, width()) };
    }
    text + &rows_of_trouble(plan, outcome).lines()
}

/// The sides by the names given on the command line.
fn between(plan: &Plan) -> String {
    let [source, dest] = Side::BOTH.map(|side| match (plan.side(side).address.as_str(), side) {
        ("-", Side::Source) => "standard input".to_owned(),
        ("-", Side::Dest) => "standard output".to_owned(),
        (address, _) => whole(&printable(address)),
    });
    match (plan.pattern.map(|used| used.act), plan.route) {
        (Some(PatternAct::Write), _) => format!(" to {dest}"),
        (Some(PatternAct::Check), _) => format!(" on {source}"),
        (None, Route::Copy | Route::Delta { .. }) if plan.dests.len() > 1 => format!(" from {source}"),
        (None, Route::Copy | Route::Delta { .. }) => format!(" from {source} to {dest}"),
        (None, Route::Compare { .. }) => format!(", {source} with {dest}"),
        (None, Route::ReadBack) => format!(", {dest} with the digests in {source}"),
    }
}

/// The main bottleneck, as a share of the time before the flush; empty if there was none.
fn bottleneck(plan: &Plan, outcome: &Outcome) -> String {
    let copying = outcome.elapsed.saturating_sub(outcome.flushing);
    let [source, dest] = outcome.sides.each_ref().map(|side| side.waited);
    let of_copy = Side::BOTH.map(|side| side_and_part(side.name(), outcome.sides[side.index()].slowest_part));
    let names = match plan.pattern.map(|used| used.act) {
        Some(PatternAct::Write) => ["making the pattern", &of_copy[1]],
        Some(PatternAct::Check) => [&of_copy[0], "checking the pattern"],
        None => [&*of_copy[0], &of_copy[1]],
    };
    let waits =
        [(names[0], source), (names[1], dest), ("digests", outcome.digest_waited), ("--limit", outcome.limit_waited)];
    let (name, most) = waits.into_iter().max_by_key(|(_, waited)| *waited).unwrap_or(("", Duration::ZERO));
    if copying.is_zero() || most.is_zero() {
        return String::new();
    }
    let share = whole(&units::share(most, copying));
    match most.as_nanos() * 10 < copying.as_nanos() {
        true => format!("no bottleneck: neither side was waited for ({name} {share})"),
        false => format!("bottleneck: {name}, {share} of the time"),
    }
}

/// Rows about problems, and about each of several destinations.
fn rows_of_trouble(plan: &Plan, outcome: &Outcome) -> Columns {
    let mut rows = Columns::default();
    dests::rows(plan, outcome, &mut rows);
    if !matches!(outcome.ended, Ended::Complete) {
        rows.row(if plan.route.writes() { "copied" } else { "compared" }, claimed(plan, outcome));
    }
    if let Some(differences) = &outcome.differences {
        differences::rows(plan, differences, &mut rows);
    }
    unread::rows(plan, outcome, &mut rows);
    if let Some(found) = &outcome.damage {
        damage::rows(found, &mut rows);
    }
    if let Some(found) = outcome.verified.as_ref().filter(|found| !verified::is_beyond_doubt(found)) {
        verified::rows(plan, found, &mut rows);
    }
    rows.row("checked", memory_check::what_is_open(plan, outcome));
    if outcome.kept.as_ref().is_some_and(|kept| kept.left.is_some() || kept.already_bytes > 0) {
        rows.row("journal", journal(outcome));
    }
    rows
}

#[cfg(test)]
#[path = "short_tests.rs"]
mod tests;
