use super::damage::{DamageReport, PatternReport};
use super::dests::DestReport;
use super::differences::DifferencesReport;
use super::digest::DigestReport;
use super::plan::{EstimateReport, ReasonReport, cache_name, direction_name, kind_name, node_name, reasons};
use super::unread::UnreadReport;
use super::{Failure, SCHEMA, VerifiedReport};
use crate::core::{Decision, Ended, Latency, Outcome, PatternAct, PlanSide, Route, Side, Unread};
use crate::report::{text, units};
use serde::Serialize;
use std::time::SystemTime;

/// How a copy ended, for `--json` and the last line of `--progress json`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of this schema.
    pub schema: u32,
    /// `copy`; `verify` where the sides were compared; `pattern write` or `pattern check`.
    pub report: &'static str,
    /// Version of haul.
    pub version: &'static str,
    /// The command line, `haul` and its arguments.
    pub command: Vec<String>,
    /// When the copy began, RFC 3339 in UTC.
    pub started: Option<String>,
    /// `complete`, `interrupted` or `failed`.
    pub status: &'static str,
    /// The signal that interrupted it.
    pub signal: Option<i32>,
    /// Why it failed.
    pub error: Option<Failure>,
    /// What was claimed survives a power loss.
    pub durable: bool,
    /// Bytes that the plan wanted to copy; `null`: to the end of a stream.
    pub len_bytes: Option<u64>,
    /// What arrived.
    pub claimed: Claimed,
    /// What differs; `null` where nothing was compared.
    pub differences: Option<DifferencesReport>,
    /// Logical blocks of both sides that could not be read and were gone around; the status may be `complete` all the
    /// same.
    pub unread_sectors: u64,
    /// The test pattern that was written or checked; `null`: none.
    pub pattern: Option<PatternReport>,
    /// What is wrong; `null` where no test pattern was checked.
    pub damage: Option<DamageReport>,
    /// How each dest ended, with `--also`; else none. `dest` is the first of them.
    pub dests: Vec<DestReport>,
    /// What came of reading the dest back; `null` where it was not.
    pub verified: Option<VerifiedReport>,
    /// The command that copies the rest, quoted for a shell.
    pub continue_command: Option<String>,
    /// Path of the manifest that was written; `null`: none was, or not to its end.
    pub manifest: Option<String>,
    /// Bytes and records.
    pub bytes: Bytes,
    /// What the journal had to do with it; `null` where none was to be kept.
    pub journal: Option<JournalReport>,
    /// What it was expected to take; `null` where nobody looked beforehand.
    pub estimate: Option<EstimateReport>,
    /// From the first request to the end, flushing included.
    pub elapsed_s: f64,
    /// Of that, making it durable.
    pub flushing_s: f64,
    /// Copied bytes a second.
    pub rates: Rates,
    /// Processor time.
    pub cpu: Cpu,
    /// Most memory resident.
    pub peak_resident_bytes: u64,
    /// `ring`, `threads`, `sync`, `reflink` or `offload`.
    pub engine: &'static str,
    /// How exactly.
    pub engine_detail: String,
    /// Block size and depth; `null` where no bytes went through us.
    pub blocks: Option<Blocks>,
    /// The source.
    pub source: SideOutcome,
    /// The dest.
    pub dest: SideOutcome,
    /// Time with nothing to do but wait for digests.
    pub digest_waited_s: f64,
    /// Time in which `--limit` held reads back.
    pub limit_waited_s: f64,
    /// Digests of the source stream.
    pub digests: Vec<DigestReport>,
    /// Fallbacks and what else the user should know.
    pub notes: Vec<String>,
    /// What the plan chose, and why.
    pub why: Vec<ReasonReport>,
    /// What the plan warned of.
    pub warnings: Vec<String>,
}

/// All bytes that arrived with none missing between them.
#[derive(Clone, Debug, Serialize)]
pub struct Claimed {
    /// First byte, counted from the first byte of the copy.
    pub offset_bytes: u64,
    /// Bytes.
    pub len_bytes: u64,
    /// `forward` or `backward`: at which end the copy began.
    pub direction: &'static str,
}

