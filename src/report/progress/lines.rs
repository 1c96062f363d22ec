//! Progress as JSON, one object per line: documented in `docs/user/json.md`.
use super::dests::DestView;
use super::rescue::RescueView;
use super::subject::Subject;
use super::view::View;
use crate::core::{Phase, Plan, SidePart};
use crate::report::json::{self, SCHEMA, object, seconds};
use serde::Serialize;

/// The first line.
pub(super) fn start(plan: &Plan, expected_s: Option<f64>, is_rescue: bool) -> String {
    json::line(&object! {
        r#type: "start",
        schema: SCHEMA,
        source: &plan.source.address,
        dest: &plan.dest.address,
        total_bytes: plan.len,
        engine: plan.engine.name(),
        pass: if is_rescue { "rescue" } else if plan.route.writes() { "copy" } else { "verify" },
        expected_s,
    })
}

/// The current progress: once per second, and at the end.
pub(super) fn progress(view: &View, subject: &Subject<'_>) -> String {
    let dest =
        |view: &DestView| object! { address: view.address.clone(), state: view.key(), copied_bytes: view.copied_bytes };
    json::line(&object! {
        r#type: "progress",
        elapsed_s: seconds(view.elapsed),
        phase: phase_name(view.phase),
        copied_bytes: view.copied_bytes,
        total_bytes: view.total_bytes,
        read_bytes: view.read_bytes,
        written_bytes: view.written_bytes,
        zeroed_bytes: view.zeroed_bytes,
        hole_bytes: view.hole_bytes,
        already_bytes: view.already_bytes,
        stored: view.stored.map(|stored| object! {
            side: stored.side.key(),
            bytes: stored.bytes,
            total_bytes: stored.total_bytes,
            bytes_per_s: stored.now_per_s,
        }),
        unread_sectors: view.unread_sectors,
        read_bytes_per_s: view.read.now_per_s,
        written_bytes_per_s: view.write.now_per_s,
        read_mean_bytes_per_s: view.read.mean_per_s,
        written_mean_bytes_per_s: view.write.mean_per_s,
        left_s: view.left.map(seconds),
        slower_side: view.slower.map(|side| side.key()),
        slower_part: view.slower_part.map(SidePart::name),
        stalled_s: view.stalled.map(seconds),
        flushing_s: view.flushing.map(seconds),
        block_bytes: view.block_bytes,
        queue_depth: object! { source: view.queue_depth[0], dest: view.queue_depth[1] },
        dests: subject.dests.iter().map(dest).collect::<Vec<_>>(),
        rescue: subject.rescue.map(RescueView::json),
    })
}

/// The last line: the report, as `--json` prints it.
pub(super) fn summary(report: &impl Serialize) -> String {
    /// The fields of the report after the type.
    #[derive(Serialize)]
    struct Summary<'a, R> {
        r#type: &'static str,
        #[serde(flatten)]
        report: &'a R,
    }
    json::line(&Summary { r#type: "summary", report })
}

/// The name of a phase.
pub(super) fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Copying => "copying",
        Phase::Flushing => "flushing",
        Phase::Ended => "ended",
    }
}
