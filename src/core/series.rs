//! How a copy went, moment by moment: sampled by its observer, never by the pump.
use std::time::Duration;

/// Most moments that are kept: more than a screen has columns to show.
const MOMENTS_MAX: usize = 1024;

/// Time between two moments at first.
const GAP: Duration = Duration::from_millis(100);

/// Totals of a copy at one moment. All bytes are those of this run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Since the beginning.
    pub at: Duration,
    /// Delivered by the source.
    pub read_bytes: u64,
    /// Data that the dest acknowledged, or gave to be compared.
    pub dest_bytes: u64,
    /// Through in any form: data, zeros and holes.
    pub copied_bytes: u64,
    /// Time spent waiting for each side, by [`super::Side::index`].
    pub waited: [Duration; 2],
    /// Time in which `--limit` held it back.
    pub limit_waited: Duration,
    /// Time in which the digests did.
    pub digest_waited: Duration,
}

/// Moments in the order of time, at most 1024 of them: when there is no room, every second one is dropped and from then
/// on they are kept half as often. Memory is taken once, at the start.
#[derive(Clone, Debug)]
pub struct Series {
    moments: Vec<Moment>,
    gap: Duration,
    /// The newest, whether kept or not.
    last: Moment,
}

impl Default for Series {
    fn default() -> Self {
        Series { moments: Vec::with_capacity(MOMENTS_MAX), gap: GAP, last: Moment::default() }
    }
}

impl Series {
    /// Takes a moment, unless the one before it was only just taken.
    pub fn push(&mut self, moment: Moment) {
        self.last = moment;
        // A thread that was woken a little early must not lose its turn.
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

    /// Every moment that was kept, and the newest.
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
    fn moments_that_come_too_often_are_left_out_but_the_newest_is_there() {
        let mut series = Series::default();
        [0, 1, 2, 99, 150, 151].into_iter().for_each(|at| series.push(moment(at)));
        assert_eq!(series.moments(), [moment(0), moment(99), moment(151)]);
    }
}
