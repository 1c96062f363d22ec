use super::damage::{damage, pattern};
use super::dests::dest;
use super::plan::{cache_name, direction_name, estimate, kind_name, node_name, reasons};
use super::queue_depth;
use super::runs::{differences, list, unread, verified};
use super::{FailureReport, SCHEMA, command_line, object};
use crate::core::{
    Decision, Durability, Ended, Identity, JournalTotals, Latency, Limits, MemoryCheck, Outcome, PatternAct, Plan,
    PlanSide, Route, Side, SidePart, Trial, Unread,
};
use crate::report::{text, units};
use serde::Serialize;
use std::time::SystemTime;

/// The identity of a side that is missing from the notes.
static UNKNOWN: Identity = Identity { model: None, serial: None, wwn: None, transport: None, version: None };

/// The outcome as JSON. `args` is the command line as given, without the name of the program; `started` is when
/// the copy began.
pub fn outcome(decision: &Decision, outcome: &Outcome, args: &[String], started: Option<SystemTime>) -> impl Serialize {
    let Decision { plan, notes } = decision;
    let command = command_line(args);
    let (status, signal, error) = match &outcome.ended {
        Ended::Complete => ("complete", None, None),
        Ended::Interrupted(signal) => ("interrupted", Some(*signal), None),
        Ended::OutOfTime => ("out_of_time", None, None),
        Ended::Failed(error) => ("failed", None, Some(FailureReport::from(error.as_ref()))),
    };
    object! {
        schema: SCHEMA,
        report: match (plan.pattern.map(|used| used.act), plan.route) {
            (Some(PatternAct::Write), _) => "pattern write",
            (Some(PatternAct::Check), _) => "pattern check",
            (None, Route::Copy | Route::Delta { .. }) => "copy",
            (None, Route::Compare { .. } | Route::ReadBack) => "verify",
        },
        version: env!("CARGO_PKG_VERSION"),
        command,
        label: &notes.label,
        started: started.and_then(rfc_3339),
        status,
        signal,
        error,
        durable: outcome.durability() == Durability::Medium,
        durability: outcome.durability().name(),
        len_bytes: plan.len,
        claimed: object! {
            offset_bytes: outcome.claimed.offset,
            len_bytes: outcome.claimed.len,
            direction: direction_name(plan.direction),
        },
        remaining_bytes: remaining_bytes(plan, outcome),
        differences: outcome.differences.as_ref().map(differences),
        unread_sectors: outcome.unread.iter().map(Unread::sectors).sum::<u64>(),
        pattern: plan.pattern.map(pattern),
        damage: outcome.damage.as_ref().map(damage),
        dests: dests(decision, outcome, args),
        verified: outcome.verified.as_ref().map(verified),
        memory_check: outcome.memory_check.map(memory_check),
        continue_command: text::continue_command(plan, outcome, args),
        manifest: &outcome.manifest,
        bytes: bytes(outcome),
        journal: outcome.kept.as_ref().map(journal),
        estimate: outcome.estimate.as_ref().map(estimate),
        elapsed_s: outcome.elapsed.as_secs_f64(),
        flushing_s: outcome.flushing.as_secs_f64(),
        rates: rates(outcome),
        cpu: cpu(outcome),
        peak_resident_bytes: outcome.usage.peak_resident_bytes,
        engine: outcome.engine.name(),
        engine_detail: &outcome.engine_detail,
        blocks: blocks(outcome),
        source: side(&plan.source, &notes.source, outcome, Side::Source),
        dest: side(&plan.dest, notes.dests.first().unwrap_or(&UNKNOWN), outcome, Side::Dest),
        digest_waited_s: outcome.digest_waited.as_secs_f64(),
        limit_waited_s: outcome.limit_waited.as_secs_f64(),
        digests: outcome
            .digests
            .iter()
            .map(|digest| object! { hash: digest.kind.name(), hex: &digest.hex })
            .collect::<Vec<_>>(),
        notes: outcome.notes.iter().chain(&outcome.fallbacks).collect::<Vec<_>>(),
        why: reasons(notes),
        warnings: &notes.warnings,
    }
}

/// The number of bytes not claimed; `None`: the length is unknown.
fn remaining_bytes(plan: &Plan, outcome: &Outcome) -> Option<u64> {
    match outcome.ended {
        Ended::Complete => Some(0),
        _ => Some(plan.len?.saturating_sub(outcome.claimed.len)),
    }
}

/// Each of several dests, with its identity.
fn dests(decision: &Decision, outcome: &Outcome, args: &[String]) -> Vec<impl Serialize> {
    let Decision { plan, notes } = decision;
    let identities = notes.dests.iter().chain(std::iter::repeat(&UNKNOWN));
    outcome.dests.iter().zip(identities).map(|(ended, identity)| dest(plan, outcome, ended, identity, args)).collect()
}

fn memory_check(check: MemoryCheck) -> impl Serialize {
    object! { unchanged_bytes: check.unchanged_bytes, changed_at_bytes: check.changed_at }
}