/// Bytes and records.
#[derive(Clone, Debug, Serialize)]
pub struct Bytes {
    /// Acknowledged by the dest in any form.
    pub copied_bytes: u64,
    /// Delivered by the source.
    pub read_bytes: u64,
    /// Data acknowledged by the dest.
    pub written_bytes: u64,
    /// Not written, for the dest had them already.
    pub unchanged_bytes: u64,
    /// Data read from the dest and compared with the source's.
    pub compared_bytes: u64,
    /// Zeroed by the dest itself.
    pub zeroed_bytes: u64,
    /// Left as holes.
    pub hole_bytes: u64,
    /// Shared with the source by the file system, not copied.
    pub shared_bytes: u64,
    /// Copied by the device itself.
    pub offloaded_bytes: u64,
    /// Runs zeroed by the dest itself.
    pub zeroed_records: u64,
    /// Runs left as holes.
    pub hole_records: u64,
}

/// What a journal had to do with a copy.
#[derive(Clone, Debug, Serialize)]
pub struct JournalReport {
    /// Durable since earlier runs, not copied again.
    pub already_bytes: u64,
    /// Durable by the journal at the end, those included.
    pub durable_bytes: u64,
    /// Not to be read from the source, and to be tried again, by the journal that is left.
    pub unread_bytes: u64,
    /// Times that it was written to.
    pub checkpoints: u64,
    /// Where it is left for `--resume`; `null`: it is not there.
    pub path: Option<String>,
}

/// Copied bytes a second; `null` where no time went by.
#[derive(Clone, Debug, Serialize)]
pub struct Rates {
    /// With the flush.
    pub copied_bytes_per_s: Option<u64>,
    /// The same in MB/s, 10⁶ bytes.
    pub copied_mb_per_s: Option<f64>,
    /// The same in MiB/s, 2²⁰ bytes.
    pub copied_mib_per_s: Option<f64>,
    /// Without the flush.
    pub before_flush_bytes_per_s: Option<u64>,
}

/// Processor time of the process; kernel threads are not in it.
#[derive(Clone, Debug, Serialize)]
pub struct Cpu {
    /// In user mode.
    pub user_s: f64,
    /// In the kernel.
    pub system_s: f64,
    /// Both, per GiB copied; `null` where nothing was copied.
    pub per_gib_s: Option<f64>,
}

/// Block size and depth as settled, and why.
#[derive(Clone, Debug, Serialize)]
pub struct Blocks {
    /// Bytes per request.
    pub block_bytes: u32,
    /// Most requests in flight.
    pub depth: u32,
    /// Why these.
    pub because: String,
    /// Settings that were tried.
    pub tried: Vec<Tried>,
}

/// A setting that was tried.
#[derive(Clone, Debug, Serialize)]
pub struct Tried {
    /// Bytes per request.
    pub block_bytes: u32,
    /// Most requests in flight.
    pub depth: u32,
    /// Rate reached.
    pub bytes_per_s: u64,
}

/// One side after the copy.
#[derive(Clone, Debug, Serialize)]
pub struct SideOutcome {
    /// As the user named it.
    pub address: String,
    /// What was opened.
    pub path: String,
    /// `file`, `block`, `pipe`, `endless`, `null` or `memory`.
    pub kind: &'static str,
    /// First byte of the copy.
    pub offset_bytes: u64,
    /// `direct`, `dontcache`, `drop` or `keep`.
    pub cache: &'static str,
    /// The node whose commands it was reached by; `null`: by reads and writes.
    pub passthrough: Option<String>,
    /// Requests, with those for the rest of a short one.
    pub requests: u64,
    /// How long they took.
    pub latency: Latencies,
    /// Time in which there was nothing to do but wait for this side.
    pub waited_s: f64,
    /// The same as a share of the time before the flush, 0 to 1; `null` where no time went by.
    pub waited_share: Option<f64>,
    /// Time in which it had no request in flight.
    pub idle_s: f64,
    /// What could not be read of it; `null` where no read failed that was gone around.
    pub unread: Option<UnreadReport>,
    /// In the page cache before; `null` where the kernel does not say.
    pub cached_before_bytes: Option<u64>,
    /// In the page cache after.
    pub cached_after_bytes: Option<u64>,
}

