//! The page of `haul profile --random`.
use crate::apps::measuring::page::measured::{Measured, PARTIAL, page, rows};
use crate::apps::measuring::report as measuring;
use crate::measure::{CLASS_FACTOR, RandomFound, RandomReads, SlowRead};
use crate::report::page::chart::{Curve, Mark, Shape};
use crate::report::page::{Figure, Table, latency, render};
use crate::report::units;
use std::time::Duration;

/// The page as HTML.
pub fn random(reads: &RandomReads, found: &RandomFound, measured: Measured<'_>) -> String {
    let mut page = page("profile --random", measured);
    page.headline = match found.requests_per_s() {
        Some(rate) => format!("{rate:.0} reads/s: latency {}", percentiles(found)),
        None => "No measurement succeeded".to_owned(),
    };
    page.summary = rows(measuring::random_rows(reads, found));
    if found.failure.is_some() {
        page.warnings.push(PARTIAL.to_owned());
    }
    page.figures = [distribution(found), slow(reads, found)].into_iter().flatten().collect();
    render(page)
}

fn us(micros: f64) -> String {
    units::latency(micros.round() as u64)
}

fn percentiles(found: &RandomFound) -> String {
    format!("p50 {}, p99 {}", us(found.quantile_us(0.5)), us(found.quantile_us(0.99)))
}

fn distribution(found: &RandomFound) -> Option<Figure> {
    let classes = found.classes();
    if classes.is_empty() {
        return None;
    }
    let points = latency::steps(&classes, CLASS_FACTOR);
    let mark = |name: &str, share: f64| {
        let at = found.quantile_us(share);
        let top = points.iter().find(|point| point.0 >= at).map_or(0.0, |point| point.1);
        Mark { label: format!("{name} {}", us(at)), at: (at, top) }
    };
    let marks = vec![mark("p50", 0.5), mark("p99", 0.99)];
    let curve = Curve::new("reads", 0, Shape::Area, points);
    let chart = latency::chart("Latency of random reads", vec![curve]).marking("p50 and p99", marks);
    let mut so_far = 0;
    let row = |&(up_to_us, count): &(u64, u64)| {
        so_far += count;
        let percent = |count: u64| format!("{:.1} %", count as f64 / found.requests.max(1) as f64 * 100.0);
        vec![units::latency(up_to_us), count.to_string(), percent(count), percent(so_far)]
    };
    let table = Table::new(&["within", "reads", "share", "cumulative"], classes.iter().map(row).collect());
    let what = "Distribution of the latency from submission to completion; each class is twice as wide as the one \
        before. The time axis is logarithmic.";
    Some(
        Figure::new("latency", "Latency", what, &chart, Some(table))
            .answering(&format!("latency {}", percentiles(found))),
    )
}

/// `None` if no bound was given, or no read took longer.
fn slow(reads: &RandomReads, found: &RandomFound) -> Option<Figure> {
    let bound = us(reads.slower_than?.as_secs_f64() * 1e6);
    if found.slow.is_empty() {
        return None;
    }
    let micros = |time: Duration| us(time.as_secs_f64() * 1e6);
    let row = |slow: &SlowRead| vec![slow.offset.to_string(), units::duration(slow.at), micros(slow.took)];
    let table = Table::new(&["byte", "after", "latency"], found.slow.iter().map(row).collect());
    let what = format!("Reads that took longer than {bound}: the first {} with their offsets.", found.slow.len());
    let answer = format!("{} took longer than {bound}", units::count(found.slow_count, "read", "reads"));
    Some(Figure::of_table("slow-reads", "Slow reads", &what, table).answering(&answer))
}
