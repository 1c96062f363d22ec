//! What came of comparing blocks in memory before and after they were written.
use crate::core::{EndpointKind, MemoryCheck, Outcome, Plan};
use crate::report::columns::whole;
use crate::report::style::{CARE, paint};
use crate::report::units;

/// The last words of the headline of a copy that is not read back.
pub(super) fn verdict(plan: &Plan, outcome: &Outcome) -> Option<String> {
    let check = outcome.memory_check.filter(|_| outcome.ended_well() && is_pipe(plan))?;
    check.changed_at.is_none().then(|| "unchanged in memory".to_owned())
}

/// What was compared, and what that does not prove; nothing where it was not asked for.
pub(super) fn row(plan: &Plan, outcome: &Outcome) -> String {
    let Some(MemoryCheck { unchanged_bytes, changed_at }) = outcome.memory_check else { return String::new() };
    let amount = whole(&units::bytes(unchanged_bytes));
    let mut text = format!("{amount} were written as they had been read, by the fingerprint of each block");
    if let Some(at) = changed_at {
        text += &paint(CARE, &format!("; the block at byte {at} of the destination was not"));
    }
    if is_pipe(plan) {
        text += "; what the program behind the pipe received was not checked: compare a digest there (--hash)";
    }
    text
}

fn is_pipe(plan: &Plan) -> bool {
    let kinds = plan.dests.iter().map(|dest| dest.side.kind).chain([plan.dest.kind]);
    kinds.into_iter().any(|kind| kind == EndpointKind::Pipe)
}
