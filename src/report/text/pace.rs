//! What a copy kept to, and what it tried.
use crate::core::{Limits, Outcome, Trial, TrialVerdict};
use crate::report::columns::whole;
use crate::report::printable::printable;
use crate::report::units;

/// The limits, why, and what looking for them cost.
pub(super) fn pace(outcome: &Outcome) -> String {
    let pace = &outcome.pace;
    if pace.limits.block_bytes == 0 {
        return printable(&pace.because).to_string();
    }
    let mut text = limits(pace.limits);
    if !pace.because.is_empty() {
        text += &format!("; {}", printable(&pace.because));
    }
    let cost = pace.search_cost.as_secs_f64() / outcome.elapsed.as_secs_f64();
    if cost >= 0.0005 {
        text += &format!("; auto-tune overhead\u{fdd0}{:.1}\u{fdd0}%", cost * 100.0);
    }
    text
}

/// What a copy keeps to: `queue depth 2+2, 1 MiB blocks`.
fn limits(limits: Limits) -> String {
    let [source, dest] = limits.in_flight;
    let block = whole(&units::block(limits.block_bytes.into()));
    let turns = if limits.bursts { ", alternating reads and writes" } else { "" };
    format!("queue\u{fdd0}depth\u{fdd0}{source}+{dest}, {block}\u{fdd0}blocks{turns}")
}

/// What was tried, and what it gained.
pub(super) fn tried(outcome: &Outcome) -> String {
    let one = |trial: &Trial| {
        let change = limits(trial.to);
        match trial.verdict {
            TrialVerdict::NoLongerFull => format!("{change}:\u{fdd0}enough"),
            TrialVerdict::Kept | TrialVerdict::Dropped => format!("{change}:\u{fdd0}{:+}\u{fdd0}%", trial.gain_percent),
        }
    };
    outcome.pace.trials.iter().map(one).collect::<Vec<_>>().join("; ")
}
