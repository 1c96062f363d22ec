//! What `haul tune` found, for programs.
use crate::apps::measuring::report::state;
use crate::core::{EngineKind, Extent, Facts, Op};
use crate::measure::stats::mad;
use crate::measure::{Answer, Bad, Entry, Failure, Point, State, Trial, Tuned, Written};
use crate::report::json::SCHEMA;
use serde::Serialize;

/// What `haul tune --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct TuneReport {
    /// Version of this schema.
    pub schema: u32,
    /// `tune`.
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
    /// Whole rounds over the points in the running.
    pub rounds: u32,
    /// Every point.
    pub points: Vec<PointReport>,
    /// The answer, past the page cache where that can be had.
    pub answer: Option<AnswerReport>,
    /// The answer through the page cache, where that is another way.
    pub buffered_answer: Option<AnswerReport>,
    /// Requests that failed.
    pub failed_requests: u64,
    /// The first of them.
    pub bad: Vec<BadReport>,
    /// Bytes were moved more than once, for there were no more: a cache in the disk may have had them.
    pub went_round: bool,
    /// What the figures are not, or may not be.
    pub warnings: Vec<String>,
}

/// Who was measured.
#[derive(Clone, Debug, Serialize)]
pub struct SubjectReport {
    /// Its path, links resolved.
    pub path: String,
    /// `file` or `block device`.
    pub kind: &'static str,
    /// Bytes.
    pub size_bytes: Option<u64>,
    /// Smallest addressable unit.
    pub logical_block_bytes: u32,
    /// Vendor and model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// World wide name.
    pub wwn: Option<String>,
    /// How it is connected.
    pub transport: Option<String>,
    /// It moves a head.
    pub rotational: Option<bool>,
}

/// What was written over for measuring.
#[derive(Clone, Debug, Serialize)]
pub struct WrittenReport {
    /// `new file` (made and removed), `kept` (places of a device, put back) or `all` (a device, lost).
    pub ground: &'static str,
    /// Bytes that may have been written over.
    pub bytes: u64,
    /// Places they lie in.
    pub places: usize,
    /// Of what was kept: bytes that had been written over and have their originals again; `null` where that failed.
    pub put_back_bytes: Option<u64>,
    /// The undo journal, with the originals of what could not be put back; `null` where it is gone.
    pub undo_journal: Option<String>,
    /// What could not be put back.
    pub not_put_back: Vec<ExtentReport>,
}

/// A run of bytes.
#[derive(Clone, Debug, Serialize)]
pub struct ExtentReport {
    /// Its first byte.
    pub offset_bytes: u64,
    /// Its length.
    pub len_bytes: u64,
}

/// A block size and depth with what it gave; medians of its runs.
#[derive(Clone, Debug, Serialize)]
pub struct PointReport {
    /// `direct` or `buffered`.
    pub way: &'static str,
    /// Bytes per request.
    pub block_bytes: u32,
    /// Requests in flight.
    pub depth: u32,
    /// `measured`, `lost` (dropped early) or `left out`.
    pub state: &'static str,
    /// Why it was left out.
    pub because: Option<&'static str>,
    /// Its runs that say something.
    pub runs: Vec<TrialReport>,
    /// Median rate.
    pub bytes_per_s: Option<f64>,
    /// Median distance of the runs to it.
    pub bytes_per_s_mad: Option<f64>,
    /// Requests a second.
    pub requests_per_s: Option<f64>,
    /// Half of the requests took no longer.
    pub p50_us: Option<f64>,
    /// 99 in 100 took no longer.
    pub p99_us: Option<f64>,
    /// The slowest.
    pub max_us: Option<f64>,
    /// Processor seconds of this process for each GiB.
    pub cpu_s_per_gib: Option<f64>,
    /// The same as a share of one processor.
    pub cpu_share: Option<f64>,
    /// The page cache held some of it before.
    pub cached: bool,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct TrialReport {
    /// Its round, from 0.
    pub round: u32,
    /// Where it began.
    pub offset_bytes: u64,
    /// Bytes on the clock.
    pub bytes: u64,
    /// Time on the clock.
    pub seconds: f64,
}

/// The smallest block size and depth that are as good as the best.
#[derive(Clone, Debug, Serialize)]
pub struct AnswerReport {
    /// Bytes per request.
    pub block_bytes: u32,
    /// Requests in flight on this side.
    pub depth: u32,
    /// Its rate.
    pub bytes_per_s: f64,
    /// Lower and upper end of the interval in which the median lies with 95 % confidence.
    pub bytes_per_s_interval: Option<[f64; 2]>,
    /// Its rate by that of the best, in the same rounds.
    pub share_of_best: f64,
    /// From 0 to 1: how sure one may be that it reaches 0.95 of the best.
    pub confidence: Option<f64>,
    /// Rounds that this rests on.
    pub rounds: usize,
    /// Bytes per request of the best.
    pub best_block_bytes: u32,
    /// Requests in flight of the best.
    pub best_depth: u32,
    /// Rate of the best.
    pub best_bytes_per_s: f64,
    /// What dd gives by itself: 512 bytes, one at a time, through the page cache.
    pub dd_bytes_per_s: Option<f64>,
}

/// A place that failed.
#[derive(Clone, Debug, Serialize)]
pub struct BadReport {
    /// First byte of the request.
    pub offset_bytes: u64,
    /// Bytes of it.
    pub len_bytes: u32,
    /// What was said.
    pub error: String,
}

/// What was asked and found, for [`tune`].
#[derive(Clone, Copy, Debug)]
pub struct TuneFound<'a> {
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
    pub tuned: &'a Tuned,
    /// The first failed places.
    pub bad: &'a [Bad],
    /// How many failed.
    pub failed: u64,
    /// What the figures are not, or may not be.
    pub warnings: &'a [String],
}

