//! The tables of `haul profile`.
use super::chart::{self, ChartStyle};
use super::cost::{costs, line_words};
use super::{Run, commands, heading, system_impact, whole};
use crate::core::{Facts, Op};
use crate::measure::stats::median;
use crate::measure::{Position, Profiled, Timed, Way, WayCost};
use crate::report::columns::Columns;
use crate::report::printable::printable;
use crate::report::style::{STRONG, paint};
use crate::report::text::{described, queue};
use crate::report::units;
use std::time::Duration;

/// All results, in tables and sentences, with `charts` between them.
pub fn profile_text(run: &Run<'_>, found: &Profiled, charts: &str) -> String {
    let mut head = Columns::default();
    head.row("disk", described(run.facts));
    let mut text = head.lines() + &positions(found, run.facts.size.unwrap_or(0));
    text += &costs("command", &found.costs, found.fit);
    text += &found.commands.as_ref().map(commands::table).unwrap_or_default();
    text += &ways(&found.ways);
    text += &system_impact::table(found);
    let mut rows = Columns::default();
    summary(found, run.op, &mut rows);
    rows.row("system impact", system_impact::sentence(found));
    rows.row("queue", queued(run.facts, found));
    run.rows(found.failure.as_ref(), &mut rows);
    text += &format!("{charts}\n{}", rows.lines());
    text
}

/// Scheduler and read-ahead, and better settings for the disk.
fn queued(facts: &Facts, found: &Profiled) -> String {
    let rate = |way| found.ways.iter().find(|cost| cost.way == way && !cost.cached).map(|cost| cost.bytes_per_s);
    let rates = rate(Way::Buffered).zip(rate(Way::Direct));
    let advice = rates.and_then(|(buffered, direct)| queue::read_ahead_advice(facts, buffered, direct));
    queue::of_side(facts).into_iter().chain(advice).collect::<Vec<_>>().join("; ")
}

/// The rate by position, for the terminal.
pub fn profile_charts(facts: &Facts, found: &Profiled, look: ChartStyle) -> String {
    let points: Vec<(f64, f64)> =
        found.positions.iter().map(|Position { zone, .. }| (zone.offset as f64, zone.bytes_per_s)).collect();
    let size = facts.size.unwrap_or(0) as f64;
    let position = |at: f64| if at > 0.0 { units::size(at as u64) } else { "0".to_owned() };
    let chart = chart::columns("rate by position", &points, size, &position, look);
    if chart.is_empty() { chart } else { format!("\n{chart}") }
}

fn positions(found: &Profiled, size: u64) -> String {
    let mut text = heading(&format!("{:>4} {:>12} {:>9} {:>12}", "no", "position", "of disk", "rate"));
    for Position { number, zone, .. } in &found.positions {
        let rate = units::rate_at_a_glance(whole(zone.bytes_per_s));
        let percent = zone.offset as f64 / size.max(1) as f64 * 100.0;
        text += &format!("{number:>4} {:>12} {percent:>7.0} % {rate:>12}\n", units::size(zone.offset));
    }
    text
}

fn ways(ways: &[WayCost]) -> String {
    let (giga, in_gib) = units::giga();
    let cpu = format!("CPU s/{giga}");
    let heading_line = format!("{:>12} {:>12} {:>10} {:>6} {:>14}", "way", "rate", cpu, "CPU", "left in cache");
    let mut text = heading(&heading_line);
    for way in ways {
        let rate = units::rate_at_a_glance(whole(way.bytes_per_s));
        let cached = if way.cached { " *" } else { "" };
        text += &format!(
            "{:>12} {rate:>12} {:>10.3} {:>4.0} % {:>12.0} %{cached}\n",
            way.way.name(),
            way.cpu_s_per_gib * in_gib,
            way.cpu_share * 100.0,
            way.left_in_cache * 100.0
        );
    }
    text
}

