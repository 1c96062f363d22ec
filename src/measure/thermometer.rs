//! The temperature of a drive, and its relation to rates.
use std::fmt;

/// Minimum interval between readings, in seconds: some drives delay other commands to respond, and for NVMe drives the
/// kernel updates the temperature once per second.
const APART_S: f64 = 1.0;

/// When this number of readings is reached, every second one is dropped and the interval doubles.
const READINGS_MAX: usize = 1024;

/// A drive within this distance of its limit counts as at its limit: drives report whole degrees, and some throttle
/// slightly earlier.
const AT_LIMIT_C: f64 = 3.0;

/// A temperature is related to a change if it was read within this many seconds, or this share of the time until then,
/// because later changes are known less precisely.
const AROUND: (f64, f64) = (2.0, 0.01);

/// Changes up to this count as constant, because whole degrees fluctuate by one.
const HOLDS_C: f64 = 1.0;

/// A source of temperatures.
pub struct Thermometer {
    /// The temperature limit that the drive reports, in °C.
    pub limit_c: Option<f64>,
    read: Box<dyn FnMut() -> Option<f64> + Send>,
}

impl Thermometer {
    /// A source that returns the result of `read`, in °C.
    pub fn of(limit_c: Option<f64>, read: impl FnMut() -> Option<f64> + Send + 'static) -> Thermometer {
        Thermometer { limit_c, read: Box::new(read) }
    }
}

impl fmt::Debug for Thermometer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Thermometer").field("limit_c", &self.limit_c).finish_non_exhaustive()
    }
}

/// A reading of the temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TemperatureReading {
    /// Seconds since the first request.
    pub seconds: f64,
    /// Temperature in °C.
    pub celsius: f64,
}

/// The temperatures during a measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Temperatures {
    /// The temperature limit that the drive reports, in °C.
    pub limit_c: Option<f64>,
    /// Ascending by time; empty if unknown.
    pub readings: Vec<TemperatureReading>,
    apart_s: f64,
}

impl Temperatures {
    /// Temperatures with this limit and these readings.
    pub fn new(limit_c: Option<f64>, readings: Vec<TemperatureReading>) -> Temperatures {
        Temperatures { limit_c, readings, apart_s: APART_S }
    }

    /// Reads the temperature at `seconds`, unless the last reading is too recent.
    pub(super) fn read(&mut self, thermometer: &mut Thermometer, seconds: f64) {
        if self.readings.last().is_some_and(|last| seconds < last.seconds + self.apart_s) {
            return;
        }
        self.readings.extend((thermometer.read)().map(|celsius| TemperatureReading { seconds, celsius }));
        if self.readings.len() >= READINGS_MAX {
            self.readings = self.readings.iter().step_by(2).copied().collect();
            self.apart_s *= 2.0;
        }
    }

    /// The highest reading, in °C.
    pub fn highest_c(&self) -> Option<f64> {
        self.readings.iter().map(|reading| reading.celsius).reduce(f64::max)
    }

    /// Whether the drive was at its limit around this time; `None` if unknown.
    pub fn at_limit(&self, seconds: f64) -> Option<bool> {
        let limit_c = self.limit_c?;
        let (before, after) = self.readings.split_at(self.readings.partition_point(|one| one.seconds <= seconds));
        let around_s = AROUND.0.max(AROUND.1 * seconds);
        let near = |one: &&TemperatureReading| (one.seconds - seconds).abs() <= around_s;
        // The last reading before and the first one after always count, however far away they are.
        let around = before.iter().filter(near).chain(before.last());
        let around = around.chain(after.iter().filter(near)).chain(after.first());
        let warmest = around.map(|one| one.celsius).reduce(f64::max)?;
        Some(warmest >= limit_c - AT_LIMIT_C)
    }

    /// Whether the temperature was constant between these times, as far as known.
    pub(super) fn held(&self, from_s: f64, to_s: f64) -> bool {
        let between = self.readings.iter().filter(|one| (from_s..=to_s).contains(&one.seconds));
        let (low, high) = between
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), one| (low.min(one.celsius), high.max(one.celsius)));
        high - low <= HOLDS_C
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warmth(limit_c: Option<f64>, readings: &[(f64, f64)]) -> Temperatures {
        let reading = |&(seconds, celsius): &(f64, f64)| TemperatureReading { seconds, celsius };
        Temperatures::new(limit_c, readings.iter().map(reading).collect())
    }

    #[test]
    fn a_drive_is_at_its_limit_if_the_nearest_or_next_reading_is() {
        let warm = warmth(Some(84.0), &[(0.0, 41.0), (30.0, 60.0), (60.0, 82.0), (64.0, 75.0), (120.0, 50.0)]);
        let moments = [2.0, 29.0, 59.0, 61.0, 65.0, 90.0, 119.0];
        let expected = [false, false, true, true, false, false, false];
        assert_eq!(moments.map(|seconds| warm.at_limit(seconds).unwrap()), expected);
        assert!(warmth(Some(84.0), &[(0.0, 41.0), (60.0, 81.0)]).at_limit(31.0).unwrap(), "the next one, however late");
        let late = warmth(Some(84.0), &[(1000.0, 82.0), (1009.0, 70.0), (1010.0, 70.0)]);
        assert!(
            late.at_limit(1009.5).unwrap() && !late.at_limit(1010.5).unwrap(),
            "late changes are known less exactly"
        );
        assert_eq!(warmth(None, &[(0.0, 99.0)]).at_limit(0.0), None);
        assert_eq!(warmth(Some(84.0), &[]).at_limit(0.0), None);
    }

    #[test]
    fn the_temperature_is_steady_within_one_degree() {
        let warm = warmth(None, &[(0.0, 41.0), (10.0, 80.0), (20.0, 81.0), (30.0, 80.0)]);
        assert!(warm.held(10.0, 30.0) && warm.held(11.0, 12.0) && !warm.held(0.0, 10.0));
    }

    #[test]
    fn readings_are_a_second_apart_and_later_sparser() {
        let mut readings_made = 0.0;
        let mut thermometer = Thermometer::of(None, move || {
            readings_made += 1.0;
            Some(readings_made)
        });
        let mut warm = Temperatures::new(None, Vec::new());
        (0..40).for_each(|tenth| warm.read(&mut thermometer, f64::from(tenth) / 10.0));
        let reported =
            |warm: &Temperatures| warm.readings.iter().map(|one| (one.seconds, one.celsius)).collect::<Vec<_>>();
        assert_eq!(reported(&warm), [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0)]);
        (4..5000).for_each(|second| warm.read(&mut thermometer, f64::from(second)));
        assert!((512..1024).contains(&warm.readings.len()), "{}", warm.readings.len());
        assert!(warm.readings.windows(2).all(|pair| pair[1].seconds - pair[0].seconds >= 8.0 - 1e-9));
    }
}
