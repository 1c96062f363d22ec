//! The pages of `haul tune` and `haul profile`: the sweep, the zone curve, what a command costs.
use crate::apps::measuring::report as measuring;
use crate::core::{Facts, Machine, Op};
use crate::measure::fit::Fit;
use crate::measure::{BestPoint, Cost, Effect, Entry, Point, Profiled, Trial, Tuned, Way, WayCost, Zone};
use crate::report::page::axis::{Axis, Quantity};
use crate::report::page::chart::{Chart, Curve, Shape};
use crate::report::page::{Page, PointRate, Table, bare, device, frame, render};
use crate::report::units;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// What every page of something measured is made of.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// What was measured.
    pub facts: &'a Facts,
    /// Reading or writing.
    pub op: Op,
    /// Where.
    pub machine: &'a Machine,
    /// The command line behind the program's name.
    pub words: &'a [String],
    /// When it began.
    pub started: SystemTime,
    /// What makes the figures doubtful.
    pub warnings: &'a [String],
    /// What a terminal showed of the answer.
    pub shown_text: &'a str,
}

pub(crate) fn page(verb: &str, measured: Measured<'_>) -> Page {
    let Measured { facts, op, machine, words, started, warnings, shown_text } = measured;
    let mut page = frame(
        format!("haul {verb}{}: {}", if op == Op::Read { "" } else { " --write" }, facts.address),
        words,
        started,
        machine,
    );
    page.warnings = warnings.to_vec();
    page.report = bare(shown_text).trim().to_owned();
    page.facts.insert(0, ("What was measured".to_owned(), device::side(facts)));
    page
}

pub(crate) fn rate(bytes_per_s: f64) -> String {
    units::rate_at_a_glance(bytes_per_s.round() as u64)
}

