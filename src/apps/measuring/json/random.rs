//! The result of `haul profile --random` as JSON.
use super::{bad, ended, failure, subject};
use crate::apps::measuring::report::Run;
use crate::measure::{RandomFound, RandomReads, SlowRead};
use crate::report::json::{SCHEMA, command_line, object};
use serde::Serialize;
use std::time::Duration;

/// What `haul profile --random --json` prints.
pub fn random(run: &Run<'_>, reads: &RandomReads, found: &RandomFound) -> impl Serialize {
    let class = |(up_to_us, requests): (u64, u64)| object! { up_to_us, requests };
    object! {
        schema: SCHEMA,
        report: "random",
        command: command_line(run.words),
        label: run.label,
        subject: subject(run.facts),
        engine: run.engine.name(),
        ended: ended(found.failure.as_ref()),
        failure: failure(found.failure.as_ref()),
        way: reads.point.way.name(),
        block_bytes: reads.point.block_bytes,
        depth: reads.point.depth,
        range: object! { offset_bytes: reads.range.offset, len_bytes: reads.range.len },
        seed: reads.seed,
        requests: found.requests,
        bytes: found.bytes,
        seconds: found.seconds,
        requests_per_s: found.requests_per_s(),
        bytes_per_s: found.requests_per_s().map(|rate| rate * f64::from(reads.point.block_bytes)),
        cpu_s: found.cpu_s,
        latency: times(found),
        latencies: found.classes().into_iter().map(class).collect::<Vec<_>>(),
        slower_than_us: reads.slower_than.map(micros),
        slow_requests: found.slow_count,
        slow: found.slow.iter().map(slow).collect::<Vec<_>>(),
        cached: found.cached,
        failed_requests: run.failed,
        bad: bad(run.bad),
        warnings: run.warnings,
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn times(found: &RandomFound) -> Option<impl Serialize + use<>> {
    (found.requests > 0).then(|| {
        object! {
            min_us: found.min_us(),
            mean_us: found.mean_us(),
            p50_us: found.quantile_us(0.5),
            p90_us: found.quantile_us(0.9),
            p99_us: found.quantile_us(0.99),
            p999_us: found.quantile_us(0.999),
            max_us: found.max_us(),
        }
    })
}

fn slow(slow: &SlowRead) -> impl Serialize + use<> {
    object! { offset_bytes: slow.offset, at_s: slow.at.as_secs_f64(), took_us: micros(slow.took) }
}