/// Time from submission to completion.
#[derive(Clone, Debug, Serialize)]
pub struct Latencies {
    /// Requests counted.
    pub count: u64,
    /// Half were faster.
    pub p50_us: u64,
    /// Nine in ten were faster.
    pub p90_us: u64,
    /// 99 in 100 were faster.
    pub p99_us: u64,
    /// The slowest.
    pub max_us: u64,
}

/// The outcome for programs. `args` is the command line as given, without the name of the program; `started` is when
/// the copy began.
pub fn outcome(decision: &Decision, outcome: &Outcome, args: &[String], started: Option<SystemTime>) -> Report {
    let Decision { plan, notes } = decision;
    let mut command = vec!["haul".to_owned()];
    command.extend_from_slice(args);
    let (status, signal, error) = match &outcome.ended {
        Ended::Complete => ("complete", None, None),
        Ended::Interrupted(signal) => ("interrupted", Some(*signal), None),
        Ended::Failed(error) => ("failed", None, Some(Failure::from(error.as_ref()))),
    };
    Report {
        schema: SCHEMA,
        report: match (plan.pattern.map(|used| used.act), plan.route) {
            (Some(PatternAct::Write), _) => "pattern write",
            (Some(PatternAct::Check), _) => "pattern check",
            (None, Route::Copy | Route::Delta { .. }) => "copy",
            (None, Route::Compare { .. } | Route::ReadBack) => "verify",
        },
        version: env!("CARGO_PKG_VERSION"),
        command,
        started: started.and_then(rfc_3339),
        status,
        signal,
        error,
        durable: outcome.durable,
        len_bytes: plan.len,
        claimed: Claimed {
            offset_bytes: outcome.claimed.offset,
            len_bytes: outcome.claimed.len,
            direction: direction_name(plan.direction),
        },
        differences: outcome.differences.as_ref().map(DifferencesReport::from),
        unread_sectors: outcome.unread.iter().map(Unread::sectors).sum(),
        pattern: plan.pattern.map(PatternReport::from),
        damage: outcome.damage.as_ref().map(DamageReport::from),
        dests: outcome.dests.iter().map(|dest| DestReport::of(plan, outcome, dest, args)).collect(),
        verified: outcome.verified.as_ref().map(VerifiedReport::from),
        continue_command: text::continue_command(plan, outcome, args),
        manifest: outcome.manifest.clone(),
        bytes: bytes(outcome),
        journal: outcome.kept.as_ref().map(|kept| JournalReport {
            already_bytes: kept.already_bytes,
            durable_bytes: kept.durable_bytes,
            unread_bytes: kept.unread_bytes,
            checkpoints: kept.checkpoints,
            path: kept.left.as_ref().map(|path| path.to_string_lossy().into_owned()),
        }),
        estimate: outcome.estimate.as_ref().map(EstimateReport::from),
        elapsed_s: outcome.elapsed.as_secs_f64(),
        flushing_s: outcome.flushing.as_secs_f64(),
        rates: rates(outcome),
        cpu: cpu(outcome),
        peak_resident_bytes: outcome.usage.peak_resident_bytes,
        engine: outcome.engine.name(),
        engine_detail: outcome.engine_detail.clone(),
        blocks: blocks(outcome),
        source: side(&plan.source, outcome, Side::Source),
        dest: side(&plan.dest, outcome, Side::Dest),
        digest_waited_s: outcome.digest_waited.as_secs_f64(),
        limit_waited_s: outcome.limit_waited.as_secs_f64(),
        digests: outcome.digests.iter().map(DigestReport::from).collect(),
        notes: outcome.notes.clone(),
        why: reasons(notes),
        warnings: notes.warnings.clone(),
    }
}

