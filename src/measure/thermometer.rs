//! What a drive says of its own temperature, and what that says of its rates.
use std::fmt;

/// Shortest time between two readings, in seconds: some drives put everything else off to answer, and NVMe drives are
/// asked once a second by the kernel, however often it is.
const APART_S: f64 = 1.0;

/// At so many readings every second one goes, and the time between them doubles.
const READINGS_MAX: usize = 1024;

/// So near to its limit a drive is at it: it says whole degrees, and some hold back a little before.
const AT_LIMIT_C: f64 = 3.0;

/// A temperature so long before or after a change has to do with it, in seconds; or this part of all the time until
/// then, because late changes are known less exactly.
const AROUND: (f64, f64) = (2.0, 0.01);

/// What moves by no more holds: whole degrees go up and down by one.
const HOLDS_C: f64 = 1.0;

/// Where temperatures come from.
pub struct Thermometer {
    /// Where the drive is too warm by its own word, in °C.
    pub limit_c: Option<f64>,
    read: Box<dyn FnMut() -> Option<f64> + Send>,
}

impl Thermometer {
    /// One that reports what `read` returns, in °C.
    pub fn of(limit_c: Option<f64>, read: impl FnMut() -> Option<f64> + Send + 'static) -> Thermometer {
        Thermometer { limit_c, read: Box::new(read) }
    }
}

impl fmt::Debug for Thermometer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Thermometer").field("limit_c", &self.limit_c).finish_non_exhaustive()
    }
}

/// How warm the drive was, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TemperatureReading {
    /// Seconds since the first request.
    pub seconds: f64,
    /// In °C.
    pub celsius: f64,
}

/// How warm the drive was all along.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Temperatures {
    /// Where it is too warm by its own word, in °C.
    pub limit_c: Option<f64>,
    /// By rising time; empty if unknown.
    pub readings: Vec<TemperatureReading>,
    apart_s: f64,
}

impl Temperatures {
    /// Of a drive with this limit, with these readings.
    pub fn new(limit_c: Option<f64>, readings: Vec<TemperatureReading>) -> Temperatures {
        Temperatures { limit_c, readings, apart_s: APART_S }
    }

    /// Asks how warm it is at `seconds`, unless that was asked just before.
    pub(super) fn ask(&mut self, thermometer: &mut Thermometer, seconds: f64) {
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

    /// It was at its limit about then; `None` if unknown.
    pub fn at_limit(&self, seconds: f64) -> Option<bool> {
        let limit_c = self.limit_c?;
        let (before, after) = self.readings.split_at(self.readings.partition_point(|one| one.seconds <= seconds));
        let around_s = AROUND.0.max(AROUND.1 * seconds);
        let near = |one: &&TemperatureReading| (one.seconds - seconds).abs() <= around_s;
        // Far apart as readings may be, the last one before and the first one after count.
        let around = before.iter().filter(near).chain(before.last());
        let around = around.chain(after.iter().filter(near)).chain(after.first());
        let warmest = around.map(|one| one.celsius).reduce(f64::max)?;
        Some(warmest >= limit_c - AT_LIMIT_C)
    }

    /// It got neither warmer nor cooler between these times, as far as is known.
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
    fn it_is_at_its_limit_where_a_reading_near_that_moment_or_the_next_one_says_so() {
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
    fn it_holds_where_it_moves_by_no_more_than_a_degree() {
        let warm = warmth(None, &[(0.0, 41.0), (10.0, 80.0), (20.0, 81.0), (30.0, 80.0)]);
        assert!(warm.held(10.0, 30.0) && warm.held(11.0, 12.0) && !warm.held(0.0, 10.0));
    }

    #[test]
    fn readings_are_a_second_apart_and_later_more() {
        let mut asked = 0.0;
        let mut thermometer = Thermometer::of(None, move || {
            asked += 1.0;
            Some(asked)
        });
        let mut warm = Temperatures::new(None, Vec::new());
        (0..40).for_each(|tenth| warm.ask(&mut thermometer, f64::from(tenth) / 10.0));
        let told = |warm: &Temperatures| warm.readings.iter().map(|one| (one.seconds, one.celsius)).collect::<Vec<_>>();
        assert_eq!(told(&warm), [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0)]);
        (4..5000).for_each(|second| warm.ask(&mut thermometer, f64::from(second)));
        assert!((512..1024).contains(&warm.readings.len()), "{}", warm.readings.len());
        assert!(warm.readings.windows(2).all(|pair| pair[1].seconds - pair[0].seconds >= 8.0 - 1e-9));
    }
}
