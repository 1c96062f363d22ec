use crate::core::{Bound, Ended, Estimate, Outcome, Plan, Route, WriteRate};
use crate::report::columns::whole;
use crate::report::units;

/// `about 3 h 20 min, and the source binds: it reads 150 MB/s, …`.
pub(super) fn expected(plan: &Plan, estimate: &Estimate) -> String {
    let mut text = format!("about {}", whole(&units::time_left(estimate.time)));
    if let Some(bound) = estimate.bound {
        text += &format!(", {}", binds(bound));
    }
    let rate = |rate| whole(&units::rate(rate));
    let source = estimate.source_bytes_per_s.map(|bytes| format!("the source reads {}", rate(bytes)));
    let doing = if matches!(plan.route, Route::Copy) { "writes" } else { "reads" };
    let dest = estimate.dest_bytes_per_s.map(|bytes| format!("the dest {doing} {}", rate(bytes)));
    let sides: Vec<String> = [source, dest].into_iter().flatten().collect();
    text += &format!(": {}", sides.join(", "));
    text += match estimate.write_rate {
        Some(WriteRate::AsRead) => " as it reads, for a head moves",
        Some(WriteRate::Saved) => " as haul tune has saved",
        Some(WriteRate::Assumed) => " if it is as fast as in reading",
        None if matches!(plan.route, Route::Delta { .. }) => ", if nothing has to be written",
        None => "",
    };
    let places = units::count(estimate.places.into(), "place", "places");
    text + &format!(" (by short reads at {})", whole(&places))
}

/// `the source binds`.
fn binds(bound: Bound) -> String {
    match bound {
        Bound::Side(side) => format!("the {} binds", side.name()),
        Bound::Both => "both sides bind alike".to_owned(),
        Bound::Limit => "--limit binds".to_owned(),
    }
}

/// What was expected, beside what came of it; empty where nobody looked.
pub(crate) fn estimated(outcome: &Outcome) -> String {
    let Some(before) = &outcome.estimate else { return String::new() };
    let mut text = whole(&units::duration(before.time));
    if let Some(bound) = before.bound {
        text += &format!(", {}", binds(bound));
    }
    let (expected, took) = (before.time.as_secs_f64(), outcome.elapsed.as_secs_f64());
    if !matches!(outcome.ended, Ended::Complete) || expected <= 0.0 {
        return text;
    }
    let percent = ((took / expected - 1.0) * 100.0).round();
    let than = match percent {
        0.0 => "it took as long".to_owned(),
        more if more > 0.0 => format!("it took {more} % longer"),
        less => format!("it took {} % less", -less),
    };
    format!("{text}; {}", whole(&than))
}
