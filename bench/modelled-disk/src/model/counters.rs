//! What a disk did, for whoever wants to explain a measurement.
use serde::Serialize;

use super::Kind;
use super::head::Way;
use super::wear::Cost;

/// One direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Direction {
    /// Commands answered, failed ones too.
    pub commands: u64,
    /// Bytes of those that did not fail.
    pub bytes: u64,
    /// Commands that failed.
    pub errors: u64,
    /// Commands answered out of the disk's own memory.
    pub from_memory: u64,
    /// Moves of the head.
    pub seeks: u64,
    /// Commands that went on where the last one ended, but came too late.
    pub missed_turns: u64,
    /// Time from the disk's beginning a command to its end.
    pub busy_s: f64,
    /// Of that, moving the head.
    pub seek_s: f64,
    /// Of that, waiting for the platter.
    pub rotation_wait_s: f64,
}

/// All of a disk's counters. Seconds are those of the model, after `time_scale`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Counters {
    /// Commands that read.
    pub read: Direction,
    /// Commands that write or zero; with a write cache their moves and turns are those of emptying it.
    pub write: Direction,
    /// Flushes answered.
    pub flushes: u64,
    /// Trims answered.
    pub trims: u64,
    /// Most commands that were at the disk at once.
    pub queue_max: u64,
    /// Stalls, those of `stall_at` and of `stall_every_bytes`.
    pub stalls: u64,
    /// Erase blocks that had to be completed because they were left half written.
    pub rewrites: u64,
    /// Commands that found more waiting than `choke_depth`.
    pub chokes: u64,
    /// How often it got too warm and wrote slower.
    pub throttles: u64,
    /// Time of writing slower for that.
    pub throttled_s: f64,
    /// The warmest that it ever was, in °C; its rest where nothing warms it.
    pub warmest_c: f64,
    /// Time from the first arrival to the last answer.
    pub span_s: f64,
    /// Of that, with a command being served.
    pub busy_s: f64,
    /// Of that, without.
    pub idle_s: f64,
}

impl Counters {
    /// The counters of a direction; flushes and trims go with the writes.
    pub fn of(&mut self, kind: Kind) -> &mut Direction {
        match kind {
            Kind::Read => &mut self.read,
            Kind::Write | Kind::Flush | Kind::Trim => &mut self.write,
        }
    }

    /// Notes how the head got there.
    pub fn went(&mut self, kind: Kind, way: &Way) {
        let direction = self.of(kind);
        direction.seeks += u64::from(way.seek_ns > 0);
        direction.missed_turns += u64::from(way.missed_turn);
        direction.seek_s += seconds(way.seek_ns);
        direction.rotation_wait_s += seconds(way.rotation_ns);
    }

    /// Notes what a write cost besides.
    pub fn wore(&mut self, cost: &Cost) {
        self.stalls += cost.stalls;
        self.rewrites += cost.rewrites;
        self.throttles += cost.throttles;
        self.throttled_s += seconds(cost.throttled_ns);
    }
}

/// Nanoseconds as seconds.
pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
