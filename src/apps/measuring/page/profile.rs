//! The page of `haul profile`: the rate by position, the latency of commands, the read methods.
use crate::apps::measuring::page::measured::{Measured, PARTIAL, page, rate};
use crate::apps::measuring::report as measuring;
use crate::core::Op;
use crate::measure::fit::Fit;
use crate::measure::{Cost, Effect, Position, Profiled, Way, WayCost};
use crate::report::page::axis::{Axis, Quantity};
use crate::report::page::chart::{Chart, Curve, Mark, Shape};
use crate::report::page::{Figure, Table, render};
use crate::report::units;
use std::time::Duration;

/// The page of a profile as HTML.
pub fn profile(found: &Profiled, measured: Measured<'_>) -> String {
    let mut page = page("profile", measured);
    let rates = || found.positions.iter().map(|position| position.zone.bytes_per_s);
    let doing = if measured.op == Op::Read { "Reading" } else { "Writing" };
    page.headline = match (rates().reduce(f64::min), rates().reduce(f64::max), found.whole_s) {
        (Some(low), Some(high), Some(whole_s)) => {
            let time = units::duration(Duration::from_secs_f64(whole_s));
            format!("{doing} all of it takes about {time}: {} to {} by position", rate(low), rate(high))
        }
        (Some(low), Some(high), None) => format!("{} to {} by position", rate(low), rate(high)),
        _ => "No measurement succeeded".to_owned(),
    };
    if found.failure.is_some() {
        page.warnings.push(PARTIAL.to_owned());
    }
    let size = measured.facts.size.unwrap_or(0);
    let op = measured.op;
    let parts = [zones(found, op, size), costs(found), buffer(found), ways(found, op), system_impact(found)];
    page.figures = parts.into_iter().flatten().collect();
    render(page)
}

fn zones(found: &Profiled, op: Op, size: u64) -> Option<Figure> {
    let positions = &found.positions;
    let by_rate = |one: &&Position, other: &&Position| one.zone.bytes_per_s.total_cmp(&other.zone.bytes_per_s);
    let (fastest, slowest) = (positions.iter().max_by(by_rate)?, positions.iter().min_by(by_rate)?);
    let place = |position: &Position| (position.zone.offset as f64, position.zone.bytes_per_s);
    let points: Vec<(f64, f64)> = positions.iter().map(place).collect();
    let bars = positions.iter().map(|position| Some(position.range)).collect();
    let across = [0.0, size as f64].into_iter().chain(points.iter().map(|point| point.0));
    let axes = [
        Axis::over(Quantity::Bytes, across),
        Axis::over(Quantity::Rate, positions.iter().map(|position| position.range.1)),
    ];
    let curves =
        vec![Curve::new("", 0, Shape::Area, points.clone()), Curve::new("", 0, Shape::Dots, points).with_bars(bars)];
    let mark =
        |name: &str, at: &Position| Mark { label: format!("{name}: {}", rate(at.zone.bytes_per_s)), at: place(at) };
    let chart = Chart::new("Rate by position", axes, curves)
        .with_bars_of("slowest to fastest run")
        .marking("fastest and slowest position", vec![mark("fastest", fastest), mark("slowest", slowest)]);
    let row = |position: &Position| {
        let zone = position.zone;
        let share = zone.offset as f64 / size.max(1) as f64 * 100.0;
        let (number, at) = (position.number.to_string(), units::size(zone.offset));
        vec![number, at, format!("{share:.0} %"), rate(zone.bytes_per_s), rate_range(position.range)]
    };
    let table = Table::new(&["no", "position", "of disk", "rate", "runs"], positions.iter().map(row).collect());
    let doing = if op == Op::Read { "Reading" } else { "Writing" };
    let what = format!(
        "{doing} at positions from the first byte to the last; each point is the median of its runs. On a rotational \
         disk the rate falls from the outer tracks (first bytes) to the inner ones."
    );
    let [[fast, high], [slow, low]] =
        [fastest, slowest].map(|at| [units::size(at.zone.offset), rate(at.zone.bytes_per_s)]);
    let answer = match positions.len() {
        1 => String::new(),
        _ => format!("fastest at {fast} with {high}, slowest at {slow} with {low}"),
    };
    Some(Figure::new("zones", "Rate by position", &what, &chart, Some(table)).answering(&answer))
}

/// The lowest and the highest rate of the runs.
fn rate_range((low, high): (f64, f64)) -> String {
    format!("{} to {}", rate(low), rate(high))
}

fn costs(found: &Profiled) -> Option<Figure> {
    let what = "Single commands by size, with the best linear fit: the fixed latency and the transfer rate. Both axes \
        are logarithmic.";
    cost_figure(["command-cost", "Command latency", what], &found.costs, found.fit)
}

fn buffer(found: &Profiled) -> Option<Figure> {
    let alone = found.commands.as_ref()?;
    let what = "READ BUFFER, one at a time: reads the memory of the drive without medium access. Both axes are \
        logarithmic.";
    cost_figure(["read-buffer", "Command latency without medium access", what], &alone.buffer, alone.buffer_fit)
}

