//! The rate of a disk as a function of the offset, and the time for the whole disk.
/// An offset and the rate measured there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// Middle of the measured extent, in bytes from the start of the disk.
    pub offset: u64,
    /// Rate in bytes per second.
    pub bytes_per_s: f64,
}

/// A position of a profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// Number of the position, from 1; positions in which every run failed are omitted.
    pub number: u32,
    /// Median offset and rate of its runs.
    pub zone: Zone,
    /// Rates of its slowest and fastest run, in bytes per second.
    pub range: (f64, f64),
}

/// The rate as a function of the offset.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Offsets and rates in bytes per second, ascending by offset.
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// Interpolates measured rates linearly; before the first and after the last offset the rate is constant. `None`
    /// without a rate.
    ///
    /// The rate of a disk drops increasingly towards its inner tracks. With linear interpolation of the time per byte
    /// instead, five positions would overestimate the time of a disk whose inner tracks are half as fast by 1.6 %; with
    /// this, by 0.7 %.
    pub fn through(zones: &[Zone]) -> Option<Curve> {
        let sound = zones.iter().filter(|zone| zone.bytes_per_s > 0.0);
        let mut points: Vec<(f64, f64)> = sound.map(|zone| (zone.offset as f64, zone.bytes_per_s)).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        (!points.is_empty()).then_some(Curve { points })
    }

    /// A constant rate, in bytes per second; `None` if it is 0.
    pub fn flat(bytes_per_s: f64) -> Option<Curve> {
        Curve::through(&[Zone { offset: 0, bytes_per_s }])
    }

    /// Time in seconds for the bytes from `from` to `to`.
    pub fn seconds(&self, from: f64, to: f64) -> f64 {
        let (first, last) = (self.points[0], self.points[self.points.len() - 1]);
        let part = |from: f64, to: f64| (to - from).max(0.0);
        let before = part(from, to.min(first.0)) / first.1;
        let behind = part(from.max(last.0), to) / last.1;
        let between = self.points.windows(2).map(|pair| {
            let ((start, one), (end, other)) = (pair[0], pair[1]);
            let (a, b) = (from.max(start), to.min(end));
            let at = |place: f64| one + (other - one) * (place - start) / (end - start);
            if b > a { (b - a) / mean_rate(at(a), at(b)) } else { 0.0 }
        });
        before + between.sum::<f64>() + behind
    }

    /// The same curve with all rates multiplied by `factor`.
    pub fn faster(&self, factor: f64) -> Curve {
        Curve { points: self.points.iter().map(|&(place, rate)| (place, rate * factor)).collect() }
    }
}

/// The mean rate over an extent in which the rate changes linearly from one value to the other: their logarithmic mean.
fn mean_rate(one: f64, other: f64) -> f64 {
    let change = (other / one).ln();
    // For almost equal values, both differences are numerical noise.
    if change.abs() < 1e-6 { (one + other) / 2.0 } else { (other - one) / change }
}

/// Time in seconds for all `size` bytes, with the rate interpolated linearly and constant before the first and after
/// the last zone. `None` without a rate.
pub fn whole_time(zones: &[Zone], size: u64) -> Option<f64> {
    Curve::through(zones).map(|curve| curve.seconds(0.0, size as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_zoned_disk_is_predicted_within_three_percent() {
        // 15 zones from 200 MB/s at the outside to 100 MB/s at the inside, as real disks have.
        let size = 1_000_000_000_000u64;
        let rate = |offset: u64| 200e6 - 100e6 * ((offset as f64 / size as f64 * 15.0).floor() / 14.0);
        let truth: f64 = (0..15).map(|zone| size as f64 / 15.0 / (200e6 - 100e6 * f64::from(zone) / 14.0)).sum();
        for places in [9u64, 20, 50] {
            let at = |place: u64| (2 * place + 1) * (size / places / 2);
            let zones: Vec<Zone> =
                (0..places).map(|place| Zone { offset: at(place), bytes_per_s: rate(at(place)) }).collect();
            let time = whole_time(&zones, size).unwrap();
            assert!((time / truth - 1.0).abs() < 0.03, "{places} places: {time} instead of {truth}");
        }
    }

    #[test]
    fn five_positions_with_both_ends_suffice_for_a_concave_rate_curve() {
        let size = 1e12;
        let rate = |share: f64| 200e6 * (1.0 - share * share / 2.0);
        let truth = (0..10_000).map(|step| size / 1e4 / rate((f64::from(step) + 0.5) / 1e4)).sum::<f64>();
        let share = |place: u32| f64::from(place) / 4.0;
        let zone = |place| Zone { offset: (size * share(place)) as u64, bytes_per_s: rate(share(place)) };
        let curve = Curve::through(&(0..5).map(zone).collect::<Vec<_>>()).unwrap();
        let time = curve.seconds(0.0, size);
        assert!((time / truth - 1.0).abs() < 0.01, "{time} instead of {truth}");
        let parts = curve.seconds(0.0, 0.3 * size) + curve.seconds(0.3 * size, size);
        assert!((parts / time - 1.0).abs() < 1e-9, "the parts are {parts}, the whole {time}");
        assert!((curve.faster(2.0).seconds(0.0, size) / time - 0.5).abs() < 1e-9);
    }

    #[test]
    fn one_position_applies_to_the_whole_disk_and_none_gives_no_curve() {
        let one = Zone { offset: 500, bytes_per_s: 10.0 };
        assert_eq!(whole_time(&[one], 1000), Some(100.0));
        assert_eq!(whole_time(&[Zone { bytes_per_s: 0.0, ..one }], 1000), None);
    }
}
