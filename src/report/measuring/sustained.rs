//! The words and the table of `haul profile --sustained`.
use super::chart::{self, Look};
use super::{bad_places, heading, whole, written_over};
use crate::contract::Facts;
use crate::measure::{Moment, Stage, Sustained, Trend, trend};
use crate::report::columns::Columns;
use crate::report::json::SustainedFound;
use crate::report::text::described;
use crate::report::units;
use std::time::Duration;

/// Stages that a sentence names; of more it names the first and the last.
const NAMED: usize = 4;

/// What was found as a table and sentences, with `chart` between them.
pub fn sustained_text(asked: &SustainedFound<'_>, chart: &str) -> String {
    let (found, facts) = (asked.found, asked.facts);
    let mut head = Columns::default();
    head.row("disk", described(facts));
    let mut text =
        head.lines() + &heading(&format!("{:>12} {:>12} {:>14} {:>12}", "from", "to", "time", "median rate"));
    let stages = found.stages();
    for stage in &stages {
        let [from, to] = [stage.from, stage.to].map(|moment| units::size(moment.bytes));
        let rate = units::rate_decimal(whole(stage.bytes_per_s));
        let time = units::duration(Duration::from_secs_f64(stage.to.seconds - stage.from.seconds));
        text += &format!("{from:>12} {to:>12} {time:>14} {rate:>12}\n");
    }
    let mut rows = Columns::default();
    rows.row("sustained", sustained_words(found, facts));
    let [time, flush] =
        [found.end.seconds, found.flush_s].map(|seconds| units::duration(Duration::from_secs_f64(seconds)));
    let (all, rate) = (units::size(found.end.bytes), units::rate_decimal(whole(found.bytes_per_s())));
    rows.row("in all", format!("{all} in {time}, and {flush} for the flush: {rate}"));
    if found.settled {
        rows.row("ended", format!("before {}: the rate had fallen and settled", units::size(asked.bytes)));
    } else if found.failure.is_none() && found.end.bytes < asked.bytes && asked.failed == 0 {
        rows.row("ended", format!("before {}: --time was over", units::size(asked.bytes)));
    }
    if found.failure.is_some() {
        rows.row("partial", "it ended before its time: what is above is what was found by then");
    }
    rows.row("failed", bad_places(asked.bad, asked.failed));
    if let Some(written) = asked.written {
        rows.row("written", written_over(written));
    }
    text += &format!("{chart}\n{}", rows.lines());
    text
}

/// What the stages say, in a sentence.
pub(in crate::report) fn sustained_words(found: &Sustained, facts: &Facts) -> String {
    let stages = found.stages();
    let rate = |stage: &Stage| units::rate_decimal(whole(stage.bytes_per_s));
    let size = |moment: Moment| units::size(moment.bytes);
    let [first, rest @ ..] = stages.as_slice() else { return "too little was written to tell".to_owned() };
    let Some(last) = rest.last() else {
        return format!("{} all along: the rate held over {}", rate(first), size(first.to));
    };
    let pace = if rest[0].bytes_per_s < first.bytes_per_s { "fast" } else { "slow" };
    let begin = format!("{pace} for the first {} at {}", size(first.to), rate(first));
    let then: String = match rest.len() < NAMED {
        true => rest.iter().fold(String::new(), |text, stage| {
            let until = if stage == last { String::new() } else { format!(" up to {}", size(stage.to)) };
            format!("{text}, then {}{until}", rate(stage))
        }),
        false => format!(", then {} rates one after the other, {} at last", rest.len(), rate(last)),
    };
    format!("{begin}{then}: {}", cause(trend(&stages), facts))
}

/// What behaves like that. It is seen from outside, so more than a likeness cannot be told.
fn cause(trend: Trend, facts: &Facts) -> &'static str {
    let turns = facts.queue.rotational == Some(true) || facts.ground.iter().any(|disk| disk.rotational == Some(true));
    match trend {
        Trend::RanOut if turns => "its write cache ran out, or these are the inner, slower tracks of a disk that turns",
        Trend::RanOut => "its write cache ran out",
        Trend::Fell if turns => "by so little it may be the inner, slower tracks of a disk that turns",
        Trend::Fell => "by so little no write cache ran out",
        Trend::Throttled => "it came back meanwhile, as a drive does that throttles by heat or empties its write cache",
        Trend::Rose => "it got faster while it was written to, as a drive does that was at rest or busy with itself",
        Trend::Steady => "nothing changed",
    }
}

/// The rate over time, for the terminal.
pub fn sustained_chart(found: &Sustained, look: Look) -> String {
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