/// The page of a sweep as HTML.
pub fn tune(tuned: &Tuned, measured: Measured<'_>) -> String {
    let mut page = page("tune", measured);
    page.headline = match &tuned.answer {
        Some(found) => enough(found),
        None => "No measurement succeeded".to_owned(),
    };
    if tuned.failure.is_some() {
        page.warnings.push("The measurement ended early: results so far.".to_owned());
    }
    let drawn: [(Way, &'static str); 2] = [(Way::Direct, "sweep-direct"), (Way::Buffered, "sweep-buffered")];
    page.figures.extend(drawn.into_iter().filter_map(|(way, id)| sweep(tuned, way, id)));
    render(page)
}

/// The setting that is good enough, and what for.
fn enough(found: &BestPoint) -> String {
    let setting =
        |point: Point| format!("{} blocks, {} in flight", units::block(point.block_bytes.into()), point.depth);
    let of_best = match found.pick == found.best {
        true => "no other setting is faster".to_owned(),
        false => format!("{:.0} % of the best, {}", found.share * 100.0, setting(found.best)),
    };
    format!("{}: {}, {of_best}", setting(found.pick), rate(found.pick_bytes_per_s))
}

/// A curve for each depth.
fn sweep(tuned: &Tuned, way: Way, id: &'static str) -> Option<PointRate> {
    let entries: Vec<&Entry> =
        tuned.sweep.entries().iter().filter(|entry| entry.point.way == way && entry.rate().is_some()).collect();
    let mut depths: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    for entry in &entries {
        let point = (f64::from(entry.point.block_bytes), entry.rate().unwrap_or(0.0));
        depths.entry(entry.point.depth).or_default().push(point);
    }
    let mut curves = Vec::new();
    for (number, (depth, mut points)) in depths.into_iter().enumerate() {
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        curves.push(Curve::new(&format!("{depth} in flight"), number, Shape::Line, points.clone()));
        curves.push(Curve::new("", number, Shape::Dots, points));
    }
    let points = || curves.iter().flat_map(|curve| curve.points.iter().copied());
    points().next()?;
    let chart = Chart {
        label: format!("Rate by block size, {} I/O", way.name()),
        across: Axis::over(Quantity::BlockSize, points().map(|point| point.0)),
        up: Axis::over(Quantity::Rate, points().map(|point| point.1)),
        curves: curves.clone(),
    };
    let cpu = format!("CPU s/{}", units::giga().0);
    let columns = ["block", "depth", "rate", "±", "requests/s", "latency p50", "p99", &cpu, "runs"];
    let table = Table::new(&columns, entries.into_iter().map(row).collect());
    let title = format!("Rate by block size: {}", way.name());
    let what = match way {
        Way::Direct => {
            "Direct I/O. Each point is the median of its runs at different positions; the block size axis is \
             logarithmic."
        }
        _ => "Buffered I/O, where read-ahead hides the effect of the block size.",
    };
    let found = [&tuned.answer, &tuned.buffered].into_iter().flatten().find(|found| found.pick.way == way);
    Some(PointRate::new(id, &title, what, &chart, Some(table)).answering(&found.map(enough).unwrap_or_default()))
}

fn row(entry: &Entry) -> Vec<String> {
    let of = |number: fn(&Trial) -> f64| entry.median_of(number).unwrap_or(0.0);
    let latency = |us: f64| units::latency(us.round() as u64);
    let cached = if entry.was_cached() { " (cached)" } else { "" };
    vec![
        units::block(entry.point.block_bytes.into()),
        entry.point.depth.to_string(),
        rate(entry.rate().unwrap_or(0.0)) + cached,
        measuring::spread(entry),
        format!("{:.0}", measuring::requests_per_s(entry).unwrap_or(0.0)),
        latency(of(|trial| trial.p50_us)),
        latency(of(|trial| trial.p99_us)),
        format!("{:.3}", of(Trial::cpu_s_per_gib) * units::giga().1),
        entry.trials.len().to_string(),
    ]
}

/// The page of a profile as HTML.
pub fn profile(found: &Profiled, measured: Measured<'_>) -> String {
    let mut page = page("profile", measured);
    let rates = || found.zones.iter().map(|zone| zone.bytes_per_s);
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
        page.warnings.push("The measurement ended early: results so far.".to_owned());
    }
    let size = measured.facts.size.unwrap_or(0);
    let op = measured.op;
    let parts = [zones(found, op, size), costs(found), buffer(found), ways(found, op), system_impact(found)];
    page.figures = parts.into_iter().flatten().collect();
    render(page)
}

fn zones(found: &Profiled, op: Op, size: u64) -> Option<PointRate> {
    let points: Vec<(f64, f64)> = found.zones.iter().map(|zone| (zone.offset as f64, zone.bytes_per_s)).collect();
    if points.is_empty() {
        return None;
    }
    let chart = Chart {
        label: "Rate by position".to_owned(),
        across: Axis::over(Quantity::Bytes, [0.0, size as f64].into_iter().chain(points.iter().map(|point| point.0))),
        up: Axis::over(Quantity::Rate, points.iter().map(|point| point.1)),
        curves: vec![Curve::new("", 0, Shape::Area, points.clone()), Curve::new("", 0, Shape::Dots, points)],
    };
    let row = |zone: &Zone| {
        let share = zone.offset as f64 / size.max(1) as f64 * 100.0;
        vec![units::size(zone.offset), format!("{share:.0} %"), rate(zone.bytes_per_s)]
    };
    let table = Table::new(&["position", "of disk", "rate"], found.zones.iter().map(row).collect());
    let doing = if op == Op::Read { "Reading" } else { "Writing" };
    let what = format!(
        "{doing} at positions from the first byte to the last. On a rotational disk the rate falls from the outer \
         tracks (first bytes) to the inner ones."
    );
    let by_rate = |one: &&Zone, other: &&Zone| one.bytes_per_s.total_cmp(&other.bytes_per_s);
    let end = |zone: Option<&Zone>| zone.map(|zone| [rate(zone.bytes_per_s), units::size(zone.offset)]);
    let answer = match (end(found.zones.iter().max_by(by_rate)), end(found.zones.iter().min_by(by_rate))) {
        (Some([high, fast]), Some([low, slow])) if found.zones.len() > 1 => {
            format!("fastest at {fast} with {high}, slowest at {slow} with {low}")
        }
        _ => String::new(),
    };
    Some(PointRate::new("zones", "Rate by position", &what, &chart, Some(table)).answering(&answer))
}

fn costs(found: &Profiled) -> Option<PointRate> {
    let what = "Single commands by size, with the best linear fit: the fixed latency and the transfer rate. Both axes \
        are logarithmic.";
    cost_figure(["command-cost", "Command latency", what], &found.costs, found.fit)
}

fn buffer(found: &Profiled) -> Option<PointRate> {
    let alone = found.commands.as_ref()?;
    let what = "READ BUFFER, one at a time: reads the memory of the drive without medium access. Both axes are \
        logarithmic.";
    cost_figure(["read-buffer", "Command latency without medium access", what], &alone.buffer, alone.buffer_fit)
}

fn cost_figure([id, title, what]: [&'static str; 3], costs: &[Cost], fit: Option<Fit>) -> Option<PointRate> {
    let points: Vec<(f64, f64)> = costs.iter().map(|cost| (f64::from(cost.bytes), cost.seconds * 1e6)).collect();
    if points.is_empty() {
        return None;
    }
    let fitted = fit.map(|fit| {
        let on_line = |&(bytes, _): &(f64, f64)| (bytes, fit.seconds(bytes) * 1e6);
        Curve::new("latency + size / rate", 1, Shape::Line, points.iter().map(on_line).collect())
    });
    let across = Axis::over(Quantity::BlockSize, points.iter().map(|point| point.0));
    let curves: Vec<Curve> = fitted.into_iter().chain([Curve::new("measured", 0, Shape::Dots, points)]).collect();
    // A line that fits badly has places far from all that was measured.
    let up = Axis::over(Quantity::Latency, curves.iter().flat_map(|curve| &curve.points).map(|point| point.1));
    let chart = Chart { label: "Command latency by size".to_owned(), across, up, curves };
    let latency = |seconds: f64| units::latency((seconds * 1e6).round() as u64);
    let row = |cost: &Cost| {
        let line = fit.map(|fit| latency(fit.seconds(cost.bytes.into()))).unwrap_or_default();
        vec![units::block(cost.bytes.into()), latency(cost.seconds), rate(cost.bytes_per_s()), line]
    };
    let table = Table::new(&["command", "time", "rate", "line"], costs.iter().map(row).collect());
    let answer = fit.map(|fit| measuring::line_words(&fit)).unwrap_or_default();
    Some(PointRate::new(id, title, what, &chart, Some(table)).answering(&answer))
}

fn ways(found: &Profiled, op: Op) -> Option<PointRate> {
    if found.ways.is_empty() {
        return None;
    }
    let row = |way: &WayCost| {
        let cached = if way.cached { " (cached before)" } else { "" };
        vec![
            way.way.name().to_owned(),
            rate(way.bytes_per_s) + cached,
            format!("{:.3}", way.cpu_s_per_gib * units::giga().1),
            format!("{:.0} %", way.cpu_share * 100.0),
            format!("{:.0} %", way.left_in_cache * 100.0),
            way.driver_copied.map(|share| format!("{:.0} %", share * 100.0)).unwrap_or_default(),
        ]
    };
    let by_node = found.ways.iter().any(|way| way.way == Way::Indirect);
    let cpu = format!("CPU s/{}", units::giga().0);
    let mut columns = vec!["way", "rate", &cpu, "CPU", "left in cache", "copied by the driver anyway"];
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
    Some(PointRate::of_table("ways", title, what, table).answering(&best_way(&found.ways)))
}

/// Which way is fastest, and which takes least of the processor; those that the page cache helped do not count.
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

fn system_impact(found: &Profiled) -> Option<PointRate> {
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
    Some(PointRate::of_table("system-impact", "System impact", &what, table).answering(&answer))
}
