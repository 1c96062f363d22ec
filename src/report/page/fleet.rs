//! The page of a copy by many workers: which shards are done, over time and by place, by which host, and what failed.
use super::axis::{Axis, Quantity};
use super::chart::{Chart, Curve, Shape};
use super::strips::{Kind, Strip, Strips};
use super::{Figure, Table, bare, capital, frame, render};
use crate::core::{Extent, FinishedShard, FleetStatus, Machine, ShardAttempt};
use crate::report::{fleet as words, units};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// Rows of the table of attempts, at most; `--json` has all.
const LISTED_MAX: usize = 1000;

/// The data for the page of a job.
#[derive(Clone, Copy, Debug)]
pub struct FleetFound<'a> {
    /// How far it is.
    pub status: &'a FleetStatus,
    /// The command line.
    pub words: &'a [String],
    /// The machine on which the page is made.
    pub machine: &'a Machine,
    /// When the status was read.
    pub read: SystemTime,
}

/// The page of a job, finished or not, as HTML.
pub fn fleet(found: FleetFound<'_>) -> String {
    let FleetFound { status, .. } = found;
    let [source, dest] = &status.sides;
    let mut page = frame(format!("haul status: {source} to {dest}"), found.words, found.read, found.machine);
    let text = bare(&words::status(status));
    page.headline = capital(text.lines().next().unwrap_or_default());
    page.warnings = warnings(status);
    page.summary = summary(status);
    page.figures.push(places(status));
    page.figures.extend(over_time(&status.done));
    page.figures.extend(hosts(status));
    page.figures.extend(attempts(status));
    page.facts.insert(0, ("The job".to_owned(), job(status)));
    page.report = text;
    render(page)
}

fn warnings(status: &FleetStatus) -> Vec<String> {
    let conflict = |shard: &u64| format!("Shard {shard}: two workers finished it with different results.");
    let mut warnings: Vec<String> = status.conflicts.iter().map(conflict).collect();
    if status.unread_bytes > 0 {
        warnings.push(format!("{} could not be read.", units::size(status.unread_bytes)));
    }
    warnings
}

fn summary(status: &FleetStatus) -> Vec<(String, String)> {
    let row = |name: &str, value: String| (name.to_owned(), value);
    let mut rows = vec![
        row("Shards done", format!("{} of {}", status.done_shards, status.shards)),
        row("Copied", format!("{} of {}", units::bytes(status.copied_bytes), units::bytes(status.len_bytes))),
        row("Running, failed, not begun", {
            format!("{}, {}, {}", status.running.len(), status.failed.len(), status.untouched_shards)
        }),
    ];
    if let Some(left_s) = status.left_s() {
        rows.push(row("Rate now", units::rate(status.bytes_per_s())));
        rows.push(row("Time left", units::duration(Duration::from_secs(left_s))));
    }
    rows.extend(status.digest.map(|digest| row("BLAKE3", digest.to_string())));
    rows
}

fn job(status: &FleetStatus) -> Vec<(String, String)> {
    let [source, dest] = status.sides.clone();
    let rows = [
        ("Source", source),
        ("Destination", dest),
        ("Shared state", status.state.clone()),
        ("Job", status.job.clone()),
    ];
    rows.map(|(name, value)| (name.to_owned(), value)).into()
}

/// The bytes of the copy: what is done, what running and failed attempts have, and the rest.
fn places(status: &FleetStatus) -> Figure {
    let place = |shard: u64, bytes: u64| Extent::new((shard - 1) * status.shard_bytes, bytes);
    let done = status.done.iter().map(|done| place(done.shard, done.len_bytes));
    let part = |attempt: &ShardAttempt| place(attempt.shard, attempt.copied_bytes);
    let parts = status.running.iter().chain(&status.failed).map(part).filter(|part| !part.is_empty());
    let wrong = status.conflicts.iter().map(|&shard| place(shard, status.shard_bytes));
    let areas = vec![
        (Kind::Remaining, vec![Extent::new(0, status.len_bytes)]),
        (Kind::Copied, done.chain(parts).collect()),
        (Kind::Wrong, wrong.collect()),
    ];
    let areas = areas.into_iter().filter(|(_, extents): &(Kind, Vec<Extent>)| !extents.is_empty()).collect();
    let strip = Strip { name: "copy".to_owned(), len_bytes: status.len_bytes, areas };
    let strips = Strips { label: "Shards by their place in the copy".to_owned(), strips: vec![strip] };
    let ([wide, narrow], key) = (strips.pictures(), strips.key());
    let what =
        "The copy from its first byte to its last. What an attempt has copied of its shard is drawn from the start \
        of the shard."
            .to_owned();
    let (title, answer) = ("Shards by place".to_owned(), String::new());
    Figure { id: "shards", title, answer, what, key, wide, narrow, table: None }
}

/// Bytes of shards that are done, by the time at which they were; `None` before the second.
fn over_time(done: &[FinishedShard]) -> Option<Figure> {
    let mut ends: Vec<(i64, u64)> = done.iter().map(|done| (done.ended_s, done.len_bytes)).collect();
    ends.sort_unstable();
    let began = done.iter().map(|done| done.began_s).min().filter(|_| ends.len() > 1)?;
    let mut bytes = 0;
    let points = ends.iter().map(|(end, len)| {
        bytes += len;
        ((end - began) as f64, bytes as f64)
    });
    let points: Vec<(f64, f64)> = std::iter::once((0.0, 0.0)).chain(points).collect();
    let axes = [
        Axis::over(Quantity::Time, points.iter().map(|point| point.0)),
        Axis::over(Quantity::Bytes, points.iter().map(|point| point.1)),
    ];
    let chart =
        Chart::new("Bytes of shards that are done, over time", axes, vec![Curve::new("done", 0, Shape::Area, points)]);
    let what =
        "Bytes of shards that are done, since the first attempt that finished one began, by the clocks of the workers.";
    let answer = ends.last().map(|(end, _)| end - began).and_then(|seconds| u64::try_from(seconds).ok());
    let answer =
        answer.map(|seconds| format!("{} in {}", units::size(bytes), units::duration(Duration::from_secs(seconds))));
    Some(
        Figure::new("done-over-time", "Shards done over time", what, &chart, None)
            .answering(&answer.unwrap_or_default()),
    )
}

