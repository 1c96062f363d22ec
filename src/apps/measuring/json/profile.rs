//! What `haul profile` found, for programs.
use crate::apps::measuring::json::commands::CommandsReport;
use crate::apps::measuring::json::lethargy::{LethargyReport, lethargy};
use crate::apps::measuring::json::tune::{
    BadReport, SubjectReport, WrittenReport, bad, ended, failure, subject, written,
};
use crate::core::{EngineKind, Facts, Op};
use crate::measure::fit::Fit;
use crate::measure::stats::median;
use crate::measure::{Bad, Cost, Profiled, Timed, Written};
use crate::report::json::SCHEMA;
use serde::Serialize;
use std::time::Duration;

/// What `haul profile --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct ProfileReport {
    /// Version of this schema.
    pub schema: u32,
    /// `profile`.
    pub report: &'static str,
    /// The command line behind the program's name.
    pub command: Vec<String>,
    /// What was measured.
    pub subject: SubjectReport,
    /// `read` or `write`.
    pub operation: &'static str,
    /// What was written over for it; `null` of reading.
    pub written: Option<WrittenReport>,
    /// How requests were kept in flight.
    pub engine: &'static str,
    /// `complete`, `interrupted` or `failed`; what was found by then is there all the same.
    pub ended: &'static str,
    /// Why it failed.
    pub failure: Option<String>,
    /// The rate from the first byte to the last.
    pub positions: Vec<PositionReport>,
    /// Seconds that reading all of it takes by that; `null` where writing was measured.
    pub whole_read_s: Option<f64>,
    /// Seconds that writing all of it takes by that; `null` where reading was measured.
    pub whole_write_s: Option<f64>,
    /// What a command of each size costs, one after the other.
    pub commands: Vec<CommandReport>,
    /// The line through these.
    pub fit: Option<FitReport>,
    /// What commands cost without the medium; `null` of what is reached by no SCSI commands.
    pub without_medium: Option<CommandsReport>,
    /// Ways of reading, side by side.
    pub ways: Vec<WayReport>,
    /// Effect on the rest of the system.
    pub lethargy: Option<LethargyReport>,
    /// Requests that failed.
    pub failed_requests: u64,
    /// The first of them.
    pub bad: Vec<BadReport>,
    /// What the figures are not, or may not be.
    pub warnings: Vec<String>,
}

/// The rate at a place.
#[derive(Clone, Debug, Serialize)]
pub struct PositionReport {
    /// The middle of what was read there.
    pub offset_bytes: u64,
    /// Median rate.
    pub bytes_per_s: f64,
}

/// What a command of one size costs.
#[derive(Clone, Debug, Serialize)]
pub struct CommandReport {
    /// Its size.
    pub bytes: u32,
    /// Median time of one.
    pub seconds: f64,
    /// Bytes a second by that.
    pub bytes_per_s: f64,
    /// Runs that this rests on.
    pub runs: usize,
}

/// The line time = latency + size / rate.
#[derive(Clone, Debug, Serialize)]
pub struct FitReport {
    /// Time of a command of no bytes.
    pub latency_s: f64,
    /// Rate once bytes flow; `null` where time does not grow with size.
    pub bytes_per_s: Option<f64>,
    /// Root mean square of the distances to the line, as a share of the times.
    pub residual: f64,
    /// The largest of them.
    pub residual_max: f64,
}

/// What one way of reading took.
#[derive(Clone, Debug, Serialize)]
pub struct WayReport {
    /// `direct`, `buffered`, `indirect` or `mmap`.
    pub way: &'static str,
    /// Median rate.
    pub bytes_per_s: f64,
    /// Processor seconds of this process for each GiB.
    pub cpu_s_per_gib: f64,
    /// Share of one processor that was busy with it.
    pub cpu_share: f64,
    /// What a run left in the page cache, as a share of what it read.
    pub left_in_cache: f64,
    /// The page cache held some of it before.
    pub cached: bool,
    /// Share of the transfers that the node's driver copied, of the way that is to do without; `null` of others.
    pub driver_copied: Option<f64>,
}

/// What `haul profile --timing --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct TimingReport {
    /// Version of this schema.
    pub schema: u32,
    /// `timing`.
    pub report: &'static str,
    /// The command line behind the program's name.
    pub command: Vec<String>,
    /// What was measured.
    pub subject: SubjectReport,
    /// How long each run was meant to be.
    pub run_s: f64,
    /// `complete`, `interrupted` or `failed`; what was found by then is there all the same.
    pub ended: &'static str,
    /// Why it failed.
    pub failure: Option<String>,
    /// The rate of each run in which nothing failed.
    pub runs_bytes_per_s: Vec<f64>,
    /// Their median; `null` of none.
    pub bytes_per_s: Option<f64>,
    /// Requests that failed.
    pub failed_requests: u64,
    /// The first of them.
    pub bad: Vec<BadReport>,
    /// What the figures are not, or may not be.
    pub warnings: Vec<String>,
}

