//! Measurements as JSON. `docs/user/json.md` describes the fields.
mod commands;
mod profile;
mod random;
mod read_buffer;
mod sustained;
mod system_impact;
mod tune;

pub use profile::{profile, timing};
pub use random::random;
pub use read_buffer::read_buffer;
pub use sustained::sustained;
pub use tune::tune;

use crate::core::{Extent, Facts, SchedulerAdvice};
use crate::measure::{BadRange, Cost, MeasureFailure, Written, fit::Fit};
use crate::report::json::object;
use serde::Serialize;

/// The measured disk or file.
fn subject(facts: &Facts) -> impl Serialize {
    let identity = &facts.identity;
    object! {
        path: facts.path.to_string_lossy(),
        kind: facts.kind.name(),
        size_bytes: facts.size,
        logical_block_bytes: facts.logical_block_bytes,
        model: &identity.model,
        serial: &identity.serial,
        wwn: &identity.wwn,
        transport: &identity.transport,
        rotational: facts.queue.rotational,
        scheduler: &facts.queue_policy.scheduler,
        scheduler_advised: facts.queue_policy.advice(facts.queue.rotational).map(SchedulerAdvice::scheduler),
        read_ahead_bytes: facts.queue_policy.read_ahead_bytes,
    }
}

/// What was overwritten.
fn written(written: &Written) -> impl Serialize {
    let left = written.left.as_ref();
    let place = |place: &Extent| object! { offset_bytes: place.offset, len_bytes: place.len };
    object! {
        ground: written.ground.name(),
        bytes: written.bytes,
        places: written.places,
        put_back_bytes: written.put_back_bytes,
        undo_journal: left.map(|left| left.journal.to_string_lossy()),
        not_put_back: left.into_iter().flat_map(|left| &left.places).map(place).collect::<Vec<_>>(),
    }
}

/// How the measurement ended, in one word.
fn ended(failure: Option<&MeasureFailure>) -> &'static str {
    match failure {
        None => "complete",
        Some(MeasureFailure::Stopped(_)) => "interrupted",
        Some(MeasureFailure::Broken(_)) => "failed",
    }
}

/// Why it failed, in one line.
fn failure(failure: Option<&MeasureFailure>) -> Option<String> {
    match failure {
        Some(MeasureFailure::Broken(error)) => Some(crate::report::text::message(error)),
        _ => None,
    }
}

/// The ranges that failed.
fn bad(bad: &[BadRange]) -> Vec<impl Serialize> {
    bad.iter()
        .map(|BadRange { offset, len, why }| object! { offset_bytes: offset, len_bytes: len, error: why })
        .collect()
}

/// The latency of commands of each size.
fn costs(costs: &[Cost]) -> Vec<impl Serialize + use<>> {
    let cost = |cost: &Cost| {
        object! {
            bytes: cost.bytes,
            seconds: cost.seconds,
            seconds_range: [cost.range_s.0, cost.range_s.1],
            bytes_per_s: cost.bytes_per_s(),
            runs: cost.runs,
        }
    };
    costs.iter().map(cost).collect()
}

/// The line time = latency + size / rate.
fn line(fit: Fit) -> impl Serialize {
    object! {
        latency_s: fit.latency_s,
        bytes_per_s: Some(fit.bytes_per_s).filter(|rate| rate.is_finite()),
        residual: fit.residual,
        residual_max: fit.residual_max,
    }
}
