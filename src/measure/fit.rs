//! Fixed latency of commands: fits the line time = latency + bytes / rate to measured times.

/// Rounds of reweighting by the fitted values; two usually suffice.
const ROUNDS: usize = 4;

/// The line time = latency + bytes / rate, and the quality of the fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Fixed latency, in seconds; not negative.
    pub latency_s: f64,
    /// Rate in bytes per second; infinite if the time does not depend on the size.
    pub bytes_per_s: f64,
    /// Root mean square of the relative residuals.
    pub residual: f64,
    /// The largest relative residual.
    pub residual_max: f64,
    /// Number of measured times.
    pub times: usize,
}

impl Fit {
    /// Expected time of a command with this number of bytes, in seconds.
    pub fn seconds(&self, bytes: f64) -> f64 {
        self.latency_s + bytes / self.bytes_per_s
    }
}

/// Fits a line to `(bytes, seconds)`. Residuals are relative to the times, so that commands of 64 MiB do not outweigh
/// those of 512 bytes, which determine the latency. `None` for fewer than two sizes.
pub fn fit(times: &[(f64, f64)]) -> Option<Fit> {
    let sound: Vec<(f64, f64)> = times.iter().copied().filter(|&(_, seconds)| seconds > 0.0).collect();
    let first = sound.first()?.0;
    if sound.iter().all(|&(bytes, _)| bytes == first) {
        return None;
    }
    let mut weights: Vec<f64> = sound.iter().map(|&(_, seconds)| seconds.powi(-2)).collect();
    let (mut latency_s, mut per_byte) = (0.0, 0.0);
    for _ in 0..ROUNDS {
        (latency_s, per_byte) = line(&sound, &weights);
        weights =
            sound.iter().map(|&(bytes, _)| (latency_s + bytes * per_byte).max(f64::MIN_POSITIVE).powi(-2)).collect();
    }
    let distances = sound.iter().map(|&(bytes, seconds)| (latency_s + bytes * per_byte) / seconds - 1.0);
    let squares: Vec<f64> = distances.map(|distance| distance * distance).collect();
    let residual = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
    let residual_max = squares.iter().copied().fold(0.0, f64::max).sqrt();
    Some(Fit { latency_s, bytes_per_s: 1.0 / per_byte, residual, residual_max, times: sound.len() })
}

/// Weighted least squares with non-negative latency and time per byte.
fn line(times: &[(f64, f64)], weights: &[f64]) -> (f64, f64) {
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        times.iter().zip(weights).map(|(&(bytes, seconds), weight)| weight * of(bytes, seconds)).sum()
    };
    let (w, x, t) = (sum(&|_, _| 1.0), sum(&|x, _| x), sum(&|_, t| t));
    let (xx, xt) = (sum(&|x, _| x * x), sum(&|x, t| x * t));
    let slope = (w * xt - x * t) / (w * xx - x * x);
    let start = (t - slope * x) / w;
    if start < 0.0 {
        (0.0, xt / xx)
    } else if slope < 0.0 {
        (t / w, 0.0)
    } else {
        (start, slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Block sizes from 512 B to 16 MiB.
    fn sizes() -> impl Iterator<Item = f64> {
        (9..=24).map(|power| f64::from(1 << power))
    }

    #[test]
    fn latency_and_rate_are_found_within_five_percent_despite_noise() {
        for (latency_s, rate) in [(60e-6, 500e6), (8e-3, 150e6), (8e-6, 7e9)] {
            let mut random = fastrand::Rng::with_seed(11);
            let noisy = |bytes: f64| (bytes, (latency_s + bytes / rate) * (1.0 + 0.08 * (random.f64() - 0.5)));
            let times: Vec<(f64, f64)> = sizes().map(noisy).collect();
            let fit = fit(&times).unwrap();
            assert!((fit.latency_s / latency_s - 1.0).abs() < 0.05, "{fit:?}");
            assert!((fit.bytes_per_s / rate - 1.0).abs() < 0.05, "{fit:?}");
            assert!(fit.residual < 0.05 && fit.residual_max >= fit.residual, "{fit:?}");
        }
    }

    #[test]
    fn a_disk_that_does_not_fit_has_a_large_residual() {
        // Requests above 128 KiB are split, with a latency for each part, and small ones are read from a cache.
        let bent = |bytes: f64| (bytes, if bytes < 65536.0 { 10e-6 } else { 5e-3 + bytes / 100e6 });
        let fit = fit(&sizes().map(bent).collect::<Vec<_>>()).unwrap();
        assert!(fit.residual > 0.3, "{fit:?}");
    }

    #[test]
    fn neither_latency_nor_rate_is_negative() {
        let none = fit(&[(1e3, 1e-6), (1e6, 2e-3), (1e7, 30e-3)]).unwrap();
        assert!(none.latency_s >= 0.0, "{none:?}");
        let flat = fit(&[(1e3, 2e-3), (1e6, 1e-3)]).unwrap();
        assert!(flat.bytes_per_s == f64::INFINITY && flat.latency_s > 0.0, "{flat:?}");
        assert_eq!(fit(&[(512.0, 1.0), (512.0, 1.1)]), None);
        assert_eq!(fit(&[]), None);
    }
}
