use super::read_off::assert_drawn;
use super::*;
use crate::core::{
    AddressMap, Decision, DestOutcome, Digest, Direction, EndpointKind, Error, Extent, Facts, HashKind, JournalTotals,
    Kind, Moment, Outcome, PlanDest, PlanSide, Series, Side, Zeros,
};
use crate::report::examples;
use std::time::Duration;

const EVEN: [bool; 2] = [false, false];
const TICKS: u64 = 80;

/// Eight seconds in which the source delivers 400 MB/s and the dest becomes slower: 300 MB/s to 221.
fn series() -> Series {
    let mut series = Series::default();
    for tick in 0..=TICKS {
        let at = Duration::from_millis(100 * tick);
        let dest_bytes = (1..=tick).map(|tick| (301 - tick) * 100_000).sum();
        let waited = [5, 60].map(|percent| at * percent / 100);
        let (limit_waited, digest_waited) = (at * 25 / 100, at * 10 / 100);
        let (read_bytes, copied_bytes) = (tick * 40_000_000, dest_bytes);
        series.push(Moment { at, read_bytes, dest_bytes, copied_bytes, waited, limit_waited, digest_waited });
    }
    series
}

fn page_with(plan: &Decision, outcome: &Outcome, series: &Series, facts: &[(Side, Facts)]) -> String {
    let (machine, words, started) = (&Machine::default(), &examples::args()[..], UNIX_EPOCH);
    // Slashes need no escape.
    copy(CopyFound { decision: plan, outcome, series, facts, machine, words, started }).replace("&#x2f;", "/")
}

fn page_of(plan: &Decision, outcome: &Outcome) -> String {
    page_with(plan, outcome, &series(), &[(Side::Source, examples::source()), (Side::Dest, examples::dest())])
}

/// Rates of the dest at each tick, and the positions.
fn dest_rates() -> Vec<f64> {
    (1..=TICKS).map(|tick| (301 - tick) as f64 * 1e6).collect()
}

fn middles() -> Vec<f64> {
    (0..TICKS).map(|tick| tick as f64 * 0.1 + 0.05).collect()
}

fn curve(across: &[f64], up: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
    across.iter().copied().zip(up).collect()
}

#[test]
fn a_page_begins_with_its_marker_and_has_each_figure_once() {
    let page = page_of(&examples::plan(), &examples::complete());
    assert!(page.starts_with(MARK));
    for id in ["rate-over-time", "rate-over-position", "waiting", "latencies"] {
        assert_eq!(page.matches(&format!("<section id=\"{id}\">")).count(), 1, "{id}");
    }
    for words in ["Samsung SSD 870 EVO 1TB", "S6PUNX0T123456", "destination 60 %"] {
        assert!(page.contains(words), "{words:?} is not in {page}");
    }
    // In the summary, and in the report as printed on the terminal.
    assert_eq!(page.matches("it took 8 % longer").count(), 2);
}

#[test]
fn the_digests_of_the_copy_are_in_the_summary() {
    let digest = |kind, hex: &str| Digest { kind, hex: hex.to_owned() };
    let digests = vec![digest(HashKind::Sha256, "00ff"), digest(HashKind::Md5, "a1b2")];
    let page = page_of(&examples::plan(), &Outcome { digests, ..examples::complete() });
    for words in ["sha256 00ff", "md5 a1b2"] {
        assert_eq!(page.matches(words).count(), 1, "{words:?} is not in {page}");
    }
}

#[test]
fn the_charts_have_the_rates_of_both_sides_by_time_and_position() {
    let mut plan = examples::plan();
    plan.source.map = AddressMap::from(1 << 30);
    let page = page_of(&plan, &examples::complete());
    let both = |across: &[f64]| vec![curve(across, [4e8; TICKS as usize]), curve(across, dest_rates())];
    assert_drawn(&page, "rate-over-time", EVEN, &both(&middles()));
    let copied: Vec<f64> = (0..=TICKS).map(|tick| (1..=tick).map(|tick| (301 - tick) as f64 * 1e5).sum()).collect();
    let places: Vec<f64> = copied.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
    let from_start: Vec<f64> = places.iter().map(|place| place + f64::from(1 << 30)).collect();
    assert_drawn(&page, "rate-over-position", EVEN, &both(&from_start));
    plan.direction = Direction::Backward;
    let len = plan.len.unwrap() as f64;
    let from_end: Vec<f64> = places.iter().map(|place| f64::from(1 << 30) + len - place).collect();
    assert_drawn(&page_of(&plan, &examples::complete()), "rate-over-position", EVEN, &both(&from_end));
    for row in ["<td>0.1 s</td><td>30.0 MB</td><td>400.0 MB/s</td><td>300.0 MB/s</td>", "<td>8.0 s</td>"] {
        assert!(page.contains(row), "{row} is not in {page}");
    }
}

