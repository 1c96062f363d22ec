//! The result of `haul tune` as JSON.
use super::{bad, ended, failure, subject, written};
use crate::apps::measuring::report::{Run, requests_per_s, state};
use crate::measure::stats::mad;
use crate::measure::{BestPoint, Entry, Point, State, Trial, Tuned};
use crate::report::json::{SCHEMA, command_line, object};
use serde::Serialize;

/// What `haul tune --json` prints.
pub fn tune(run: &Run<'_>, tuned: &Tuned) -> impl Serialize {
    object! {
        schema: SCHEMA,
        report: "tune",
        command: command_line(run.words),
        label: run.label,
        subject: subject(run.facts),
        operation: run.op.name(),
        written: run.written.map(written),
        engine: run.engine.name(),
        ended: ended(tuned.failure.as_ref()),
        failure: failure(tuned.failure.as_ref()),
        rounds: tuned.rounds,
        points: tuned.sweep.entries().iter().map(entry).collect::<Vec<_>>(),
        answer: tuned.answer.as_ref().map(answer),
        buffered_answer: tuned.buffered.as_ref().map(answer),
        failed_requests: run.failed,
        bad: bad(run.bad),
        went_round: tuned.went_round,
        warnings: run.warnings,
    }
}

fn entry(entry: &Entry) -> impl Serialize {
    let Point { way, block_bytes, depth } = entry.point;
    let rates: Vec<f64> = entry.rates().into_iter().map(|(_, rate)| rate).collect();
    let of = |number: fn(&Trial) -> f64| entry.median_of(number);
    let sound = entry.trials.iter().filter(|(_, trial)| trial.is_sound());
    let run = |(round, trial): &(u32, Trial)| {
        object! { round: *round, offset_bytes: trial.offset, bytes: trial.bytes, seconds: trial.seconds }
    };
    object! {
        way: way.name(),
        block_bytes,
        depth,
        state: state(&entry.state),
        because: if let State::LeftOut(why) = entry.state { Some(why) } else { None },
        runs: sound.map(run).collect::<Vec<_>>(),
        bytes_per_s: entry.rate(),
        bytes_per_s_mad: mad(&rates),
        bytes_per_s_interval: entry.interval().map(|(low, high)| [low, high]),
        requests_per_s: requests_per_s(entry),
        p50_us: of(|trial| trial.p50_us),
        p99_us: of(|trial| trial.p99_us),
        max_us: of(|trial| trial.max_us),
        cpu_s_per_gib: of(Trial::cpu_s_per_gib),
        cpu_share: of(Trial::cpu_share),
        cached: entry.was_cached(),
    }
}

fn answer(found: &BestPoint) -> impl Serialize + use<> {
    object! {
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
