//! The positions of the bars in a bed's two charts.
//!
//! Horizontal positions are shares of the width, so that a chart fits every screen while its text keeps its size;
//! vertical ones are pixels. Chart libraries (plotters, charts-rs) position text too, which makes it tiny on a
//! phone.
use crate::numbers::{HAUL, Ranking, Summary, limit_s, median, ranking};
use crate::result::{BedResult, ContenderResult, Run, Verdict};
use crate::show::words::number;
use serde::Serialize;

/// Height of a contender's row.
const ROW_PX: usize = 40;
/// Height of the heading above contenders that are not compared.
const HEADING_PX: usize = 28;
/// Space above the first row, for the name of the limit.
const TOP_PX: usize = 22;
/// Space below the last row, for the axis.
const BOTTOM_PX: usize = 26;
/// Mark of a contender that copied wrongly.
const WRONG: &str = "copied wrongly";
/// Maximum number of marks on an axis.
const TICKS_MAX: f64 = 6.0;

/// One chart of horizontal bars.
#[derive(Serialize)]
pub(super) struct Chart {
    title: &'static str,
    unit: &'static str,
    height_px: usize,
    /// The position of the axis.
    floor_px: usize,
    ticks: Vec<Mark>,
    limit: Option<Mark>,
    rows: Vec<Row>,
    headings: Vec<Heading>,
}

/// A position on the axis with its label.
#[derive(Serialize)]
struct Mark {
    percent: f64,
    label: String,
}

/// A contender.
#[derive(Serialize)]
struct Row {
    top_px: usize,
    name: String,
    /// The text at the right end of the row.
    value: String,
    /// CSS class: `haul`, `peer`, `aside`, `wrong`.
    kind: &'static str,
    bar_percent: f64,
    /// The part of the bar drawn in full colour; the rest is pale.
    full_percent: f64,
    /// Ends of the whisker.
    whisker: Option<(f64, f64)>,
}

#[derive(Serialize)]
struct Heading {
    top_px: usize,
    text: &'static str,
}

/// The values of a row, before scaling.
struct Bar {
    value: f64,
    full: f64,
    whisker: Option<(f64, f64)>,
    text: String,
}

/// Wall time: median as a bar, shortest to longest as a whisker, the limit as a line.
pub(super) fn times(bed: &BedResult) -> Chart {
    let bar = |one: &ContenderResult, summary: Option<&Summary>| {
        let walls: Vec<f64> = one.runs.iter().map(|run| run.wall_s).collect();
        let ends = walls.iter().copied().reduce(f64::min).zip(walls.iter().copied().reduce(f64::max));
        let (value, whisker, text) = match (summary, mark(&one.runs)) {
            (Some(summary), _) => (summary.median_s, ends, format!("{} s", number(summary.median_s))),
            // A wrong copy has a time, which is drawn hatched; the time of a failure has no meaning.
            (None, WRONG) => (median(walls), None, WRONG.into()),
            (None, mark) => (0.0, None, mark.into()),
        };
        Bar { value, full: value, whisker, text }
    };
    chart("Wall time", "s", limit_s(bed), &ranking(bed), bar)
}

/// Processor time of the machine per GiB, with the part of the contender's own processes in full colour.
pub(super) fn processor_times(bed: &BedResult) -> Chart {
    let bar = |one: &ContenderResult, summary: Option<&Summary>| match summary {
        Some(summary) => {
            let (machine, own) = (summary.machine_cpu_s_per_gib, summary.process_cpu_s_per_gib);
            Bar { value: machine, full: own.min(machine), whisker: None, text: format!("{} s/GiB", number(machine)) }
        }
        None => Bar { value: 0.0, full: 0.0, whisker: None, text: mark(&one.runs).into() },
    };
    chart("Processor time", "s/GiB", None, &ranking(bed), bar)
}

