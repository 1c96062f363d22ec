//! The page of a copy: rates over time and position, latencies, and bottlenecks.
use super::axis::{Axis, Quantity};
use super::chart::{Chart, Curve, Shape};
use super::map::map;
use super::rates::{Piece, WAITED_FOR, moving, pieces};
use super::{Figure, Page, Table, bare, capital, device, frame, latency, render};
use crate::core::{Decision, Direction, Ended, Facts, Machine, Outcome, Plan, Series, Side, side_and_part};
use crate::plan::Verbosity;
use crate::report::printable::shell_line_as_it_is;
use crate::report::{text, units};
use std::time::{Duration, SystemTime};

/// Maximum number of points that can be distinguished on a screen.
const PIECES_MAX: u32 = 160;
/// Minimum duration of a piece for a meaningful rate and wait; the engine distributes waiting times over 250
/// ms.
const RATE_PIECE: Duration = Duration::from_millis(90);
const WAIT_PIECE: Duration = Duration::from_millis(750);
/// Ratio of the widths of consecutive latency classes.
const CLASS_STEP: f64 = 1.2;

/// The data for the page of a copy.
#[derive(Clone, Copy, Debug)]
pub struct CopyFound<'a> {
    /// The decision.
    pub decision: &'a Decision,
    /// The outcome.
    pub outcome: &'a Outcome,
    /// The course of the copy.
    pub series: &'a Series,
    /// Source and dests, as probed before the copy.
    pub facts: &'a [(Side, Facts)],
    /// The machine.
    pub machine: &'a Machine,
    /// The command line without the program's name.
    pub words: &'a [String],
    /// The start of the copy.
    pub started: SystemTime,
}

/// The page of a copy, complete or not, as HTML.
pub fn copy(found: CopyFound<'_>) -> String {
    let CopyFound { decision, outcome, words, .. } = found;
    let plan = &decision.plan;
    let title = format!("haul {}: {} to {}", plan.verb(), plan.source.address, dests(plan));
    let mut page = frame(title, words, found.started, found.machine);
    page.headline = capital(&bare(&text::headline(plan, outcome)));
    match &outcome.ended {
        Ended::Complete => {}
        Ended::Interrupted(_) => {
            page.warnings.push("Interrupted: the report covers the part copied so far.".to_owned())
        }
        Ended::OutOfTime => {
            page.warnings.push("Stopped by --time: the copy is incomplete.".to_owned());
        }
        Ended::Failed(error) => page.warnings.push(bare(&text::error(error)).trim_start_matches("haul: ").to_owned()),
    }
    let bottleneck = bare(&text::bottleneck(outcome));
    let listed = decision.notes.range.as_ref().filter(|_| plan.is_listed());
    let summary = [
        ("Range", listed.map(|why| why.because.clone()).unwrap_or_default()),
        ("Elapsed", bare(&text::time(outcome))),
        ("Remaining", remaining(plan, outcome)),
        ("To continue", text::continue_command(plan, outcome, words).unwrap_or_default()),
        ("Next step", text::no_continuation(plan, outcome, words).unwrap_or_default()),
        ("Estimate", bare(&text::estimated(outcome))),
        ("Rate", bare(&text::rate(outcome))),
        ("Bottleneck", bottleneck),
    ];
    page.summary = summary
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    page.summary.extend(each_dest(plan, outcome, words));
    let digests =
        outcome.digests.iter().map(|digest| ("Digest".to_owned(), format!("{} {}", digest.kind.name(), digest.hex)));
    page.summary.extend(digests);
    figures(found, &mut page);
    let several = found.facts.iter().filter(|(side, _)| *side == Side::Dest).count();
    // The source comes first.
    let heading = |number: usize, side: Side| match side {
        Side::Dest if several > 1 => format!("Destination {number} of {several}"),
        _ => format!("The {}", side.name()),
    };
    let facts = found.facts.iter().enumerate();
    page.facts.splice(0..0, facts.map(|(number, (side, facts))| (heading(number, *side), device::side(facts))));
    page.report = bare(&text::outcome(decision, outcome, words, Verbosity::Full));
    render(page)
}