fn cost_figure([id, title, what]: [&'static str; 3], costs: &[Cost], fit: Option<Fit>) -> Option<Figure> {
    let points: Vec<(f64, f64)> = costs.iter().map(|cost| (f64::from(cost.bytes), cost.seconds * 1e6)).collect();
    if points.is_empty() {
        return None;
    }
    let fitted = fit.map(|fit| {
        let on_line = |&(bytes, _): &(f64, f64)| (bytes, fit.seconds(bytes) * 1e6);
        Curve::new("latency + size / rate", 1, Shape::Line, points.iter().map(on_line).collect())
    });
    let range_us = |cost: &Cost| (cost.range_s.0 * 1e6, cost.range_s.1 * 1e6);
    let bars = costs.iter().map(|cost| Some(range_us(cost))).collect();
    let across = Axis::over(Quantity::BlockSize, points.iter().map(|point| point.0));
    let smallest = points[0].0;
    let measured = Curve::new("measured", 0, Shape::Dots, points).with_bars(bars);
    let curves: Vec<Curve> = fitted.into_iter().chain([measured]).collect();
    // A line that fits badly has points far from all measurements.
    let heights = curves.iter().flat_map(|curve| &curve.points).map(|point| point.1);
    let ends = costs.iter().map(range_us).flat_map(|(low, high)| [low, high]);
    let up = Axis::over(Quantity::Latency, heights.chain(ends));
    let mark = fit.map(|fit| Mark {
        label: format!("fixed latency {}", units::latency((fit.latency_s * 1e6).round() as u64)),
        at: (smallest, fit.seconds(smallest) * 1e6),
    });
    let chart = Chart::new("Command latency by size", [across, up], curves)
        .with_bars_of("fastest to slowest run")
        .marking("fixed latency", mark.into_iter().collect());
    let latency = |seconds: f64| units::latency((seconds * 1e6).round() as u64);
    let row = |cost: &Cost| {
        let line = fit.map(|fit| latency(fit.seconds(cost.bytes.into()))).unwrap_or_default();
        let runs = format!("{} to {}", latency(cost.range_s.0), latency(cost.range_s.1));
        vec![units::block(cost.bytes.into()), latency(cost.seconds), runs, rate(cost.bytes_per_s()), line]
    };
    let table = Table::new(&["command", "time", "runs", "rate", "line"], costs.iter().map(row).collect());
    let answer = fit.map(|fit| measuring::line_words(&fit)).unwrap_or_default();
    Some(Figure::new(id, title, what, &chart, Some(table)).answering(&answer))
}

fn ways(found: &Profiled, op: Op) -> Option<Figure> {
    if found.ways.is_empty() {
        return None;
    }
    let row = |way: &WayCost| {
        let cached = if way.cached { " (cached before)" } else { "" };
        vec![
            way.way.name().to_owned(),
            rate(way.bytes_per_s) + cached,
            rate_range(way.range),
            format!("{:.3}", way.cpu_s_per_gib * units::giga().1),
            format!("{:.0} %", way.cpu_share * 100.0),
            format!("{:.0} %", way.left_in_cache * 100.0),
            way.driver_copied.map(|share| format!("{:.0} %", share * 100.0)).unwrap_or_default(),
        ]
    };
    let by_node = found.ways.iter().any(|way| way.way == Way::Indirect);
    let cpu = format!("CPU s/{}", units::giga().0);
    let mut columns = vec!["way", "rate", "runs", &cpu, "CPU", "left in cache", "copied by the driver anyway"];
    let mut rows: Vec<Vec<String>> = found.ways.iter().map(row).collect();
    if !by_node {
        columns.pop();
        rows.iter_mut().for_each(|row| drop(row.pop()));
    }
    let table = Table::new(&columns, rows);
    let (title, what) = match (by_node, op) {
        (true, _) => (
            "Ways of reading",
            "Single commands of the same size: without a copy in the driver where supported (direct), copied by the \
             driver (indirect), and into shared memory (mmap).",
        ),
        (_, Op::Read) => ("Ways of reading", "Direct, buffered and memory-mapped reads."),
        _ => ("Ways of writing", "Direct and buffered writes, each until the data is durable."),
    };
    Some(Figure::of_table("ways", title, what, table).answering(&best_way(&found.ways)))
}

/// The fastest read method, and the one with the lowest CPU time; those that the page cache helped are
/// excluded.
fn best_way(ways: &[WayCost]) -> String {
    let fair = || ways.iter().filter(|way| !way.cached);
    let fast = fair().max_by(|one, other| one.bytes_per_s.total_cmp(&other.bytes_per_s));
    let cheap = fair().min_by(|one, other| one.cpu_s_per_gib.total_cmp(&other.cpu_s_per_gib));
    let (Some(fast), Some(cheap), true) = (fast, cheap, fair().count() > 1) else { return String::new() };
    let also = if fast.way == cheap.way { "it".to_owned() } else { cheap.way.name().to_owned() };
    let (name, rate) = (fast.way.name(), rate(fast.bytes_per_s));
    let (giga, in_gib) = units::giga();
    let cpu_s = cheap.cpu_s_per_gib * in_gib;
    format!("{name} is fastest with {rate}; {also} uses the least CPU time, {cpu_s:.3} s per {giga}")
}

fn system_impact(found: &Profiled) -> Option<Figure> {
    let system_impact = found.system_impact.as_ref()?.as_ref().ok()?;
    let row = |effect: &Effect| {
        let read = if effect.way.is_some() { units::size(effect.read_bytes) } else { String::new() };
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let starts = [effect.start_before_s, effect.start_during_s, effect.start_after_s];
        let starts = starts.map(|seconds| units::latency((seconds * 1e6).round() as u64));
        let test_file = [percent(effect.kept_least), percent(effect.kept)];
        [measuring::name(effect).to_owned(), read].into_iter().chain(test_file).chain(starts).collect()
    };
    let columns =
        ["reading", "read", "lowest cached share", "cached share after", "start before", "start during", "start after"];
    let table = Table::new(&columns, system_impact.effects.iter().map(row).collect());
    let what = format!(
        "The share of a cached test file that remains in the page cache, and the start time of haul --version: when \
         idle, and while this disk is read as dd does. With {}.",
        measuring::conditions(system_impact)
    );
    let answer = measuring::felt(system_impact);
    Some(Figure::of_table("system-impact", "System impact", &what, table).answering(&answer))
}
