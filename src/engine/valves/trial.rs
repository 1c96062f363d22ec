//! One change that is tried: windows without and with it in turn, and what they say.
use super::change::LimitChange;
use super::limits::Limits;
pub use crate::core::{Trial, TrialVerdict as Verdict};

/// A gain, as the logarithm of a ratio of rates: what a change must bring to be kept.
const BETTER: f64 = 0.015;
/// A loss that one pair of windows is enough for.
const CLEAR_LOSS: f64 = 0.15;
/// A gain that one pair of windows is enough for.
const CLEAR_GAIN: f64 = 0.55;
/// Twice as many in flight bring twice the rate at most. A window that says more followed one that was disturbed: it is
/// believed only beside another window without the change.
const GAIN_MAX: f64 = 0.83;
/// A gain that is enough where every pair shows it.
const GAIN_IN_EACH_PAIR: f64 = 0.3;
/// Half a window is enough for a loss of this, and for a gain of [`CLEAR_GAIN`] and a fifth.
const CLEAR_LOSS_EARLY: f64 = 0.3;
/// Windows of equal limits differ by so much at least, whatever those of this trial say: two pairs that agree by
/// chance look certain.
const NOISE: f64 = 0.05;
/// Most pairs of windows.
const PAIRS_MAX: u32 = 6;

/// Gains of one trial, as logarithms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gains {
    sum: f64,
    squares: f64,
    least: f64,
    /// Pairs of windows.
    pub(super) pairs: u32,
}

impl Gains {
    /// None yet.
    pub(super) fn none() -> Self {
        Gains { sum: 0.0, squares: 0.0, least: f64::MAX, pairs: 0 }
    }

    /// One alone.
    pub(super) fn one(gain: f64) -> Self {
        Gains { sum: gain, squares: gain * gain, least: gain, pairs: 1 }
    }

    /// Adds one.
    pub(super) fn add(&mut self, gain: f64) {
        self.sum += gain;
        self.squares += gain * gain;
        self.least = self.least.min(gain);
        self.pairs += 1;
    }

    fn mean(&self) -> f64 {
        self.sum / f64::from(self.pairs.max(1))
    }

    /// The mean in percent.
    pub(super) fn percent(&self) -> i32 {
        ((self.mean().exp() - 1.0) * 100.0).round() as i32
    }

    /// Whether the mean is more than `gain`.
    pub(super) fn exceeds(&self, gain: f64) -> bool {
        self.mean() > gain
    }

    /// Whether the change is to be kept; `None`: another pair of windows is needed.
    pub(super) fn judge(&self) -> Option<bool> {
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

/// How many standard errors a gain must be away from nothing.
fn errors_wanted(pairs: u32) -> f64 {
    match pairs {
        0..=2 => f64::INFINITY,
        3 => 3.5,
        4 => 2.6,
        _ => 2.1,
    }
}

/// Whether one pair of windows is enough: `Some(true)`, the change is kept.
pub(super) fn is_clear(gain: f64) -> Option<bool> {
    clear(gain, -CLEAR_LOSS, CLEAR_GAIN)
}

/// Whether half a window with the change is enough.
pub(super) fn is_clear_early(gain: f64) -> Option<bool> {
    clear(gain, -CLEAR_LOSS_EARLY, CLEAR_GAIN * 1.2)
}

fn clear(gain: f64, loss: f64, least: f64) -> Option<bool> {
    if gain < loss { Some(false) } else { (gain > least && gain < GAIN_MAX).then_some(true) }
}

/// A trial that runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    pub(super) change: LimitChange,
    /// The side whose rate counts.
    pub(super) by: usize,
    pub(super) base: Limits,
    pub(super) other: Limits,
    /// Windows so far; even: without the change, odd: with it.
    pub(super) step: u32,
    /// Bytes a second in the last window without it.
    pub(super) rate_base: f64,
    /// Bytes a second in the last window with it.
    pub(super) rate_other: f64,
    pub(super) gains: Gains,
    /// When the present window began, in seconds.
    pub(super) step_began_s: f64,
    /// Bytes that had arrived until then.
    pub(super) step_arrived_bytes: u64,
    /// Bytes a second that arrived in all in the last window without the change.
    pub(super) arrived_base: f64,
    /// How long that window was, in seconds.
    pub(super) base_took_s: f64,
}

impl Running {
    /// Begins with a window without the change.
    pub(super) fn new(
        change: LimitChange,
        by: usize,
        [base, other]: [Limits; 2],
        now_s: f64,
        arrived_bytes: u64,
    ) -> Self {
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
            step_arrived_bytes: arrived_bytes,
            arrived_base: 0.0,
            base_took_s: 0.0,
        }
    }

    /// Whether the present window is one with the change.
    pub(super) fn is_changed(&self) -> bool {
        self.step % 2 == 1
    }

    /// The limits of the present window.
    pub(super) fn limits(&self) -> Limits {
        if self.is_changed() { self.other } else { self.base }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pair_of_windows_is_no_proof_of_more_than_doubling_can_bring() {
        let gain = |ratio: f64| ratio.ln();
        assert_eq!([is_clear(gain(0.8)), is_clear(gain(1.2)), is_clear(gain(2.0))], [Some(false), None, Some(true)]);
        assert_eq!([is_clear(gain(2.5)), is_clear(gain(12.0)), is_clear_early(gain(12.0))], [None; 3]);
    }
}