/// What a copy that ended early has not copied, as in its headline and map, and how long that takes at the mean
/// rate; empty for a complete copy, and for a source of unknown size.
fn remaining(plan: &Plan, outcome: &Outcome) -> String {
    if matches!(outcome.ended, Ended::Complete) {
        return String::new();
    }
    let Some(total_bytes) = plan.len else { return String::new() };
    let copied_bytes = outcome.totals.copied_bytes();
    let left_bytes = total_bytes.saturating_sub(outcome.claimed.len);
    let share = format!("{} ({} %)", units::bytes(left_bytes), units::percent(left_bytes, total_bytes));
    match units::per_second(copied_bytes, outcome.elapsed) {
        Some(rate) if rate > 0 && left_bytes > 0 => {
            let left = Duration::from_secs_f64(left_bytes as f64 / rate as f64);
            format!("{share}, {} at the mean rate", units::time_left(left))
        }
        _ => share,
    }
}

/// The result of each of several dests, and the command that completes it.
fn each_dest(plan: &Plan, outcome: &Outcome, words: &[String]) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for ((address, result), dest) in text::dest_results(plan, outcome).into_iter().zip(&outcome.dests) {
        rows.push((format!("Destination {address}"), bare(&result)));
        let command = text::rest_of_dest(plan, outcome, dest, words).map(shell_line_as_it_is);
        rows.extend(command.map(|command| (format!("To complete {address}"), command)));
    }
    rows
}

/// The destination: one, or the first and the number of the others.
fn dests(plan: &Plan) -> String {
    let first = &plan.dest.address;
    match plan.dests.as_slice() {
        [] | [_] => first.clone(),
        [one, other] => format!("{} and {}", one.side.address, other.side.address),
        [one, others @ ..] => format!("{} and {}", one.side.address, units::count(others.len(), "other", "others")),
    }
}

fn figures(found: CopyFound<'_>, page: &mut Page) {
    let moments = found.series.moments();
    let rates = pieces(&moments, RATE_PIECE, PIECES_MAX);
    if !rates.is_empty() {
        page.figures.push(over_time(found.outcome, &rates));
        page.figures.extend(over_place(found, &rates));
    }
    page.figures.extend(map(&found.decision.plan, found.outcome, found.facts));
    let waits = pieces(&moments, WAIT_PIECE, PIECES_MAX);
    if waits.iter().any(|piece| piece.waited_percent.iter().any(|&percent| percent > 0.0)) {
        page.figures.push(waiting(&waits).answering(&held_back_most(found.outcome)));
    }
    page.figures.extend(latencies(found.outcome));
}

fn rate(bytes_per_s: f64) -> String {
    units::rate_at_a_glance(bytes_per_s.round() as u64)
}

/// The rates of both sides, each at the position that `across` returns for a piece.
fn both_rates(
    label: &str,
    quantity: Quantity,
    rates: &[Piece],
    across: &dyn Fn(&Piece) -> f64,
    until: Option<f64>,
) -> Chart {
    let curve = |side: Side, shape| {
        let points = rates.iter().map(|piece| (across(piece), piece.bytes_per_s[side.index()])).collect();
        Curve::new(side.name(), side.index(), shape, points)
    };
    let ends = rates.iter().flat_map(|piece| piece.bytes_per_s);
    let places = rates.iter().map(across).chain(until);
    let axes = [Axis::over(quantity, places), Axis::over(Quantity::Rate, ends)];
    Chart::new(label, axes, vec![curve(Side::Source, Shape::Area), curve(Side::Dest, Shape::Line)])
}

/// A figure with a chart if there are two points or more; otherwise only the table.
fn drawn(id: &'static str, title: &str, what: &str, chart: &Chart, table: Table) -> Figure {
    if table.rows.len() < 2 {
        return Figure::of_table(id, title, what, table);
    }
    Figure::new(id, title, what, chart, Some(table))
}

