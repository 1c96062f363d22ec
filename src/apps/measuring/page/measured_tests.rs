use super::*;
use crate::apps::measuring::report as measuring;
use crate::core::{Extent, Facts, Machine, Op};
use crate::measure::fit::fit;
use crate::measure::{
    self, BestPoint, Commands, Cost, Effect, Entry, Interference, MeasureFailure, Memory, Point, Position, Profiled,
    RandomFound, RandomReads, Sustained, Sweep, Trial, Tuned, Way, WayCost, WriteMoment, Zone,
};
use crate::report::examples;
use crate::report::page::latency;
use crate::report::page::read_off::{assert_drawn, assert_marked, charts, read_off};
use crate::report::units;
use std::time::{Duration, UNIX_EPOCH};

const LOG: [bool; 2] = [true, true];

fn measured<'a>(facts: &'a Facts, op: Op, machine: &'a Machine) -> Measured<'a> {
    let (words, warnings) = (&[][..], &[][..]);
    Measured { facts, op, machine, words, started: UNIX_EPOCH, warnings, shown_text: "" }
}

fn disk() -> Facts {
    examples::disk("/dev/sdb", 1 << 40)
}

/// The page with its slashes unescaped.
fn bare(page: String) -> String {
    page.replace("&#x2f;", "/")
}

/// The page of a profile of a disk of 1 TiB.
fn page_of(found: &Profiled, op: Op) -> String {
    bare(profile(found, measured(&disk(), op, &Machine::default())))
}

fn way(way: Way, bytes_per_s: f64, cpu_s_per_gib: f64, cached: bool) -> WayCost {
    let range = (bytes_per_s * 0.9, bytes_per_s * 1.1);
    WayCost { way, bytes_per_s, range, cpu_s_per_gib, cpu_share: 0.25, left_in_cache: 0.5, cached, driver_copied: None }
}

fn cost(latency_us: f64) -> impl Fn(u32) -> Cost {
    move |power| {
        let seconds = latency_us * 1e-6 + f64::from(1 << power) / 1e9;
        Cost { bytes: 1 << power, seconds, range_s: (seconds / 2.0, seconds * 2.0), runs: 3 }
    }
}

fn times(costs: &[Cost]) -> Vec<(f64, f64)> {
    costs.iter().map(|cost| (f64::from(cost.bytes), cost.seconds)).collect()
}

/// A rotational disk, reached at its node: 200 MB/s on the outer tracks, 105 on the inner ones, and 40 at one
/// slow position.
fn found() -> Profiled {
    let position = |number: u32| {
        let offset = (1u64 << 40) / 40 * (2 * u64::from(number) + 1);
        let bytes_per_s = if number == 7 { 4e7 } else { 2e8 - 5e6 * f64::from(number) };
        let range = (bytes_per_s * 0.75, bytes_per_s * 1.25);
        Position { number: number + 1, zone: Zone { offset, bytes_per_s }, range }
    };
    let [costs, buffer] = [100.0, 20.0].map(|us| (9..=24).map(cost(us)).collect::<Vec<_>>());
    let [line, buffer_fit] = [&costs, &buffer].map(|costs| fit(&times(costs)));
    let commands = Commands { empty_s: Some(15e-6), buffer_bytes: Some(1 << 24), buffer, buffer_fit, refused: vec![] };
    let direct = WayCost { driver_copied: Some(0.25), ..way(Way::Direct, 1.9e8, 0.03, false) };
    let ways = vec![direct, way(Way::Indirect, 2e8, 0.2, false), way(Way::Mapped, 1e8, 0.1, false)];
    Profiled {
        positions: (0..20).map(position).collect(),
        whole_s: Some(7200.0),
        costs,
        fit: line,
        commands: Some(commands),
        ways,
        ..Profiled::default()
    }
}

