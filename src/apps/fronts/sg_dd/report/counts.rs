//! Counts, times and rates in the form of sg3_utils 1.46.
use crate::apps::fronts::record_counts::RecordCounts;
use crate::apps::fronts::sg_plan::SgFront;
use std::fmt::Write;
use std::time::Duration;

/// Which lines of counts are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) compares: bool,
    pub(super) sparse: bool,
    /// READ LONG was requested for unreadable blocks.
    pub(super) fetches: bool,
}

/// `N+M records in`, `N+M records out`, and further counts; `margin` begins each line.
pub(super) fn records(counts: &RecordCounts, lines: Lines, margin: &str) -> String {
    let out = counts.written_full - counts.passed_over;
    let verb = if lines.compares { "verified" } else { "out" };
    let mut text = format!("{margin}{}+{} records in\n", counts.read_full, counts.read_partial);
    text.push_str(&format!("{margin}{out}+{} records {verb}\n", counts.written_partial));
    let more = [
        (lines.sparse, counts.passed_over, "bypassed records out"),
        (counts.retried > 0, counts.retried, "retries attempted"),
        (counts.unrecovered > 0, counts.unrecovered, "unrecovered error(s)"),
        (lines.fetches && counts.unrecovered > 0, counts.fetched, "read_longs fetched part of unrecovered read errors"),
        (counts.differing > 0, counts.differing, "miscompare error(s)"),
    ];
    for (_, number, what) in more.into_iter().filter(|(wanted, ..)| *wanted) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{margin}{number} {what}");
    }
    text
}

/// Bytes and time so far, or at the previous report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progressed {
    pub(super) bytes: u64,
    pub(super) time: Duration,
}

impl Progressed {
    /// In millions of bytes per second; `None` if it is too small to be printed.
    fn rate(self) -> Option<f64> {
        let seconds = self.time.as_secs_f64();
        (seconds > 0.00001 && self.bytes > 511).then(|| self.bytes as f64 / (seconds * 1_000_000.0))
    }
}

/// `time to transfer data: 18.779506 secs at 57.18 MB/sec`. During the copy, `so_far`, with the rate since
/// `before`.
pub(super) fn timing(front: SgFront, moved: Progressed, so_far: bool, before: Option<Progressed>) -> String {
    let time = format!("{}.{:06} secs", moved.time.as_secs(), moved.time.subsec_micros());
    let (colon, at) = if front == SgFront::Sgp { ("", ", ") } else { (":", " at ") };
    let mut text = match (so_far, front) {
        (true, _) => format!("time to transfer data so far{colon} {time}"),
        (false, SgFront::Sgp) => format!("time to transfer data was {time}"),
        (false, _) => format!("time to transfer data: {time}"),
    };
    if let Some(rate) = moved.rate() {
        let _ = write!(text, "{at}{rate:.2} MB/sec");
    }
    let since = before.map(|before| Progressed {
        bytes: moved.bytes.saturating_sub(before.bytes),
        time: moved.time.saturating_sub(before.time),
    });
    if let Some(rate) = since.and_then(Progressed::rate) {
        let _ = write!(text, " (delta {rate:.2} MB/sec)");
    }
    text.push('\n');
    text
}

/// `42% complete, estimated time remaining: 0:12:34`; `None` if it is not known yet.
pub(super) fn time_left(done: u64, total: u64, time: Duration) -> Option<String> {
    if done == 0 || done >= total || time.is_zero() {
        return None;
    }
    let seconds = (time.as_secs_f64() * (total - done) as f64 / done as f64).round() as u64;
    let percent = u128::from(done) * 100 / u128::from(total);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    Some(format!("{percent}% complete, estimated time remaining: {hours}:{minutes:02}:{seconds:02}\n"))
}
