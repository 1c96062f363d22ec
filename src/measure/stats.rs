//! Medians, spreads, and how sure one may be of them. Pure; the same answer for the same numbers.

/// Resamples of a bootstrap: the ends of a 95 % interval then rest on 50 values each.
const RESAMPLES: usize = 2000;

/// The bootstrap is not for secrets: the same numbers give the same interval.
const SEED: u64 = 0x6861_756c;

/// The median absolute deviation of a normal distribution, times this, is its standard deviation.
pub const MAD_TO_SIGMA: f64 = 1.4826;

/// The middle value, or the mean of the two in the middle; `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        len if len % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The median of the distances to the median; `None` of nothing.
pub fn mad(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    median(&values.iter().map(|value| (value - middle).abs()).collect::<Vec<_>>())
}

/// An interval in which the median lies with 95 % confidence, by bootstrap; `None` of fewer than two values.
pub fn interval(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 {
        return None;
    }
    let mut medians = resampled(values);
    medians.sort_by(f64::total_cmp);
    let cut = RESAMPLES / 40;
    Some((medians[cut], medians[RESAMPLES - 1 - cut]))
}

/// How sure one may be that the median is at least `least`, from 0 to 1, by bootstrap; `None` of fewer than two values.
/// Never surer than their number allows: all of two lie above a median that is too low once in four times.
pub fn confidence(values: &[f64], least: f64) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let medians = resampled(values);
    let share = medians.iter().filter(|&&median| median >= least).count() as f64 / RESAMPLES as f64;
    let most = 1.0 - 0.5f64.powi(i32::try_from(values.len()).unwrap_or(i32::MAX));
    Some(share.min(most))
}

/// Medians of samples drawn with replacement; there is at least one value.
fn resampled(values: &[f64]) -> Vec<f64> {
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut drawn = vec![0.0; values.len()];
    let mut one = || {
        drawn.iter_mut().for_each(|slot| *slot = values[random.usize(..values.len())]);
        median(&drawn).unwrap_or(f64::NAN)
    };
    (0..RESAMPLES).map(|_| one()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_mad_are_those_of_the_textbook() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
    }

    #[test]
    fn one_disturbed_run_moves_the_interval_little() {
        let (low, high) = interval(&[100.0, 101.0, 99.0, 100.5, 99.5, 20.0, 100.2]).unwrap();
        assert!(low > 90.0 && high < 102.0, "{low} {high}");
        assert_eq!(interval(&[1.0]), None);
    }

    #[test]
    fn the_interval_covers_the_true_median_about_as_often_as_it_says() {
        let mut random = fastrand::Rng::with_seed(7);
        // The median of these is 100: as many lie above as below.
        let mut made_up = || 100.0 + (0..12).map(|_| random.f64() - 0.5).sum::<f64>();
        let covered = (0..400).filter(|_| {
            let values: Vec<f64> = (0..15).map(|_| made_up()).collect();
            let (low, high) = interval(&values).unwrap();
            low <= 100.0 && 100.0 <= high
        });
        let share = covered.count() as f64 / 400.0;
        assert!((0.90..=0.99).contains(&share), "{share}");
    }

    #[test]
    fn confidence_is_high_far_above_low_far_below_and_open_at_the_median() {
        let values = [0.97, 0.98, 0.96, 0.99, 0.95];
        assert_eq!(confidence(&values, 0.90), Some(1.0 - 1.0 / 32.0));
        assert_eq!(confidence(&values[..2], 0.90), Some(0.75), "of two runs nobody is sure");
        assert_eq!(confidence(&values, 1.10), Some(0.0));
        let open = confidence(&values, 0.97).unwrap();
        assert!((0.3..0.9).contains(&open), "{open}");
        assert_eq!(confidence(&values[..1], 0.9), None);
    }
}
