//! The cost of commands.
use super::stats::{median, range};

/// The cost of commands of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Size in bytes.
    pub bytes: u32,
    /// Median time of one command at depth 1, in seconds.
    pub seconds: f64,
    /// Times of the fastest and the slowest run.
    pub range_s: (f64, f64),
    /// Number of runs.
    pub runs: usize,
}

impl Cost {
    /// The cost of commands of this size from their times in each run, in seconds; `None` without runs.
    pub(super) fn of_runs(bytes: u32, times: &[f64]) -> Option<Cost> {
        Some(Cost { bytes, seconds: median(times)?, range_s: range(times)?, runs: times.len() })
    }

    /// Throughput in bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        f64::from(self.bytes) / self.seconds
    }
}
