//! Detects lasting changes of a rate: a full cache, or a drive that throttles.
use super::stats::{MAD_TO_SIGMA, mad, median};

/// Minimum number of values of a level; fewer are a stall.
const LEVEL_MIN: usize = 3;

/// Smaller relative changes are not reported.
const SHARE_MIN: f64 = 0.08;

/// Lower bound of the assumed noise, for constant or rounded values.
const NOISE_MIN: f64 = 0.005;

/// Penalty of a change, in variances times the logarithm of the number of values. Below 2, noise would be taken for
/// changes; it is higher because consecutive rates are correlated.
const PENALTY: f64 = 6.0;

/// A level: a range of values without a lasting change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Index of its first value.
    pub start: usize,
    /// Index after its last value.
    pub end: usize,
    /// The median of its values.
    pub value: f64,
}

/// The consecutive levels of `values`, which must be positive; a single one if nothing changed, none if empty. Uses
/// optimal partitioning: the segmentation with the least squares plus a penalty per change. It works on logarithms,
/// because noise is proportional to the rate, and after a running median, so that stalls are not levels.
pub fn levels(values: &[f64]) -> Vec<Level> {
    let Some(middle) = median(values) else { return Vec::new() };
    if values.len() < 2 * LEVEL_MIN {
        return vec![Level { start: 0, end: values.len(), value: middle }];
    }
    let logs: Vec<f64> = values.iter().map(|value| value.max(f64::MIN_POSITIVE).ln()).collect();
    let steps: Vec<f64> = logs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let noise = mad(&steps).unwrap_or(0.0) * MAD_TO_SIGMA / std::f64::consts::SQRT_2;
    let variance = noise.max(NOISE_MIN).powi(2);
    let cuts = cuts(&smooth(&logs), PENALTY * variance * (values.len() as f64).ln());
    merged(values, &cuts)
}

/// Running median of five values, fewer at the ends, which preserves edges.
fn smooth(values: &[f64]) -> Vec<f64> {
    let around = |at: usize| {
        let reach = 2.min(at).min(values.len() - 1 - at);
        median(&values[at - reach..=at + reach]).unwrap_or(values[at])
    };
    (0..values.len()).map(around).collect()
}

/// Ends of the segments, including the last.
fn cuts(values: &[f64], penalty: f64) -> Vec<usize> {
    let len = values.len();
    let mut sums = vec![(0.0, 0.0); len + 1];
    for (at, value) in values.iter().enumerate() {
        sums[at + 1] = (sums[at].0 + value, sums[at].1 + value * value);
    }
    let cost = |from: usize, to: usize| {
        let (sum, squares) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        squares - sum * sum / (to - from) as f64
    };
    // Minimum cost of the first values, and the start of their last segment.
    let mut least = vec![(f64::INFINITY, 0); len + 1];
    least[0] = (-penalty, 0);
    for to in LEVEL_MIN..=len {
        let from = (0..=to - LEVEL_MIN).map(|from| (least[from].0 + cost(from, to) + penalty, from));
        least[to] = from.min_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or((f64::INFINITY, 0));
    }
    let mut cuts = vec![len];
    while let Some(&last) = cuts.last().filter(|&&last| least[last].1 > 0) {
        cuts.push(least[last].1);
    }
    cuts.reverse();
    cuts
}

/// The levels of the segments. Adjacent levels that hardly differ are merged.
fn merged(values: &[f64], cuts: &[usize]) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    for &end in cuts {
        let start = levels.last().map_or(0, |level| level.end);
        let value = median(&values[start..end]).unwrap_or(0.0);
        match levels.last_mut() {
            Some(last) if (last.value - value).abs() < SHARE_MIN * last.value.abs().max(value.abs()) => {
                last.end = end;
                last.value = median(&values[last.start..end]).unwrap_or(value);
            }
            _ => levels.push(Level { start, end, value }),
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(levels: &[(usize, f64)], share: f64, seed: u64) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(seed);
        let values = levels.iter().flat_map(|&(count, value)| std::iter::repeat_n(value, count));
        values.map(|value| value * (1.0 + share * 2.0 * (random.f64() - 0.5))).collect()
    }

    #[test]
    fn an_exhausted_cache_is_located_within_five_percent() {
        for seed in 0..20 {
            let values = noisy(&[(120, 2000.0), (200, 450.0)], 0.15, seed);
            let found = levels(&values);
            assert_eq!(found.len(), 2, "{found:?}");
            assert!(found[0].end.abs_diff(120) <= 6, "{found:?}");
            assert!((found[1].value / 450.0 - 1.0).abs() < 0.05, "{found:?}");
        }
    }

    #[test]
    fn a_drive_that_throttles_and_recovers_has_three_levels() {
        let values = noisy(&[(60, 1000.0), (40, 600.0), (60, 1000.0)], 0.05, 3);
        let found = levels(&values);
        let ends: Vec<usize> = found.iter().map(|level| level.end).collect();
        assert_eq!(ends, [60, 100, 160], "{found:?}");
    }

    #[test]
    fn noise_and_stalls_alone_are_one_level() {
        for seed in 0..50 {
            let mut values = noisy(&[(200, 500.0)], 0.2, seed);
            values[77] = 20.0;
            assert_eq!(levels(&values).len(), 1, "seed {seed}: {:?}", levels(&values));
        }
        assert_eq!(levels(&[5.0; 100]).len(), 1);
        assert_eq!(levels(&[1.0, 9.0]).len(), 1);
        assert!(levels(&[]).is_empty());
    }
}
