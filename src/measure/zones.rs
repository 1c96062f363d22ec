//! How the rate falls across a disk, and how long a whole pass takes.
/// A place and the rate measured there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// The middle of what was moved there, in bytes from the start of the disk.
    pub offset: u64,
    /// Bytes a second.
    pub bytes_per_s: f64,
}

/// A place of a profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// From 1; one in which every run failed is left out.
    pub number: u32,
    /// Median place and median rate of its runs.
    pub zone: Zone,
    /// Rate of its slowest and of its fastest run, in bytes a second.
    pub range: (f64, f64),
}

/// The rate as a function of the place.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Places and bytes a second, in the order of the places.
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// Through the rates that were measured: between two places the rate changes evenly, before the first and behind
    /// the last it stays. `None` without a place that gave anything.
    ///
    /// The rates of a disk fall faster and faster towards its inner tracks. With the time of a byte on a straight
    /// line instead, five places would make a disk whose inner tracks are half as fast 1.6 % too slow; so 0.7 %.
    pub fn through(zones: &[Zone]) -> Option<Curve> {
        let sound = zones.iter().filter(|zone| zone.bytes_per_s > 0.0);
        let mut points: Vec<(f64, f64)> = sound.map(|zone| (zone.offset as f64, zone.bytes_per_s)).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        (!points.is_empty()).then_some(Curve { points })
    }

    /// The same rate everywhere, in bytes a second; `None` of none.
    pub fn flat(bytes_per_s: f64) -> Option<Curve> {
        Curve::through(&[Zone { offset: 0, bytes_per_s }])
    }

    /// Seconds that the bytes from `from` to `to` take.
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

    /// The same form, `factor` times as fast.
    pub fn faster(&self, factor: f64) -> Curve {
        Curve { points: self.points.iter().map(|&(place, rate)| (place, rate * factor)).collect() }
    }
}

/// The rate at which all bytes between two places take as long as they do where the rate changes evenly from one to the
/// other: their logarithmic mean.
fn mean_rate(one: f64, other: f64) -> f64 {
    let change = (other / one).ln();
    // Of two that hardly differ both differences are noise.
    if change.abs() < 1e-6 { (one + other) / 2.0 } else { (other - one) / change }
}

/// Seconds that all `size` bytes take: between two places the rate changes evenly, before the first and behind the last
/// it stays. `None` without a place that gave anything.
pub fn whole_time(zones: &[Zone], size: u64) -> Option<f64> {
    Curve::through(zones).map(|curve| curve.seconds(0.0, size as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_disk_of_zones_is_predicted_within_three_percent() {
        // 15 zones from 200 MB/s outside to 100 MB/s inside, as disks have them.
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
    fn five_places_with_both_ends_are_enough_for_rates_that_fall_faster_and_faster() {
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
    fn one_place_stands_for_all_and_none_for_nothing() {
        let one = Zone { offset: 500, bytes_per_s: 10.0 };
        assert_eq!(whole_time(&[one], 1000), Some(100.0));
        assert_eq!(whole_time(&[Zone { bytes_per_s: 0.0, ..one }], 1000), None);
    }
}
