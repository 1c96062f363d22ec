//! The rounds: every contender runs once per round, so that a temporary slowdown of the machine affects all.
//!
//! Independent of the contenders, and of how a bed is made.
use crate::bed::{Bed, Comparison, Task};
use crate::contender::Entry;
use crate::error::Result;
use crate::process::{Ended, Interrupt, run};
use crate::result::{BedResult, ContenderResult, Run, Verdict};
use crate::{limit, machine};
use std::time::Instant;

/// Receives the progress of the race.
pub trait Observer {
    /// A run has ended.
    fn ran(&mut self, bed: &Bed, contender: &str, run: &Run);
    /// Another step begins.
    fn doing(&mut self, what: &str);
}

/// Runs `entries` on `bed`, `rounds` times each. A contender that failed, copied wrongly or is far behind is not run
/// again.
///
/// After an interrupt, returns the measurements so far.
///
/// # Errors
/// The bed fails; failures of contenders are results.
pub fn race(
    bed: &Bed,
    entries: &[Entry],
    rounds: u32,
    interrupt: &Interrupt,
    observer: &mut dyn Observer,
) -> Result<BedResult> {
    let mut result = BedResult {
        name: bed.name.into(),
        title: bed.title.into(),
        what: bed.what.clone(),
        bytes: bed.bytes,
        rounds,
        limits: Vec::new(),
        contenders: entries.iter().map(result_of).collect(),
    };
    observer.doing(&format!("{}: the limit", bed.name));
    match limit::measure(bed, interrupt) {
        Ok(limits) => result.limits = limits,
        Err(_) if interrupt.is_set() => return Ok(result),
        Err(error) => return Err(error),
    }
    let mut first_s = f64::INFINITY;
    for round in 1..=rounds {
        for (entry, contender) in entries.iter().zip(&mut result.contenders) {
            if contender.runs.iter().any(|run| is_out(run, first_s * bed.task.far_behind())) {
                continue;
            }
            match one(bed, entry, round, interrupt) {
                Ok(run) => {
                    observer.ran(bed, &entry.name, &run);
                    if first_s.is_infinite() {
                        first_s = run.wall_s;
                    }
                    contender.runs.push(run);
                }
                Err(_) if interrupt.is_set() => return Ok(result),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(result)
}

/// Whether a contender is not run again after this run: it was wrong, or took more than `far_s`.
fn is_out(run: &Run, far_s: f64) -> bool {
    run.verdict != Verdict::Right || run.wall_s > far_s
}

fn result_of(entry: &Entry) -> ContenderResult {
    ContenderResult {
        name: entry.name.clone(),
        command: entry.line.text(),
        version: entry.version.clone(),
        aside: entry.aside,
        ..ContenderResult::default()
    }
}

/// One run: resets the bed, runs the command, flushes, measures the cache, compares.
fn one(bed: &Bed, entry: &Entry, round: u32, interrupt: &Interrupt) -> Result<Run> {
    bed.reset()?;
    let busy_before = machine::busy_s()?;
    let ended = run(&entry.line, None, interrupt)?;
    let flushing = Instant::now();
    // A contender that created no file has nothing to flush; the comparison fails.
    let flushed = if ended.status.success() && bed.has_dest() { bed.flush() } else { Ok(()) };
    let flush_s = flushing.elapsed().as_secs_f64();
    let machine_cpu_s = machine::busy_s()? - busy_before;
    flushed?;
    let cache_left_bytes = if bed.has_dest() { bed.cached_bytes()? } else { 0 };
    Ok(Run {
        round,
        wall_s: ended.wall.as_secs_f64() + flush_s,
        flush_s,
        machine_cpu_s,
        process_cpu_s: ended.cpu.as_secs_f64(),
        resident_bytes: ended.resident_bytes,
        cache_left_bytes,
        verdict: verdict(bed, &ended, entry, round, interrupt)?,
        blocks: if bed.task == Task::Pace { blocks(&ended.stdout) } else { None },
    })
}

/// Block sizes and depths in a report of haul.
fn blocks(report: &str) -> Option<serde_json::Value> {
    let mut report: serde_json::Value = serde_json::from_str(report).ok()?;
    report.get_mut("blocks").map(serde_json::Value::take)
}

fn verdict(bed: &Bed, ended: &Ended, entry: &Entry, round: u32, interrupt: &Interrupt) -> Result<Verdict> {
    if !ended.status.success() {
        return Ok(Verdict::Failed { why: ended.how() });
    }
    Ok(match bed.compare(&ended.stdout)? {
        // A program that only prints success would be fast. One check is sufficient.
        Comparison::Equal if bed.task == Task::Compare && round == 1 && !sees_damage(bed, entry, interrupt)? => {
            Verdict::Failed { why: "does not detect one differing bit".into() }
        }
        Comparison::Equal => Verdict::Right,
        Comparison::DiffersFrom(first_difference) => Verdict::CopiedWrongly { first_difference },
    })
}

/// Whether a contender detects one differing bit.
fn sees_damage(bed: &Bed, entry: &Entry, interrupt: &Interrupt) -> Result<bool> {
    bed.damage()?;
    Ok(run(&entry.line, None, interrupt)?.status.code() == Some(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_or_slow_contenders_are_not_run_again() {
        let run = |wall_s, verdict| Run { wall_s, verdict, ..Run::default() };
        assert!(!is_out(&run(8.0, Verdict::Right), 8.0));
        assert!(is_out(&run(8.1, Verdict::Right), 8.0));
        assert!(is_out(&run(0.1, Verdict::CopiedWrongly { first_difference: 0 }), 8.0));
        assert!(is_out(&run(0.1, Verdict::Failed { why: String::new() }), 8.0));
        // Before haul has run no contender can be behind.
        assert!(!is_out(&run(1e9, Verdict::Right), f64::INFINITY));
    }
}
