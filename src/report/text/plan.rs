use super::estimate::expected;
use super::{queue, side::describe};
use crate::core::{Decision, Direction, Estimate, Facts, PatternAct, Plan, PlanSide, Reason, Route};
use crate::report::columns::{Columns, beside, columns, message, pad, whole};
use crate::report::printable::printable;
use crate::report::style::{CARE, STRONG, paint};
use crate::report::units;

/// Maximum width of a choice that has its reason beside it.
const CHOICE_WIDTH: usize = 20;

/// The complete plan, for `--dry-run`.
pub fn plan(decision: &Decision, source: &Facts, dest: &Facts, estimate: Option<Estimate>) -> String {
    let Decision { plan, notes } = decision;
    let mut text = message("", "  ", &paint(STRONG, &headline(plan))) + "\n";
    let mut sides = Columns::default();
    sides.row("source", with_queue(source));
    sides.row("destination", with_queue(dest));
    for other in plan.dests.iter().skip(1) {
        sides.row("also", format!("{}\n{}", printable(&other.side.address), other.side.kind.name()));
    }
    sides.row("range", range(decision, source, dest));
    sides.row("time", estimate.map(|estimate| expected(plan, &estimate)).unwrap_or_default());
    text += &sides.lines();
    text.push('\n');
    text += &reasons(&notes.why);
    for warning in &notes.warnings {
        text += &beside(&paint(CARE, "warning:"), &printable(warning));
    }
    text
}

/// The properties of a side, and the kernel's queue settings for it.
fn with_queue(facts: &Facts) -> String {
    let lines = [describe(facts, None)].into_iter().chain(queue::of_side(facts));
    lines.collect::<Vec<_>>().join("\n")
}

/// Source, destination and amount, in one line.
pub(super) fn headline(plan: &Plan) -> String {
    let amount = plan.len.map_or_else(|| "a stream".to_owned(), units::size);
    let source = printable(&plan.source.address);
    let also = plan.dests.iter().skip(1).map(|other| format!(", {}", printable(&other.side.address)));
    let dest = printable(&plan.dest.address) + &also.collect::<String>();
    match plan.route {
        _ if plan.pattern.is_some_and(|used| used.act == PatternAct::Write) => {
            format!("write {amount} of the test pattern to {dest}")
        }
        _ if plan.pattern.is_some() => format!("check {amount} of the test pattern on {source}"),
        Route::Copy | Route::Delta { .. } => format!("copy {amount} from {source} to {dest}"),
        Route::Compare { .. } => format!("compare {amount} of {source} with {dest}"),
        Route::ReadBack => format!("compare {amount} of {dest} with the digests in {source}"),
    }
}

/// The range on both sides, with both ends, because mistakes are most likely there.
fn range(Decision { plan, notes }: &Decision, source: &Facts, dest: &Facts) -> String {
    let len = plan.len.map_or_else(|| "to the end of the source".to_owned(), |len| whole(&units::exact(len)));
    let because = notes.range.as_ref().map(|reason| printable(&reason.because));
    let mut text = because.map_or_else(|| len.clone(), |because| format!("{len}: {because}"));
    if plan.source.map.file().is_none() && plan.source.map.start() > 0 {
        text += &format!(", {}", from("source", &plan.source, source.logical_block_bytes));
    }
    if plan.dest.map.file().is_none() && plan.dest.map.start() > 0 {
        text += &format!(", {}", from("destination", &plan.dest, dest.logical_block_bytes));
    }
    if plan.direction == Direction::Backward {
        text += ", from the last byte to the first";
    }
    text
}

fn from(name: &str, side: &PlanSide, sector_bytes: u32) -> String {
    let start = side.map.start();
    let sector = match u64::from(sector_bytes) {
        bytes if bytes > 1 && start.is_multiple_of(bytes) => format!(" (sector {})", start / bytes),
        _ => String::new(),
    };
    whole(&format!("from byte {start}{sector} of the {name}"))
}

/// Topic, choice and reason in three columns; if a choice is too long for its column, its reason is on the next
/// line.
pub(super) fn reasons(why: &[Reason]) -> String {
    let topics = why.iter().map(|reason| columns(reason.topic)).max().unwrap_or(0);
    let fits = |reason: &&Reason| columns(&reason.choice) <= CHOICE_WIDTH;
    let choices = why.iter().filter(fits).map(|reason| columns(&reason.choice)).max().unwrap_or(0);
    let mut text = String::new();
    for reason in why {
        let (topic, choice) = (pad(reason.topic, topics), printable(&reason.choice));
        let because = printable(&reason.because);
        if columns(&choice) <= choices {
            text += &beside(&format!("{topic}  {}", pad(&choice, choices)), &because);
            continue;
        }
        text += &beside(&topic, &choice);
        text += &beside(&" ".repeat(topics + 2 + choices), &because);
    }
    text
}
