//! Texts about copies by many workers.
use super::printable::{printable, shell_line};
use super::units;
use crate::core::{FleetStatus, ShardAttempt};
use std::fmt::Write;
use std::time::Duration;

/// How a copy was divided, and what runs its shards.
pub fn divided(shards: u64, shard_bytes: u64, state: &str) -> String {
    let (count, size) = (units::count(shards, "shard", "shards"), units::size(shard_bytes));
    format!(
        "{count} of {size}, state in {state}; each worker runs: haul copy --plan PLAN --shard K/{shards}; \
         then: haul finish PLAN"
    )
}

/// That another worker has the shard, and what is waited for.
pub fn waits(shard: u64, host: &str, pid: u32, attempt: u64, lease_s: u64) -> String {
    format!(
        "shard {shard} is copied by attempt {attempt} (PID {pid} on {host}): waiting for its end, or for {lease_s} s \
         without a sign of life"
    )
}

/// That a shard needs no copy.
pub fn is_done(shard: u64, shards: u64, host: &str, ended: &str) -> String {
    format!("shard {shard} of {shards} is done, by {host} at {ended}")
}

/// That bytes of a shard that is done are zeros.
pub fn has_unread(bytes: u64) -> String {
    format!("{} of the source could not be read: zeros replace them", units::exact(bytes))
}

/// How far a job is.
pub fn status(status: &FleetStatus) -> String {
    let FleetStatus { shards, done_shards, copied_bytes, len_bytes, .. } = status;
    let percent = u128::from(*copied_bytes) * 100 / u128::from((*len_bytes).max(1));
    let mut text = format!(
        "{}: {done_shards} of {} done, {} of {} copied ({percent} %)",
        status.phase.name(),
        units::count(*shards, "shard", "shards"),
        units::size(*copied_bytes),
        units::size(*len_bytes)
    );
    if let Some(left_s) = status.left_s() {
        let (rate, left) = (units::rate(status.bytes_per_s()), units::duration(Duration::from_secs(left_s)));
        let _ = write!(text, ", {rate}, about {left} left");
    }
    let _ = write!(
        text,
        "\nrunning {}, failed {}, not begun {}\n",
        status.running.len(),
        status.failed.len(),
        status.untouched_shards
    );
    for attempt in &status.running {
        let ShardAttempt { shard, attempt: number, host, pid, written, copied_bytes, .. } = attempt;
        let rate = attempt.bytes_per_s.map_or_else(String::new, |rate| format!(", {}", units::rate(rate)));
        let (copied, host) = (units::size(*copied_bytes), printable(host));
        let stuck = if status.is_stuck(attempt) { "; stuck: run the shard again" } else { "" };
        let _ = writeln!(
            text,
            "shard {shard}, attempt {number}: {copied}{rate}, PID {pid} on {host}, last sign of life {written}{stuck}"
        );
    }
    for attempt in &status.failed {
        let ShardAttempt { shard, attempt: number, host, written, .. } = attempt;
        let (why, host) = (printable(attempt.ended.as_deref().unwrap_or_default()), printable(host));
        let _ = writeln!(text, "shard {shard}, attempt {number} on {host}: {why}, at {written}");
    }
    for shard in &status.conflicts {
        let _ = writeln!(text, "shard {shard}: two workers finished it with different results");
    }
    if status.unread_bytes > 0 {
        let _ = writeln!(text, "{} could not be read", units::size(status.unread_bytes));
    }
    text
}

/// That finish waits for workers that have not recorded their end.
pub fn waits_for_workers(count: usize, lease_s: u64) -> String {
    format!("attempts without a recorded end: {count}; waiting until none has given a sign of life for {lease_s} s")
}

/// Which shards are missing, and what copies them.
pub fn missing(missing: &[u64], shards: u64, plan: &str) -> String {
    let named = ranges(missing);
    let first = format!("{}/{shards}", missing.first().copied().unwrap_or(1));
    let command = shell_line(["haul", "copy", "--plan", plan, "--shard", &first]);
    let is = if missing.len() == 1 { "is missing" } else { "are missing" };
    format!(
        "not finished: {} of {} {is}: {named}. Copy each: {command}",
        missing.len(),
        units::count(shards, "shard", "shards")
    )
}

/// Numbers as ranges: `1-3,7`.
fn ranges(numbers: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let text = |(first, last): &(u64, u64)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

/// That the destination is complete.
pub fn finished(dest: &str, len_bytes: u64, shards: u64) -> String {
    format!("{dest} is complete: {} in {}", units::size(len_bytes), units::count(shards, "shard", "shards"))
}

/// That the manifest was written.
pub fn has_manifest(path: &str) -> String {
    format!("wrote manifest {}", printable(path))
}

/// That a worker may write to the destination still.
pub fn never_ended(shard: u64, host: &str, pid: u32) -> String {
    format!(
        "an attempt at shard {shard} never recorded its end (PID {pid} on {host}): make sure that it does not run \
         before the destination is used, because it could write to it"
    )
}

/// Which bytes of the source could not be read.
pub fn unread(extents: &[(u64, u64)]) -> String {
    let first: Vec<String> = extents
        .iter()
        .take(8)
        .map(|(offset, len)| format!("{} at {offset}", units::count(*len, "byte", "bytes")))
        .collect();
    let more = if extents.len() > 8 { ", …" } else { "" };
    format!("unreadable sectors of the source are zeros: {}{more}", first.join(", "))
}

/// The question before a job is given up.
pub fn give_up(dest: &str, state: &str) -> String {
    let what = format!("What was copied to {dest} so far is discarded; its state is in {state}.\n");
    format!("{what}Type \"yes\" to abort the job, anything else to stop: ")
}

/// That a job was given up.
pub fn given_up(state: &str) -> String {
    format!("the job is aborted; its state stays in {state} and may be removed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_without_signs_of_life_for_the_lease_is_stuck() {
        let attempt = |shard, silent_s| ShardAttempt { shard, silent_s, ..ShardAttempt::default() };
        let running = vec![attempt(1, Some(90)), attempt(2, Some(91)), attempt(3, None)];
        let text = status(&FleetStatus { lease_s: 90, running, ..FleetStatus::default() });
        let stuck: Vec<&str> = text.lines().filter(|line| line.contains("stuck")).collect();
        assert!(stuck.len() == 1 && stuck[0].starts_with("shard 2,"), "{text}");
    }

    #[test]
    fn missing_shards_are_named_as_ranges() {
        assert_eq!(
            (ranges(&[1, 2, 3, 7, 9, 10]), ranges(&[5]), ranges(&[])),
            ("1-3,7,9-10".to_owned(), "5".to_owned(), String::new())
        );
    }
}