#[test]
fn the_chart_of_rate_by_position_has_the_measured_points() {
    let page = page_of(&found(), Op::Read);
    let place = |position: &Position| (position.zone.offset as f64, position.zone.bytes_per_s);
    let zones: Vec<(f64, f64)> = found().positions.iter().map(place).collect();
    assert_drawn(&page, "zones", [false, false], &[zones.clone(), zones.clone()]);
    let range =
        |position: Position| [position.range.0, position.range.1].map(|rate| (position.zone.offset as f64, rate));
    let bars: Vec<(f64, f64)> = found().positions.into_iter().flat_map(range).collect();
    let rings = [(zones[0], "fastest: 200.0 MB/s"), (zones[7], "slowest: 40.0 MB/s")];
    assert_marked(&page, "zones", [false, false], &bars, &rings);
    // The axis covers the whole disk, and rates start at 0.
    assert!(charts(&page, "zones")[0].contains("\n1 TB\n"));
    for words in [
        "Reading all of it takes about 2 h 00 min: 40.0 MB/s to 200.0 MB/s by position",
        "Fastest at 27.5 GB with 200.0 MB/s, slowest at 412.3 GB with 40.0 MB/s.",
        "<td>8</td><td>412.3 GB</td><td>37 %</td><td>40.0 MB/s</td><td>30.0 MB/s to 50.0 MB/s</td>",
        "<span class=\"sign bar\"></span>slowest to fastest run</span>",
        "<span class=\"sign ring\"></span>fastest and slowest position</span>",
    ] {
        assert!(page.contains(words), "{words} is not in {page}");
    }
    assert!(page_of(&found(), Op::Write).contains("Writing all of it takes about 2 h 00 min"));
}

#[test]
fn the_chart_of_command_costs_has_reads_and_cached_reads() {
    let page = page_of(&found(), Op::Read);
    let alone = found().commands.unwrap();
    for (id, costs, words, mark) in [
        ("command-cost", &found().costs, "Fixed latency 100 µs, then 1.00 GB/s", "fixed latency 100 µs"),
        ("read-buffer", &alone.buffer, "Fixed latency 20 µs, then 1.00 GB/s", "fixed latency 20 µs"),
    ] {
        // The data was made so that the line fits exactly.
        assert_drawn(&page, id, LOG, &[times(costs), times(costs)]);
        let range = |cost: &Cost| [cost.range_s.0, cost.range_s.1].map(|seconds| (f64::from(cost.bytes), seconds));
        let bars: Vec<(f64, f64)> = costs.iter().flat_map(range).collect();
        assert_marked(&page, id, LOG, &bars, &[(times(costs)[0], mark)]);
        assert!(page.contains(words), "{words} is not in {page}");
    }
    let row = "<td>512 bytes</td><td>101 µs</td><td>50 µs to 201 µs</td><td>5.09 MB/s</td><td>101 µs</td>";
    assert!(page.contains(row), "{row} is not in {page}");
}

#[test]
fn a_fitted_line_is_not_snapped_to_measured_points() {
    let mut found = found();
    found.fit = found.commands.as_ref().unwrap().buffer_fit;
    let on_line = times(&found.commands.as_ref().unwrap().buffer);
    assert_drawn(&page_of(&found, Op::Read), "command-cost", LOG, &[on_line, times(&found.costs)]);
}

#[test]
fn the_best_point_is_named_unless_the_page_cache_served_it() {
    let page = page_of(&found(), Op::Read);
    assert!(page.contains("Indirect is fastest with 200.0 MB/s; direct uses the least CPU time, 0.028 s per GB."));
    let row = "<td>direct</td><td>190.0 MB/s</td><td>171.0 MB/s to 209.0 MB/s</td><td>0.028</td><td>25 %</td>\
        <td>50 %</td><td>25 %</td>";
    assert!(page.contains(row), "{row} is not in {page}");
    let mut found = found();
    found.ways = vec![
        way(Way::Direct, 1e8, 0.1, false),
        way(Way::Buffered, 9e9, 0.01, true),
        way(Way::Mapped, 2e8, 0.02, false),
    ];
    let page = page_of(&found, Op::Read);
    assert!(page.contains("Mmap is fastest with 200.0 MB/s; it uses the least CPU time"), "{page}");
    assert!(page.contains("9.00 GB/s (cached before)") && !page.contains("copied by the driver"), "{page}");
    found.ways.truncate(2);
    assert!(!page_of(&found, Op::Read).contains("is fastest"), "one alone is compared with nothing");
}

