//! What was measured, for people and spreadsheets; `report::json` has it for programs.
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

/// What a run of `haul tune` or `haul profile` was asked for and met, beside what it found.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The command line behind the program's name.
    pub words: &'a [String],
    /// What the user calls it.
    pub label: Option<&'a str>,
    /// Who was measured.
    pub facts: &'a Facts,
    /// Reading or writing.
    pub op: Op,
    /// What was written over.
    pub written: Option<&'a Written>,
    /// How requests were kept in flight.
    pub engine: EngineKind,
    /// The first failed places.
    pub bad: &'a [BadRange],
    /// How many failed.
    pub failed: u64,
    /// What the figures are not, or may not be.
    pub warnings: &'a [String],
}

impl Run<'_> {
    /// What is reported about every run: whether it ended before its time, what failed, what was written over.
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

/// Failed places that are named; the others are counted.
const BAD_NAMED: usize = 5;

/// The places that failed; nothing where none did.
fn bad_places(bad: &[BadRange], failed: u64) -> String {
    let one = |bad: &BadRange| format!("{} at byte {}: {}", units::block(bad.len.into()), bad.offset, bad.why);
    let named: Vec<String> = bad.iter().take(BAD_NAMED).map(one).collect();
    match failed.saturating_sub(named.len() as u64) {
        0 => named.join("\n"),
        more => format!("{}\nand {more} more", named.join("\n")),
    }
}

/// The same in a sentence, for where there are no rows.
pub fn failed_places(bad: &[BadRange], failed: u64) -> String {
    let requests = units::count(failed, "request", "requests");
    format!("{requests} failed and are excluded: {}", bad_places(bad, failed).replace('\n', "; "))
}

/// The head of a table, below an empty line.
fn heading(text: &str) -> String {
    format!("\n{}\n", paint(STRONG, text))
}

/// A rate of measured bytes a second, in whole bytes.
fn whole(bytes_per_s: f64) -> u64 {
    bytes_per_s.round() as u64
}

/// A latency in microseconds that may have a fraction.
fn latency(us: f64) -> String {
    units::latency(us.round() as u64)
}

/// A point in a sentence: `256 KiB × 8`.
pub(crate) fn point(point: Point) -> String {
    format!("{} × {}", units::block(point.block_bytes.into()), point.depth)
}

/// What was written over, in a sentence.
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
