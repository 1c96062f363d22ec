//! The pace of a copy, and the trials of auto-tuning.
use crate::core::{Limits, Outcome, Trial, TrialVerdict};
use crate::report::columns::{TIE, whole};
use crate::report::printable::printable;
use crate::report::units;

/// The final limits, their reason, and the cost of the search.
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
        text += &format!("; auto-tune overhead{TIE}{:.1}{TIE}%", cost * 100.0);
    }
    text
}

/// The limits of a copy: `queue depth 2+2, 1 MiB blocks`.
fn limits(limits: Limits) -> String {
    let [source, dest] = limits.in_flight;
    let block = whole(&units::block(limits.block_bytes.into()));
    let turns = if limits.bursts { ", alternating reads and writes" } else { "" };
    format!("queue{TIE}depth{TIE}{source}+{dest}, {block}{TIE}blocks{turns}")
}

/// The trials, and the gain of each.
pub(super) fn tried(outcome: &Outcome) -> String {
    let one = |trial: &Trial| {
        let change = limits(trial.to);
        match trial.verdict {
            TrialVerdict::NoLongerFull => format!("{change}:{TIE}enough"),
            TrialVerdict::Kept | TrialVerdict::Dropped => format!("{change}:{TIE}{:+}{TIE}%", trial.gain_percent),
        }
    };
    outcome.pace.trials.iter().map(one).collect::<Vec<_>>().join("; ")
}
