use crate::core::{Bound, Doubt, Ended, Estimate, Outcome, Plan, Route, Side, WriteRate};
use crate::report::columns::whole;
use crate::report::units;

/// `about 3 h 20 min; limited by the source: it reads 150 MB/s, …`, or a range and the reason for it.
pub(super) fn expected(plan: &Plan, estimate: &Estimate) -> String {
    let mut text = time(estimate, "about ");
    if let Some(bound) = estimate.bound {
        text += &format!(", {}", binds(bound));
    }
    let rate = |rate| whole(&units::rate(rate));
    let source = estimate.source_bytes_per_s.map(|bytes| format!("source reads {}", rate(bytes)));
    let doing = if matches!(plan.route, Route::Copy) { "writes" } else { "reads" };
    let dest = estimate.dest_bytes_per_s.map(|bytes| format!("destination {doing} {}", rate(bytes)));
    let sides: Vec<String> = [source, dest].into_iter().flatten().collect();
    text += &format!(": {}", sides.join(", "));
    text += match estimate.write_rate {
        Some(WriteRate::AsRead) => ", assumed equal to its read rate (rotational disk)",
        Some(WriteRate::Saved) => ", as saved by haul tune",
        None if matches!(plan.route, Route::Delta { .. }) => ", if no block differs",
        None => "",
    };
    text += match estimate.doubt {
        Some(Doubt::Writing) => "; the write rate of the destination is unknown",
        Some(Doubt::Reading) => "; a network or virtual disk may not sustain the rate of a short read",
        Some(Doubt::QueueDepth) => "; a higher queue depth may be faster",
        None => "",
    };
    if estimate.places == 0 {
        return text;
    }
    let places = units::count(estimate.places, "place", "places");
    text + &format!(" (from sample reads at {})", whole(&places))
}

/// `about 3 h 20 min`, `at least 3 h 20 min`, `10 min to 20 min`.
fn time(estimate: &Estimate, about: &str) -> String {
    let in_words = |time| whole(&units::time_left(time));
    match (estimate.time(), estimate.at_most) {
        (Some(time), _) => format!("{about}{}", in_words(time)),
        (None, Some(most)) => format!("{} to {}", in_words(estimate.at_least), in_words(most)),
        (None, None) => format!("at least {}", in_words(estimate.at_least)),
    }
}

/// `limited by the source`.
fn binds(bound: Bound) -> String {
    match bound {
        Bound::Side(Side::Source) => "limited by the source".to_owned(),
        Bound::Side(Side::Dest) => "limited by the destination".to_owned(),
        Bound::Both => "limited by both sides".to_owned(),
        Bound::Limit => "limited by --limit".to_owned(),
    }
}

/// The estimate, compared with the actual duration; empty without an estimate.
pub(crate) fn estimated(outcome: &Outcome) -> String {
    let Some(before) = &outcome.estimate else { return String::new() };
    let mut text = match before.time() {
        Some(time) => whole(&units::duration(time)),
        None => time(before, ""),
    };
    if let Some(bound) = before.bound {
        text += &format!(", {}", binds(bound));
    }
    let took = outcome.elapsed;
    if !matches!(outcome.ended, Ended::Complete) {
        return text;
    }
    let Some(expected) = before.time().map(|time| time.as_secs_f64()).filter(|expected| *expected > 0.0) else {
        return format!("{text}; it took {}", whole(&units::duration(took)));
    };
    let percent = ((took.as_secs_f64() / expected - 1.0) * 100.0).round();
    let than = match percent {
        0.0 => "it took as long".to_owned(),
        more if more > 0.0 => format!("it took {more} % longer"),
        less => format!("it took {} % less", -less),
    };
    format!("{text}; {}", whole(&than))
}
