//! What `haul profile --read-buffer` found, for programs.
use super::{ended, failure, line, subject};
use crate::apps::measuring::report::Run;
use crate::core::OwnBuffer;
use crate::measure::{BufferCost, BufferOptions, BufferWayCosts, ReadBuffer, SeedFigures};
use crate::report::json::{SCHEMA, object};
use serde::Serialize;

/// What `haul profile --read-buffer --json` prints.
pub fn read_buffer(run: &Run<'_>, wish: &BufferOptions, found: &ReadBuffer) -> impl Serialize {
    object! {
        schema: SCHEMA,
        report: "read_buffer",
        command: run.words,
        label: run.label,
        subject: subject(run.facts),
        ended: ended(found.failure.as_ref()),
        failure: failure(found.failure.as_ref()),
        buffer: if wish.which == OwnBuffer::Echo { "echo" } else { "data" },
        buffer_bytes: found.capacity_bytes,
        ways: found.ways.iter().map(way).collect::<Vec<_>>(),
        refused: &found.refused,
        warnings: run.warnings,
    }
}

fn way(way: &BufferWayCosts) -> impl Serialize + use<> {
    let cost = |cost: &BufferCost| {
        object! {
            bytes: cost.bytes,
            seconds: cost.seconds,
            bytes_per_s: cost.bytes_per_s(),
            cpu_share: cost.cpu_share,
            runs: cost.runs,
        }
    };
    object! {
        way: way.way.name(),
        commands: way.costs.iter().map(cost).collect::<Vec<_>>(),
        fit: way.fit.map(line),
        formula_of_2001: way.seed.map(formula),
        driver_copied: way.driver_copied,
    }
}

fn formula(figures: SeedFigures) -> impl Serialize {
    object! {
        latency_s: figures.latency_s,
        bytes_per_s_after_latency: Some(figures.after_latency_per_s).filter(|rate| rate.is_finite()),
        best_bytes_per_s: figures.best_per_s,
        worst_bytes_per_s: figures.worst_per_s,
    }
}
