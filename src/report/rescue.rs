//! What a rescue has found, as text.
use super::json::RescueEnd;
use super::printable::{printable, shell_line};
use super::units;
use crate::core::rescue::{ReadLimits, RescueMap, RescueState, RescueStopped, Status, TimeLimits};
use crate::core::{Ended, EndpointKind, ExtentSet, Outcome, Plan, Side};
use std::path::Path;
use std::time::Duration;

/// Bytes of each status, with the words for them.
pub(super) const STATUSES: [(Status, &str); 5] = [
    (Status::Finished, "rescued"),
    (Status::Bad, "bad sectors"),
    (Status::Unscraped, "not scraped"),
    (Status::Untrimmed, "not trimmed"),
    (Status::Untried, "not tried"),
];

/// Unreadable areas from which on a rescue is the better way.
const AREAS_MIN: u64 = 5;

/// What a rescue begins with.
pub fn begins(state: &RescueState, path: &Path) -> String {
    let rescued = state.map.bytes(Status::Finished);
    let map = shown(path);
    if rescued == 0 {
        return format!("rescuing {}; map: {map}", units::size(state.map.len_bytes()));
    }
    let (rescued, all) = (units::size(rescued), units::size(state.map.len_bytes()));
    format!("continuing after {rescued} of {all}; map: {map}")
}

/// What a read of a bad sector costs through the block layer, and what to do about it.
pub fn kernel_timeout(block: &Path, timeout: Duration, node: &Path, reads: ReadLimits) -> String {
    let (block, node) = (shown(block), shown(node));
    let (timeout, limit) = (units::duration(timeout), units::duration(reads.copying));
    format!(
        "the kernel waits up to {timeout} for a read of {block}, and may repeat it; with --passthrough, haul reads by \
         {node} and waits {limit}"
    )
}

/// The limits of the time of a read that applied, a line for each.
fn time_limits(limits: &TimeLimits) -> String {
    let mut text = String::new();
    if let Some(ReadLimits { copying, later }) = limits.reads {
        let [copying, later] = [copying, later].map(units::duration);
        text +=
            &format!("{:<12} {copying} for each read while copying, {later} later (--read-timeout)\n", "time limit");
    } else if let Some(kernel) = limits.kernel {
        text += &format!("{:<12} {} for each read, of the kernel\n", "time limit", units::duration(kernel));
    }
    let recovery = |timers: &[Option<Duration>; 2]| timers[0].map_or("unlimited".to_owned(), units::duration);
    if let Some(before) = limits.recovery_before.filter(|_| !limits.recovery.is_empty()) {
        let set: Vec<String> = limits.recovery.iter().map(recovery).collect();
        let after = if limits.is_restored { "restored to" } else { "not restored, before" };
        text += &format!("{:<12} {} (SCT ERC), {after} {}\n", "disk limit", set.join(", then "), recovery(&before));
    }
    text
}

/// The warning about a map without the name of its source.
pub fn unnamed_source(path: &Path) -> String {
    let map = shown(path);
    format!("map {map} does not name its source, as those of GNU ddrescue: check that it is of this one")
}

/// Bytes that were not rescued, of all or of the `domain`.
pub fn missing_bytes(state: &RescueState, domain: Option<&ExtentSet>) -> u64 {
    let finished = state.map.set_of(Status::Finished);
    match domain {
        None => state.map.len_bytes() - finished.total_bytes(),
        Some(domain) => domain.total_bytes() - finished.intersection(domain).total_bytes(),
    }
}

/// How a rescue ended, and the command that continues it, if that makes sense.
pub fn rescued(end: &RescueEnd<'_>) -> String {
    let RescueEnd { state, outcome, .. } = end;
    let mut text = statuses(&state.map);
    let (failed, slow) = (state.failed_reads, state.slow_reads);
    let failing = units::duration(outcome.unread[Side::Source.index()].failing);
    if failed + slow > 0 {
        text += &format!("{:<12} {failed} failed in {failing}, {slow} slow\n", "reads");
    }
    for head in &state.heads {
        let [every, bytes] = [head.period_bytes, head.stretch_bytes].map(units::size);
        let of = head.heads();
        text += &format!("{:<12} every {every} for about {bytes}: one of about {of} heads fails\n", "bad areas");
    }
    if let Some(temperature) = state.temperature {
        text +=
            &format!("{:<12} {:.0} °C, at most {:.0} °C\n", "temperature", temperature.celsius, temperature.highest);
    }
    text += &time_limits(end.limits);
    text += &format!("{:<12} {}\n", "time", units::duration(outcome.elapsed));
    text += &format!("{:<12} {}\n", "map", shown(end.map));
    match state.stopped {
        Some(RescueStopped::NoNewBytes(time)) => {
            text += &format!("{:<12} nothing was read for {} (--stop-after)\n", "ended", units::duration(time));
        }
        Some(RescueStopped::ErrorRate(rate)) => {
            text += &format!("{:<12} {} of reads failed (--max-error-rate)\n", "ended", units::rate(rate));
        }
        None if !matches!(outcome.ended, Ended::Complete) => {
            text += &format!("{:<12} while {}, pass {}\n", "ended", state.phase.name(), state.pass);
        }
        None => {}
    }
    if let Some(line) = end.next_command() {
        let name = if matches!(outcome.ended, Ended::Complete) { "try again" } else { "continue" };
        text += &format!("{name:<12} {}\n", shell_line(line.iter().map(String::as_str)));
    }
    text
}

/// A line for each status: bytes, share, areas.
pub(super) fn statuses(map: &RescueMap) -> String {
    let mut text = String::new();
    for (status, name) in STATUSES {
        let bytes = map.bytes(status);
        if bytes == 0 && status != Status::Finished {
            continue;
        }
        let areas = map.blocks().filter(|block| block.status == status).count() as u64;
        let areas = units::count(areas, "area", "areas");
        text += &format!("{name:<12} {:>10}  {:>10}  {areas}\n", units::size(bytes), share_of(bytes, map.len_bytes()));
    }
    text
}

/// A share of all bytes; only what is complete is 100 %.
pub(super) fn share_of(bytes: u64, all: u64) -> String {
    let percent = if bytes == all { 100.0 } else { (bytes as f64 / all as f64 * 100.0).min(99.9999) };
    format!("{percent:.4} %")
}

/// The command that rescues what a copy with `--on-error skip` could not read, from its mapfile; `None`: it has few
/// unreadable areas, or is not one that a rescue can continue.
pub fn continues(plan: &Plan, outcome: &Outcome, mapfile: &str) -> Option<String> {
    let areas = outcome.unread[Side::Source.index()].runs.count() as u64;
    let starts = Side::BOTH.iter().all(|&side| plan.side(side).map.start() == 0);
    let keeps = matches!(plan.dest.kind, EndpointKind::File | EndpointKind::Block) && plan.dests.is_empty();
    if areas < AREAS_MIN || !starts || plan.is_listed() || !keeps {
        return None;
    }
    let line = shell_line(["haul", "rescue", &plan.source.address, &plan.dest.address, mapfile]);
    let areas = units::count(areas, "unreadable area", "unreadable areas");
    Some(format!("{areas}: '{line}' continues from the mapfile, and reads what is readable first"))
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}
