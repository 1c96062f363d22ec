//! Both sides on one device: is it faster to read and write at once, or in turns?
//!
//! One head that serves both sides travels between them; it travels less when it reads until the pool is full, and
//! then writes until the pool is empty. A device without a head loses half of its parallelism by that. What the kernel
//! says of heads is often wrong, so both ways are tried, and judged by all bytes read and written in a second.
use super::limits::{Bursts, Limits, Round, Start};
use super::trial::{Gains, Trial, Verdict, is_clear};
use std::time::Duration;

/// A moving head reads and writes no faster than this, in bytes a second: faster devices are compared late or never.
const HEAD_RATE_MAX: f64 = 350e6;
/// A device that is faster, or of which it is known that bursts suit it, is compared only where so many seconds are
/// left.
const FAST_LEFT_S: f64 = 15.0;
/// See [`FAST_LEFT_S`].
const ROTATIONAL_LEFT_S: f64 = 5.0;
/// No comparison where fewer pools than this are left to copy.
const POOLS_LEFT_MIN: u64 = 4;
/// A window lasts for at least so many seconds.
const WINDOW_S: f64 = 0.02;
/// A gain, as the logarithm of the ratio, that one pair of windows is enough for.
const CLEAR_GAIN: f64 = 0.2;

/// The comparison, and what came of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BurstSearch {
    open: bool,
    /// Whether bursts are what the copy began with.
    first: bool,
    rotational: bool,
    len: u64,
    pool_bytes: u64,
    /// Windows so far; even: as at the beginning, odd: the other way.
    step: u32,
    /// Bytes that must still go by before anything counts.
    skip_bytes: u64,
    bytes: u64,
    time_s: f64,
    took_s: f64,
    rate_base: f64,
    rate_other: f64,
    gains: Gains,
    verdict: Option<Verdict>,
    lost_s: f64,
}

impl BurstSearch {
    /// For a copy that begins like this.
    pub(super) fn new(start: &Start) -> Self {
        let rotational = start.rotational.contains(&true);
        let first = start.bursts == Bursts::Always || (start.bursts == Bursts::Try && rotational);
        BurstSearch {
            open: start.bursts == Bursts::Try && start.adaptive,
            first,
            rotational,
            len: start.len.unwrap_or(u64::MAX),
            pool_bytes: start.pool_bytes,
            step: 0,
            skip_bytes: 0,
            bytes: 0,
            time_s: 0.0,
            took_s: 0.0,
            rate_base: 0.0,
            rate_other: 0.0,
            gains: Gains::none(),
            verdict: None,
            lost_s: 0.0,
        }
    }

    /// Whether the copy begins with bursts.
    pub(super) fn first(&self) -> bool {
        self.first
    }

    /// Whether both ways are being compared now, so that nothing else is to be tried.
    pub(super) fn measures(&self) -> bool {
        self.open
    }

    /// What the comparison has cost, once.
    pub(super) fn take_lost_s(&mut self) -> f64 {
        std::mem::take(&mut self.lost_s)
    }

    /// The comparison, once it is over; `limits` are those in use.
    pub(super) fn take_trial(&mut self, now_s: f64, limits: Limits) -> Option<Trial> {
        let verdict = self.verdict.take()?;
        Some(Trial {
            at: Duration::from_secs_f64(now_s),
            side: None,
            from: Limits { bursts: self.first, ..limits },
            to: Limits { bursts: !self.first, ..limits },
            gain_percent: self.gains.percent(),
            pairs: self.gains.pairs,
            verdict,
        })
    }

    /// Takes in a round; `left_s` are the seconds that are left of the copy. Returns whether to use bursts from now
    /// on, where that changes or the comparison is over.
    pub(super) fn observe(&mut self, round: &Round, passed_s: f64, left_s: f64) -> Option<bool> {
        if !self.open {
            return None;
        }
        if round.finished {
            // A comparison that was under way stays undecided.
            self.open = false;
            return None;
        }
        if round.disturbed {
            self.begin_window(self.pool_bytes / 2);
            return None;
        }
        let traffic_bytes: u64 = round.came_bytes.iter().sum();
        self.took_s += passed_s;
        if self.skip_bytes > 0 {
            self.skip_bytes = self.skip_bytes.saturating_sub(traffic_bytes);
            return None;
        }
        self.bytes += traffic_bytes;
        self.time_s += passed_s;
        let is_changed = self.step % 2 == 1;
        // A cycle of bursts is a pool that is read, and written. An elevator makes cycles of its own where reads and
        // writes overlap, so the other way is looked at for as long.
        if self.bytes < 2 * self.pool_bytes || self.time_s < WINDOW_S {
            return None;
        }
        let rate = self.bytes as f64 / self.time_s;
        if self.step == 0 && !self.is_worth_it(rate, round.arrived_bytes, left_s) {
            // Less is left from now on: it will not be worth more.
            self.open = false;
            return Some(self.first);
        }
        if is_changed {
            self.rate_other = rate;
            self.lost_s += (1.0 - rate / self.rate_base).max(0.0) * self.took_s;
            let gain = (rate / self.rate_base).ln();
            // A loss is certain at once; a gain once the first way has been slow again.
            if is_clear(gain) == Some(false) {
                self.gains.add(gain);
                return self.close(false);
            }
        } else {
            if self.step > 0 {
                self.gains.add((self.rate_other / self.rate_base.max(rate)).ln());
                if self.gains.pairs == 1 && self.gains.exceeds(CLEAR_GAIN) {
                    return self.close(true);
                }
            }
            self.rate_base = rate;
            if let Some(kept) = self.gains.judge() {
                return self.close(kept);
            }
        }
        self.step += 1;
        let bursts = self.first != (self.step % 2 == 1);
        self.begin_window(if bursts { self.pool_bytes } else { self.pool_bytes / 2 });
        Some(bursts)
    }

    fn is_worth_it(&self, rate: f64, arrived_bytes: u64, left_s: f64) -> bool {
        let left_bytes = self.len.saturating_sub(arrived_bytes);
        let left_min_s = match (self.rotational, rate < HEAD_RATE_MAX) {
            (true, _) => ROTATIONAL_LEFT_S,
            (false, true) => 0.0,
            (false, false) => FAST_LEFT_S,
        };
        left_bytes / POOLS_LEFT_MIN >= self.pool_bytes && left_s >= left_min_s
    }

    fn close(&mut self, kept: bool) -> Option<bool> {
        self.open = false;
        self.verdict = Some(if kept { Verdict::Kept } else { Verdict::Dropped });
        Some(self.first != kept)
    }

    fn begin_window(&mut self, skip_bytes: u64) {
        (self.skip_bytes, self.bytes, self.time_s, self.took_s) = (skip_bytes, 0, 0.0, 0.0);
    }
}
