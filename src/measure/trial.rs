//! What one run gave.
use super::Point;
use std::io;

/// A place that could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRange {
    /// First byte of the request that failed.
    pub offset: u64,
    /// Bytes of it.
    pub len: u32,
    /// The error of the kernel or the device.
    pub why: String,
}

impl BadRange {
    /// A place where a request failed with that error.
    pub fn of(offset: u64, len: u32, error: &io::Error) -> BadRange {
        let words = error.to_string();
        // The number says nothing more.
        let number = error.raw_os_error().map(|number| format!(" (os error {number})")).unwrap_or_default();
        BadRange { offset, len, why: words.strip_suffix(&number).unwrap_or(&words).to_owned() }
    }
}

/// What one run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// What it was made with.
    pub point: Point,
    /// First byte on the disk.
    pub offset: u64,
    /// Bytes that came while the clock ran: after the first blocks, and before the last ones.
    pub bytes: u64,
    /// Time on the clock, in seconds.
    pub seconds: f64,
    /// Requests that came while the clock ran.
    pub requests: u64,
    /// Half of the requests took no longer, in microseconds.
    pub p50_us: f64,
    /// 99 in 100 took no longer, in microseconds.
    pub p99_us: f64,
    /// The slowest, in microseconds.
    pub max_us: f64,
    /// Processor time of this process for the whole run, in seconds.
    pub cpu_s: f64,
    /// Bytes of the whole run.
    pub moved_bytes: u64,
    /// Time of the whole run, from its first request to the last that came back, in seconds.
    pub whole_s: f64,
    /// Bytes there that the page cache held before.
    pub cached_bytes: u64,
    /// Bytes that the page cache held of it afterwards.
    pub left_bytes: u64,
    /// Requests that failed.
    pub failed: u32,
}

/// As many times the depth have to come while the clock runs; what is on its way at both ends is a quarter then.
const ROUNDS_MIN: u64 = 4;

impl Trial {
    /// The same, told by the whole run where few blocks came while the clock ran. What is on its way when the clock
    /// begins may be half read at that time, or not at all, and of few blocks that is much: 8 MiB, two at a time,
    /// seemed 8 % faster than the disk. The whole run has the way there in it, and so is never too fast.
    pub fn of_whole(self) -> Trial {
        let depth = u64::from(self.point.depth);
        if depth == 1 || self.requests >= ROUNDS_MIN * depth || self.whole_s <= 0.0 {
            return self;
        }
        let requests = self.moved_bytes / u64::from(self.point.block_bytes);
        Trial { bytes: self.moved_bytes, seconds: self.whole_s, requests, ..self }
    }

    /// Bytes a second; 0 where nothing came.
    pub fn bytes_per_s(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes as f64 / self.seconds } else { 0.0 }
    }

    /// Processor seconds for each GiB; 0 where nothing came.
    pub fn cpu_s_per_gib(&self) -> f64 {
        if self.moved_bytes > 0 { self.cpu_s * (1u64 << 30) as f64 / self.moved_bytes as f64 } else { 0.0 }
    }

    /// Processor time as a share of one processor, at the rate that it had; 0 where nothing came.
    pub fn cpu_share(&self) -> f64 {
        self.cpu_s_per_gib() * self.bytes_per_s() / (1u64 << 30) as f64
    }

    /// It says something of the disk: bytes came, and none failed, for a bad place takes seconds.
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
    fn few_blocks_are_told_by_the_whole_run_and_many_by_what_came_meanwhile() {
        assert_eq!(trial(8, 32).of_whole(), trial(8, 32));
        let few = trial(8, 31).of_whole();
        assert_eq!((few.bytes, few.seconds, few.requests), (47 << 20, 0.3, 47));
        // Alone, a request goes out when the one before has come: nothing is half read.
        assert_eq!(trial(1, 2).of_whole(), trial(1, 2));
    }
}
