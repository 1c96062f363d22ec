//! The part of `haul profile` that measures system impact.
use crate::core::{Facts, Stop};
use crate::measure::{Interference, MeasureFailure, Profiled, RunningSystem, Subject, Unknown, Way, effects};
use std::path::Path;
use std::time::Duration;

/// Share of the time of a profile.
pub(crate) const SHARE: f64 = 0.15;

/// This program, even if its file was replaced since it started.
const PROGRAM: &str = "/proc/self/exe";

/// Measures it in its share of `time`, and adds the results to `found`.
pub(crate) fn look(
    facts: &Facts,
    subject: &Subject,
    time: Duration,
    stop: &Stop,
    found: &mut Profiled,
    on_progress: &mut dyn FnMut(f64),
) {
    match system_impact(facts, subject, time.mul_f64(SHARE), stop, on_progress) {
        Ok(system_impact) => found.system_impact = Some(Ok(system_impact)),
        Err(Unknown::Why(why)) => found.system_impact = Some(Err(why)),
        Err(Unknown::Stopped(signal)) => found.failure = Some(MeasureFailure::Stopped(signal)),
    }
}

fn system_impact(
    facts: &Facts,
    subject: &Subject,
    time: Duration,
    stop: &Stop,
    on_progress: &mut dyn FnMut(f64),
) -> Result<Interference, Unknown> {
    if facts.passthrough.as_ref().is_some_and(|node| node.named) {
        return Err(Unknown::Why("SCSI and NVMe commands of our own never meet the page cache".to_owned()));
    }
    let mut around = RunningSystem::new(Path::new(PROGRAM), &facts.path, facts.size.unwrap_or(0))?;
    let ways: Vec<Way> = [Way::Buffered, Way::Direct].into_iter().filter(|&way| subject.has(way)).collect();
    let effects = effects(&mut around, &ways, time, stop, on_progress)?;
    Ok(Interference { memory: around.memory(), test_file_bytes: around.test_file_bytes(), effects })
}
