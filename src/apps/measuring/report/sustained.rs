//! The sentences and the table of `haul profile --sustained`.
use super::chart::{self, ChartStyle};
use super::{Run, heading, whole};
use crate::core::Facts;
use crate::measure::{Stage, Sustained, Temperatures, Trend, WriteMoment};
use crate::report::columns::Columns;
use crate::report::text::described;
use crate::report::units;
use std::time::Duration;

/// Stages that a sentence lists; if there are more, it lists the first and the last.
const NAMED: usize = 4;

/// Rows of the table before the last one; JSON has all.
const ROWS: usize = 12;

/// The results as a table and sentences, with `chart` between them. `bytes` were to be written.
pub fn sustained_text(run: &Run<'_>, found: &Sustained, bytes: u64, chart: &str) -> String {
    let facts = run.facts;
    let mut head = Columns::default();
    head.row("disk", described(facts));
    let mut text = head.lines() + &heading(&format!("{:>12} {:>12} {:>14} {:>12}", "from", "to", "time", "rate"));
    let stages = found.stages();
    for (number, stage) in stages.iter().enumerate() {
        if number == ROWS && stages.len() > ROWS + 1 {
            text += &format!("{:>12} {} more\n", "…", stages.len() - ROWS - 1);
        }
        if number >= ROWS && number + 1 < stages.len() {
            continue;
        }
        let [from, to] = [stage.from, stage.to].map(|moment| units::size(moment.bytes));
        let rate = units::rate_at_a_glance(whole(stage.bytes_per_s));
        let time = units::duration(Duration::from_secs_f64(stage.to.seconds - stage.from.seconds));
        text += &format!("{from:>12} {to:>12} {time:>14} {rate:>12}\n");
    }
    let mut rows = Columns::default();
    rows.row("sustained", sustained_words(found, facts));
    if let Some(words) = temperature_words(&found.warmth) {
        rows.row("temperature", words);
    }
    let [time, flush] =
        [found.end.seconds, found.flush_s].map(|seconds| units::duration(Duration::from_secs_f64(seconds)));
    let (all, rate) = (units::size(found.end.bytes), units::rate_at_a_glance(whole(found.bytes_per_s())));
    rows.row("total", format!("{all} in {time} plus {flush} flushing: {rate}"));
    if found.settled {
        rows.row("ended", format!("before {}: the rate had fallen and stabilized", units::size(bytes)));
    } else if found.failure.is_none() && found.end.bytes < bytes && run.failed == 0 {
        rows.row("ended", format!("before {}: --time expired", units::size(bytes)));
    }
    run.rows(found.failure.as_ref(), &mut rows);
    text += &format!("{chart}\n{}", rows.lines());
    text
}

/// The stages, in a sentence.
pub(crate) fn sustained_words(found: &Sustained, facts: &Facts) -> String {
    let stages = found.stages();
    let rate = |stage: &Stage| units::rate_at_a_glance(whole(stage.bytes_per_s));
    let size = |moment: WriteMoment| units::size(moment.bytes);
    let [first, rest @ ..] = stages.as_slice() else { return "too little data for a result".to_owned() };
    let Some(last) = rest.last() else {
        return format!("{} throughout: the rate was steady over {}", rate(first), size(first.to));
    };
    let pace = if rest[0].bytes_per_s < first.bytes_per_s { "fast" } else { "slow" };
    let begin = format!("{pace} for the first {} at {}", size(first.to), rate(first));
    let then: String = match rest.len() < NAMED {
        true => rest.iter().fold(String::new(), |text, stage| {
            let until = if stage == last { String::new() } else { format!(" up to {}", size(stage.to)) };
            format!("{text}, then {}{until}", rate(stage))
        }),
        false => {
            let slower = |one: &&Stage, other: &&Stage| one.bytes_per_s.total_cmp(&other.bytes_per_s);
            let [low, high] =
                [rest.iter().min_by(slower), rest.iter().max_by(slower)].map(|one| rate(one.unwrap_or(last)));
            let whole = units::rate_at_a_glance(whole(first.to.bytes_per_s_to(last.to)));
            format!(", then {} successive rates from {low} to {high}, {whole} overall", rest.len())
        }
    };
    format!("{begin}{then}: {}", cause(found.trend(), found.fell_hot(), facts))
}

/// The temperature of the drive; `None` if unknown.
fn temperature_words(warmth: &Temperatures) -> Option<String> {
    let (first, highest) = (warmth.readings.first()?.celsius, warmth.highest_c()?);
    let limit = warmth.limit_c.map_or("reports no limit".to_owned(), |limit| format!("limit {limit:.0} °C"));
    Some(format!("from {first:.0} °C to {highest:.0} °C ({limit})"))
}

