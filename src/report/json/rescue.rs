//! The result of a rescue, and the areas of its map.
use super::{FailureReport, SCHEMA, command_line, object};
use crate::core::rescue::{FailingHead, RescueMap, RescueState, RescueStopped, Status, TimeLimits};
use crate::core::{Ended, Facts, Outcome, Side};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// What is known about a rescue that has ended.
#[derive(Debug)]
pub struct RescueEnd<'a> {
    /// The source and the dest.
    pub sides: [&'a Facts; 2],
    /// The path of the map.
    pub map: &'a Path,
    /// Whether the command line names it, or its place beside the dest does.
    pub names_map: bool,
    /// The state after the run.
    pub state: &'a RescueState,
    /// Bytes that were rescued before the run.
    pub rescued_before_bytes: u64,
    /// Bytes that were not rescued, of all or of the domain.
    pub missing_bytes: u64,
    /// The outcome of the run.
    pub outcome: &'a Outcome,
    /// Whether what the run has rescued is durable and in the map.
    pub is_saved: bool,
    /// What limited the time of its reads.
    pub limits: &'a TimeLimits,
    /// The command line as given, without the name of the program.
    pub args: &'a [String],
    /// Whether the same command makes sense again.
    pub continues: bool,
}

impl RescueEnd<'_> {
    /// The command line to run next, if any makes sense: the same one, with the name of the map, continues, and after
    /// all passes retries.
    pub fn next_command(&self) -> Option<Vec<String>> {
        let retries = matches!(self.outcome.ended, Ended::Complete).then_some(["--retries", "3"]);
        let map = (!self.names_map).then(|| self.map.to_string_lossy());
        let words = command_line(self.args).into_iter().chain(map.as_deref()).chain(retries.into_iter().flatten());
        self.continues.then(|| words.map(str::to_owned).collect())
    }
}

/// The result of a rescue.
pub fn rescue(end: &RescueEnd<'_>) -> impl Serialize {
    let RescueEnd { sides: [source, dest], state, outcome, .. } = end;
    let map = &state.map;
    let (status, signal, error) = match &outcome.ended {
        Ended::Complete => ("complete", None, None),
        Ended::Interrupted(signal) => ("interrupted", Some(*signal), None),
        Ended::OutOfTime => ("out_of_time", None, None),
        Ended::Failed(error) => ("failed", None, Some(FailureReport::from(&**error))),
    };
    object! {
        schema: SCHEMA,
        report: "rescue",
        version: env!("CARGO_PKG_VERSION"),
        command: command_line(end.args),
        status,
        signal,
        error,
        stopped: state.stopped.map(|why| match why {
            RescueStopped::NoNewBytes(_) => "no_new_bytes",
            RescueStopped::ErrorRate(_) => "error_rate",
        }),
        source: side(source),
        dest: side(dest),
        map: end.map.to_string_lossy(),
        is_saved: end.is_saved,
        phase: state.phase.name(),
        pass: state.pass,
        position_bytes: state.pos,
        len_bytes: map.len_bytes(),
        rescued_before_bytes: end.rescued_before_bytes,
        missing_bytes: end.missing_bytes,
        rescued_bytes: map.bytes(Status::Finished),
        bad_bytes: map.bytes(Status::Bad),
        unscraped_bytes: map.bytes(Status::Unscraped),
        untrimmed_bytes: map.bytes(Status::Untrimmed),
        untried_bytes: map.bytes(Status::Untried),
        blocks: blocks(map),
        failed_reads: state.failed_reads,
        slow_reads: state.slow_reads,
        failing_heads: state.heads.iter().map(failing_head).collect::<Vec<_>>(),
        highest_celsius: state.temperature.map(|temperature| temperature.highest),
        read_timeouts_s: end.limits.reads.map(|reads| [reads.copying, reads.later].map(|limit| limit.as_secs_f64())),
        kernel_timeout_s: end.limits.kernel.map(|timeout| timeout.as_secs_f64()),
        error_recovery: error_recovery(end.limits),
        failing_s: outcome.unread[Side::Source.index()].failing.as_secs_f64(),
        elapsed_s: outcome.elapsed.as_secs_f64(),
        next_command: end.next_command(),
    }
}

fn failing_head(head: &FailingHead) -> impl Serialize + use<> {
    object! { period_bytes: head.period_bytes, stretch_bytes: head.stretch_bytes, heads: head.heads() }
}

/// The limits of the disk's own error recovery.
fn error_recovery(limits: &TimeLimits) -> Option<impl Serialize + use<>> {
    let seconds = |timers: [Option<Duration>; 2]| timers.map(|timer| timer.map(|timer| timer.as_secs_f64()));
    let before = limits.recovery_before?;
    Some(object! {
        before_s: seconds(before),
        set_s: limits.recovery.iter().copied().map(seconds).collect::<Vec<_>>(),
        is_restored: limits.is_restored,
    })
}

fn side(facts: &Facts) -> impl Serialize + use<'_> {
    let identity = &facts.identity;
    object! {
        address: &facts.address,
        path: facts.path.to_string_lossy(),
        model: &identity.model,
        serial: &identity.serial,
        wwn: &identity.wwn,
        transport: &identity.transport,
    }
}

/// The areas of a map, from byte 0 to its end.
pub fn blocks(map: &RescueMap) -> Vec<impl Serialize + use<>> {
    let block = |block: crate::core::rescue::StatusBlock| {
        object! {
            offset_bytes: block.extent.offset,
            len_bytes: block.extent.len,
            status: status(block.status),
        }
    };
    map.blocks().map(block).collect()
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Finished => "rescued",
        Status::Bad => "bad",
        Status::Unscraped => "unscraped",
        Status::Untrimmed => "untrimmed",
        Status::Untried => "untried",
    }
}