/// To the microsecond: more digits would claim a precision that nobody needs.
fn rfc_3339(time: SystemTime) -> Option<String> {
    jiff::Timestamp::try_from(time).ok().map(|time| format!("{time:.6}"))
}

fn bytes(outcome: &Outcome) -> Bytes {
    let totals = &outcome.totals;
    Bytes {
        copied_bytes: totals.copied_bytes(),
        read_bytes: totals.read_bytes,
        written_bytes: totals.written_bytes,
        unchanged_bytes: totals.unchanged_bytes,
        compared_bytes: totals.compared_bytes,
        zeroed_bytes: totals.zeroed_bytes,
        hole_bytes: totals.hole_bytes,
        shared_bytes: totals.shared_bytes,
        offloaded_bytes: totals.offloaded_bytes,
        zeroed_records: totals.zeroed_runs,
        hole_records: totals.hole_runs,
    }
}

fn rates(outcome: &Outcome) -> Rates {
    let copied = outcome.totals.copied_bytes();
    let rate = units::per_second(copied, outcome.elapsed);
    let before_flush = units::per_second(copied, outcome.elapsed.saturating_sub(outcome.flushing));
    Rates {
        copied_bytes_per_s: rate,
        copied_mb_per_s: rate.map(|rate| thousandths(rate as f64 / 1e6)),
        copied_mib_per_s: rate.map(|rate| thousandths(rate as f64 / f64::from(1 << 20))),
        before_flush_bytes_per_s: before_flush,
    }
}

fn cpu(outcome: &Outcome) -> Cpu {
    let usage = &outcome.usage;
    let gib = outcome.totals.copied_bytes() as f64 / f64::from(1 << 30);
    let total = (usage.user + usage.system).as_secs_f64();
    Cpu {
        user_s: usage.user.as_secs_f64(),
        system_s: usage.system.as_secs_f64(),
        per_gib_s: (gib > 0.0).then(|| thousandths(total / gib)),
    }
}

fn blocks(outcome: &Outcome) -> Option<Blocks> {
    let pace = &outcome.pace;
    let tried = |&(block_bytes, depth, bytes_per_s): &(u32, u32, u64)| Tried { block_bytes, depth, bytes_per_s };
    (pace.block_bytes > 0).then(|| Blocks {
        block_bytes: pace.block_bytes,
        depth: pace.depth,
        because: pace.because.clone(),
        tried: pace.tried.iter().map(tried).collect(),
    })
}

fn side(planned: &PlanSide, outcome: &Outcome, side: Side) -> SideOutcome {
    let report = &outcome.sides[side.index()];
    let copying = outcome.elapsed.saturating_sub(outcome.flushing);
    let share = report.waited.as_secs_f64() / copying.as_secs_f64();
    let Latency { count, p50_us, p90_us, p99_us, max_us } = report.latency;
    SideOutcome {
        address: planned.address.clone(),
        path: planned.path.to_string_lossy().into_owned(),
        kind: kind_name(planned),
        offset_bytes: planned.offset,
        cache: cache_name(planned),
        passthrough: node_name(planned),
        requests: match side {
            Side::Source => outcome.totals.read_requests,
            Side::Dest => outcome.totals.write_requests,
        },
        latency: Latencies { count, p50_us, p90_us, p99_us, max_us },
        waited_s: report.waited.as_secs_f64(),
        waited_share: (!copying.is_zero()).then(|| thousandths(share)),
        idle_s: report.idle.as_secs_f64(),
        unread: UnreadReport::of(&outcome.unread[side.index()]),
        cached_before_bytes: report.cached_before_bytes,
        cached_after_bytes: report.cached_after_bytes,
    }
}

/// Three decimals: what is behind them is noise.
fn thousandths(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}