#[test]
fn the_chart_of_waiting_has_sides_limit_and_digests() {
    let page = page_of(&examples::plan(), &examples::complete());
    let [wide, _] = super::read_off::charts(&page, "waiting");
    let curves = super::read_off::read_off(wide, EVEN);
    assert_eq!(curves.len(), 4);
    for (curve, percent) in curves.iter().zip([5.0, 60.0, 25.0, 10.0]) {
        assert!(curve.len() == 10 && curve.iter().all(|(_, up)| (up - percent).abs() < 1.0), "{percent}: {curve:?}");
    }
    let row = "<td>5 %</td><td>60 %</td><td>25 %</td><td>10 %</td><td>destination</td>";
    assert!(page.matches(row).count() == 10 && page.contains("Bottleneck: destination, 60 % of the time."), "{page}");
    assert!(wide.contains("\n100 %\n") && !wide.contains("\n120 %\n"), "the whole is 100 %: {wide}");
    for name in ["source", "destination", "limit", "digests"] {
        assert!(page.contains(&format!("</span>{name}</span>")), "{name} has no key: {page}");
    }
}

#[test]
fn the_chart_of_latencies_has_shares_of_requests_per_side() {
    let page = page_of(&examples::plan(), &examples::complete());
    let side = |p50_us: f64| {
        let classes = [(1.0, 3840.0), (2.0, 3072.0), (5.0, 691.0), (40.0, 77.0)];
        let classes = classes.map(|(by, count)| (p50_us * by * 1e-6, count / 7680.0 * 100.0));
        let (first, last) = ((p50_us / 1.2 * 1e-6, 0.0), (p50_us * 40.0 * 1.2 * 1e-6, 0.0));
        [first].into_iter().chain(classes).chain([last]).collect::<Vec<_>>()
    };
    assert_drawn(&page, "latencies", [true, false], &[side(85.0), side(350.0)]);
    let row = "<td>destination</td><td>7680</td><td>350 µs</td><td>700 µs</td><td>1.75 ms</td><td>14.0 ms</td>";
    assert!(page.contains(row), "{row} is not in {page}");
    assert!(page.contains("Reads: latency p50 85 µs, writes: latency p50 350 µs."), "{page}");
}

#[test]
fn each_figure_has_its_conclusion_before_its_explanation() {
    let page = page_of(&examples::plan(), &examples::complete());
    for section in page.split("<section id=").skip(1) {
        assert!(section.split_once("</h2>").unwrap().1.trim_start().starts_with("<p class=\"answer\">"), "{section}");
    }
    // 300 to 293 MB/s, and 228 to 221.
    assert!(page.contains("296.5 MB/s in the first tenth of the time, 224.5 MB/s in the last."), "{page}");
    assert!(page.contains("the destination wrote 221.0 MB/s to 300.0 MB/s."), "{page}");
}

#[test]
fn a_failure_precedes_the_figures() {
    let page = page_of(&examples::plan(), &examples::failed());
    let [warning, figure] = ["sector 2097152", "<section id="].map(|words| page.find(words).expect(words));
    assert!(warning < figure);
}

#[test]
fn positions_are_shown_only_if_known() {
    let mut outcome = examples::complete();
    outcome.kept = Some(JournalTotals { already_bytes: 1 << 20, ..JournalTotals::default() });
    assert!(!page_of(&examples::plan(), &outcome).contains("rate-over-position"));
}

#[test]
fn one_moment_has_a_row_and_no_chart() {
    let mut short = Series::default();
    series().moments().into_iter().take(2).for_each(|moment| short.push(moment));
    let page = page_with(&examples::plan(), &examples::complete(), &short, &[]);
    let (_, figure) = page.split_once("<section id=\"rate-over-time\">").unwrap();
    let figure = figure.split_once("</section>").unwrap().0;
    assert!(figure.contains("<td>0.1 s</td>") && !figure.contains("<svg"), "{figure}");
}

#[test]
fn several_dests_are_all_in_the_title_and_each_has_its_facts() {
    let one = page_of(&examples::plan(), &examples::complete());
    assert!(one.contains("<h2>The destination</h2>") && one.contains("ata-old-disk to /dev/sdb</title>"), "{one}");
    let dest = |path: &str| {
        let (side, zeros) = (examples::side(path, path, EndpointKind::Block, 0), Zeros::Device);
        PlanDest { side, zeros, set_end: false, preallocate: false, durable: true, may_fall_behind: false }
    };
    let mut plan = examples::plan();
    let facts = ["/dev/sdb", "/dev/sdc"].map(|path| (Side::Dest, examples::disk(path, 1 << 30)));
    let facts = [(Side::Source, examples::source())].into_iter().chain(facts).collect::<Vec<_>>();
    for (dests, title) in [
        (&["/dev/sdb", "/dev/sdc"][..], "/dev/sdb and /dev/sdc</title>"),
        (&["/dev/sdb", "/dev/sdc", "/dev/sdd"], "/dev/sdb and 2 others</title>"),
    ] {
        plan.dests = dests.iter().map(|path| dest(path)).collect();
        let page = page_with(&plan, &examples::complete(), &series(), &facts);
        for words in [title, "<h2>Destination 1 of 2</h2>", "<h2>Destination 2 of 2</h2>", "<h2>The source</h2>"] {
            assert!(page.contains(words), "{words} is not in {page}");
        }
    }
}

