//! How each of several dests ended.
use super::{error, given, verified};
use crate::core::{DestOutcome, Durability, EndpointKind, Error, Outcome, Plan, PlanDest};
use crate::report::columns::{Columns, whole};
use crate::report::printable::{printable, shell_line};
use crate::report::style::{CARE, paint};
use crate::report::units;

/// What is reported immediately about a dest that fails while others continue.
pub fn dropped(failed: &Error) -> String {
    let text = error(failed);
    format!("{text}  haul drops this destination; the others continue.\n")
}

/// What is reported before a dest that was left behind is completed.
pub fn catching_up(address: &str, from: u64) -> String {
    format!("destination {address} was left behind; haul completes it now, from byte {from}")
}

/// The dests that have everything, of how many; nothing where there is only one.
pub(super) fn amount(outcome: &Outcome) -> String {
    let count = outcome.dests.len();
    let good = outcome.dests.iter().filter(|dest| dest.error.is_none() && !dest.behind).count();
    match count {
        0 => String::new(),
        _ if good == count => format!(" to each of {count} destinations"),
        _ => format!(" to {} of {count} destinations", paint(CARE, &good.to_string())),
    }
}

/// A row for each dest: what it is, and its result.
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

/// The commands that give each dest what it lacks, each on a separate line, where one has failed: then they do not lack
/// the same.
pub(super) fn how_to_go_on(plan: &Plan, outcome: &Outcome, args: &[String]) -> String {
    let commands = outcome.dests.iter().filter_map(|dest| rest(plan, outcome, dest, args)).map(shell_line);
    let lines: String = commands.map(|command| format!("  {command}\n")).collect();
    if lines.is_empty() { lines } else { format!("\nTo complete the destinations, after fixing the cause:\n{lines}") }
}

/// The command that copies what one dest lacks, words in order, not quoted; `None` where all dests lack the same, or
/// there is no such command. `args` is the command line as given, without the name of the program.
pub(crate) fn rest(plan: &Plan, outcome: &Outcome, dest: &DestOutcome, args: &[String]) -> Option<Vec<String>> {
    let keeps = |kind: EndpointKind| matches!(kind, EndpointKind::File | EndpointKind::Block);
    let planned = plan.dests.iter().find(|planned| planned.side.address == dest.address)?;
    // What was left behind is completed at once, when the others have everything.
    let later = outcome.ended_well() && dest.behind;
    let possible = outcome.dests_differ() && !later && keeps(plan.source.kind) && keeps(planned.side.kind);
    let left = plan.len.filter(|_| possible)?.checked_sub(dest.claimed.end()).filter(|&left| left > 0)?;
    let mut words: Vec<String> = vec!["haul".to_owned(), "copy".to_owned()];
    let from = |offset: u64| (offset + dest.claimed.end()).to_string();
    words.extend(["--skip".to_owned(), from(plan.source.offset), "--seek".to_owned(), from(plan.dest.offset)]);
    words.extend(["--count".to_owned(), left.to_string()]);
    let agreed = given::has("--yes", args) || given::has("-y", args);
    words.extend(agreed.then(|| "--yes".to_owned()));
    words.extend([plan.source.address.clone(), dest.address.clone()]);
    Some(words)
}
