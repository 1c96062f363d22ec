//! The page of `haul tune`: the sweep, and the answer marked in it.
use crate::apps::measuring::page::measured::{Measured, PARTIAL, page, rate, rows};
use crate::apps::measuring::report as measuring;
use crate::measure::{BestPoint, Entry, Point, Trial, Tuned, Way};
use crate::report::page::axis::{Axis, Quantity};
use crate::report::page::chart::{Chart, Curve, Mark, Shape};
use crate::report::page::{Figure, Table, render};
use crate::report::units;
use std::collections::BTreeMap;

/// The page of a sweep as HTML.
pub fn tune(tuned: &Tuned, measured: Measured<'_>) -> String {
    let mut page = page("tune", measured);
    page.headline = match &tuned.answer {
        Some(found) => enough(found),
        None => "No measurement succeeded".to_owned(),
    };
    page.summary = rows(tuned.answer.iter().flat_map(|found| measuring::answer_rows(found, tuned)).collect());
    if tuned.failure.is_some() {
        page.warnings.push(PARTIAL.to_owned());
    }
    let drawn: [(Way, &'static str); 2] = [(Way::Direct, "sweep-direct"), (Way::Buffered, "sweep-buffered")];
    page.figures.extend(drawn.into_iter().filter_map(|(way, id)| sweep(tuned, way, id)));
    render(page)
}

/// The recommended setting, and its purpose.
fn enough(found: &BestPoint) -> String {
    let setting =
        |point: Point| format!("{} blocks, {} in flight", units::block(point.block_bytes.into()), point.depth);
    let of_best = match found.pick == found.best {
        true => "no other setting is faster".to_owned(),
        false => format!("{:.0} % of the best ({})", found.share * 100.0, setting(found.best)),
    };
    format!("{}: {}, {of_best}", setting(found.pick), rate(found.pick_bytes_per_s))
}

/// The names of the marked points, in the chart and in the table.
const ANSWER: &str = "answer";
const BEST: &str = "best";

/// The role of a point in the answer; empty if it has none.
fn part_in(found: &BestPoint, point: Point) -> &'static str {
    match point {
        _ if point == found.pick => ANSWER,
        _ if point == found.best => BEST,
        _ => "",
    }
}

/// The answer, and the faster points; their rates are in the sentence and in the table.
fn marks(found: &BestPoint) -> (&'static str, Vec<Mark>) {
    let mark = |name: &str, point: Point, bytes_per_s: f64| Mark {
        label: name.to_owned(),
        at: (f64::from(point.block_bytes), bytes_per_s),
    };
    let pick = mark(ANSWER, found.pick, found.pick_bytes_per_s);
    match found.pick == found.best {
        true => ("answer, which is also the best", vec![pick]),
        false => ("answer and best", vec![pick, mark(BEST, found.best, found.best_bytes_per_s)]),
    }
}

/// A chart with a curve for each depth.
fn sweep(tuned: &Tuned, way: Way, id: &'static str) -> Option<Figure> {
    let entries: Vec<&Entry> =
        tuned.sweep.entries().iter().filter(|entry| entry.point.way == way && entry.rate().is_some()).collect();
    if entries.is_empty() {
        return None;
    }
    let mut depths: BTreeMap<u32, Vec<&Entry>> = BTreeMap::new();
    entries.iter().for_each(|entry| depths.entry(entry.point.depth).or_default().push(entry));
    let mut curves = Vec::new();
    for (number, (depth, mut entries)) in depths.into_iter().enumerate() {
        entries.sort_by_key(|entry| entry.point.block_bytes);
        let point = |entry: &&Entry| (f64::from(entry.point.block_bytes), entry.rate().unwrap_or(0.0));
        let points: Vec<(f64, f64)> = entries.iter().map(point).collect();
        let bars = entries.iter().map(|entry| entry.interval()).collect();
        curves.push(Curve::new(&format!("{depth} in flight"), number, Shape::Line, points.clone()));
        curves.push(Curve::new("", number, Shape::Dots, points).with_bars(bars));
    }
    let most = entries.iter().flat_map(|entry| [entry.rate(), entry.interval().map(|interval| interval.1)]).flatten();
    let across = Axis::over(Quantity::BlockSize, entries.iter().map(|entry| f64::from(entry.point.block_bytes)));
    let found = [&tuned.answer, &tuned.buffered].into_iter().flatten().find(|found| found.pick.way == way);
    let (ring, marks) = found.map(marks).unwrap_or_default();
    let chart = Chart::new(
        &format!("Rate by block size, {} I/O", way.name()),
        [across, Axis::over(Quantity::Rate, most)],
        curves,
    )
    .with_bars_of("±: 95 % confidence interval")
    .marking(ring, marks);
    let cpu = format!("CPU s/{}", units::giga().0);
    let columns = ["block", "depth", "result", "rate", "±", "requests/s", "latency p50", "p99", &cpu, "runs"];
    let part = |entry: &Entry| found.map_or("", |found| part_in(found, entry.point));
    let table = Table::new(&columns, entries.iter().map(|entry| row(entry, part(entry))).collect());
    let title = format!("Rate by block size: {}", way.name());
    let what = match way {
        Way::Direct => {
            "Direct I/O. Each point is the centre of its runs, each corrected for the level of its round, as rounds \
             are at different positions. The block size axis is logarithmic."
        }
        _ => {
            "Buffered I/O, where read-ahead hides the effect of the block size. Each point is the centre of its runs, \
             each corrected for the level of its round."
        }
    };
    Some(Figure::new(id, &title, what, &chart, Some(table)).answering(&found.map(enough).unwrap_or_default()))
}

fn row(entry: &Entry, part: &str) -> Vec<String> {
    let of = |number: fn(&Trial) -> f64| entry.median_of(number).unwrap_or(0.0);
    let latency = |us: f64| units::latency(us.round() as u64);
    let cached = if entry.was_cached() { " (cached)" } else { "" };
    vec![
        units::block(entry.point.block_bytes.into()),
        entry.point.depth.to_string(),
        part.to_owned(),
        rate(entry.rate().unwrap_or(0.0)) + cached,
        measuring::spread(entry),
        format!("{:.0}", measuring::requests_per_s(entry).unwrap_or(0.0)),
        latency(of(|trial| trial.p50_us)),
        latency(of(|trial| trial.p99_us)),
        format!("{:.3}", of(Trial::cpu_s_per_gib) * units::giga().1),
        entry.trials.len().to_string(),
    ]
}
