//! The result of one run.
use super::Point;
use std::io;

/// An extent that could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRange {
    /// Offset of the failed request.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u32,
    /// The error of the kernel or the device.
    pub why: String,
}

impl BadRange {
    /// An extent whose request failed with this error.
    pub fn of(offset: u64, len: u32, error: &io::Error) -> BadRange {
        let words = error.to_string();
        // Omit the error number.
        let number = error.raw_os_error().map(|number| format!(" (os error {number})")).unwrap_or_default();
        BadRange { offset, len, why: words.strip_suffix(&number).unwrap_or(&words).to_owned() }
    }
}

/// The result of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The parameters of the run.
    pub point: Point,
    /// Offset on the disk.
    pub offset: u64,
    /// Bytes completed in the timed part: after the first blocks and before the last ones.
    pub bytes: u64,
    /// Duration of the timed part, in seconds.
    pub seconds: f64,
    /// Requests completed in the timed part.
    pub requests: u64,
    /// Median latency in microseconds.
    pub p50_us: f64,
    /// 99th percentile of the latency in microseconds.
    pub p99_us: f64,
    /// Maximum latency in microseconds.
    pub max_us: f64,
    /// Processor time of this process for the whole run, in seconds.
    pub cpu_s: f64,
    /// Bytes of the whole run.
    pub moved_bytes: u64,
    /// Time of the whole run from the first request to the last completion, in seconds.
    pub whole_s: f64,
    /// Bytes of the extent that were cached before.
    pub cached_bytes: u64,
    /// Bytes of the extent that were cached afterwards.
    pub left_bytes: u64,
    /// Number of failed requests.
    pub failed: u32,
}

/// Minimum completions in the timed part, as a multiple of the depth; requests in flight at its ends are then at most a
/// quarter.
const ROUNDS_MIN: u64 = 4;

impl Trial {
    /// The result with the figures of the whole run if few blocks completed in the timed part. At its start, requests
    /// in flight may already be partly complete, which matters for few blocks: 8 MiB at depth 2 appeared 8 % faster
    /// than the disk. The whole run includes the initial seek, so its rate is never too high.
    pub fn of_whole(self) -> Trial {
        let depth = u64::from(self.point.depth);
        if depth == 1 || self.requests >= ROUNDS_MIN * depth || self.whole_s <= 0.0 {
            return self;
        }
        let requests = self.moved_bytes / u64::from(self.point.block_bytes);
        Trial { bytes: self.moved_bytes, seconds: self.whole_s, requests, ..self }
    }

    /// Rate in bytes per second; 0 if nothing was transferred.
    pub fn bytes_per_s(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes as f64 / self.seconds } else { 0.0 }
    }

    /// Processor time per GiB in seconds; 0 if nothing was transferred.
    pub fn cpu_s_per_gib(&self) -> f64 {
        if self.moved_bytes > 0 { self.cpu_s * (1u64 << 30) as f64 / self.moved_bytes as f64 } else { 0.0 }
    }

    /// Processor time as a share of one processor, at the measured rate; 0 if nothing was transferred.
    pub fn cpu_share(&self) -> f64 {
        self.cpu_s_per_gib() * self.bytes_per_s() / (1u64 << 30) as f64
    }

    /// Whether its rate is valid: bytes were transferred, and no request failed, because failures take seconds.
    pub fn is_sound(&self) -> bool {
        self.failed == 0 && self.bytes > 0 && self.seconds > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Way;

    fn trial(depth: u32, requests: u64) -> Trial {
        Trial {
            point: Point { way: Way::Direct, block_bytes: 1 << 20, depth },
            offset: 0,
            bytes: requests << 20,
            seconds: 0.1,
            requests,
            p50_us: 1.0,
            p99_us: 1.0,
            max_us: 1.0,
            cpu_s: 0.0,
            moved_bytes: (requests + 2 * u64::from(depth)) << 20,
            whole_s: 0.3,
            cached_bytes: 0,
            left_bytes: 0,
            failed: 0,
        }
    }

    #[test]
    fn short_runs_use_the_whole_run_and_long_ones_the_steady_part() {
        assert_eq!(trial(8, 32).of_whole(), trial(8, 32));
        let few = trial(8, 31).of_whole();
        assert_eq!((few.bytes, few.seconds, few.requests), (47 << 20, 0.3, 47));
        // At depth 1 each request starts after the previous one has completed, so none is partly complete.
        assert_eq!(trial(1, 2).of_whole(), trial(1, 2));
    }
}
