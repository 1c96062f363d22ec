//! The reason for the current limits, as text.
use super::limits::{Limits, Start};
use super::trial::{Trial, Verdict};

/// The reason for `limits`, a clause for the report.
pub(super) fn of(start: &Start, limits: Limits, trials: &[Trial]) -> String {
    if !start.tuning.adaptive {
        return "as set".to_owned();
    }
    if limits.bursts {
        return of_bursts(trials);
    }
    let of_sides = || trials.iter().filter(|trial| trial.side.is_some());
    let Some(last) = of_sides().next_back() else {
        return untried(start);
    };
    let was = start.tuning.limits.in_flight;
    if limits.in_flight.iter().zip(was).all(|(now, was)| *now <= was) {
        let grew = of_sides().any(grows);
        return if grew { "a higher queue depth gained nothing" } else { "a lower queue depth gained nothing" }
            .to_owned();
    }
    // Changes that were reverted later are not counted.
    let stayed = |trial: &&Trial| {
        let within = trial.to.in_flight.iter().zip(limits.in_flight).all(|(to, now)| *to <= now);
        trial.verdict == Verdict::Kept && grows(trial) && within
    };
    let gain: f64 = of_sides().filter(stayed).map(|trial| 1.0 + f64::from(trial.gain_percent) / 100.0).product();
    let gain_percent = ((gain - 1.0) * 100.0).round();
    match last.verdict {
        _ if gain_percent < 1.0 => "the other side is the bottleneck".to_owned(),
        Verdict::NoLongerFull => {
            format!("a higher queue depth gained {gain_percent} %; now the other side is the bottleneck")
        }
        Verdict::Dropped => format!("a higher queue depth gained {gain_percent} %, a further increase nothing"),
        Verdict::Kept => format!("a higher queue depth gained {gain_percent} %"),
    }
}

fn grows(trial: &Trial) -> bool {
    trial.from.in_flight.iter().zip(trial.to.in_flight).any(|(from, to)| to > *from)
}

fn untried(start: &Start) -> String {
    if start.tuning.tuned {
        return "saved by haul tune".to_owned();
    }
    if start.rotational.contains(&true) {
        return "default for rotational disks".to_owned();
    }
    "initial values: no trial was worthwhile".to_owned()
}

fn of_bursts(trials: &[Trial]) -> String {
    let compared = trials.iter().find(|trial| trial.side.is_none());
    match compared {
        Some(trial) if trial.verdict == Verdict::Kept => {
            format!("both sides are on one disk; alternating reads and writes gained {} %", trial.gain_percent)
        }
        Some(_) => "both sides are on one disk; overlapping reads and writes gained nothing".to_owned(),
        None => "both sides are on one disk".to_owned(),
    }
}
