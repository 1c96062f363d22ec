//! The result of comparing blocks in memory before and after they were written.
use crate::core::{EndpointKind, MemoryCheck, Outcome, Plan};
use crate::report::columns::whole;
use crate::report::style::{CARE, paint};
use crate::report::units;

/// The end of the headline of a copy that is not read back.
pub(super) fn verdict(plan: &Plan, outcome: &Outcome) -> Option<String> {
    let check = outcome.memory_check.filter(|_| outcome.ended_well() && !not_checked(plan).is_empty())?;
    check.changed_at.is_none().then(|| "unchanged in memory".to_owned())
}

/// The same if a block changed, or the dest could not be read back.
pub(super) fn what_is_open(plan: &Plan, outcome: &Outcome) -> String {
    let changed = outcome.memory_check.is_some_and(|check| check.changed_at.is_some());
    if changed || !not_checked(plan).is_empty() { row(plan, outcome) } else { String::new() }
}

/// What was compared, and what that does not prove; empty if it was not requested.
pub(super) fn row(plan: &Plan, outcome: &Outcome) -> String {
    let Some(MemoryCheck { unchanged_bytes, changed_at }) = outcome.memory_check else { return String::new() };
    let amount = whole(&units::bytes(unchanged_bytes));
    let mut text = format!("{amount} had the same fingerprint after writing as after reading");
    if let Some(at) = changed_at {
        text += &paint(CARE, &format!("; the block at byte {at} of the destination changed in memory"));
    }
    text + &not_checked(plan)
}

/// What `--verify` does not cover for a stream, which cannot be read back.
fn not_checked(plan: &Plan) -> String {
    let kinds = plan.dests.iter().map(|dest| dest.side.kind).chain([plan.dest.kind]);
    match kinds.into_iter().find(|kind| kind.is_stream()) {
        None => String::new(),
        Some(EndpointKind::FileStream) => "; the file was not read back: name it instead of - to have that done".into(),
        Some(kind) => {
            format!("; data received through the {} was not checked: compare its digest (--hash)", kind.name())
        }
    }
}
