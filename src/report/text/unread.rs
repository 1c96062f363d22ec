//! Sectors that could not be read and were skipped.
use crate::core::{Extent, Outcome, Plan, Side, Unread};
use crate::report::columns::{Columns, whole};
use crate::report::style::{CARE, paint};
use crate::report::units;

/// Maximum number of runs listed in text; JSON and a mapfile have all of them.
const RUNS_SHOWN: usize = 8;

/// `, but 3 sectors could not be read`; empty without read errors.
pub(super) fn clause(outcome: &Outcome) -> String {
    match outcome.unread.iter().map(Unread::sectors).sum() {
        0 => String::new(),
        sectors => {
            let sectors = whole(&units::count(sectors, "sector", "sectors"));
            format!(", {}", paint(CARE, &format!("but {sectors} could not be read")))
        }
    }
}

/// Adds rows: how many, where, and the time spent on them.
pub(super) fn rows(plan: &Plan, outcome: &Outcome, rows: &mut Columns) {
    for side in Side::BOTH {
        let unread = &outcome.unread[side.index()];
        if !unread.is_empty() {
            rows.row("unreadable", unread_of(plan, side, unread));
            rows.row("", runs(unread));
        }
        if !unread.is_empty() && !outcome.digests.is_empty() {
            rows.row("digests", "cover the written data, with zeros for unreadable sectors");
        }
        if unread.failed_reads > 0 {
            let reads = whole(&units::count(unread.failed_reads, "read", "reads"));
            let took = whole(&units::duration(unread.failing));
            rows.row("failures", format!("{reads} of the {} failed, taking {took} in total", side.name()));
        }
    }
}

fn unread_of(plan: &Plan, side: Side, unread: &Unread) -> String {
    let sectors = whole(&units::count(unread.sectors(), "sector", "sectors"));
    let bytes = whole(&units::bytes(unread.runs.total_bytes()));
    let runs = whole(&units::count(unread.runs.count() as u64, "run", "runs"));
    let instead = match plan.route.writes() {
        true if plan.pattern.is_some() => "; not checked",
        true => "; the destination has zeros in their place",
        false => "; not compared",
    };
    let name = side.name();
    format!("{sectors} of {} bytes of the {name}, {bytes} in {runs}{instead}", unread.sector_bytes)
}

/// Runs as offset and length on their side.
fn runs(unread: &Unread) -> String {
    let shown = |run: Extent| whole(&format!("{}+{}", run.offset, run.len));
    let mut shown: Vec<String> = unread.runs.iter().take(RUNS_SHOWN).map(shown).collect();
    match unread.runs.count().saturating_sub(RUNS_SHOWN) {
        0 => {}
        more => shown.push(format!("and {more} more; all with --json")),
    }
    format!("byte {}", shown.join(", "))
}