/// What each host did.
fn hosts(status: &FleetStatus) -> Option<Figure> {
    let mut hosts: BTreeMap<&str, (u64, u64, u64, u64)> = BTreeMap::new();
    for done in &status.done {
        let of = hosts.entry(&done.host).or_default();
        of.0 += 1;
        of.1 += done.len_bytes;
        of.2 += u64::try_from(done.ended_s - done.began_s).unwrap_or(0);
    }
    for attempt in &status.running {
        hosts.entry(&attempt.host).or_default().3 += 1;
    }
    let row = |(host, (shards, bytes, seconds, running)): (&&str, &(u64, u64, u64, u64))| {
        let rate = bytes.checked_div(*seconds).map(units::rate).unwrap_or_default();
        vec![(*host).to_owned(), shards.to_string(), units::size(*bytes), rate, running.to_string()]
    };
    let rows: Vec<Vec<String>> = hosts.iter().map(row).collect();
    let table = Table::new(&["host", "shards done", "bytes", "rate of a shard", "running"], rows);
    (!hosts.is_empty()).then(|| Figure::of_table("hosts", "Hosts", "By the attempts that finished a shard.", table))
}

/// The last attempts at shards that are not done.
fn attempts(status: &FleetStatus) -> Option<Figure> {
    let all = status.running.iter().chain(&status.failed);
    let row = |attempt: &ShardAttempt| {
        let rate = attempt.bytes_per_s.filter(|_| attempt.ended.is_none()).map(units::rate).unwrap_or_default();
        vec![
            attempt.shard.to_string(),
            attempt.attempt.to_string(),
            attempt.host.clone(),
            attempt.pid.to_string(),
            units::size(attempt.copied_bytes),
            rate,
            attempt.written.clone(),
            attempt
                .ended
                .clone()
                .unwrap_or_else(|| (if status.is_stuck(attempt) { "stuck" } else { "running" }).to_owned()),
        ]
    };
    let rows: Vec<Vec<String>> = all.take(LISTED_MAX).map(row).collect();
    let columns = ["shard", "attempt", "host", "PID", "copied", "rate", "last sign of life", "state"];
    let what =
        "The last attempt at each shard that was begun and is not done. One that has not recorded its end may be dead.";
    (!rows.is_empty()).then(|| Figure::of_table("attempts", "Attempts", what, Table::new(&columns, rows)))
}

/// For tests: how a page of a job is made of nothing but its status.
#[cfg(test)]
fn page_of(status: &FleetStatus) -> String {
    let (words, machine) = (&["status".to_owned()][..], &Machine::default());
    fleet(FleetFound { status, words, machine, read: std::time::UNIX_EPOCH }).replace("&#x2f;", "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(shard: u64, host: &str, began_s: i64) -> FinishedShard {
        let ended_s = began_s + 10;
        FinishedShard { shard, attempt: 1, host: host.to_owned(), began_s, ended_s, len_bytes: 1_000_000_000 }
    }

    fn status() -> FleetStatus {
        let attempt = ShardAttempt { shard: 4, attempt: 2, host: "n<4>".to_owned(), pid: 7, ..ShardAttempt::default() };
        FleetStatus {
            sides: ["/a".to_owned(), "s3://b/c".to_owned()],
            shard_bytes: 1_000_000_000,
            len_bytes: 5_000_000_000,
            shards: 5,
            done_shards: 3,
            copied_bytes: 3_500_000_000,
            untouched_shards: 1,
            done: vec![done(1, "n1", 100), done(2, "n2", 100), done(3, "n1", 110)],
            running: vec![ShardAttempt { copied_bytes: 500_000_000, bytes_per_s: Some(50_000_000), ..attempt }],
            ..FleetStatus::default()
        }
    }

    #[test]
    fn a_page_has_shards_by_place_time_and_host() {
        let page = page_of(&status());
        assert!(page.starts_with(super::super::MARK));
        for id in ["shards", "done-over-time", "hosts", "attempts"] {
            assert_eq!(page.matches(&format!("<section id=\"{id}\">")).count(), 1, "{id}");
        }
        let wanted =
            ["3 of 5", "3.00 GB in 20", "n&lt;4&gt;", "haul status: /a to s3://b/c", "100.0 MB/s", "Time left"];
        for words in wanted {
            assert!(page.contains(words), "{words:?} is not in {page}");
        }
    }

    #[test]
    fn a_job_that_has_not_begun_has_a_page() {
        let status = FleetStatus { done: Vec::new(), running: Vec::new(), done_shards: 0, copied_bytes: 0, ..status() };
        let page = page_of(&status);
        assert!(page.contains("<section id=\"shards\">") && !page.contains("hosts"), "{page}");
        let conflict = page_of(&FleetStatus { conflicts: vec![2], ..status });
        assert!(conflict.contains("Shard 2: two workers finished it with different results."), "{conflict}");
    }
}
