//! What commands cost.
use super::stats::{median, range};

/// What a command of one size cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Bytes of it.
    pub bytes: u32,
    /// Median time of one, one after the other, in seconds.
    pub seconds: f64,
    /// That of the fastest and of the slowest run.
    pub range_s: (f64, f64),
    /// Runs that this rests on.
    pub runs: usize,
}

impl Cost {
    /// Of commands of so many bytes, by their time in each run in seconds; `None` of no run.
    pub(super) fn of_runs(bytes: u32, times: &[f64]) -> Option<Cost> {
        Some(Cost { bytes, seconds: median(times)?, range_s: range(times)?, runs: times.len() })
    }

    /// Bytes a second.
    pub fn bytes_per_s(&self) -> f64 {
        f64::from(self.bytes) / self.seconds
    }
}
