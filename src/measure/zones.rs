//! How the rate falls across a disk, and how long a whole pass takes.
/// A place and the rate measured there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zone {
    /// The middle of what was moved there, in bytes from the start of the disk.
    pub offset: u64,
    /// Bytes a second.
    pub bytes_per_s: f64,
}

/// How long a byte takes, as a function of its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Places and seconds a byte, in the order of the places.
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// Through the rates that were measured: between two places the time of a byte changes evenly, before the first and
    /// behind the last it stays. `None` without a place that gave anything.
    pub fn through(zones: &[Zone]) -> Option<Curve> {
        let sound = zones.iter().filter(|zone| zone.bytes_per_s > 0.0);
        let mut points: Vec<(f64, f64)> = sound.map(|zone| (zone.offset as f64, 1.0 / zone.bytes_per_s)).collect();
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
        let before = part(from, to.min(first.0)) * first.1;
        let behind = part(from.max(last.0), to) * last.1;
        let between = self.points.windows(2).map(|pair| {
            let ((start, one), (end, other)) = (pair[0], pair[1]);
            let (a, b) = (from.max(start), to.min(end));
            let at = |place: f64| one + (other - one) * (place - start) / (end - start);
            if b > a { (b - a) * (at(a) + at(b)) / 2.0 } else { 0.0 }
        });
        before + between.sum::<f64>() + behind
    }

    /// The same form, `factor` times as fast.
    pub fn faster(&self, factor: f64) -> Curve {
        Curve { points: self.points.iter().map(|&(place, seconds)| (place, seconds / factor)).collect() }
    }
}

/// Seconds that all `size` bytes take: between two places the time of a byte changes evenly, before the first and
/// behind the last it stays. `None` without a place that gave anything.
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
    fn one_place_stands_for_all_and_none_for_nothing() {
        let one = Zone { offset: 500, bytes_per_s: 10.0 };
        assert_eq!(whole_time(&[one], 1000), Some(100.0));
        assert_eq!(whole_time(&[Zone { bytes_per_s: 0.0, ..one }], 1000), None);
    }
}
