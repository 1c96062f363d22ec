//! The page of `haul profile --sustained`.
use crate::apps::measuring::page::measured::{Measured, PARTIAL, page, rate};
use crate::apps::measuring::report as measuring;
use crate::measure::{Stage, Sustained};
use crate::report::page::axis::{Axis, Quantity};
use crate::report::page::chart::{Chart, Curve, Mark, Shape};
use crate::report::page::{Figure, Table, capital, render};
use crate::report::units;
use std::time::Duration;

/// The page as HTML.
pub fn sustained(found: &Sustained, measured: Measured<'_>) -> String {
    let mut page = page("profile", measured);
    page.headline = capital(&measuring::sustained_words(found, measured.facts));
    if found.failure.is_some() {
        page.warnings.push(PARTIAL.to_owned());
    }
    page.figures.extend(curve(found));
    render(page)
}

fn curve(found: &Sustained) -> Option<Figure> {
    let points: Vec<(f64, f64)> = found.steps.iter().map(|step| step.seconds).zip(found.rates()).collect();
    if points.is_empty() {
        return None;
    }
    let stages = found.stages();
    let level = |stage: &Stage| [stage.from, stage.to].map(|moment| (moment.seconds, stage.bytes_per_s));
    let axes = [
        Axis::over(Quantity::Time, points.iter().map(|point| point.0)),
        Axis::over(Quantity::Rate, points.iter().map(|point| point.1)),
    ];
    let curves = vec![
        Curve::new("measured", 0, Shape::Area, points),
        Curve::new("steady rates", 1, Shape::Line, stages.iter().flat_map(level).collect()),
    ];
    let chart =
        Chart::new("Rate of writing over time", axes, curves).marking("first and last steady rate", marks(&stages));
    let row = |stage: &Stage| {
        let time = Duration::from_secs_f64(stage.to.seconds - stage.from.seconds);
        let [from, to] = [stage.from, stage.to].map(|moment| units::size(moment.bytes));
        vec![from, to, units::duration(time), rate(stage.bytes_per_s)]
    };
    let table = Table::new(&["from", "to", "time", "rate"], stages.iter().map(row).collect());
    let what = "Continuous writing, with the steady rates between detected rate changes.";
    Some(Figure::new("sustained", "Rate of writing over time", what, &chart, Some(table)))
}

/// The rates of the sentence, each in the middle of its time.
fn marks(stages: &[Stage]) -> Vec<Mark> {
    let mark = |name: &str, stage: &Stage| {
        let middle = stage.from.seconds.midpoint(stage.to.seconds);
        Mark { label: format!("{name}{}", rate(stage.bytes_per_s)), at: (middle, stage.bytes_per_s) }
    };
    match stages {
        [] => Vec::new(),
        [only] => vec![mark("", only)],
        [first, .., last] => vec![mark("first ", first), mark("last ", last)],
    }
}
