//! A rescue in progress, as its schedule, its map file and its display see it.
use super::super::ExtentSet;
use super::{RescueMap, RescueStatus};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How a rescue is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RescuePlan {
    /// The smallest readable unit of the source in bytes.
    pub sector_bytes: u64,
    /// Size of the reads while copying, a multiple of the sector.
    pub cluster_bytes: u64,
    /// The bytes to rescue; `None`: all.
    pub domain: Option<ExtentSet>,
    /// Whether the first pass runs from the end to the start.
    pub reverse: bool,
    /// Whether the edges of failed blocks are read sector by sector.
    pub trim: bool,
    /// Whether what is left of failed blocks is read sector by sector.
    pub scrape: bool,
    /// Passes over bad sectors; `None`: without end.
    pub retries: Option<u32>,
    /// Bytes to skip after the first failed or slow read, and at most; the first 0: none are skipped.
    pub skip_bytes: [u64; 2],
    /// A read below this rate, in bytes per second, is slow; `None`: compared with the reads before.
    pub slow_bytes_per_s: Option<u64>,
    /// Time without a newly read byte after which the rescue ends; `None`: never.
    pub stop_after: Option<Duration>,
    /// Bytes of failed reads in a second above which the rescue ends; `None`: never.
    pub error_bytes_per_s_max: Option<u64>,
}

/// A head that fails, by what comes back at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailingHead {
    /// Distance between the starts of two of its stretches in bytes, where it was found.
    pub period_bytes: u64,
    /// Bytes of a stretch, as far as known.
    pub stretch_bytes: u64,
}

impl FailingHead {
    /// The number of heads that take turns, at least two.
    pub fn heads(&self) -> u64 {
        (self.period_bytes + self.stretch_bytes / 2).checked_div(self.stretch_bytes).unwrap_or(0).max(2)
    }
}

/// The temperature of a source that is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Temperature {
    /// The last reading in °C.
    pub celsius: f64,
    /// The highest one.
    pub highest: f64,
    /// It is too hot: no read begins.
    pub is_paused: bool,
}

/// Why a rescue ended before its last phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RescueStopped {
    /// No new byte was read for so long.
    NoNewBytes(Duration),
    /// More bytes failed in a second than allowed.
    ErrorRate(u64),
}

/// The state of a rescue.
#[derive(Clone, Debug)]
pub struct RescueState {
    /// The status of every byte. Only bytes that the dest has acknowledged are finished.
    pub map: RescueMap,
    /// The phase.
    pub phase: RescueStatus,
    /// The pass of the phase, from 1.
    pub pass: u32,
    /// The offset that the phase has reached.
    pub pos: u64,
    /// Number of failed reads of this run.
    pub failed_reads: u64,
    /// Number of slow reads of this run.
    pub slow_reads: u64,
    /// The heads that were found to fail.
    pub heads: Vec<FailingHead>,
    /// The temperature of the source, if it is watched.
    pub temperature: Option<Temperature>,
    /// When a byte was read last; at first, when the run began.
    pub last_new: Instant,
    /// Since when no read may begin, because the source is too hot or has disappeared.
    pub paused_since: Option<Instant>,
    /// Why it ended early, if it did.
    pub stopped: Option<RescueStopped>,
}

/// The state of a rescue, shared by its schedule, its map file and its display.
pub type SharedRescue = Arc<Mutex<RescueState>>;

impl RescueState {
    /// Whether no read begins, because the source is too hot.
    pub fn is_paused(&self) -> bool {
        self.temperature.is_some_and(|temperature| temperature.is_paused)
    }

    /// No read may begin from `now` on.
    pub fn pause(&mut self, now: Instant) {
        self.paused_since.get_or_insert(now);
    }

    /// Reads may begin again. The time of the pause is not time without a new byte; what was before it is.
    pub fn resume(&mut self, now: Instant) {
        if let Some(since) = self.paused_since.take() {
            // Reads that were in flight when it began may have ended in it.
            self.last_new += now.saturating_duration_since(since.max(self.last_new));
        }
    }

    /// The time without a new byte, without the pauses.
    pub fn without_new_byte(&self, now: Instant) -> Duration {
        self.paused_since.unwrap_or(now).saturating_duration_since(self.last_new)
    }

    /// A rescue that continues `map`.
    pub fn new(map: RescueMap, phase: RescueStatus, pass: u32, pos: u64) -> Self {
        let (failed_reads, slow_reads, last_new) = (0, 0, Instant::now());
        let (heads, temperature, paused_since, stopped) = (Vec::new(), None, None, None);
        RescueState {
            map,
            phase,
            pass,
            pos,
            failed_reads,
            slow_reads,
            heads,
            temperature,
            last_new,
            paused_since,
            stopped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_not_time_without_a_new_byte() {
        let mut state = RescueState::new(RescueMap::untried(1), RescueStatus::Copying, 1, 0);
        let began = state.last_new;
        let times = [20, 25, 60, 70].map(|seconds| began + Duration::from_secs(seconds));
        assert_eq!(state.without_new_byte(times[0]).as_secs(), 20);
        state.pause(times[0]);
        state.pause(times[1]);
        assert_eq!(state.without_new_byte(times[2]).as_secs(), 20, "it does not count in the pause");
        state.resume(times[2]);
        assert_eq!(state.without_new_byte(times[3]).as_secs(), 30, "it continues from what it was before");
        state.resume(times[3]);
        assert_eq!(state.without_new_byte(times[3]).as_secs(), 30);
    }

    #[test]
    fn a_byte_that_comes_in_a_pause_is_new() {
        let mut state = RescueState::new(RescueMap::untried(1), RescueStatus::Copying, 1, 0);
        let began = state.last_new;
        let at = |seconds| began + Duration::from_secs(seconds);
        state.pause(at(20));
        state.last_new = at(22);
        assert_eq!(state.without_new_byte(at(50)).as_secs(), 0);
        state.resume(at(50));
        assert_eq!(state.without_new_byte(at(53)).as_secs(), 3);
    }
}
