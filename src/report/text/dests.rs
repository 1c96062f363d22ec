//! The result of each of several dests.
use super::{error, given, verified};
use crate::core::{DestOutcome, Durability, EndpointKind, Error, Outcome, Plan, PlanDest};
use crate::report::columns::{Columns, whole};
use crate::report::printable::{printable, shell_line};
use crate::report::style::{CARE, paint};
use crate::report::units;

/// The message about a dest that fails while others continue.
pub fn dropped(failed: &Error) -> String {
    let text = error(failed);
    format!("{text}  haul drops this destination; the others continue.\n")
}

/// The message before a dest that was left behind is completed.
pub fn catching_up(address: &str, from: u64) -> String {
    format!("destination {address} was left behind; haul completes it now, from byte {from}")
}

/// The number of complete dests, of all; empty if there is only one.
pub(super) fn amount(outcome: &Outcome) -> String {
    let count = outcome.dests.len();
    let good = outcome.dests.iter().filter(|dest| dest.error.is_none() && !dest.behind).count();
    match count {
        0 => String::new(),
        _ if good == count => format!(" to each of {count} destinations"),
        _ => format!(" to {} of {count} destinations", paint(CARE, &good.to_string())),
    }
}

/// The address of each of several dests, with its result.
pub(crate) fn results(plan: &Plan, outcome: &Outcome) -> Vec<(String, String)> {
    let dests = outcome.dests.iter().zip(&plan.dests);
    dests.map(|(ended, planned)| (printable(&planned.side.address).to_string(), verdict(ended))).collect()
}

/// Adds a row for each dest: its identity, and its result.
pub(super) fn rows(plan: &Plan, outcome: &Outcome, rows: &mut Columns) {
    for (ended, planned) in outcome.dests.iter().zip(&plan.dests) {
        rows.row("destination", format!("{}: {}", name(planned), verdict(ended)));
        if let Some(found) = &ended.verified {
            verified::rows(plan, found, rows);
        }
    }
}

fn name(planned: &PlanDest) -> String {
    let access = &planned.side.access;
    format!("{}, {}, {}", printable(&planned.side.address), planned.side.kind.name(), access.cache.name())
}

fn verdict(ended: &DestOutcome) -> String {
    let mut text = match &ended.error {
        None if ended.behind => {
            let claimed = whole(&units::bytes(ended.claimed.len));
            format!("{}, the first {claimed} were copied", paint(CARE, "left behind"))
        }
        None => whole(&units::bytes(ended.claimed.len)),
        Some(failed) => {
            let claimed = whole(&units::bytes(ended.claimed.len));
            format!("{}: {}; the first {claimed} were copied", paint(CARE, "FAILED"), super::error::message(failed))
        }
    };
    if ended.zeroed_bytes > 0 {
        text += &format!(", of which {} zeroed by the device", ended.zeroed_bytes);
    }
    if ended.hole_bytes > 0 {
        text += &format!(", of which {} left as holes", ended.hole_bytes);
    }
    match (Durability::of(ended.durable, ended.memory.as_deref()), &ended.memory) {
        (Durability::Memory, Some(memory)) => text + ", in memory (" + &printable(memory) + ")",
        (Durability::Medium, _) => text + ", durable",
        _ => text,
    }
}

/// The commands that complete each dest, each on a separate line, if one has failed: then they lack different
/// data.
pub(super) fn next_steps(plan: &Plan, outcome: &Outcome, args: &[String]) -> String {
    let commands = outcome.dests.iter().filter_map(|dest| rest(plan, outcome, dest, args)).map(shell_line);
    let lines: String = commands.map(|command| format!("  {command}\n")).collect();
    if lines.is_empty() { lines } else { format!("\nTo complete the destinations, after fixing the cause:\n{lines}") }
}

/// The command that completes one dest, as words in order, not quoted; `None` if all dests lack the same, or
/// there is no such command. `args` is the command line as given, without the name of the program.
pub(crate) fn rest(plan: &Plan, outcome: &Outcome, dest: &DestOutcome, args: &[String]) -> Option<Vec<String>> {
    let keeps = EndpointKind::is_storage;
    let planned = plan.dests.iter().find(|planned| planned.side.address == dest.address)?;
    // A dest that was left behind is completed immediately after the others.
    let later = outcome.ended_well() && dest.behind;
    let possible =
        outcome.dests_differ() && !later && !plan.is_listed() && keeps(plan.source.kind) && keeps(planned.side.kind);
    let left = plan.len.filter(|_| possible)?.checked_sub(dest.claimed.end()).filter(|&left| left > 0)?;
    let mut words: Vec<String> = vec!["haul".to_owned(), "copy".to_owned()];
    let from = |offset: u64| (offset + dest.claimed.end()).to_string();
    words.extend([
        "--skip".to_owned(),
        from(plan.source.map.start()),
        "--seek".to_owned(),
        from(plan.dest.map.start()),
    ]);
    words.extend(["--count".to_owned(), left.to_string()]);
    let agreed = given::has("--yes", args) || given::has("-y", args);
    words.extend(agreed.then(|| "--yes".to_owned()));
    words.extend([plan.source.address.clone(), dest.address.clone()]);
    Some(words)
}
