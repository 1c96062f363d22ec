//! The distribution of request latencies.
use super::axis::{Axis, Quantity};
use super::chart::{Chart, Curve};

/// The share of requests, in percent, by latency in microseconds: `classes` are given by their upper ends, each
/// `step` times as wide as the one before. The curve begins and ends at 0, below the first class and above the
/// last.
pub(crate) fn distribution(classes: &[(u64, u64)], step: f64) -> Vec<(f64, f64)> {
    let points = shares(classes);
    let first = points.first().map(|&(by_us, _)| (by_us / step, 0.0));
    let last = points.last().map(|&(by_us, _)| (by_us * step, 0.0));
    first.into_iter().chain(points.iter().copied()).chain(last).collect()
}

/// The same as a step function, for classes so wide that a line between them would shift the peak.
pub(crate) fn steps(classes: &[(u64, u64)], step: f64) -> Vec<(f64, f64)> {
    let points = shares(classes);
    let first = points.first().map(|&(by_us, _)| (by_us / step, 0.0));
    let last = points.last().map(|&(by_us, _)| (by_us, 0.0));
    let tops = points.iter().flat_map(|&(by_us, percent)| [(by_us / step, percent), (by_us, percent)]);
    first.into_iter().chain(tops).chain(last).collect()
}

/// The share of each class in percent, by its upper end.
fn shares(classes: &[(u64, u64)]) -> Vec<(f64, f64)> {
    let count: u64 = classes.iter().map(|class| class.1).sum();
    let percent = |requests: u64| requests as f64 / count.max(1) as f64 * 100.0;
    classes.iter().map(|&(by_us, requests)| (by_us as f64, percent(requests))).collect()
}

/// The distributions as a chart.
pub(crate) fn chart(label: &str, curves: Vec<Curve>) -> Chart {
    let points = || curves.iter().flat_map(|curve| curve.points.iter().copied());
    let across = Axis::over(Quantity::Latency, points().map(|point| point.0));
    let up = Axis::over(Quantity::Percent, points().map(|point| point.1));
    Chart::new(label, [across, up], curves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_is_in_percent_and_begins_and_ends_at_zero() {
        let curve = distribution(&[(100, 30), (200, 60), (400, 10)], 2.0);
        assert_eq!(curve, [(50.0, 0.0), (100.0, 30.0), (200.0, 60.0), (400.0, 10.0), (800.0, 0.0)]);
        assert_eq!(distribution(&[], 2.0), []);
    }

    #[test]
    fn a_step_is_as_wide_as_its_class() {
        let steps = steps(&[(100, 30), (200, 70)], 2.0);
        let wanted = [(50.0, 0.0), (50.0, 30.0), (100.0, 30.0), (100.0, 70.0), (200.0, 70.0), (200.0, 0.0)];
        assert_eq!(steps, wanted);
    }
}
