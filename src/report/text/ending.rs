//! How a copy ended, how much was copied and how fast: common to the short report and the full one.
use super::signal::signal_name;
use super::{damage, dests, differences, memory_check, unread, verified};
use crate::core::{Direction, Durability, Ended, EndpointKind, Outcome, Plan, Route, Unread};
use crate::report::columns::whole;
use crate::report::printable::printable;
use crate::report::units;

/// One line: how it ended, how much was copied, and how fast.
pub(crate) fn headline(plan: &Plan, outcome: &Outcome) -> String {
    format!("{} in {}", what(plan, outcome), how_fast(plan, outcome))
}

/// How it ended, and how much was copied.
pub(super) fn what(plan: &Plan, outcome: &Outcome) -> String {
    let judged = outcome.damage.as_ref().map(|found| damage::verdict(plan, outcome, found));
    let compared = outcome.differences.as_ref().map(|found| differences::verdict(plan, outcome, found));
    if let Some(verdict) = judged.or(compared) {
        return verdict;
    }
    let amount = match plan.len {
        // Data written after a gap is not guaranteed.
        Some(len) if !matches!(outcome.ended, Ended::Complete) => {
            let claimed = outcome.claimed.len;
            format!("{} of {} ({} %)", units::size(claimed), units::size(len), units::percent(claimed, len))
        }
        _ => units::size(outcome.totals.copied_bytes()),
    };
    match outcome.ended {
        Ended::Complete if plan.pattern.is_some() => format!("wrote {amount} of the test pattern"),
        Ended::Complete => format!("copied {amount}{}", dests::amount(outcome)),
        Ended::Interrupted(signal) => format!("interrupted by {} after {amount}", signal_name(signal)),
        Ended::OutOfTime => format!("stopped by --time, incomplete: {amount}"),
        Ended::Failed(_) => format!("stopped after {amount}"),
    }
}

/// The duration, the rate, whether the data is durable, and whether it is correct.
pub(super) fn how_fast(plan: &Plan, outcome: &Outcome) -> String {
    let copied = outcome.totals.copied_bytes();
    let mut text = whole(&units::duration(outcome.elapsed));
    if let Some(rate) = units::per_second(copied, outcome.elapsed).filter(|_| copied > 0) {
        text += &format!(", {}", whole(&units::rate(rate)));
    }
    if outcome.damage.is_some() || outcome.differences.is_some() {
        return text + &unread::clause(outcome);
    }
    match durability(plan, outcome) {
        "" => {}
        "in memory" => text += &format!(", {}", in_memory(outcome)),
        word => text += &format!(", {word}"),
    }
    if matches!(plan.route, Route::Delta { .. }) || outcome.totals.unchanged_bytes > 0 {
        let written = copied - outcome.totals.unchanged_bytes;
        text += &format!(", wrote {} of it", whole(&units::size(written)));
        if matches!(outcome.ended, Ended::Complete) {
            text += "; the rest was already identical";
        }
    }
    let each = outcome.dests.iter().filter_map(|dest| dest.verified.as_ref());
    let verdict = outcome.verified.as_ref().map(verified::verdict).or_else(|| verified::verdict_of_all(each));
    let verdict = verdict.or_else(|| memory_check::verdict(plan, outcome));
    text += &verdict.map(|verdict| format!(", {verdict}")).unwrap_or_default();
    text + &unread::clause(outcome)
}

/// The state of an object that is not complete.
const IN_PARTS: &str = "stored in parts";

/// Empty for dests that store nothing.
fn durability(plan: &Plan, outcome: &Outcome) -> &'static str {
    match plan.dest.kind {
        EndpointKind::Pipe | EndpointKind::Socket | EndpointKind::Terminal | EndpointKind::Character => "",
        EndpointKind::Null | EndpointKind::Endless | EndpointKind::Pattern => "",
        _ if !plan.route.writes() => "",
        // Only a complete object is visible; its parts are stored.
        EndpointKind::Object if !matches!(outcome.ended, Ended::Complete) && outcome.durable => IN_PARTS,
        _ => match outcome.durability() {
            Durability::Medium => "durable",
            Durability::Memory => "in memory",
            Durability::No => "not durable",
        },
    }
}

/// States that the data is only in memory, and why.
fn in_memory(outcome: &Outcome) -> String {
    let memory = printable(outcome.memory.as_deref().unwrap_or_default());
    format!("in memory: the destination is on {memory}, and a power loss erases it")
}

pub(super) fn claimed(plan: &Plan, outcome: &Outcome) -> String {
    let claimed = outcome.claimed;
    if claimed.is_empty() {
        return "nothing".to_owned();
    }
    let place = match plan.direction {
        Direction::Forward => "first",
        Direction::Backward => "last",
    };
    let durable = match durability(plan, outcome) {
        "" => "",
        "durable" => "; durable",
        "in memory" => "; only in memory",
        IN_PARTS => "; stored in parts, not visible",
        _ => "; not durable",
    };
    let but = match outcome.unread.iter().all(Unread::is_empty) {
        true => "",
        false => ", except unreadable sectors",
    };
    let bytes = whole(&units::bytes(claimed.len));
    let of = plan.list().map(|list| format!(" of the {}", printable(&list))).unwrap_or_default();
    format!("the {place} {bytes}{of}, contiguous{but}{durable}")
}

/// The durable part according to the journal; empty if no journal was needed.
pub(super) fn journal(outcome: &Outcome) -> String {
    let Some(kept) = &outcome.kept else { return String::new() };
    let mut text = Vec::new();
    if kept.already_bytes > 0 {
        text.push(format!("{} already copied by earlier runs (resumed)", whole(&units::exact(kept.already_bytes))));
    }
    if outcome.totals.reread_bytes > 0 {
        let reread = whole(&units::exact(outcome.totals.reread_bytes));
        text.push(format!("{reread} of the source read again for the digest of all data"));
    }
    if let Some(left) = &kept.left {
        let path = printable(&left.to_string_lossy()).to_string();
        let what = if outcome.memory.is_some() { "copied" } else { "durable" };
        text.push(format!("{} {what} according to {path}", whole(&units::exact(kept.durable_bytes))));
        if kept.unread_bytes > 0 {
            text.push(format!("{} unreadable, to be retried", whole(&units::exact(kept.unread_bytes))));
        }
    }
    if kept.checkpoints > 0 {
        text.push(whole(&units::count(kept.checkpoints, "checkpoint", "checkpoints")));
    }
    text.join("; ")
}
