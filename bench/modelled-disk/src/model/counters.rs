//! Counters of a disk's operations, to explain a measurement.
use serde::Serialize;

use super::Kind;
use super::head::Way;
use super::wear::Cost;

/// One direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Direction {
    /// Completed commands, including failed ones.
    pub commands: u64,
    /// Bytes of those that succeeded.
    pub bytes: u64,
    /// Commands that failed.
    pub errors: u64,
    /// Commands completed from the disk's cache.
    pub from_memory: u64,
    /// Head movements.
    pub seeks: u64,
    /// Commands that continued at the end of the previous one, but arrived too late.
    pub missed_turns: u64,
    /// Time from the start of a command to its end.
    pub busy_s: f64,
    /// The part of it for seeks.
    pub seek_s: f64,
    /// The part of it for rotational latency.
    pub rotation_wait_s: f64,
}

/// All counters of a disk. Seconds are those of the model, after `time_scale`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Counters {
    /// Reads.
    pub read: Direction,
    /// Writes and zeroing; with a write cache seeks and rotations are those of emptying it.
    pub write: Direction,
    /// Completed flushes.
    pub flushes: u64,
    /// Completed trims.
    pub trims: u64,
    /// Maximum number of commands at the disk.
    pub queue_max: u64,
    /// Stalls of `stall_at` and of `stall_every_bytes`.
    pub stalls: u64,
    /// Erase blocks that had to be completed because they were partly written.
    pub rewrites: u64,
    /// Commands that arrived when more than `choke_depth` were waiting.
    pub chokes: u64,
    /// Number of times it became too warm and throttled.
    pub throttles: u64,
    /// Time spent throttled.
    pub throttled_s: f64,
    /// The highest temperature, in °C; that at rest if writing does not warm it.
    pub warmest_c: f64,
    /// Time from the first arrival to the last completion.
    pub span_s: f64,
    /// The part of it with a command in progress.
    pub busy_s: f64,
    /// The part of it without.
    pub idle_s: f64,
}

impl Counters {
    /// The counters of a direction; flushes and trims count as writes.
    pub fn of(&mut self, kind: Kind) -> &mut Direction {
        match kind {
            Kind::Read => &mut self.read,
            Kind::Write | Kind::Flush | Kind::Trim => &mut self.write,
        }
    }

    /// Counts a head movement.
    pub fn went(&mut self, kind: Kind, way: &Way) {
        let direction = self.of(kind);
        direction.seeks += u64::from(way.seek_ns > 0);
        direction.missed_turns += u64::from(way.missed_turn);
        direction.seek_s += seconds(way.seek_ns);
        direction.rotation_wait_s += seconds(way.rotation_ns);
    }

    /// Counts the additional cost of a write.
    pub fn wore(&mut self, cost: &Cost) {
        self.stalls += cost.stalls;
        self.rewrites += cost.rewrites;
        self.throttles += cost.throttles;
        self.throttled_s += seconds(cost.throttled_ns);
    }
}

/// Converts nanoseconds to seconds.
pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
