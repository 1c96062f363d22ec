//! The result of checking the test pattern.
use super::given;
use super::signal::signal_name;
use crate::core::{Conclusion, Damage, DamageKind, DamagedRun, Ended, Outcome, PatternAct, Plan, Unread};
use crate::report::columns::{Columns, paragraph, whole};
use crate::report::printable::{printable, shell_line};
use crate::report::style::{CARE, STRONG, paint};
use crate::report::units;

/// Maximum number of runs of each kind listed in text; JSON has all of them.
const RUNS_SHOWN: usize = 4;

/// The verdict in one clause.
pub(super) fn verdict(plan: &Plan, outcome: &Outcome, damage: &Damage) -> String {
    let checked = match plan.len {
        Some(len) if !matches!(outcome.ended, Ended::Complete) => {
            let claimed = outcome.claimed.len;
            format!("{} of {} ({} %)", units::size(claimed), units::size(len), units::percent(claimed, len))
        }
        _ => units::size(damage.checked_bytes),
    };
    let blocks = damage.checked_bytes.checked_div(damage.block_bytes.into()).unwrap_or(0);
    let verdict = match (outcome.ended_well(), damage.damaged_blocks()) {
        (_, 1..) => {
            let of = units::count(blocks, "block", "blocks");
            format!("{}: {} of {of}", paint(CARE, "damaged"), damage.damaged_blocks())
        }
        (true, 0) if outcome.unread.iter().all(Unread::is_empty) => paint(STRONG, "clean"),
        (true, 0) => "no damage in the readable blocks".to_owned(),
        (false, 0) => "no damage so far".to_owned(),
    };
    match outcome.ended {
        Ended::Complete => format!("{verdict}, {checked} checked"),
        Ended::Interrupted(signal) => format!("{verdict}, interrupted by {} after {checked}", signal_name(signal)),
        Ended::OutOfTime | Ended::Failed(_) => format!("{verdict}, stopped after {checked}"),
    }
}

/// The run and the blocks of the pattern.
pub(super) fn pattern(plan: &Plan) -> String {
    let Some(used) = plan.pattern else { return String::new() };
    let run = used.run.map(|run| format!("run {},", whole(&named(run)))).unwrap_or_default();
    format!("{run} blocks of {}", whole(&units::exact(used.block_bytes.into())))
}

/// A run by its number, and by the time that the number represents unless the user chose it.
fn named(run: u64) -> String {
    units::time_of_ms(run).map_or_else(|| run.to_string(), |time| format!("{run} of {time}"))
}

/// Adds a row for each kind of damage.
pub(super) fn rows(damage: &Damage, rows: &mut Columns) {
    for (index, name) in DamageKind::NAMES.iter().enumerate().filter(|(index, _)| damage.blocks[*index] > 0) {
        let mut text = whole(&units::count(damage.blocks[index], "block", "blocks"));
        if damage.flipped_bits > 0 && *name == DamageKind::Flipped.name() {
            text += &format!(", {}", whole(&units::count(damage.flipped_bits, "wrong bit", "wrong bits")));
        }
        let of_kind: Vec<&DamagedRun> = damage.runs.iter().filter(|run| run.kind.index() == index).collect();
        let mut shown: Vec<String> = of_kind.iter().take(RUNS_SHOWN).map(|run| describe_damage(run)).collect();
        match of_kind.len().saturating_sub(RUNS_SHOWN) {
            0 => {}
            more => shown.push(format!("and {more} more; all with --json")),
        }
        rows.row(name, format!("{text}: {}", shown.join("; ")));
    }
    if damage.unlisted {
        rows.row("unlisted", "not all damage is listed; the counts are complete".to_owned());
    }
}

/// A run as offset and length, with its distinguishing details.
fn describe_damage(run: &DamagedRun) -> String {
    let place = |offset: u64| format!("{offset}+{}", run.extent.len);
    let here = whole(&place(run.extent.offset));
    let at_distance = |distance: i64| run.extent.offset.wrapping_add_signed(distance);
    match run.kind {
        DamageKind::Swapped { distance } => format!("{here} with {}", whole(&place(at_distance(distance)))),
        DamageKind::Misplaced { distance, run } => {
            format!("{here} holds {} of run {}", whole(&format!("byte {}", at_distance(distance))), whole(&named(run)))
        }
        DamageKind::Stale { run } => format!("{here} of run {}", whole(&named(run))),
        DamageKind::Torn => format!("{here} at {}", whole(&format!("byte {}", run.first))),
        DamageKind::Flipped => format!("{here} from {}", whole(&format!("byte {}", run.first))),
        DamageKind::Zero | DamageKind::Foreign => here,
    }
}

/// A paragraph about what the damage as a whole indicates; empty if it indicates nothing.
pub(super) fn conclusion(plan: &Plan, damage: &Damage) -> String {
    let name = printable(&plan.source.address);
    let text = match damage.conclusion {
        None => return String::new(),
        Some(Conclusion::Wraps { holds_bytes }) => {
            let holds = units::bytes(holds_bytes);
            format!("{name} reports a false capacity: it holds {holds}, and writes beyond that overwrite earlier data.")
        }
        Some(Conclusion::NothingFrom { offset }) => {
            format!("All data on {name} from byte {offset} is damaged: the real capacity may end there.")
        }
    };
    format!("\n{}", paragraph(&text))
}

/// The command that checks the written pattern, on a separate line.
pub(super) fn how_to_check(plan: &Plan, outcome: &Outcome, args: &[String]) -> String {
    let Some(used) = plan.pattern.filter(|used| used.act == PatternAct::Write && outcome.ended_well()) else {
        return String::new();
    };
    let mut words: Vec<String> = ["haul", "pattern", "check"].map(str::to_owned).into();
    let mut option = |name: &str, value: Option<u64>| words.extend(value.map(|value| format!("{name}={value}")));
    option("--run", used.run);
    option("--seek", Some(plan.dest.map.start()).filter(|&offset| offset > 0));
    let ranged = given::has("--count", args);
    option("--count", plan.len.filter(|_| ranged));
    words.push(plan.dest.address.clone());
    format!("\nTo check it:\n  {}\n", shell_line(words))
}
