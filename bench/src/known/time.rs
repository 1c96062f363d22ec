//! The duration of a copy: estimated, actual, and the remaining time in the progress.
use super::{number_at, off_percent};
use crate::bed::modelled::long_pair;
use crate::bed::{Bed, Comparison};
use crate::error::{Error, Result};
use crate::process::{Ended, Line, run};
use crate::race::Observer;
use crate::result::{Cell, Table};
use crate::seeds::{Call, TableRecipe, number, text};
use serde_json::Value;

/// Pairs of [`long_pair`]: disks whose rate depends on the position, and disks that differ.
const PAIRS: [&str; 4] = ["disk-2001", "disk-7200", "disk-7200-cache", "disk-slow-fast"];

/// Rounds in full size.
const ROUNDS: u32 = 3;

/// Share of the copy after which the remaining time is compared with the actual time.
const KNOWN_SHARE: f64 = 0.1;

pub(super) fn recipe() -> TableRecipe {
    TableRecipe {
        name: "known-time",
        title: "The time of a copy, estimated before and during the copy",
        what: "Long copies between modelled disks. Estimated: before the first byte, by reads that take a hundredth of \
               the time at most. Limits for the zoned pairs: off by 10 % at most; the end that the bar shows from a \
               tenth of the bytes on, by 5 %. If it depends on the write rate, the estimate is a range: its \
               ends are listed, and off is how far the time is outside. The bytes are compared after each run.",
        make,
    }
}

fn make(recipe: &TableRecipe, call: &Call<'_>, observer: &mut dyn Observer) -> Result<Table> {
    let columns = ["pair", "round", "estimated", "places", "looking", "binds", "took", "off", "worst end from 10 %"];
    let mut table = Call::table(recipe, &columns);
    for name in PAIRS {
        let bed = long_pair(name, call.workplace, call.size)?;
        let rounds = if call.size == crate::bed::Size::Full { ROUNDS } else { 1 };
        for round in 1..=rounds {
            observer.doing(&format!("{}: {name}, round {round}", recipe.name));
            bed.reset()?;
            let words = format!(
                "{} copy --yes --progress json {} {}",
                call.haul.display(),
                bed.source.path.display(),
                bed.dest.path.display()
            );
            let ended = run(&Line::words(&words), None, call.interrupt)?;
            let reported = ReportedTimes::of(&ended, &words)?;
            table.rows.push(row(name, round, &reported, &bed)?);
        }
    }
    Ok(table)
}

/// The progress lines of a copy.
struct ReportedTimes {
    progress: Vec<Value>,
    summary: Value,
}

impl ReportedTimes {
    fn of(ended: &Ended, words: &str) -> Result<ReportedTimes> {
        if !ended.status.success() {
            return Err(Error(format!("`{words}` failed: {}", ended.how())));
        }
        let lines: Vec<Value> = ended.stderr.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).cloned().collect::<Vec<_>>();
        let summary = of("summary").pop().ok_or_else(|| Error(format!("`{words}` printed no summary")))?;
        Ok(ReportedTimes { progress: of("progress"), summary })
    }

    /// The largest error of a reported end, in percent of the duration.
    fn worst_percent(&self, took_s: f64) -> Option<f64> {
        let off = |line: &Value| {
            let (copied, total) = (number_at(line, "/copied_bytes")?, number_at(line, "/total_bytes")?);
            let (at_s, left_s) = (number_at(line, "/elapsed_s")?, number_at(line, "/left_s")?);
            let known = copied / total >= KNOWN_SHARE && copied < total;
            known.then(|| off_percent(at_s + left_s, took_s).abs())
        };
        self.progress.iter().filter_map(off).reduce(f64::max)
    }
}

fn row(name: &str, round: u32, reported: &ReportedTimes, bed: &Bed) -> Result<Vec<Cell>> {
    let took_s = number_at(&reported.summary, "/elapsed_s").unwrap_or(f64::NAN);
    let cell = |value: Option<f64>, unit: &str| value.map_or_else(|| text("none"), |value| number(value, unit));
    let [time_s, least_s, most_s] =
        ["time_s", "at_least_s", "at_most_s"].map(|key| number_at(&reported.summary, &format!("/estimate/{key}")));
    let estimated = match (time_s, least_s, most_s) {
        (Some(time_s), ..) => number(time_s, "s"),
        (None, Some(least_s), Some(most_s)) => text(format!("{least_s:.1} to {most_s:.1} s")),
        (None, Some(least_s), None) => text(format!("at least {least_s:.1} s")),
        (None, None, _) => text("none"),
    };
    let bound = reported.summary.pointer("/estimate/bound").and_then(Value::as_str).unwrap_or("none");
    let nearest_s = time_s.or_else(|| least_s.map(|least_s| took_s.clamp(least_s, most_s.unwrap_or(f64::INFINITY))));
    let off = match bed.compare("")? {
        Comparison::Equal => cell(nearest_s.map(|nearest_s| off_percent(nearest_s, took_s)), "%"),
        _ => text("wrong bytes"),
    };
    Ok(vec![
        text(name),
        text(round.to_string()),
        estimated,
        cell(number_at(&reported.summary, "/estimate/places"), ""),
        cell(number_at(&reported.summary, "/estimate/took_s"), "s"),
        text(bound),
        number(took_s, "s"),
        off,
        cell(reported.worst_percent(took_s), "%"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_estimate_counts_from_a_tenth_on_and_excludes_the_last_line() {
        let line = |copied: u64, at_s: f64, left_s: f64| -> Value {
            let text = format!(r#"{{"copied_bytes":{copied},"total_bytes":100,"elapsed_s":{at_s},"left_s":{left_s}}}"#);
            serde_json::from_str(&text).unwrap()
        };
        let progress = vec![line(5, 1.0, 40.0), line(20, 2.0, 8.2), line(50, 5.0, 4.7), line(100, 10.0, 3.0)];
        let worst = ReportedTimes { progress, summary: Value::Null }.worst_percent(10.0).unwrap();
        assert!((worst - 3.0).abs() < 1e-9, "{worst}");
    }
}