fn over_time(outcome: &Outcome, rates: &[Piece]) -> Figure {
    let end = rates.last().map(|piece| piece.end_s);
    let chart = both_rates("Rate of both sides over time", Quantity::Time, rates, &|piece| piece.middle_s, end);
    let row = |piece: &Piece| {
        let time = format!("{:.1} s", piece.end_s);
        vec![time, units::size(piece.copied_bytes.1), rate(piece.bytes_per_s[0]), rate(piece.bytes_per_s[1])]
    };
    let table = Table::new(&["until", "copied", "source", "destination"], rates.iter().map(row).collect());
    let what = "Bytes per second read from the source and acknowledged by the destination, without holes and zeros \
        that were not sent. Where both are 0 at the end, the data was being flushed.";
    drawn("rate-over-time", "Rate over time", what, &chart, table).answering(&range(outcome, rates))
}

/// The mean rate, and its range.
fn range(outcome: &Outcome, rates: &[Piece]) -> String {
    let whole = units::per_second(outcome.totals.copied_bytes(), outcome.elapsed).filter(|&rate| rate > 0);
    let moved = moving(rates);
    let dest = || moved.iter().map(|piece| piece.bytes_per_s[Side::Dest.index()]).filter(|&rate| rate > 0.0);
    match (whole, dest().reduce(f64::min), dest().reduce(f64::max)) {
        (Some(whole), Some(low), Some(high)) if rates.len() > 1 => {
            let whole = units::rate_at_a_glance(whole);
            format!("{whole} overall; the destination wrote {} to {}", rate(low), rate(high))
        }
        _ => String::new(),
    }
}

/// Rates of the dest in the first and the last tenth of the copy; empty if there are few pieces.
fn from_end_to_end(moved: &[Piece]) -> String {
    let tenth = moved.len() / 10;
    if tenth == 0 {
        return String::new();
    }
    let mean = |pieces: &[Piece]| {
        let seconds = |piece: &Piece| (piece.end_s - piece.middle_s) * 2.0;
        let bytes: f64 = pieces.iter().map(|piece| piece.bytes_per_s[Side::Dest.index()] * seconds(piece)).sum();
        rate(bytes / pieces.iter().map(seconds).sum::<f64>())
    };
    let [first, last] = [&moved[..tenth], &moved[moved.len() - tenth..]].map(mean);
    format!("{first} in the first tenth of the time, {last} in the last")
}

/// The rate over position; `None` if the order is not by position, as for the rest of a resumed copy.
fn over_place(found: CopyFound<'_>, rates: &[Piece]) -> Option<Figure> {
    let resumed = found.outcome.kept.as_ref().is_some_and(|kept| kept.already_bytes > 0);
    if resumed || found.decision.plan.is_listed() {
        return None;
    }
    let start = found.decision.plan.source.map.start();
    let backward = found.decision.plan.len.filter(|_| found.decision.plan.direction == Direction::Backward);
    let place = |piece: &Piece| {
        let copied = piece.copied_bytes.0 / 2 + piece.copied_bytes.1 / 2;
        (start + backward.map_or(copied, |len| len.saturating_sub(copied))) as f64
    };
    let moved = moving(rates);
    if moved.len() < 2 {
        return None;
    }
    let chart = both_rates("Rate of both sides over position", Quantity::Bytes, &moved, &place, None);
    let what = "The same rates by position on the source. On a rotational disk the rate falls from the first byte to \
        the last.";
    let figure = Figure::new("rate-over-position", "Rate over position", what, &chart, None);
    Some(figure.answering(&from_end_to_end(&moved)))
}

/// Minimum share of time for a bottleneck, in percent, and the maximum distance to the largest share.
const CAUSE_PERCENT: f64 = 10.0;