#[test]
fn a_sweep_has_a_curve_per_depth_and_names_sufficient_settings() {
    let point = |way, power: u32, depth| Point { way, block_bytes: 1 << power, depth };
    let points: Vec<Point> =
        [1, 8].into_iter().flat_map(|depth| (9..=22).map(move |power| point(Way::Direct, power, depth))).collect();
    let rate = |point: &Point| 4e8 * (point.in_flight_bytes() as f64 / f64::from(1 << 23)).min(1.0).sqrt();
    let mut sweep = Sweep::new(points.clone(), Point::of_dd());
    for (index, &point) in points.iter().enumerate() {
        sweep.record(index, trial(point, rate(&point)));
    }
    let (best, pick) = (point(Way::Direct, 22, 8), point(Way::Direct, 20, 8));
    let answer = BestPoint {
        best,
        best_bytes_per_s: 4e8,
        pick,
        pick_bytes_per_s: 3.9e8,
        pick_interval: None,
        share: 0.975,
        confidence: None,
        rounds: 1,
        dd_bytes_per_s: None,
    };
    let tuned = Tuned { sweep, answer: Some(answer), buffered: None, rounds: 1, went_round: false, failure: None };
    let page_of = |tuned: &Tuned| bare(tune(tuned, measured(&disk(), Op::Read, &Machine::default())));
    let page = page_of(&tuned);
    let curve = |depth: u32| -> Vec<(f64, f64)> {
        let own = points.iter().filter(|point| point.depth == depth);
        own.map(|point| (f64::from(point.block_bytes), rate(point))).collect()
    };
    let dots = [curve(1), curve(8)].concat();
    assert_drawn(&page, "sweep-direct", [true, false], &[curve(1), curve(8), dots]);
    let words = "1 MiB blocks, 8 in flight: 390.0 MB/s, 98 % of the best (4 MiB blocks, 8 in flight)";
    assert!(
        page.contains("<td>8</td><td></td><td>282.8 MB/s</td><td></td><td>539</td><td>100 µs</td><td>200 µs</td>"),
        "{page}"
    );
    assert!(!page.contains("(cached)") && !page.contains("ended before its time"), "{page}");
    // In the headline, and above the chart.
    assert_eq!(page.matches(words).count(), 2, "{page}");
    assert!(page.contains("</span>1 in flight</span>") && page.contains("</span>8 in flight</span>"), "{page}");
    let alone = Tuned { answer: tuned.answer.map(|found| BestPoint { pick: found.best, ..found }), ..tuned };
    assert!(page_of(&alone).contains("in flight: 390.0 MB/s, no other setting is faster"));
}

/// Four rounds with different rates; larger blocks are slightly faster.
fn noisy() -> Tuned {
    let points: Vec<Point> =
        (14..=22).map(|power| Point { way: Way::Direct, block_bytes: 1 << power, depth: 2 }).collect();
    let mut sweep = Sweep::new(points.clone(), points[0]);
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..4 {
        for (index, &point) in points.iter().enumerate() {
            let noise = 1.0 + 0.06 * (random.f64() - 0.5);
            let share = (f64::from(point.block_bytes) / f64::from(1 << 20)).min(1.0);
            sweep.record(index, trial(point, (4e8 * share + index as f64 * 6e6) * noise));
        }
        sweep.end_round();
    }
    sweep.conclude();
    let answer = measure::answer(&sweep, Way::Direct);
    Tuned { sweep, answer, buffered: None, rounds: 4, went_round: false, failure: None }
}

