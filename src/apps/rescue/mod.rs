//! `haul rescue`.
mod decide;
mod ended;
mod fill;
mod options;
mod values;
pub(in crate::apps) mod words;

use crate::apps::command::Call;
use crate::apps::console::Console;
use crate::apps::exit::Exit;
use crate::apps::page;
use crate::core::rescue::{ReadLimits, Status};
use crate::core::{Ended, Error, Facts, Result, locked};
use crate::disks::probe;
use crate::job::Prepared;
use crate::job::operator::Operator;
use crate::job::rescue::Rescue;
use crate::plan::{ProgressStyle, Verbosity};
use crate::report::json::{self, RescueEnd};
use crate::report::printable::shell_line;
use crate::report::{rescue as report, text};
use decide::{are_separate, changes, is_named, map_place, may_overwrite, rescue_plan};
use ended::{exit, print};
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
    let place = map_place(options, &dest)?;
    let path = place.path.clone();
    are_separate(&path, options, &[&source, &dest])?;
    options.care.check(&source)?;
    let plan = &prepared.decision().plan;
    let how = rescue_plan(options, plan, &source)?;
    let rescue = Rescue::open(&path, plan.len.unwrap_or(0), &source, &dest, &operator)?;
    rescue.check_dest(&plan.dest, &dest)?;
    if !rescue.continues {
        may_overwrite(options, &path, &dest)?;
    } else {
        is_named(&place, call.words)?;
    }
    if rescue.continues && !rescue.names_source {
        operator.warn(&report::unnamed_source(&path));
    }
    rescue.join_sectors(how.sector_bytes);
    let page = page::place(copy.report.as_deref(), &sides)?;
    rescue.change(&changes(options));
    let by_commands = plan.source.through.is_some();
    let confirmed = prepared.agree()?;
    rescue.begin()?;
    let rescue = rescue.logged(&options.logs, &shell_line(json::command_line(call.words)))?;
    if !matches!(copy.verbosity, Verbosity::Quiet) && copy.progress != ProgressStyle::Json {
        out.eprint(&text::info(&report::begins(&locked(&rescue.state), &path)));
        kernel_timeout(&source, by_commands, options.care.reads)
            .iter()
            .for_each(|advice| out.eprint(&text::info(advice)));
    }
    let (domain, retries) = (how.domain.clone(), how.retries);
    let rescued_before_bytes = locked(&rescue.state).map.bytes(Status::Finished);
    let rescued = confirmed.open()?.rescue(rescue, how, options.care)?;
    let state = locked(&rescued.state);
    let outcome = &rescued.finished.outcome;
    let missing = report::missing_bytes(&state, domain.as_ref());
    let continues = missing > 0 && (matches!(outcome.ended, Ended::Interrupted(_)) || retries == Some(0));
    let end = RescueEnd {
        sides: [&source, &dest],
        map: &path,
        names_map: !place.of_disk,
        state: &state,
        rescued_before_bytes,
        missing_bytes: missing,
        outcome,
        is_saved: rescued.is_saved,
        limits: &rescued.limits,
        args: call.words,
        continues,
    };
    let page = page.map(|page| page.put_rescue(&end, &rescued.course.points(), rescued.finished.started)).transpose();
    let unwritten = page.as_ref().err();
    let failures: Vec<&Error> = rescued.unsaved.iter().chain(&rescued.finished.failed_files).chain(unwritten).collect();
    let shown = print(copy, &end, &failures, page.as_ref().ok().and_then(Option::as_deref), &console);
    let exit = exit(outcome, missing);
    let exit = if !failures.is_empty() || rescued.finished.is_elsewhere { exit.at_least(1) } else { exit };
    Ok(console.end(if shown == Exit::Status(0) { exit } else { exit.at_least(1) }))
}

/// The advice where the kernel waits for each read, and commands with limits of their own could be used instead.
fn kernel_timeout(source: &Facts, by_commands: bool, reads: ReadLimits) -> Option<String> {
    let access = probe::disk_access(source).filter(|_| !by_commands)?;
    let (timeout, (_, node)) = (access.timeout?, access.node?);
    (timeout > reads.copying).then(|| report::kernel_timeout(&access.block, timeout, &node, reads))
}