/// A typical cause of such a course. It is inferred from outside, so only a similarity can be reported, unless
/// the drive's temperature at the fall of the rate is known: `hot`, whether it was at its limit.
fn cause(trend: Trend, hot: Option<bool>, facts: &Facts) -> &'static str {
    let rotational =
        facts.queue.rotational == Some(true) || facts.ground.iter().any(|disk| disk.rotational == Some(true));
    match (trend, hot) {
        (Trend::RanOut, _) if rotational => {
            "its write cache ran out, or these are the slower inner tracks of a rotational disk"
        }
        (Trend::RanOut, Some(false)) => "its write cache ran out: the drive was not too warm",
        (Trend::RanOut, _) => "its write cache ran out",
        (Trend::Fell, _) if rotational => "the small difference may be the slower inner tracks of a rotational disk",
        (Trend::Fell, _) => "the difference is too small for an exhausted write cache",
        (Trend::Throttled, Some(_)) => "thermal throttling: the drive was at its temperature limit when the rate fell",
        (Trend::Throttled, None) => {
            "the rate recovered in between, as with thermal throttling or while a drive empties its write cache"
        }
        (Trend::RanOutAndThrottled, Some(_)) => "its write cache ran out, and it throttled at its temperature limit",
        (Trend::RanOutAndThrottled, None) => {
            "the rate recovered in between but never to its initial value, as with an exhausted write cache and \
             thermal throttling"
        }
        (Trend::Recovered, _) => {
            "the rate recovered in between, as while a drive empties its write cache: it was not too warm"
        }
        (Trend::Rose, _) => "it became faster during the test, as after idle states or background work of the drive",
        (Trend::Steady, _) => "nothing changed",
    }
}

/// The rate over time, for the terminal.
pub fn sustained_chart(found: &Sustained, look: ChartStyle) -> String {
    let points: Vec<(f64, f64)> = found.steps.iter().map(|step| step.seconds).zip(found.rates()).collect();
    let time = |at: f64| {
        if at > 0.0 { units::duration(Duration::from_secs_f64(at)) } else { "0".to_owned() }
    };
    let chart = chart::columns("rate over time", &points, found.end.seconds, &time, look);
    if chart.is_empty() { chart } else { format!("\n{chart}") }
}

/// The steps as comma-separated values.
pub fn sustained_csv(found: &Sustained) -> String {
    let lines = found.steps.iter().zip(found.rates());
    lines.fold("bytes,seconds,bytes_per_s\n".to_owned(), |text, (step, rate)| {
        format!("{text}{},{:.6},{rate:.0}\n", step.bytes, step.seconds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{EndpointKind, EngineKind, Op};
    use crate::measure::TemperatureReading;

    /// The result of these rates in MB/s, each over 100 MB in steps of 4 MB, and of a drive with these
    /// temperatures at the end of each.
    fn found(rates: &[f64], celsius: &[f64]) -> Sustained {
        let (mut found, mut now) = (Sustained::default(), WriteMoment::default());
        for rate in rates.iter().flat_map(|rate| std::iter::repeat_n(rate, 25)) {
            now = WriteMoment { bytes: now.bytes + 4_000_000, seconds: now.seconds + 4.0 / rate };
            found.steps.push(now);
        }
        found.end = now;
        let ends = found.steps.iter().skip(24).step_by(25);
        let reading = |(step, &celsius): (&WriteMoment, &f64)| TemperatureReading { seconds: step.seconds, celsius };
        let readings = ends.zip(celsius).map(reading).collect();
        Sustained { warmth: Temperatures::new(Some(84.0), readings), ..found }
    }

    fn words(rates: &[f64], celsius: &[f64]) -> String {
        sustained_words(&found(rates, celsius), &Facts::new("/dev/sdx", EndpointKind::Block))
    }

    fn text(found: &Sustained) -> String {
        let facts = &Facts::new("/dev/sdx", EndpointKind::Block);
        let (words, bad, warnings, engine) = (&[], &[], &[], EngineKind::Ring);
        let run = Run { words, label: None, facts, op: Op::Write, written: None, engine, bad, failed: 0, warnings };
        sustained_text(&run, found, found.end.bytes, "")
    }

    #[test]
    fn a_drop_is_reported_with_its_rates_and_the_temperature() {
        let unknown = words(&[200.0, 50.0], &[]);
        assert_eq!(unknown, "fast for the first 100.0 MB at 200.0 MB/s, then 50.0 MB/s: its write cache ran out");
        assert!(words(&[200.0, 50.0], &[50.0, 60.0]).ends_with("ran out: the drive was not too warm"));
        let hot = words(&[200.0, 50.0], &[83.0, 60.0]);
        assert!(
            hot.ends_with("50.0 MB/s: thermal throttling: the drive was at its temperature limit when the rate fell"),
            "{hot}"
        );
    }

    #[test]
    fn alternating_rates_are_reported_by_minimum_maximum_and_mean() {
        let text = words(&[200.0, 50.0, 200.0, 50.0, 200.0, 50.0], &[]);
        // 500 MB in 7 s.
        let expected = "at 200.0 MB/s, then 5 successive rates from 50.0 MB/s to 200.0 MB/s, 71.4 MB/s overall";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn the_temperature_has_a_row_if_the_drive_reports_it() {
        let reported = text(&found(&[200.0, 50.0, 50.0], &[41.4, 82.6, 60.0]));
        assert!(reported.contains("temperature  from 41 °C to 83 °C (limit 84 °C)\n"), "{reported}");
        assert!(!text(&found(&[200.0, 50.0], &[])).contains("temperature"));
    }

    #[test]
    fn the_table_of_many_rates_has_the_first_and_the_last() {
        let rows = |count: usize| {
            let reported = text(&found(&[200.0, 50.0].repeat(8)[..count], &[]));
            reported.split_once("sustained").map(|(table, _)| table.lines().count()).unwrap()
        };
        assert_eq!([rows(12) - rows(11), rows(13) - rows(12), rows(14) - rows(13), rows(16) - rows(14)], [1, 1, 1, 0]);
        assert!(text(&found(&[200.0, 50.0].repeat(8), &[])).contains("… 3 more\n"));
    }
}
