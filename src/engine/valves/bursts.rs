//! Decides between bursts and simultaneous reads and writes, if both sides are on one device.
//!
//! A rotational disk that serves both sides seeks between them; it seeks less if it reads until the pool is full and
//! then writes until the pool is empty. An SSD loses half of its parallelism that way. The kernel's rotational flag is
//! often wrong, so both methods are tried and compared by the total rate of reads and writes.
use super::limits::{Bursts, Limits, Round, Start};
use super::trial::{Gains, Trial, Verdict, is_clear};
use std::time::Duration;

/// Maximum rate of a rotational disk, in bytes per second.
const ROTATIONAL_RATE_MAX: f64 = 350e6;
/// Bytes of the reads that measure the rate of the device at the start, after those that are skipped.
const FIRST_READS_BYTES: u64 = 8 << 20;
/// See [`FIRST_READS_BYTES`].
const FIRST_READS_SKIP_BYTES: u64 = 2 << 20;
/// Minimum remaining time for a comparison, in seconds: on a device that reports to be rotational, on one that is as
/// slow as a rotational disk, and on a faster one.
const LEFT_MIN_S: [f64; 3] = [5.0, 2.0, 15.0];
/// Minimum remaining data for a comparison, in pool sizes.
const POOLS_LEFT_MIN: u64 = 4;
/// Minimum window, in seconds.
const WINDOW_S: f64 = 0.02;
/// A gain, as the logarithm of a ratio, for which one pair of windows suffices.
const CLEAR_GAIN: f64 = 0.2;

/// State and result of the comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct BurstSearch {
    open: bool,
    /// Whether both sides are on one device.
    shared: bool,
    /// Whether bursts are the baseline of the comparison.
    first: bool,
    /// Whether the rate of the first reads is still being measured.
    looking: bool,
    fast: bool,
    rotational: bool,
    len: u64,
    pool_bytes: u64,
    /// Number of windows so far; even: the initial method, odd: the other one.
    step: u32,
    /// Bytes to skip before measuring.
    skip_bytes: u64,
    bytes: u64,
    time_s: f64,
    took_s: f64,
    rate_base: f64,
    rate_other: f64,
    gains: Gains,
    verdict: Option<Verdict>,
    /// Whether bursts were clearly slower.
    clear: bool,
    lost_s: f64,
}

impl BurstSearch {
    /// The search for a copy that starts like this.
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
            skip_bytes: if rotational { 0 } else { FIRST_READS_SKIP_BYTES },
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

    /// Whether the copy begins with bursts. Their cost on an SSD shows after a few reads; the cost of the other method
    /// on a rotational disk only after a whole pool.
    pub(super) fn first(&self) -> bool {
        self.first
    }

    /// Whether the comparison is in progress, so that nothing else may be tried.
    pub(super) fn measures(&self) -> bool {
        self.open
    }

    /// Whether a higher depth may be tried: the sides are on different devices, or on an SSD.
    pub(super) fn allows_trials(&self) -> bool {
        !self.open && (!self.shared || self.fast || self.clear)
    }

    /// Time lost to the comparison, in seconds. Resets it.
    pub(super) fn take_lost_s(&mut self) -> f64 {
        std::mem::take(&mut self.lost_s)
    }

    /// The completed comparison as a trial, once; `limits` are the current ones.
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

    /// Processes a round; `left_s` is the remaining time in seconds. Returns whether to use bursts from now on, if that
    /// changes or the comparison has ended.
    pub(super) fn observe(&mut self, round: &Round, passed_s: f64, left_s: f64) -> Option<bool> {
        if !self.open {
            return None;
        }
        if round.finished {
            // An unfinished comparison remains undecided.
            self.open = false;
            return None;
        }
        if round.disturbed {
            self.begin_window(self.pool_bytes / 2);
            return None;
        }
        let traffic_bytes: u64 = round.completed_bytes.iter().sum();
        self.took_s += passed_s;
        if self.skip_bytes > 0 {
            self.skip_bytes = self.skip_bytes.saturating_sub(traffic_bytes);
            return None;
        }
        self.bytes += traffic_bytes;
        self.time_s += passed_s;
        let is_changed = self.step % 2 == 1;
        // A burst cycle reads and writes one pool. An I/O scheduler also forms cycles if reads and writes overlap, so
        // the other method is measured over the same number of bytes.
        if self.looking && self.bytes >= FIRST_READS_BYTES {
            self.looking = false;
            self.fast = self.bytes as f64 / self.time_s.max(1e-9) > ROTATIONAL_RATE_MAX;
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
        if self.step == 0 && !self.is_worth_it(round.dest_bytes, left_s) {
            // The remaining time only decreases, so a comparison will not pay off later either.
            self.open = false;
            return Some(self.first);
        }
        if is_changed {
            self.rate_other = rate;
            self.lost_s += (1.0 - rate / self.rate_base).max(0.0) * self.took_s;
            let gain = (rate / self.rate_base).ln();
            // A loss is certain immediately; a gain only after the first method was measured again.
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
            if let Some(is_kept) = self.gains.verdict() {
                return self.close(is_kept);
            }
        }
        self.step += 1;
        let bursts = self.first != (self.step % 2 == 1);
        self.begin_window(if bursts { self.pool_bytes } else { self.pool_bytes / 2 });
        Some(bursts)
    }

    fn is_worth_it(&self, dest_bytes: u64, left_s: f64) -> bool {
        let left_bytes = self.len.saturating_sub(dest_bytes);
        let left_min_s = match (self.rotational, self.fast) {
            (true, _) => LEFT_MIN_S[0],
            (false, false) => LEFT_MIN_S[1],
            (false, true) => LEFT_MIN_S[2],
        };
        left_bytes / POOLS_LEFT_MIN >= self.pool_bytes && left_s >= left_min_s
    }

    fn close(&mut self, is_kept: bool) -> Option<bool> {
        self.open = false;
        self.verdict = Some(if is_kept { Verdict::Kept } else { Verdict::Dropped });
        Some(self.first != is_kept)
    }

    fn begin_window(&mut self, skip_bytes: u64) {
        (self.skip_bytes, self.bytes, self.time_s, self.took_s) = (skip_bytes, 0, 0.0, 0.0);
    }
}
