//! What `haul profile --sustained` found, for programs.
use crate::apps::measuring::json::tune::{
    BadReport, SubjectReport, WrittenReport, bad, ended, failure, subject, written,
};
use crate::core::{EngineKind, Facts};
use crate::measure::{Bad, Reading, Stage, Sustained, Written};
use crate::report::json::SCHEMA;
use serde::Serialize;

/// What `haul profile --write --sustained --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct SustainedReport {
    /// Version of this schema.
    pub schema: u32,
    /// `sustained`.
    pub report: &'static str,
    /// The command line behind the program's name.
    pub command: Vec<String>,
    /// What was measured.
    pub subject: SubjectReport,
    /// What was written over for it.
    pub written: Option<WrittenReport>,
    /// How requests were kept in flight.
    pub engine: &'static str,
    /// `complete`, `interrupted` or `failed`; what was found by then is there all the same.
    pub ended: &'static str,
    /// Why it failed.
    pub failure: Option<String>,
    /// Bytes that were to be written.
    pub asked_bytes: u64,
    /// Bytes that were.
    pub written_bytes: u64,
    /// Seconds that took, without the flush.
    pub seconds: f64,
    /// Seconds of the flush at the end.
    pub flush_s: f64,
    /// All bytes by all seconds, with the flush.
    pub bytes_per_s: f64,
    /// `steady`, `ran out`, `fell`, `throttled`, `ran out and throttled`, `came back` or `rose`.
    pub trend: &'static str,
    /// It ended because the rate had fallen and settled.
    pub settled: bool,
    /// Bytes were written over again, for there were not as many.
    pub went_round: bool,
    /// The rates that held, one after the other.
    pub stages: Vec<StageReport>,
    /// The rate over time.
    pub steps: Vec<StepReport>,
    /// How warm the drive was; `null` where nobody tells.
    pub temperature: Option<TemperatureReport>,
    /// Requests that failed.
    pub failed_requests: u64,
    /// The first of them.
    pub bad: Vec<BadReport>,
    /// What the figures are not, or may not be.
    pub warnings: Vec<String>,
}

/// A rate that held for a while.
#[derive(Clone, Debug, Serialize)]
pub struct StageReport {
    /// Bytes written when it began.
    pub from_bytes: u64,
    /// Bytes written when it ended.
    pub to_bytes: u64,
    /// When it began, in seconds.
    pub from_s: f64,
    /// When it ended, in seconds.
    pub to_s: f64,
    /// All of its bytes by all of its time.
    pub bytes_per_s: f64,
}

/// A part of the writing.
#[derive(Clone, Debug, Serialize)]
pub struct StepReport {
    /// Bytes written by its end.
    pub bytes: u64,
    /// When that was, in seconds.
    pub seconds: f64,
    /// Its rate.
    pub bytes_per_s: f64,
}

/// How warm the drive was by its own word, in °C.
#[derive(Clone, Debug, Serialize)]
pub struct TemperatureReport {
    /// Where it is too warm; `null` where it tells none.
    pub limit_c: Option<f64>,
    /// The highest reading.
    pub highest_c: f64,
    /// It was at its limit when the rate fell; `null` where nobody knows, or it did not fall.
    pub fell_hot: Option<bool>,
    /// Over time.
    pub readings: Vec<ReadingReport>,
}

/// A temperature, and when.
#[derive(Clone, Debug, Serialize)]
pub struct ReadingReport {
    /// Seconds since the first request.
    pub seconds: f64,
    /// In °C.
    pub celsius: f64,
}

/// What was asked and found, for [`sustained`].
#[derive(Clone, Copy, Debug)]
pub struct SustainedFound<'a> {
    /// The command line behind the program's name.
    pub words: &'a [String],
    /// Who was measured.
    pub facts: &'a Facts,
    /// What was written over.
    pub written: Option<&'a Written>,
    /// How requests were kept in flight.
    pub engine: EngineKind,
    /// Bytes that were to be written.
    pub bytes: u64,
    /// What was found.
    pub found: &'a Sustained,
    /// The first failed places.
    pub bad: &'a [Bad],
    /// How many failed.
    pub failed: u64,
    /// What the figures are not, or may not be.
    pub warnings: &'a [String],
}

/// What was found, for programs.
pub fn sustained(asked: SustainedFound<'_>) -> SustainedReport {
    let found = asked.found;
    let stages = found.stages();
    let steps = found.steps.iter().zip(found.rates());
    SustainedReport {
        schema: SCHEMA,
        report: "sustained",
        command: asked.words.to_vec(),
        subject: subject(asked.facts),
        written: asked.written.map(written),
        engine: asked.engine.name(),
        ended: ended(found.failure.as_ref()),
        failure: failure(found.failure.as_ref()),
        asked_bytes: asked.bytes,
        written_bytes: found.end.bytes,
        seconds: found.end.seconds,
        flush_s: found.flush_s,
        bytes_per_s: found.bytes_per_s(),
        trend: found.trend().name(),
        settled: found.settled,
        went_round: found.went_round,
        stages: stages.iter().map(stage).collect(),
        steps: steps
            .map(|(step, bytes_per_s)| StepReport { bytes: step.bytes, seconds: step.seconds, bytes_per_s })
            .collect(),
        temperature: temperature(found),
        failed_requests: asked.failed,
        bad: asked.bad.iter().map(bad).collect(),
        warnings: asked.warnings.to_vec(),
    }
}

fn stage(stage: &Stage) -> StageReport {
    StageReport {
        from_bytes: stage.from.bytes,
        to_bytes: stage.to.bytes,
        from_s: stage.from.seconds,
        to_s: stage.to.seconds,
        bytes_per_s: stage.bytes_per_s,
    }
}

fn temperature(found: &Sustained) -> Option<TemperatureReport> {
    let (warmth, fell_hot) = (&found.warmth, found.fell_hot());
    let reading = |&Reading { seconds, celsius }: &Reading| ReadingReport { seconds, celsius };
    let readings = warmth.readings.iter().map(reading).collect();
    Some(TemperatureReport { limit_c: warmth.limit_c, highest_c: warmth.highest_c()?, fell_hot, readings })
}