fn summary(found: &Profiled, op: Op, rows: &mut Columns) {
    let rates: Vec<f64> = found.positions.iter().map(|position| position.zone.bytes_per_s).collect();
    let [low, high] = [rates.iter().copied().reduce(f64::min), rates.iter().copied().reduce(f64::max)];
    let rate = |rate: f64| units::rate_at_a_glance(whole(rate));
    if let (Some(whole_s), Some(low), Some(high)) = (found.whole_s, low, high) {
        let time = units::duration(Duration::from_secs_f64(whole_s));
        let doing = if op == Op::Read { "reading" } else { "writing" };
        rows.row("whole", format!("{doing} all of it takes about {time}; {} to {}", rate(low), rate(high)));
    }
    if let Some(fit) = found.fit {
        rows.row("command", line_words(&fit));
    }
    if let Some(alone) = &found.commands {
        commands::rows(alone, rows);
    }
    commands::driver(&found.ways, rows);
    let raw = found.costs.iter().map(|cost| cost.bytes_per_s());
    if let (Some(best), Some(worst)) = (raw.clone().reduce(f64::max), raw.reduce(f64::min)) {
        rows.row("one at a time", format!("{} at best, {} at worst", rate(best), rate(worst)));
    }
    if found.ways.iter().any(|way| way.cached) {
        rows.row("*", "part of it was in the page cache: this measures memory, not the disk");
    }
}

/// One line, like hdparm -t; empty if no run has a rate.
pub fn timing_text(facts: &Facts, from: u64, timed: &Timed, each: Duration) -> String {
    let rates = timed.rates.as_slice();
    let [low, high] = [f64::min, f64::max].map(|pick| rates.iter().copied().reduce(pick));
    let (Some(middle), Some(low), Some(high)) = (median(rates), low, high) else { return String::new() };
    let [low, high] = [low, high].map(|rate| units::rate_at_a_glance(whole(rate)));
    let reads = units::count(rates.len() as u64, "read", "reads");
    let from = if from == 0 { "the start".to_owned() } else { format!("byte {from}") };
    let partial = if timed.failure.is_some() { "; ended early" } else { "" };
    format!(
        "{}: {}, median of {reads} of {} from {from}; {low} to {high}{partial}\n",
        printable(&facts.address),
        paint(STRONG, &units::rate(whole(middle))),
        units::duration(each),
    )
}

/// All results as comma-separated values; the first field is the subject of the line.
pub fn profile_csv(found: &Profiled) -> String {
    let mut text = "part,way,offset_bytes,block_bytes,seconds,bytes_per_s,cpu_s_per_gib,left_in_cache,read_bytes,\
                    cached_after,start_before_s,start_during_s,start_after_s,driver_copied,cpu_share\n"
        .to_owned();
    for Position { zone, .. } in &found.positions {
        text += &format!("position,,{},,,{:.0},,,,,,,,,\n", zone.offset, zone.bytes_per_s);
    }
    for cost in &found.costs {
        text += &format!("command,,,{},{:.9},{:.0},,,,,,,,,\n", cost.bytes, cost.seconds, cost.bytes_per_s());
    }
    if let Some(alone) = &found.commands {
        text += &alone.empty_s.map(|seconds| format!("empty,,,0,{seconds:.9},,,,,,,,,,\n")).unwrap_or_default();
        for cost in &alone.buffer {
            text += &format!("read_buffer,,,{},{:.9},{:.0},,,,,,,,,\n", cost.bytes, cost.seconds, cost.bytes_per_s());
        }
    }
    for way in &found.ways {
        let (name, rate) = (way.way.name(), way.bytes_per_s);
        let driver = way.driver_copied.map(|share| format!("{share:.3}")).unwrap_or_default();
        let (cpu, share, left) = (way.cpu_s_per_gib, way.cpu_share, way.left_in_cache);
        text += &format!("way,{name},,,,{rate:.0},{cpu:.4},{left:.3},,,,,,{driver},{share:.4}\n");
    }
    for effect in found.system_impact.iter().flatten().flat_map(|system_impact| &system_impact.effects) {
        let [before, during, after] = [effect.start_before_s, effect.start_during_s, effect.start_after_s];
        let (name, read, kept) = (system_impact::name(effect), effect.read_bytes, effect.kept);
        let seconds = effect.seconds;
        text += &format!("rest,{name},,,{seconds:.3},,,,{read},{kept:.3},{before:.6},{during:.6},{after:.6},,\n");
    }
    text
}
