//! Progress as JSON, an object a line: documented in `docs/json.md`.
use super::dests::DestView;
use super::view::View;
use crate::core::{Phase, Plan};
use crate::report::json::{Failure, Report, SCHEMA};
use serde::Serialize;
use std::time::Duration;

/// One line; the field `type` says which.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line<'a> {
    /// The first line.
    Start {
        /// Version of the schema.
        schema: u32,
        source: &'a str,
        dest: &'a str,
        /// `null`: to the end of a stream.
        total_bytes: Option<u64>,
        engine: &'static str,
        /// `copy`, or `verify` where nothing is written.
        pass: &'static str,
        /// Seconds that the whole of it was expected to take; `null` where nobody looked beforehand.
        expected_s: Option<f64>,
    },
    /// Once a second, and at the end.
    Progress(Numbers),
    /// Another phase began.
    Phase { elapsed_s: f64, phase: &'static str },
    /// Another block size and depth are in use from here on.
    Pace { elapsed_s: f64, block_bytes: u32, depth: u32, because: &'a str },
    /// Another way was taken than the one planned.
    Fallback { elapsed_s: f64, message: &'a str },
    /// Something to know that does not end the copy.
    Warning { elapsed_s: f64, message: &'a str },
    /// The copy ends by this.
    Error { elapsed_s: f64, error: &'a Failure },
    /// The last line: the report, as `--json` prints it.
    Summary(&'a Report),
}

/// The numbers of a moment.
#[derive(Debug, Serialize)]
pub(super) struct Numbers {
    elapsed_s: f64,
    phase: &'static str,
    /// Acknowledged by the dest in any form, in earlier runs too.
    copied_bytes: u64,
    total_bytes: Option<u64>,
    read_bytes: u64,
    written_bytes: u64,
    zeroed_bytes: u64,
    hole_bytes: u64,
    /// Of the copied bytes, those of earlier runs.
    already_bytes: u64,
    /// Logical blocks that could not be read and were gone around.
    unread_sectors: u64,
    /// Of the last two seconds.
    read_bytes_per_s: u64,
    written_bytes_per_s: u64,
    /// From the beginning to the flush.
    read_mean_bytes_per_s: u64,
    written_mean_bytes_per_s: u64,
    /// Time left; `null` where nobody can tell.
    left_s: Option<f64>,
    slower_side: Option<&'static str>,
    /// For how long nothing has moved; `null` below 3 s.
    stalled_s: Option<f64>,
    /// For how long it has been flushing.
    flushing_s: Option<f64>,
    block_bytes: u32,
    depth: u32,
    /// Each of several dests; else none.
    dests: Vec<DestNumbers>,
}

/// The numbers of one of several dests.
#[derive(Debug, Serialize)]
pub(super) struct DestNumbers {
    address: String,
    /// `copying`, `reading_back`, `flushing`, `done`, `behind`, `failed`.
    state: &'static str,
    /// Acknowledged by it, or read back.
    copied_bytes: u64,
}

impl From<&DestView> for DestNumbers {
    fn from(view: &DestView) -> Self {
        DestNumbers { address: view.address.clone(), state: view.key(), copied_bytes: view.copied_bytes }
    }
}

impl<'a> Line<'a> {
    /// The first line.
    pub(super) fn start(plan: &'a Plan, expected_s: Option<f64>) -> Self {
        Line::Start {
            schema: SCHEMA,
            source: &plan.source.address,
            dest: &plan.dest.address,
            total_bytes: plan.len,
            engine: plan.engine.name(),
            expected_s,
            pass: if plan.route.writes() { "copy" } else { "verify" },
        }
    }

    /// The present.
    pub(super) fn progress(view: &View, dests: &[DestView]) -> Self {
        Line::Progress(Numbers {
            elapsed_s: seconds(view.elapsed),
            phase: phase_name(view.phase),
            copied_bytes: view.copied_bytes,
            total_bytes: view.total_bytes,
            read_bytes: view.read_bytes,
            written_bytes: view.written_bytes,
            zeroed_bytes: view.zeroed_bytes,
            hole_bytes: view.hole_bytes,
            already_bytes: view.already_bytes,
            unread_sectors: view.unread_sectors,
            read_bytes_per_s: view.read.now_per_s,
            written_bytes_per_s: view.write.now_per_s,
            read_mean_bytes_per_s: view.read.mean_per_s,
            written_mean_bytes_per_s: view.write.mean_per_s,
            left_s: view.left.map(seconds),
            slower_side: view.slower.map(|side| side.name()),
            stalled_s: view.stalled.map(seconds),
            flushing_s: view.flushing.map(seconds),
            block_bytes: view.block_bytes,
            depth: view.depth,
            dests: dests.iter().map(DestNumbers::from).collect(),
        })
    }
}

/// The word for a phase.
pub(super) fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Copying => "copying",
        Phase::Flushing => "flushing",
        Phase::Ended => "ended",
    }
}

/// To the millisecond.
pub(super) fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1000.0).round() / 1000.0
}