#[test]
fn table_chart_and_answer_of_a_sweep_have_the_same_rate_and_spread() {
    let tuned = noisy();
    let page = bare(tune(&tuned, measured(&disk(), Op::Read, &Machine::default())));
    let found = tuned.answer.as_ref().expect("it was measured");
    let entries = tuned.sweep.entries();
    let interval = |entry: &Entry| {
        let (low, high) = entry.interval().expect("there were four rounds");
        [low, high].map(|rate| (f64::from(entry.point.block_bytes), rate))
    };
    let bars: Vec<(f64, f64)> = entries.iter().flat_map(interval).collect();
    let place = |point: Point, rate: f64| (f64::from(point.block_bytes), rate);
    assert!(found.pick != found.best, "{found:?}");
    let rings =
        [(place(found.pick, found.pick_bytes_per_s), "answer"), (place(found.best, found.best_bytes_per_s), "best")];
    assert_marked(&page, "sweep-direct", [true, false], &bars, &rings);
    let of = |point| entries.iter().find(|entry| entry.point == point).expect("it is in the sweep");
    for (point, part) in [(found.pick, "answer"), (found.best, "best")] {
        let (rate, spread) = (units::rate_at_a_glance(of(point).rate().unwrap() as u64), measuring::spread(of(point)));
        let row = format!("<td>2</td><td>{part}</td><td>{rate}</td><td>{spread}</td>");
        assert!(page.matches(&row).count() == 1 && !spread.is_empty(), "{row} is not in {page}");
    }
    let rate = units::rate_at_a_glance(found.pick_bytes_per_s as u64);
    assert!(page.contains(&format!("in flight: {rate}, ")), "{rate} is not in the headline of {page}");
    assert!(page.contains("<dt>Confidence</dt>") && page.contains("confidence interval</span>"), "{page}");
}

#[test]
fn the_chart_of_random_reads_has_steps_and_percentiles() {
    let times = [vec![90; 60], vec![180; 39], vec![3000; 1]].concat();
    let found = RandomFound::of_times(&times);
    let reads = RandomReads {
        point: Point { way: Way::Direct, block_bytes: 4096, depth: 1 },
        range: Extent::new(0, 1 << 40),
        seed: 7,
        requests: None,
        time: Duration::from_secs(1),
        slower_than: Some(Duration::from_millis(1)),
    };
    let page = bare(random(&reads, &found, measured(&disk(), Op::Read, &Machine::default())));
    let classes = found.classes();
    let steps = latency::steps(&classes, 2.0).into_iter().map(|(us, percent)| (us * 1e-6, percent)).collect();
    assert_drawn(&page, "latency", [true, false], &[steps]);
    let rings = [((90e-6, 60.0), "p50 90 µs"), ((180e-6, 39.0), "p99 180 µs")];
    assert_marked(&page, "latency", [true, false], &[], &rings);
    for words in [
        "<p class=\"headline\">100 reads/s: latency p50 90 µs, p99 180 µs</p>",
        "<td>128 µs</td><td>60</td><td>60.0 %</td><td>60.0 %</td>",
        "<td>256 µs</td><td>39</td><td>39.0 %</td><td>99.0 %</td>",
        "<dt>IOPS</dt>",
        "1 read took longer than 1.00 ms.",
        "<td>4096</td><td>0.50 s</td><td>3.00 ms</td>",
    ] {
        assert!(page.contains(words), "{words} is not in {page}");
    }
}

fn trial(point: Point, bytes_per_s: f64) -> Trial {
    let (bytes, seconds) = (bytes_per_s as u64, 1.0);
    let (p50_us, p99_us, max_us) = (100.0, 200.0, 300.0);
    Trial {
        point,
        offset: 0,
        bytes,
        seconds,
        whole_s: seconds,
        requests: 1000,
        p50_us,
        p99_us,
        max_us,
        cpu_s: 0.1,
        moved_bytes: bytes,
        cached_bytes: 0,
        left_bytes: 0,
        failed: 0,
    }
}

