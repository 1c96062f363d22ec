//! The table and the answer of `haul tune`.
use super::chart::{self, Bars, ChartStyle};
use super::{Meter, Run, latency, point, whole};
use crate::apps::measuring::plan::TableStyle;
use crate::core::{Facts, Op};
use crate::measure::{BestPoint, Entry, Point, State, SweepObserver, Trial, Tuned, Way};
use crate::report::columns::{Columns, beside, cells};
use crate::report::style::{STRONG, paint};
use crate::report::text::described;
use crate::report::{Out, units};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Prints what is measured, and shows a bar. Rates are printed at the end: after one run they are not yet those
/// of the answer.
#[derive(Debug)]
pub struct TuneReporter {
    meter: Meter,
    began: Instant,
    time: Duration,
}

impl TuneReporter {
    /// Begins the report of a sweep of about `time` over the disk with these facts.
    pub fn start(style: TableStyle, facts: &Facts, op: Op, time: Duration, out: Out) -> TuneReporter {
        let reporter = TuneReporter { meter: Meter::start(out), began: Instant::now(), time };
        if style == TableStyle::Text {
            let doing = if op == Op::Read { "reading" } else { "writing" };
            let mut head = Columns::default();
            head.row("disk", described(facts));
            head.row(
                "method",
                format!("{doing} for about {}, alternating runs at different positions", units::duration(time)),
            );
            reporter.meter.print(&head.lines());
        }
        reporter
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.meter.finish();
    }
}

impl SweepObserver for TuneReporter {
    fn moved(&mut self, share: f64, now: Point) {
        let left = self.time.saturating_sub(self.began.elapsed());
        self.meter.moved(share, Some(left), &format!("{} {}", now.way.name(), point(now)));
    }
}

/// Marks a row whose bytes were in the page cache.
const CACHED: &str = " *";

/// Every point, with the same rate as in charts, answer, JSON and page.
pub fn tune_table(tuned: &Tuned) -> String {
    let cpu = format!("CPU s/{}", units::giga().0);
    let start = format!("{:8} {:>9} {:>5} {:>10} {:>5}", "way", "block", "depth", "rate", "±");
    let names = [("IOPS", 8), ("p50", 8), ("p99", 8), (&cpu, 9)];
    let more = names.map(|(name, width)| format!("{name:>width$}"));
    let heading = cells(&[[start].as_slice(), &more].concat(), CACHED.len());
    let rows: String = tuned.sweep.entries().iter().map(row).collect();
    format!("\n{}\n{rows}", paint(STRONG, &heading))
}

fn row(entry: &Entry) -> String {
    let Point { way, block_bytes, depth } = entry.point;
    let start = format!("{:8} {:>9} {depth:>5}", way.name(), units::block(block_bytes.into()));
    if let State::LeftOut(why) = entry.state {
        return beside(&start, &format!("omitted: {why}"));
    }
    let of = |number: fn(&Trial) -> f64| entry.median_of(number);
    let Some(rate) = entry.rate() else {
        return beside(&start, "failed: no transfer succeeded");
    };
    let [p50, p99] = [of(|trial| trial.p50_us), of(|trial| trial.p99_us)].map(|us| latency(us.unwrap_or(0.0)));
    let cpu = of(Trial::cpu_s_per_gib).unwrap_or(0.0) * units::giga().1;
    let requests = requests_per_s(entry).unwrap_or(0.0);
    let (rate, spread) = (units::rate_at_a_glance(whole(rate)), spread(entry));
    let cached = if entry.was_cached() { CACHED } else { "" };
    let start = format!("{start} {rate:>10} {spread:>5}");
    let more = [format!("{requests:>8.0}"), format!("{p50:>8}"), format!("{p99:>8}"), format!("{cpu:>9.3}")];
    cells(&[[start].as_slice(), &more].concat(), CACHED.len()) + cached + "\n"
}

/// Requests per second at the reported rate.
pub(crate) fn requests_per_s(entry: &Entry) -> Option<f64> {
    Some(entry.rate()? / f64::from(entry.point.block_bytes))
}