fn journal(kept: &JournalTotals) -> impl Serialize {
    object! {
        already_bytes: kept.already_bytes,
        durable_bytes: kept.durable_bytes,
        unread_bytes: kept.unread_bytes,
        checkpoints: kept.checkpoints,
        path: kept.left.as_ref().map(|path| path.to_string_lossy()),
    }
}

/// In microseconds: more digits would suggest an unnecessary precision.
fn rfc_3339(time: SystemTime) -> Option<String> {
    jiff::Timestamp::try_from(time).ok().map(|time| format!("{time:.6}"))
}

fn bytes(outcome: &Outcome) -> impl Serialize + use<> {
    let totals = &outcome.totals;
    object! {
        copied_bytes: totals.copied_bytes(),
        read_bytes: totals.read_bytes,
        written_bytes: totals.written_bytes,
        unchanged_bytes: totals.unchanged_bytes,
        compared_bytes: totals.compared_bytes,
        zeroed_bytes: totals.zeroed_bytes,
        hole_bytes: totals.hole_bytes,
        shared_bytes: totals.shared_bytes,
        offloaded_bytes: totals.offloaded_bytes,
        reread_bytes: totals.reread_bytes,
        zeroed_records: totals.zeroed_runs,
        hole_records: totals.hole_runs,
    }
}

fn rates(outcome: &Outcome) -> impl Serialize + use<> {
    let copied = outcome.totals.copied_bytes();
    let rate = units::per_second(copied, outcome.elapsed);
    let before_flush = units::per_second(copied, outcome.elapsed.saturating_sub(outcome.flushing));
    object! {
        copied_bytes_per_s: rate,
        copied_mb_per_s: rate.map(|rate| thousandths(rate as f64 / 1e6)),
        copied_mib_per_s: rate.map(|rate| thousandths(rate as f64 / f64::from(1 << 20))),
        before_flush_bytes_per_s: before_flush,
    }
}

fn cpu(outcome: &Outcome) -> impl Serialize + use<> {
    let usage = &outcome.usage;
    let gib = outcome.totals.copied_bytes() as f64 / f64::from(1 << 30);
    let total = (usage.user + usage.system).as_secs_f64();
    object! {
        user_s: usage.user.as_secs_f64(),
        system_s: usage.system.as_secs_f64(),
        per_gib_s: (gib > 0.0).then(|| thousandths(total / gib)),
    }
}

fn blocks(outcome: &Outcome) -> Option<impl Serialize> {
    let pace = &outcome.pace;
    let limits = |limits: Limits| {
        object! { block_bytes: limits.block_bytes, queue_depth: queue_depth(limits), bursts: limits.bursts }
    };
    let trial = |trial: &Trial| {
        object! {
            at_s: trial.at.as_secs_f64(),
            side: trial.side.map(Side::key),
            from: limits(trial.from),
            to: limits(trial.to),
            gain_percent: trial.gain_percent,
            pairs: trial.pairs,
            verdict: trial.verdict.name(),
        }
    };
    let trials: Vec<_> = pace.trials.iter().map(trial).collect();
    (pace.limits.block_bytes > 0).then(|| {
        object! {
            block_bytes: pace.limits.block_bytes,
            queue_depth: queue_depth(pace.limits),
            bursts: pace.limits.bursts,
            because: &pace.because,
            search_cost_s: pace.search_cost.as_secs_f64(),
            trials,
        }
    })
}

fn side(planned: &PlanSide, identity: &Identity, outcome: &Outcome, side: Side) -> impl Serialize {
    let report = &outcome.sides[side.index()];
    let copying = outcome.elapsed.saturating_sub(outcome.flushing);
    let share = report.waited.as_secs_f64() / copying.as_secs_f64();
    let Latency { count, p50_us, p90_us, p99_us, max_us } = report.latency;
    object! {
        address: &planned.address,
        path: planned.path.to_string_lossy(),
        kind: kind_name(planned),
        model: &identity.model,
        serial: &identity.serial,
        wwn: &identity.wwn,
        transport: &identity.transport,
        version: &identity.version,
        offset_bytes: planned.map.start(),
        list: list(&planned.map),
        cache: cache_name(planned),
        passthrough: node_name(planned),
        requests: match side {
            Side::Source => outcome.totals.read_requests,
            Side::Dest => outcome.totals.write_requests,
        },
        latency: object! { count, p50_us, p90_us, p99_us, max_us },
        waited_s: report.waited.as_secs_f64(),
        waited_share: (!copying.is_zero()).then(|| thousandths(share)),
        slowest_part: report.slowest_part.map(SidePart::name),
        idle_s: report.idle.as_secs_f64(),
        unread: unread(&outcome.unread[side.index()]),
        cached_before_bytes: report.cached_before_bytes,
        cached_after_bytes: report.cached_after_bytes,
    }
}

/// Rounded to three decimals; further ones are noise.
fn thousandths(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}
