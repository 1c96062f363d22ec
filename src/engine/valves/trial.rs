//! A trial: alternating windows without and with a change, and the comparison of their rates.
use super::change::LimitChange;
use super::limits::Limits;
pub use crate::core::{Trial, TrialVerdict as Verdict};

/// Minimum gain for a change to be kept, as the logarithm of a ratio of rates.
const BETTER: f64 = 0.015;
/// A loss for which one pair of windows suffices.
const CLEAR_LOSS: f64 = 0.15;
/// A gain for which one pair of windows suffices.
const CLEAR_GAIN: f64 = 0.55;
/// Doubling the depth at most doubles the rate. A larger gain indicates that the window without the change was
/// disturbed, so another such window is needed.
const GAIN_MAX: f64 = 0.83;
/// A gain that suffices if every pair has it.
const GAIN_IN_EACH_PAIR: f64 = 0.3;
/// A loss for which half a window suffices; for a gain it is 1.2 times [`CLEAR_GAIN`].
const CLEAR_LOSS_EARLY: f64 = 0.3;
/// Assumed minimum deviation between windows of equal limits: two pairs that agree by chance would otherwise look
/// certain.
const NOISE: f64 = 0.05;
/// Maximum number of pairs of windows.
const PAIRS_MAX: u32 = 6;

/// The gains of a trial, as logarithms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gains {
    sum: f64,
    squares: f64,
    least: f64,
    /// Number of pairs of windows.
    pub(super) pairs: u32,
}

impl Gains {
    /// No gains yet.
    pub(super) fn none() -> Self {
        Gains { sum: 0.0, squares: 0.0, least: f64::MAX, pairs: 0 }
    }

    /// A single gain.
    pub(super) fn one(gain: f64) -> Self {
        Gains { sum: gain, squares: gain * gain, least: gain, pairs: 1 }
    }

    /// Adds a gain.
    pub(super) fn add(&mut self, gain: f64) {
        self.sum += gain;
        self.squares += gain * gain;
        self.least = self.least.min(gain);
        self.pairs += 1;
    }

    fn mean(&self) -> f64 {
        self.sum / f64::from(self.pairs.max(1))
    }

    /// The mean gain in percent.
    pub(super) fn percent(&self) -> i32 {
        ((self.mean().exp() - 1.0) * 100.0).round() as i32
    }

    /// Whether the mean exceeds `gain`.
    pub(super) fn exceeds(&self, gain: f64) -> bool {
        self.mean() > gain
    }

    /// Whether to keep the change; `None` if another pair of windows is needed.
    pub(super) fn verdict(&self) -> Option<bool> {
        if self.pairs < 2 {
            return None;
        }
        let pairs = f64::from(self.pairs);
        let mean = self.mean();
        let variance = (self.squares - pairs * mean * mean).max(0.0) / (pairs - 1.0);
        let error = variance.sqrt().max(NOISE) / pairs.sqrt();
        let kept = (mean > errors_wanted(self.pairs) * error && mean > BETTER) || self.least > GAIN_IN_EACH_PAIR;
        let hopeless = mean + 1.5 * error < BETTER || (self.pairs >= 3 && mean < BETTER / 2.0);
        (kept || hopeless || self.pairs >= PAIRS_MAX).then_some(kept)
    }
}

/// Number of standard errors by which the mean gain must exceed zero.
fn errors_wanted(pairs: u32) -> f64 {
    match pairs {
        0..=2 => f64::INFINITY,
        3 => 3.5,
        4 => 2.6,
        _ => 2.1,
    }
}

/// Whether one pair of windows suffices to keep the change (`Some(true)`) or to revert it.
pub(super) fn is_clear(gain: f64) -> Option<bool> {
    clear(gain, -CLEAR_LOSS, CLEAR_GAIN)
}

/// The same for half a window with the change.
pub(super) fn is_clear_early(gain: f64) -> Option<bool> {
    clear(gain, -CLEAR_LOSS_EARLY, CLEAR_GAIN * 1.2)
}

fn clear(gain: f64, loss: f64, least: f64) -> Option<bool> {
    if gain < loss { Some(false) } else { (gain > least && gain < GAIN_MAX).then_some(true) }
}

/// A trial in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    pub(super) change: LimitChange,
    /// The side whose rate is compared.
    pub(super) by: usize,
    pub(super) base: Limits,
    pub(super) other: Limits,
    /// Number of windows so far; even: without the change, odd: with it.
    pub(super) step: u32,
    /// Rate of the last window without the change, in bytes per second.
    pub(super) rate_base: f64,
    /// Rate of the last window with the change, in bytes per second.
    pub(super) rate_other: f64,
    pub(super) gains: Gains,
    /// Start of the current window, in seconds.
    pub(super) step_began_s: f64,
    /// Bytes finished on the destination at that time.
    pub(super) step_dest_bytes: u64,
    /// Rate at the destination in the last window without the change, in bytes per second.
    pub(super) dest_rate_base: f64,
    /// Duration of that window, in seconds.
    pub(super) base_took_s: f64,
}

impl Running {
    /// Starts with a window without the change.
    pub(super) fn new(change: LimitChange, by: usize, [base, other]: [Limits; 2], now_s: f64, dest_bytes: u64) -> Self {
        Running {
            change,
            by,
            base,
            other,
            step: 0,
            rate_base: 0.0,
            rate_other: 0.0,
            gains: Gains::none(),
            step_began_s: now_s,
            step_dest_bytes: dest_bytes,
            dest_rate_base: 0.0,
            base_took_s: 0.0,
        }
    }

    /// Whether the current window is one with the change.
    pub(super) fn is_changed(&self) -> bool {
        self.step % 2 == 1
    }

    /// The limits of the current window.
    pub(super) fn limits(&self) -> Limits {
        if self.is_changed() { self.other } else { self.base }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pair_of_windows_proves_at_most_a_doubling() {
        let gain = |ratio: f64| ratio.ln();
        assert_eq!([is_clear(gain(0.8)), is_clear(gain(1.2)), is_clear(gain(2.0))], [Some(false), None, Some(true)]);
        assert_eq!([is_clear(gain(2.5)), is_clear(gain(12.0)), is_clear_early(gain(12.0))], [None; 3]);
    }
}
