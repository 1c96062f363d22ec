//! Results as text and CSV; `report::json` has the JSON form.
mod chart;
mod commands;
mod cost;
mod meter;
mod profile;
mod question;
mod random;
mod read_buffer;
mod sustained;
mod system_impact;
mod tune;

pub use chart::ChartStyle;
pub(crate) use cost::line_words;
pub use meter::Meter;
pub use profile::{profile_charts, profile_csv, profile_text, timing_text};
pub use question::confirm_measuring;
pub(crate) use random::random_rows;
pub use random::{random_csv, random_text};
#[cfg(test)]
pub(crate) use read_buffer::tests::found as read_buffer_example;
pub use read_buffer::{read_buffer_csv, read_buffer_text};
pub(crate) use sustained::sustained_words;
pub use sustained::{sustained_chart, sustained_csv, sustained_text};
pub(crate) use system_impact::{conditions, felt, name};
pub use tune::{TuneReporter, tune_charts, tune_csv, tune_table, tune_text};
pub(crate) use tune::{answer_rows, requests_per_s, spread, state};

use crate::core::{EngineKind, Facts, Op};
use crate::measure::{BadRange, Ground, MeasureFailure, Point, Written};
use crate::report::columns::Columns;
use crate::report::style::{STRONG, paint};
use crate::report::units;

/// The request and the circumstances of a run of `haul tune` or `haul profile`, without its results.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The command line without the program's name.
    pub words: &'a [String],
    /// The user's label for the run.
    pub label: Option<&'a str>,
    /// The measured disk or file.
    pub facts: &'a Facts,
    /// Reading or writing.
    pub op: Op,
    /// What was overwritten.
    pub written: Option<&'a Written>,
    /// How requests were kept in flight.
    pub engine: EngineKind,
    /// The first ranges that failed.
    pub bad: &'a [BadRange],
    /// Number of failures.
    pub failed: u64,
    /// Reasons to doubt the results.
    pub warnings: &'a [String],
}

impl Run<'_> {
    /// The rows of every run: whether it ended early, what failed, what was overwritten.
    fn rows(&self, failure: Option<&MeasureFailure>, rows: &mut Columns) {
        if failure.is_some() {
            rows.row("partial", "ended early: the results above are those so far");
        }
        rows.row("failed", bad_places(self.bad, self.failed));
        if let Some(written) = self.written {
            rows.row("written", written_over(written));
        }
    }
}

/// Failed ranges that are listed; the others are counted.
const BAD_NAMED: usize = 5;

/// The ranges that failed; empty if none did.
fn bad_places(bad: &[BadRange], failed: u64) -> String {
    let one = |bad: &BadRange| format!("{} at byte {}: {}", units::block(bad.len.into()), bad.offset, bad.why);
    let named: Vec<String> = bad.iter().take(BAD_NAMED).map(one).collect();
    match failed.saturating_sub(named.len() as u64) {
        0 => named.join("\n"),
        more => format!("{}\nand {more} more", named.join("\n")),
    }
}

/// The same in a sentence, for output without rows.
pub fn failed_places(bad: &[BadRange], failed: u64) -> String {
    let requests = units::count(failed, "request", "requests");
    format!("{requests} failed and are excluded: {}", bad_places(bad, failed).replace('\n', "; "))
}

/// The heading of a table, after an empty line.
fn heading(text: &str) -> String {
    format!("\n{}\n", paint(STRONG, text))
}

/// A measured rate in bytes per second, rounded.
fn whole(bytes_per_s: f64) -> u64 {
    bytes_per_s.round() as u64
}

/// A latency in microseconds, which may have a fraction.
fn latency(us: f64) -> String {
    units::latency(us.round() as u64)
}

/// A point in a sentence: `256 KiB × 8`.
pub(crate) fn point(point: Point) -> String {
    format!("{} × {}", units::block(point.block_bytes.into()), point.depth)
}

/// What was overwritten, in a sentence.
fn written_over(written: &Written) -> String {
    let size = units::size(written.bytes);
    let places = || units::count(written.places as u64, "place", "places");
    match (written.ground, &written.left) {
        (Ground::NewFile, _) => format!("a temporary file of {size}, removed"),
        (Ground::All, _) => "the whole device: its data is lost".to_owned(),
        (Ground::Kept, None) => {
            let put_back = units::size(written.put_back_bytes.unwrap_or(0));
            format!("{size} in {}, of which {put_back} were restored", places())
        }
        (Ground::Kept, Some(left)) => {
            let bytes = left.places.iter().map(|place| place.len).sum();
            format!("{size} in {}; {} could not be restored, see below", places(), units::size(bytes))
        }
    }
}
