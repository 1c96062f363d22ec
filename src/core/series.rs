//! The progress of a copy over time, sampled by its observer, never by the pump.
use std::time::Duration;

/// Maximum number of stored moments: more than a screen has columns.
const MOMENTS_MAX: usize = 1024;

/// Initial interval between moments.
const GAP: Duration = Duration::from_millis(100);

/// Totals of a copy at one moment. Bytes are those of this run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Time since the start.
    pub at: Duration,
    /// Bytes read from the source.
    pub read_bytes: u64,
    /// Bytes of data written to the dest, or read from it for comparison.
    pub dest_bytes: u64,
    /// Bytes copied in any form: data, zeros and holes.
    pub copied_bytes: u64,
    /// Time spent waiting for each side, by [`super::Side::index`].
    pub waited: [Duration; 2],
    /// Time during which `--limit` delayed the copy.
    pub limit_waited: Duration,
    /// Time spent waiting for digests.
    pub digest_waited: Duration,
}

/// Moments in chronological order, at most 1024 of them. When it is full, every second one is dropped and the interval
/// doubles. Memory is allocated once, at the start.
#[derive(Clone, Debug)]
pub struct Series {
    moments: Vec<Moment>,
    gap: Duration,
    /// The newest moment, stored or not.
    last: Moment,
}

impl Default for Series {
    fn default() -> Self {
        Series { moments: Vec::with_capacity(MOMENTS_MAX), gap: GAP, last: Moment::default() }
    }
}

impl Series {
    /// Adds a moment, unless the previous one is too recent.
    pub fn push(&mut self, moment: Moment) {
        self.last = moment;
        // Accept a moment that is slightly early because of timer jitter.
        let due = self.moments.last().is_none_or(|last| moment.at >= last.at + self.gap * 3 / 4);
        if !due {
            return;
        }
        if self.moments.len() == MOMENTS_MAX {
            let mut index = 0;
            self.moments.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.gap *= 2;
        }
        self.moments.push(moment);
    }

    /// The stored moments and the newest one.
    pub fn moments(&self) -> Vec<Moment> {
        let mut moments = self.moments.clone();
        if moments.last().is_some_and(|last| last.at < self.last.at) {
            moments.push(self.last);
        }
        moments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(at_ms: u64) -> Moment {
        Moment { at: Duration::from_millis(at_ms), read_bytes: at_ms, ..Moment::default() }
    }

    #[test]
    fn a_day_of_moments_fits_and_still_covers_the_whole_day() {
        let mut series = Series::default();
        let room = series.moments.capacity();
        let day_ms = 86_400_000;
        (0..=day_ms).step_by(100).for_each(|at| series.push(moment(at)));
        let moments = series.moments();
        assert!((MOMENTS_MAX / 4..=MOMENTS_MAX + 1).contains(&moments.len()), "{}", moments.len());
        assert_eq!(series.moments.capacity(), room, "memory was taken while copying");
        assert_eq!((moments[0], moments[moments.len() - 1]), (moment(0), moment(day_ms)));
        let gaps: Vec<Duration> = moments.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
        let inner = &gaps[..gaps.len() - 1];
        assert!(inner.iter().all(|&gap| gap < inner[0] * 2 + GAP), "there is a hole in it");
    }

    #[test]
    fn too_frequent_moments_are_dropped_except_the_newest() {
        let mut series = Series::default();
        [0, 1, 2, 99, 150, 151].into_iter().for_each(|at| series.push(moment(at)));
        assert_eq!(series.moments(), [moment(0), moment(99), moment(151)]);
    }
}
