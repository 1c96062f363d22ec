//! Both sides on one device: is it faster to read and write at once, or in turns?
//!
//! One head that serves both sides travels between them; it travels less when it reads until the pool is full, and
//! then writes until the pool is empty. A device without a head loses half of its parallelism by that. What the kernel
//! says of heads is often wrong, so both ways are tried, and judged by all bytes read and written in a second.
use super::limits::{Bursts, Limits, Round, Start};
use super::trial::{Gains, Trial, Verdict, is_clear};
use std::time::Duration;

/// A moving head reads no faster than this, in bytes a second.
const HEAD_RATE_MAX: f64 = 350e6;
/// Bytes of the first reads that tell how fast the device is; those before do not count.
const FIRST_LOOK_BYTES: u64 = 8 << 20;
/// See [`FIRST_LOOK_BYTES`].
const FIRST_LOOK_SKIP_BYTES: u64 = 2 << 20;
/// Seconds that must be left for a comparison: on a device that says that it has a head, on one that is as slow as if
/// it had, and on a faster one.
const LEFT_MIN_S: [f64; 3] = [5.0, 2.0, 15.0];
/// No comparison where fewer pools than this are left to copy.
const POOLS_LEFT_MIN: u64 = 4;
/// A window lasts for at least so many seconds.
const WINDOW_S: f64 = 0.02;
/// A gain, as the logarithm of the ratio, that one pair of windows is enough for.
const CLEAR_GAIN: f64 = 0.2;

/// The comparison, and the result of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BurstSearch {
    open: bool,
    /// Both sides are one device.
    shared: bool,
    /// Whether bursts are the way that the other is held against.
    first: bool,
    /// The first reads have still to tell how fast the device is.
    looking: bool,
    fast: bool,
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
    /// It was clear that bursts are slower.
    clear: bool,
    lost_s: f64,
}

impl BurstSearch {
    /// For a copy that begins like this.
    pub(super) fn new(start: &Start) -> Self {
        let rotational = start.rotational.contains(&true);
        BurstSearch {
            open: start.tuning.bursts == Bursts::Try && start.tuning.adaptive,
            shared: start.tuning.bursts != Bursts::Never,
            first: start.tuning.bursts != Bursts::Never
                && (rotational || start.tuning.adaptive || start.tuning.bursts == Bursts::Always),
            looking: !rotational,
            fast: false,
            rotational,
            len: start.len.unwrap_or(u64::MAX),
            pool_bytes: start.pool_bytes(),
            step: 0,
            skip_bytes: if rotational { 0 } else { FIRST_LOOK_SKIP_BYTES },
            bytes: 0,
            time_s: 0.0,
            took_s: 0.0,
            rate_base: 0.0,
            rate_other: 0.0,
            gains: Gains::none(),
            verdict: None,
            clear: false,
            lost_s: 0.0,
        }
    }

    /// Whether the copy begins with bursts: what they cost a device without a head is seen after a few reads, what
    /// the other way costs one with a head only after a whole pool.
    pub(super) fn first(&self) -> bool {
        self.first
    }

    /// Whether both ways are being compared now, so that nothing else is to be tried.
    pub(super) fn measures(&self) -> bool {
        self.open
    }

    /// Whether more in flight may be tried: the sides are different devices, or one without a head.
    pub(super) fn allows_trials(&self) -> bool {
        !self.open && (!self.shared || self.fast || self.clear)
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
        // writes overlap, so the other way is examined for as long.
        if self.looking && self.bytes >= FIRST_LOOK_BYTES {
            self.looking = false;
            self.fast = self.bytes as f64 / self.time_s.max(1e-9) > HEAD_RATE_MAX;
            if self.fast {
                self.first = false;
                self.begin_window(self.pool_bytes);
                return Some(false);
            }
        }
        if self.bytes < 2 * self.pool_bytes || self.time_s < WINDOW_S {
            return None;
        }
        let rate = self.bytes as f64 / self.time_s;
        if self.step == 0 && !self.is_worth_it(round.arrived_bytes, left_s) {
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
                self.clear = !self.first;
                return self.close(false);
            }
        } else {
            if self.step > 0 {
                self.gains.add((self.rate_other / self.rate_base.max(rate)).ln());
                if self.gains.pairs == 1 && self.gains.exceeds(CLEAR_GAIN) {
                    self.clear = self.first;
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

    fn is_worth_it(&self, arrived_bytes: u64, left_s: f64) -> bool {
        let left_bytes = self.len.saturating_sub(arrived_bytes);
        let left_min_s = match (self.rotational, self.fast) {
            (true, _) => LEFT_MIN_S[0],
            (false, false) => LEFT_MIN_S[1],
            (false, true) => LEFT_MIN_S[2],
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