/// What was found, for programs.
pub fn tune(found: TuneFound<'_>) -> TuneReport {
    let tuned = found.tuned;
    TuneReport {
        schema: SCHEMA,
        report: "tune",
        command: found.words.to_vec(),
        subject: subject(found.facts),
        operation: found.op.name(),
        written: found.written.map(written),
        engine: found.engine.name(),
        ended: ended(tuned.failure.as_ref()),
        failure: failure(tuned.failure.as_ref()),
        rounds: tuned.rounds,
        points: tuned.sweep.entries().iter().map(entry).collect(),
        answer: tuned.answer.as_ref().map(answer),
        buffered_answer: tuned.buffered.as_ref().map(answer),
        failed_requests: found.failed,
        bad: found.bad.iter().map(bad).collect(),
        went_round: tuned.went_round,
        warnings: found.warnings.to_vec(),
    }
}

/// Who was measured, for programs.
pub(crate) fn subject(facts: &Facts) -> SubjectReport {
    let identity = facts.identity.clone();
    SubjectReport {
        path: facts.path.to_string_lossy().into_owned(),
        kind: facts.kind.name(),
        size_bytes: facts.size,
        logical_block_bytes: facts.logical_block_bytes,
        model: identity.model,
        serial: identity.serial,
        wwn: identity.wwn,
        transport: identity.transport,
        rotational: facts.queue.rotational,
    }
}

/// What was written over, for programs.
pub(crate) fn written(written: &Written) -> WrittenReport {
    let left = written.left.as_ref();
    let place = |place: &Extent| ExtentReport { offset_bytes: place.offset, len_bytes: place.len };
    WrittenReport {
        ground: written.ground.name(),
        bytes: written.bytes,
        places: written.places,
        put_back_bytes: written.put_back_bytes,
        undo_journal: left.map(|left| left.journal.to_string_lossy().into_owned()),
        not_put_back: left.into_iter().flat_map(|left| &left.places).map(place).collect(),
    }
}

/// How measuring ended, in a word.
pub(crate) fn ended(failure: Option<&Failure>) -> &'static str {
    match failure {
        None => "complete",
        Some(Failure::Stopped(_)) => "interrupted",
        Some(Failure::Broken(_)) => "failed",
    }
}

/// Why it failed, in a line.
pub(crate) fn failure(failure: Option<&Failure>) -> Option<String> {
    match failure {
        Some(Failure::Broken(error)) => Some(crate::report::text::message(error)),
        _ => None,
    }
}

/// A place that failed, for programs.
pub(crate) fn bad(bad: &Bad) -> BadReport {
    BadReport { offset_bytes: bad.offset, len_bytes: bad.len, error: bad.why.clone() }
}

fn entry(entry: &Entry) -> PointReport {
    let Point { way, block_bytes, depth } = entry.point;
    let rates: Vec<f64> = entry.rates().into_iter().map(|(_, rate)| rate).collect();
    let of = |number: fn(&Trial) -> f64| entry.median_of(number);
    let sound = entry.trials.iter().filter(|(_, trial)| trial.is_sound());
    let run = |(round, trial): &(u32, Trial)| TrialReport {
        round: *round,
        offset_bytes: trial.offset,
        bytes: trial.bytes,
        seconds: trial.seconds,
    };
    PointReport {
        way: way.name(),
        block_bytes,
        depth,
        state: state(&entry.state),
        because: if let State::LeftOut(why) = entry.state { Some(why) } else { None },
        runs: sound.map(run).collect(),
        bytes_per_s: entry.rate(),
        bytes_per_s_mad: mad(&rates),
        requests_per_s: of(Trial::requests_per_s),
        p50_us: of(|trial| trial.p50_us),
        p99_us: of(|trial| trial.p99_us),
        max_us: of(|trial| trial.max_us),
        cpu_s_per_gib: of(Trial::cpu_s_per_gib),
        cpu_share: of(Trial::cpu_share),
        cached: entry.was_cached(),
    }
}

fn answer(found: &Answer) -> AnswerReport {
    AnswerReport {
        block_bytes: found.pick.block_bytes,
        depth: found.pick.depth,
        bytes_per_s: found.pick_bytes_per_s,
        bytes_per_s_interval: found.pick_interval.map(|(low, high)| [low, high]),
        share_of_best: found.share,
        confidence: found.confidence,
        rounds: found.rounds,
        best_block_bytes: found.best.block_bytes,
        best_depth: found.best.depth,
        best_bytes_per_s: found.best_bytes_per_s,
        dd_bytes_per_s: found.dd_bytes_per_s,
    }
}