/// The uncertainty of the rate, as a share of it; empty after one round, from which it cannot be computed.
pub(crate) fn spread(entry: &Entry) -> String {
    let Some((rate, (_, high))) = entry.rate().zip(entry.interval()) else { return String::new() };
    let percent = (high / rate - 1.0) * 100.0;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// The answer in sentences, with reasons to doubt it.
pub fn tune_text(run: &Run<'_>, tuned: &Tuned) -> String {
    let mut rows = Columns::default();
    match &tuned.answer {
        Some(found) => answer_rows(found, tuned).into_iter().for_each(|(name, words)| rows.row(name, words)),
        None => rows.row("result", "none: no measurement succeeded"),
    }
    run.rows(tuned.failure.as_ref(), &mut rows);
    if tuned.sweep.entries().iter().any(Entry::was_cached) {
        rows.row("*", "part of it was in the page cache: this measures memory, not the disk");
    }
    if tuned.went_round && run.op == Op::Read {
        let words = "it is so small that data was read more than once and may come from the disk cache";
        rows.row("caveat", words);
    }
    format!("\n{}", rows.lines())
}

/// The rate by block size, a row for each depth, for each mode whose bytes were not in the page cache.
pub fn tune_charts(tuned: &Tuned, look: ChartStyle) -> String {
    let one = |way: Way| {
        let entries = tuned.sweep.entries().iter().filter(|entry| entry.point.way == way && !entry.was_cached());
        let measured: Vec<&Entry> = entries.filter(|entry| entry.rate().is_some()).collect();
        let all = |of: fn(Point) -> u32| -> BTreeSet<u32> { measured.iter().map(|entry| of(entry.point)).collect() };
        let (blocks, depths) = (all(|point| point.block_bytes), all(|point| point.depth));
        let rate = |block_bytes, depth| {
            let point = Point { way, block_bytes, depth };
            measured.iter().find(|entry| entry.point == point).and_then(|entry| entry.rate())
        };
        let row = |&depth: &u32| {
            let rates = blocks.iter().map(|&block| rate(block, depth)).collect();
            Bars { name: depth.to_string(), rates }
        };
        let (rows, blocks): (Vec<Bars>, Vec<u64>) =
            (depths.iter().map(row).collect(), blocks.iter().map(|&bytes| bytes.into()).collect());
        chart::rows(&format!("rate by block size, {}", way.name()), "depth", &blocks, &rows, look)
    };
    let charts = [Way::Direct, Way::Buffered].map(one);
    charts.into_iter().filter(|chart| !chart.is_empty()).map(|chart| format!("\n{chart}")).collect()
}

/// The answer, in rows of name and value.
pub(crate) fn answer_rows(found: &BestPoint, tuned: &Tuned) -> Vec<(&'static str, String)> {
    let pick = format!("{} blocks, {} in flight", units::block(found.pick.block_bytes.into()), found.pick.depth);
    let rate = units::rate(whole(found.pick_bytes_per_s));
    let of_best = if found.pick == found.best {
        "no other setting is faster".to_owned()
    } else {
        let best = units::rate_at_a_glance(whole(found.best_bytes_per_s));
        format!("{:.0} % of the best, {} with {best}", found.share * 100.0, point(found.best))
    };
    let result = format!("{}: {rate},\n{of_best}", paint(STRONG, &pick));
    let mut rows = vec![("result", result), ("confidence", sure(found))];
    if let Some(buffered) = &tuned.buffered {
        let rate = units::rate_at_a_glance(whole(buffered.pick_bytes_per_s));
        rows.push(("buffered", format!("{rate} with {}", point(buffered.pick))));
    }
    if let Some(dd) = found.dd_bytes_per_s.filter(|&dd| dd > 0.0) {
        let rate = units::rate_at_a_glance(whole(dd));
        let times = found.pick_bytes_per_s / dd;
        let compared = if times >= 1.05 { format!("{times:.1} times slower") } else { "no slower".to_owned() };
        rows.push(("dd", format!("with its default (512 bytes, one at a time, buffered) {rate}: {compared}")));
    }
    rows
}

fn sure(found: &BestPoint) -> String {
    let rounds = if found.rounds == 1 { "one round".to_owned() } else { format!("{} rounds", found.rounds) };
    match (found.confidence, found.pick_interval) {
        (Some(share), Some((low, high))) => {
            let [low, high] = [low, high].map(|rate| units::rate_at_a_glance(whole(rate)));
            // A finite number of runs cannot establish 100 %.
            let percent = (share * 100.0).floor().min(99.0);
            format!("{percent:.0} % that it reaches 95 % of the best, from {rounds}; its rate is {low} to {high}")
        }
        _ => format!("too few measurements: only {rounds} within the time limit; increase --time"),
    }
}

/// Every point as comma-separated values.
pub fn tune_csv(tuned: &Tuned) -> String {
    let mut text = "way,block_bytes,depth,state,runs,bytes_per_s,bytes_per_s_mad,requests_per_s,p50_us,p99_us,max_us,\
                    cpu_s_per_gib,cached,cpu_share,bytes_per_s_low,bytes_per_s_high\n"
        .to_owned();
    for entry in tuned.sweep.entries() {
        let Point { way, block_bytes, depth } = entry.point;
        let rates: Vec<f64> = entry.rates().into_iter().map(|(_, rate)| rate).collect();
        let number = |value: Option<f64>, digits: usize| value.map(|v| format!("{v:.digits$}")).unwrap_or_default();
        let of = |number: fn(&Trial) -> f64| entry.median_of(number);
        let fields = [
            way.name().to_owned(),
            block_bytes.to_string(),
            depth.to_string(),
            state(&entry.state).to_owned(),
            entry.trials.len().to_string(),
            number(entry.rate(), 0),
            number(crate::measure::stats::mad(&rates), 0),
            number(requests_per_s(entry), 1),
            number(of(|trial| trial.p50_us), 1),
            number(of(|trial| trial.p99_us), 1),
            number(of(|trial| trial.max_us), 1),
            number(of(Trial::cpu_s_per_gib), 4),
            entry.was_cached().to_string(),
            number(of(Trial::cpu_share), 4),
            number(entry.interval().map(|interval| interval.0), 0),
            number(entry.interval().map(|interval| interval.1), 0),
        ];
        text += &fields.join(",");
        text.push('\n');
    }
    text
}

/// The name of a state in JSON.
pub(crate) fn state(state: &State) -> &'static str {
    match state {
        State::Running => "measured",
        State::Lost => "lost",
        State::LeftOut(_) => "left out",
    }
}