/// What was asked and found, for [`timing`].
#[derive(Clone, Copy, Debug)]
pub struct TimingFound<'a> {
    /// The command line behind the program's name.
    pub words: &'a [String],
    /// Who was measured.
    pub facts: &'a Facts,
    /// How long each run was meant to be.
    pub each: Duration,
    /// What was found.
    pub timed: &'a Timed,
    /// The first failed places.
    pub bad: &'a [Bad],
    /// How many failed.
    pub failed: u64,
    /// What the figures are not, or may not be.
    pub warnings: &'a [String],
}

/// What was asked and found, for [`profile`].
#[derive(Clone, Copy, Debug)]
pub struct ProfileFound<'a> {
    /// The command line behind the program's name.
    pub words: &'a [String],
    /// Who was measured.
    pub facts: &'a Facts,
    /// Reading or writing.
    pub op: Op,
    /// What was written over.
    pub written: Option<&'a Written>,
    /// How requests were kept in flight.
    pub engine: EngineKind,
    /// What was found.
    pub found: &'a Profiled,
    /// The first failed places.
    pub bad: &'a [Bad],
    /// How many failed.
    pub failed: u64,
    /// What the figures are not, or may not be.
    pub warnings: &'a [String],
}

/// What was found, for programs.
pub fn profile(asked: ProfileFound<'_>) -> ProfileReport {
    let found = asked.found;
    ProfileReport {
        schema: SCHEMA,
        report: "profile",
        command: asked.words.to_vec(),
        subject: subject(asked.facts),
        operation: asked.op.name(),
        written: asked.written.map(written),
        engine: asked.engine.name(),
        ended: ended(found.failure.as_ref()),
        failure: failure(found.failure.as_ref()),
        positions: found
            .zones
            .iter()
            .map(|zone| PositionReport { offset_bytes: zone.offset, bytes_per_s: zone.bytes_per_s })
            .collect(),
        whole_read_s: found.whole_s.filter(|_| asked.op == Op::Read),
        whole_write_s: found.whole_s.filter(|_| asked.op == Op::Write),
        commands: found.costs.iter().map(command).collect(),
        fit: found.fit.map(line),
        without_medium: found.commands.as_ref().map(crate::apps::measuring::json::commands::commands),
        ways: ways(found),
        lethargy: lethargy(found),
        failed_requests: asked.failed,
        bad: asked.bad.iter().map(bad).collect(),
        warnings: asked.warnings.to_vec(),
    }
}

pub(crate) fn command(cost: &Cost) -> CommandReport {
    CommandReport { bytes: cost.bytes, seconds: cost.seconds, bytes_per_s: cost.bytes_per_s(), runs: cost.runs }
}

pub(crate) fn line(fit: Fit) -> FitReport {
    FitReport {
        latency_s: fit.latency_s,
        bytes_per_s: Some(fit.bytes_per_s).filter(|rate| rate.is_finite()),
        residual: fit.residual,
        residual_max: fit.residual_max,
    }
}

fn ways(found: &Profiled) -> Vec<WayReport> {
    let way = |way: &crate::measure::WayCost| WayReport {
        way: way.way.name(),
        bytes_per_s: way.bytes_per_s,
        cpu_s_per_gib: way.cpu_s_per_gib,
        cpu_share: way.cpu_share,
        left_in_cache: way.left_in_cache,
        cached: way.cached,
        driver_copied: way.driver_copied,
    };
    found.ways.iter().map(way).collect()
}

/// The rates of runs from the start, for programs.
pub fn timing(found: TimingFound<'_>) -> TimingReport {
    let timed = found.timed;
    TimingReport {
        schema: SCHEMA,
        report: "timing",
        command: found.words.to_vec(),
        subject: subject(found.facts),
        run_s: found.each.as_secs_f64(),
        ended: ended(timed.failure.as_ref()),
        failure: failure(timed.failure.as_ref()),
        runs_bytes_per_s: timed.rates.clone(),
        bytes_per_s: median(&timed.rates),
        failed_requests: found.failed,
        bad: found.bad.iter().map(bad).collect(),
        warnings: found.warnings.to_vec(),
    }
}
