//! The result of `haul profile` as JSON.
use super::commands::commands;
use super::system_impact::system_impact;
use super::{bad, costs, ended, failure, line, subject, written};
use crate::apps::measuring::report::Run;
use crate::core::Op;
use crate::measure::stats::median;
use crate::measure::{Position, Profiled, Timed, WayCost};
use crate::report::json::{SCHEMA, command_line, object};
use serde::Serialize;
use std::time::Duration;

/// What `haul profile --json` prints.
pub fn profile(run: &Run<'_>, found: &Profiled) -> impl Serialize {
    let position = |&Position { number, zone, range: (low, high) }: &Position| {
        object! { number, offset_bytes: zone.offset, bytes_per_s: zone.bytes_per_s, bytes_per_s_range: [low, high] }
    };
    object! {
        schema: SCHEMA,
        report: "profile",
        command: command_line(run.words),
        label: run.label,
        subject: subject(run.facts),
        operation: run.op.name(),
        written: run.written.map(written),
        engine: run.engine.name(),
        ended: ended(found.failure.as_ref()),
        failure: failure(found.failure.as_ref()),
        positions: found.positions.iter().map(position).collect::<Vec<_>>(),
        whole_read_s: found.whole_s.filter(|_| run.op == Op::Read),
        whole_write_s: found.whole_s.filter(|_| run.op == Op::Write),
        commands: costs(&found.costs),
        fit: found.fit.map(line),
        without_medium: found.commands.as_ref().map(commands),
        ways: found.ways.iter().map(way).collect::<Vec<_>>(),
        system_impact: system_impact(found),
        failed_requests: run.failed,
        bad: bad(run.bad),
        warnings: run.warnings,
    }
}

fn way(way: &WayCost) -> impl Serialize + use<> {
    object! {
        way: way.way.name(),
        bytes_per_s: way.bytes_per_s,
        bytes_per_s_range: [way.range.0, way.range.1],
        cpu_s_per_gib: way.cpu_s_per_gib,
        cpu_share: way.cpu_share,
        left_in_cache: way.left_in_cache,
        cached: way.cached,
        driver_copied: way.driver_copied,
    }
}

/// What `haul profile --timing --json` prints; `from` is the offset at which each run began, `each` its
/// intended duration.
pub fn timing(run: &Run<'_>, from: u64, timed: &Timed, each: Duration) -> impl Serialize {
    object! {
        schema: SCHEMA,
        report: "timing",
        command: command_line(run.words),
        label: run.label,
        subject: subject(run.facts),
        offset_bytes: from,
        run_s: each.as_secs_f64(),
        ended: ended(timed.failure.as_ref()),
        failure: failure(timed.failure.as_ref()),
        runs_bytes_per_s: &timed.rates,
        bytes_per_s: median(&timed.rates),
        failed_requests: run.failed,
        bad: bad(run.bad),
        warnings: run.warnings,
    }
}