#[test]
fn each_of_several_dests_has_its_result_and_the_command_that_completes_it() {
    let mut plan = examples::plan();
    let ended = |address: &str, error| DestOutcome {
        address: address.to_owned(),
        path: address.into(),
        claimed: Extent::new(0, if error { 4096 } else { 2 << 30 }),
        error: error.then(|| Error::new(Kind::Io, format!("cannot write destination {address} at byte 4096"))),
        behind: false,
        durable: true,
        memory: None,
        written_bytes: 2 << 30,
        zeroed_bytes: 0,
        hole_bytes: 0,
        verified: None,
    };
    let (zeros, set_end, preallocate) = (Zeros::Device, false, false);
    let planned = |path: &str| PlanDest {
        side: PlanSide { address: path.to_owned(), ..plan.plan.dest.clone() },
        zeros,
        set_end,
        preallocate,
        durable: true,
        may_fall_behind: false,
    };
    plan.plan.dests = ["/dev/sdb", "/dev/sdc"].map(planned).into();
    let dests = vec![ended("/dev/sdb", false), ended("/dev/sdc", true)];
    let page = page_of(&plan, &Outcome { dests, ..examples::complete() });
    for row in [
        "<dt>Destination /dev/sdb</dt><dd>2.15 GB (2147483648 bytes), durable</dd>",
        "<dt>Destination /dev/sdc</dt><dd>FAILED: cannot write destination /dev/sdc at byte 4096; the first 4.10 kB",
        "<dt>To complete /dev/sdc</dt><dd>haul copy --skip 4096 --seek 4096 --count 2147479552",
    ] {
        assert!(page.contains(row), "{row} is not in {page}");
    }
    assert!(!page.contains("<dt>To complete /dev/sdb</dt>"), "{page}");
}

#[test]
fn a_copy_that_cannot_be_continued_has_the_reason_as_next_step() {
    let mut plan = examples::plan();
    plan.plan.source.kind = EndpointKind::Pipe;
    let page = page_of(&plan, &examples::interrupted());
    assert!(page.contains("<dt>Next step</dt><dd>This copy cannot be continued: the source is a stream"), "{page}");
    assert!(!page.contains("<dt>To continue</dt>"), "{page}");
}

#[test]
fn sentences_begin_with_a_capital_letter() {
    assert_eq!(["copied", "", "28 µs before"].map(super::capital), ["Copied", "", "28 µs before"]);
}

#[test]
fn the_bottleneck_is_the_longest_wait_and_those_about_as_long() {
    let piece = |waited_percent| rates::Piece {
        middle_s: 0.5,
        end_s: 1.0,
        copied_bytes: (0, 1),
        bytes_per_s: [1.0; 2],
        waited_percent,
    };
    let by = |waited_percent| copy::held_back_by(&piece(waited_percent));
    assert_eq!(by([50.0, 45.0, 5.0, 0.0]), "source, destination");
    assert_eq!(by([50.0, 39.0, 11.0, 0.0]), "source");
    assert_eq!(by([12.0, 5.0, 3.0, 0.0]), "source");
    assert_eq!(by([1.0, 2.0, 90.0, 0.0]), "limit");
    assert_eq!(by([9.0, 2.0, 3.0, 4.0]), "nothing");
}

#[test]
fn long_tables_are_folded_and_empty_ones_are_omitted() {
    let mut outcome = examples::complete();
    outcome.estimate = None;
    let page = page_of(&examples::plan(), &outcome);
    assert!(page.contains("<summary>Data table, 80 rows</summary>") && !page.contains("Data table, 10 rows"), "{page}");
    assert!(page.contains("<dt>Rate</dt>") && !page.contains("<dt>Estimate</dt>"), "{page}");
}

#[test]
fn facts_of_sides_and_machine_are_shown_and_escaped() {
    let mut source = examples::source();
    source.identity.wwn = Some("naa.<b>5".to_owned());
    let new = Facts { exists: false, ..Facts::new("/new", EndpointKind::File) };
    let facts = [(Side::Source, source), (Side::Dest, new)];
    let mut reported = page_with(&examples::plan(), &examples::complete(), &series(), &facts);
    let machine = Machine { memory_bytes: 8 << 30, processors: 2, ..Machine::default() };
    reported +=
        &device::machine(&machine).into_iter().map(|(name, value)| format!("{name}={value};")).collect::<String>();
    for words in [
        "<dt>Rotational</dt><dd>yes</dd>",
        "<dt>Block sizes</dt><dd>512 logical, 4096 physical bytes</dd>",
        "<dt>World wide name</dt><dd>naa.&lt;b&gt;5</dd>",
        "<dt>Size</dt><dd>2.15 GB (2.00 GiB, 2147483648 bytes)</dd>",
        "<dt>Kind</dt><dd>new file</dd>",
        "Processors=2 processors;",
        "Memory=8.59 GB;",
    ] {
        assert!(reported.contains(words), "{words} is not in {reported}");
    }
}
