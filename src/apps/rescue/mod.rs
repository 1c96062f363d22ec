//! `haul rescue`.
mod decide;
mod options;
pub(in crate::apps) mod words;

use crate::apps::command::Call;
use crate::apps::console::Console;
use crate::apps::exit::Exit;
use crate::core::{Ended, Result, locked};
use crate::job::Prepared;
use crate::job::operator::Operator;
use crate::job::rescue::Rescue;
use crate::plan::Verbosity;
use crate::report::{rescue as report, text};
use decide::{changes, map_path, may_overwrite, not_a_side, rescue_plan};
use options::RescueOptions;
use std::sync::Arc;

/// Rescues the source into the dest.
fn rescue(options: &RescueOptions, call: &Call<'_>) -> Result<Exit> {
    let (copy, out) = (&options.copy, call.out);
    let console = Console::new(copy, "rescue", call.words, out)?;
    let operator: Arc<dyn Operator> = console.clone();
    let prepared = Prepared::look(copy, &operator)?;
    let sides = prepared.sides();
    let (source, dest) = (sides[0].1.clone(), sides[1].1.clone());
    let path = map_path(options, &dest)?;
    not_a_side(&path, &[&source, &dest])?;
    let plan = &prepared.decision().plan;
    let how = rescue_plan(options, plan, &source)?;
    let rescue = Rescue::open(&path, plan.len.unwrap_or(0), &source, &dest, &operator)?;
    if !rescue.continues {
        may_overwrite(options, &path, &dest)?;
    } else if !rescue.names_source {
        operator.warn(&report::unnamed_source(&path));
    }
    rescue.change(&changes(options));
    let confirmed = prepared.agree()?;
    rescue.begin()?;
    if !matches!(copy.verbosity, Verbosity::Quiet) {
        out.eprint(&text::info(&report::begins(&locked(&rescue.state), &path)));
    }
    let (domain, retries) = (how.domain.clone(), how.retries);
    let rescued = confirmed.open()?.rescue(rescue, how);
    let state = locked(&rescued.state);
    let outcome = &rescued.finished.outcome;
    let missing = report::missing_bytes(&state, domain.as_ref());
    if let Ended::Failed(error) = &outcome.ended {
        out.eprint(&text::error(error));
    }
    if !matches!(copy.verbosity, Verbosity::Quiet) || missing > 0 {
        let continues = matches!(outcome.ended, Ended::Interrupted(_)) || retries == Some(0);
        out.eprint(&report::rescued(&state, outcome, &path, missing, continues.then_some(call.words)));
    }
    for error in rescued.unsaved.iter().chain(&rescued.finished.failed_files) {
        out.eprint(&text::error(error));
    }
    let exit = match &outcome.ended {
        Ended::Complete if missing > 0 => Exit::Status(Exit::UNREAD),
        Ended::Complete => Exit::Status(0),
        Ended::Interrupted(signal) => Exit::Signal(*signal),
        Ended::OutOfTime => Exit::Status(Exit::OUT_OF_TIME),
        Ended::Failed(error) => Exit::Status(error.kind.exit_status().max(1)),
    };
    let failed = rescued.unsaved.is_some() || rescued.finished.is_elsewhere;
    Ok(console.end(if failed { exit.at_least(1) } else { exit }))
}
