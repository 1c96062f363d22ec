//! The result of `haul profile --sustained` as JSON.
use super::{bad, ended, failure, subject, written};
use crate::apps::measuring::report::Run;
use crate::measure::{Stage, Sustained, TemperatureReading};
use crate::report::json::{SCHEMA, command_line, object};
use serde::Serialize;

/// What `haul profile --write --sustained --json` prints; `bytes` were to be written.
pub fn sustained(run: &Run<'_>, found: &Sustained, bytes: u64) -> impl Serialize {
    let steps = found.steps.iter().zip(found.rates());
    let step = steps.map(|(step, bytes_per_s)| object! { bytes: step.bytes, seconds: step.seconds, bytes_per_s });
    object! {
        schema: SCHEMA,
        report: "sustained",
        command: command_line(run.words),
        label: run.label,
        subject: subject(run.facts),
        written: run.written.map(written),
        engine: run.engine.name(),
        ended: ended(found.failure.as_ref()),
        failure: failure(found.failure.as_ref()),
        asked_bytes: bytes,
        written_bytes: found.end.bytes,
        seconds: found.end.seconds,
        flush_s: found.flush_s,
        bytes_per_s: found.bytes_per_s(),
        trend: found.trend().name(),
        settled: found.settled,
        went_round: found.went_round,
        stages: found.stages().iter().map(stage).collect::<Vec<_>>(),
        steps: step.collect::<Vec<_>>(),
        temperature: temperature(found),
        failed_requests: run.failed,
        bad: bad(run.bad),
        warnings: run.warnings,
    }
}

fn stage(stage: &Stage) -> impl Serialize + use<> {
    object! {
        from_bytes: stage.from.bytes,
        to_bytes: stage.to.bytes,
        from_s: stage.from.seconds,
        to_s: stage.to.seconds,
        bytes_per_s: stage.bytes_per_s,
    }
}

fn temperature(found: &Sustained) -> Option<impl Serialize + use<>> {
    let (warmth, fell_hot) = (&found.warmth, found.fell_hot());
    let reading = |&TemperatureReading { seconds, celsius }: &TemperatureReading| object! { seconds, celsius };
    let readings: Vec<_> = warmth.readings.iter().map(reading).collect();
    Some(object! { limit_c: warmth.limit_c, highest_c: warmth.highest_c()?, fell_hot, readings })
}