#[test]
fn the_chart_of_sustained_writing_has_its_steady_rates() {
    let mut steps: Vec<WriteMoment> = Vec::new();
    for step in 0..60u64 {
        let rate = if step < 30 { 4e8 } else { 1e8 };
        let before = steps.last().copied().unwrap_or_default();
        steps.push(WriteMoment {
            bytes: before.bytes + (64 << 20),
            seconds: before.seconds + f64::from(64 << 20) / rate,
        });
    }
    let end = steps[59];
    let found = Sustained { steps, end, flush_s: 0.1, ..Sustained::default() };
    let page = bare(sustained(&found, measured(&disk(), Op::Write, &Machine::default())));
    let curves = read_off(charts(&page, "sustained")[0], [false, false]);
    let wanted: Vec<(f64, f64)> = found.steps.iter().map(|step| step.seconds).zip(found.rates()).collect();
    let edge_s = found.steps[29].seconds;
    let held = vec![(0.0, 4e8), (edge_s, 4e8), (edge_s, 1e8), (end.seconds, 1e8)];
    assert_eq!(curves.iter().map(Vec::len).collect::<Vec<_>>(), [60, 4]);
    let row = "<tr><td>0 bytes</td><td>2.01 GB</td>";
    assert!(page.contains(row) && !page.contains("ended before its time"), "{page}");
    assert_drawn(&page, "sustained", [false, false], &[wanted, held]);
    assert!(page.contains("<p class=\"headline\">Fast for the first 2.01 GB at 400.0 MB/s, then 100.0 MB/s"), "{page}");
}

#[test]
fn the_system_impact_has_a_row_for_each_way() {
    let effect = |way: Option<Way>, kept_least: f64| Effect {
        way,
        read_bytes: if way.is_some() { 1 << 30 } else { 0 },
        seconds: 2.0,
        cached_before: 1.0,
        kept_least,
        kept: 0.5,
        start_before_s: 0.002,
        start_during_s: 0.006,
        starts: 9,
        start_after_s: 0.003,
    };
    let effects = vec![effect(None, 0.5), effect(Some(Way::Buffered), 0.25)];
    let system_impact = Interference { memory: Memory::Group(192 << 20), test_file_bytes: 64 << 20, effects };
    let page = page_of(&Profiled { system_impact: Some(Ok(system_impact)), ..found() }, Op::Read);
    let row = "<td>1.07 GB</td><td>25 %</td><td>50 %</td><td>2.00 ms</td><td>6.00 ms</td><td>3.00 ms</td>";
    assert!(page.contains(row), "{row} is not in {page}");
    assert!(
        page.contains("Buffered reads leave 50 % of a cached file, and program starts take 3.0 times as long."),
        "{page}"
    );
}

#[test]
fn caveats_precede_the_figures() {
    let (disk, machine) = (disk(), Machine::default());
    let warnings = ["it is a loop device".to_owned()];
    let doubtful = || Measured { warnings: &warnings, ..measured(&disk, Op::Read, &machine) };
    let stopped = || Some(MeasureFailure::Stopped(2));
    let point = Point::of_dd();
    let mut sweep = Sweep::new(vec![point], point);
    sweep.record(0, Trial { cached_bytes: 1, ..trial(point, 1e8) });
    let swept = Tuned { sweep, answer: None, buffered: None, rounds: 0, went_round: false, failure: stopped() };
    let (end, steps) =
        (WriteMoment { bytes: 1 << 20, seconds: 1.0 }, vec![WriteMoment { bytes: 1 << 20, seconds: 1.0 }]);
    let written = Sustained { steps, end, failure: stopped(), ..Sustained::default() };
    let pages = [
        tune(&swept, doubtful()),
        profile(&Profiled { failure: stopped(), ..found() }, doubtful()),
        sustained(&written, doubtful()),
    ];
    for page in &pages {
        for words in
            ["<p class=\"warning\">it is a loop device</p>", "<p class=\"warning\">The measurement ended early"]
        {
            assert!(page.find(words).expect(words) < page.find("<section").expect("there are figures"), "{page}");
        }
    }
    assert!(bare(pages[0].clone()).contains("<td>100.0 MB/s (cached)</td>"), "{}", pages[0]);
}