fn chart(
    title: &'static str,
    unit: &'static str,
    limit: Option<f64>,
    ranking: &Ranking,
    bar: impl Fn(&ContenderResult, Option<&Summary>) -> Bar,
) -> Chart {
    let with_bars = |list: &[(&ContenderResult, Summary)]| {
        list.iter().map(|(one, summary)| (one.name.clone(), bar(one, Some(summary)))).collect::<Vec<_>>()
    };
    let marked = ranking.marked.iter().map(|(one, _)| (one.name.clone(), bar(one, None))).collect();
    let groups = [
        ("", "peer", with_bars(&ranking.ranked)),
        ("not compared", "aside", with_bars(&ranking.aside)),
        ("not ranked", "wrong", marked),
    ];
    let ends = groups.iter().flat_map(|(_, _, bars)| bars).map(|(_, bar)| bar.whisker.map_or(bar.value, |ends| ends.1));
    let scale = Scale::to(ends.chain(limit).fold(0.0, f64::max));
    let (mut rows, mut headings, mut top_px) = (Vec::new(), Vec::new(), TOP_PX);
    for (heading, kind, bars) in groups {
        if !heading.is_empty() && !bars.is_empty() {
            headings.push(Heading { top_px, text: heading });
            top_px += HEADING_PX;
        }
        for (name, bar) in bars {
            let kind = if name == HAUL && kind == "peer" { "haul" } else { kind };
            let whisker = bar.whisker.map(|(low, high)| (scale.percent(low), scale.percent(high)));
            let (bar_percent, full_percent) = (scale.percent(bar.value), scale.percent(bar.full));
            rows.push(Row { top_px, name, value: bar.text, kind, bar_percent, full_percent, whisker });
            top_px += ROW_PX;
        }
    }
    let limit = limit.map(|limit| Mark { percent: scale.percent(limit), label: format!("limit {} s", number(limit)) });
    Chart { title, unit, height_px: top_px + BOTTOM_PX, floor_px: top_px, ticks: scale.ticks(), limit, rows, headings }
}

/// The mark of a contender that is not ranked, in two words; the complete reason is in the table.
fn mark(runs: &[Run]) -> &'static str {
    let wrong = |run: &Run| match run.verdict {
        Verdict::Right => None,
        Verdict::CopiedWrongly { .. } => Some(WRONG),
        Verdict::Failed { .. } => Some("failed"),
    };
    runs.iter().find_map(wrong).unwrap_or("did not run")
}

/// A linear axis from 0.
struct Scale {
    max: f64,
}

impl Scale {
    fn to(max: f64) -> Scale {
        Scale { max: if max > 0.0 { max * 1.01 } else { 1.0 } }
    }

    /// Position of `value` in percent of the width, to a hundredth: more precise than any screen.
    fn percent(&self, value: f64) -> f64 {
        (value / self.max * 10_000.0).round() / 100.0
    }

    /// Marks at multiples of 1, 2 or 5 times a power of ten.
    fn ticks(&self) -> Vec<Mark> {
        let rough = self.max / TICKS_MAX;
        let power = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * power).find(|step| *step >= rough * (1.0 - 1e-9));
        let step = step.unwrap_or(rough);
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let count = (self.max / step).floor() as usize;
        let mark = |index: usize| {
            let value = index as f64 * step;
            let label = if index == 0 { "0".into() } else { format!("{value:.decimals$}") };
            Mark { percent: self.percent(value), label }
        };
        (0..=count).map(mark).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_ticks_are_few_round_numbers() {
        let labels = |max| Scale::to(max).ticks().into_iter().map(|mark| mark.label).collect::<Vec<_>>();
        assert_eq!(labels(9.3), ["0", "2", "4", "6", "8"]);
        assert_eq!(labels(0.52), ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(labels(147.0), ["0", "50", "100"]);
        assert_eq!(labels(0.0).len(), 6);
        assert!((1..500).all(|max| labels(f64::from(max) / 7.0).len() <= TICKS_MAX as usize + 1));
    }

    #[test]
    fn all_marks_are_within_the_chart() {
        let scale = Scale::to(3.7);
        assert_eq!(scale.percent(0.0), 0.0);
        assert!(scale.percent(3.7) < 100.0);
        assert!(scale.ticks().iter().all(|mark| mark.percent <= 100.0));
    }
}