fn waiting(waits: &[Piece]) -> Figure {
    let seen = |&what: &usize| what < 2 || waits.iter().any(|piece| piece.waited_percent[what] > 0.0);
    let seen: Vec<usize> = (0..WAITED_FOR.len()).filter(seen).collect();
    let curve = |&what: &usize| {
        let points = waits.iter().map(|piece| (piece.middle_s, piece.waited_percent[what])).collect();
        Curve::new(WAITED_FOR[what], what, Shape::Area, points)
    };
    let axes = [Axis::over(Quantity::Time, waits.iter().map(|piece| piece.end_s)), Axis::percent()];
    let label = "Share of the time spent waiting, by bottleneck";
    let chart = Chart::new(label, axes, seen.iter().map(curve).collect());
    let row = |piece: &Piece| {
        let shares = seen.iter().map(|&what| format!("{:.0} %", piece.waited_percent[what]));
        let until = format!("{:.1} s", piece.end_s);
        [until].into_iter().chain(shares).chain([held_back_by(piece)]).collect()
    };
    let names = seen.iter().map(|&what| WAITED_FOR[what]);
    let columns: Vec<&str> = ["until"].into_iter().chain(names).chain(["bottleneck"]).collect();
    let table = Table::new(&columns, waits.iter().map(row).collect());
    let what = "Share of the time spent waiting for each: the highest is the bottleneck. The rest to 100 % is \
        flushing and other work.";
    drawn("waiting", "Bottleneck", what, &chart, table)
}

/// The main bottleneck of the copy.
fn held_back_most(outcome: &Outcome) -> String {
    let copying = outcome.elapsed.saturating_sub(outcome.flushing);
    let [source, dest] = outcome.sides.each_ref().map(|side| side.waited);
    let waits = [source, dest, outcome.limit_waited, outcome.digest_waited];
    let most = (0..).zip(waits).max_by_key(|(_, waited)| *waited);
    match most.filter(|(_, waited)| !waited.is_zero()) {
        Some((what, waited)) => {
            let name = side_and_part(WAITED_FOR[what], outcome.sides.get(what).and_then(|side| side.slowest_part));
            format!("bottleneck: {name}, {} of the time", units::share(waited, copying))
        }
        None => String::new(),
    }
}

/// The main bottleneck, and others of about the same share.
pub(super) fn held_back_by(piece: &Piece) -> String {
    let most = piece.waited_percent.iter().copied().fold(0.0, f64::max);
    let enough = (most - CAUSE_PERCENT).max(most / 2.0);
    let alike = |&what: &usize| piece.waited_percent[what] >= enough;
    let named: Vec<&str> = (0..WAITED_FOR.len()).filter(alike).map(|what| WAITED_FOR[what]).collect();
    if most < CAUSE_PERCENT { "nothing".to_owned() } else { named.join(", ") }
}

/// `None` if no requests were counted, as when a file system shares extents.
fn latencies(outcome: &Outcome) -> Option<Figure> {
    let asked = Side::BOTH.into_iter().filter(|side| outcome.sides[side.index()].latency.count > 0);
    let sides: Vec<Side> = asked.collect();
    if sides.is_empty() {
        return None;
    }
    let curve = |&side: &Side| {
        let points = latency::distribution(&outcome.sides[side.index()].latencies, CLASS_STEP);
        Curve::new(side.name(), side.index(), Shape::Area, points)
    };
    let chart = latency::chart("Request latency by side", sides.iter().map(curve).collect());
    let row = |&side: &Side| {
        let latency = outcome.sides[side.index()].latency;
        let times = [latency.p50_us, latency.p90_us, latency.p99_us, latency.max_us].map(units::latency);
        [side.name().to_owned(), latency.count.to_string()].into_iter().chain(times).collect()
    };
    let columns = ["side", "requests", "latency p50", "p90", "p99", "max"];
    let table = Table::new(&columns, sides.iter().map(row).collect());
    let what = "Distribution of request latency from submission to completion; the time axis is logarithmic.";
    let half = |side: &Side| {
        let whose = if *side == Side::Source { "reads" } else { "writes" };
        format!("{whose}: latency p50 {}", units::latency(outcome.sides[side.index()].latency.p50_us))
    };
    let answer = sides.iter().map(half).collect::<Vec<_>>().join(", ");
    Some(Figure::new("latencies", "Latencies", what, &chart, Some(table)).answering(&answer))
}
