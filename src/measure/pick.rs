//! Picks the result of a sweep: the smallest block size and depth that are as good as the best.
use super::{Entry, Point, State, Sweep, Way, level};

/// A point with this share of the best rate counts as good as the best.
pub const GOOD_ENOUGH: f64 = 0.95;

/// Confidence required for that, so that the smallest such point is not chosen by chance.
const SURE: f64 = 0.95;

/// The result of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct BestPoint {
    /// The point with the highest rate of its way.
    pub best: Point,
    /// Its rate, in bytes per second.
    pub best_bytes_per_s: f64,
    /// Of the points that reach `GOOD_ENOUGH` with confidence, the one with the fewest bytes in flight, and of those
    /// the one with the largest blocks. If there is none, the same for points whose estimated rate does.
    pub pick: Point,
    /// Its rate, in bytes per second.
    pub pick_bytes_per_s: f64,
    /// The 95 % confidence interval of that rate; `None` for a single round.
    pub pick_interval: Option<(f64, f64)>,
    /// Ratio of its rate to the best one.
    pub share: f64,
    /// Probability, from 0 to 1, that it reaches `GOOD_ENOUGH` of the best rate; `None` for a single round.
    pub confidence: Option<f64>,
    /// Number of its runs.
    pub rounds: usize,
    /// Rate of dd with its defaults, in bytes per second.
    pub dd_bytes_per_s: Option<f64>,
}

/// The result among points of `way` of a finished sweep; `None` if none of them has a rate.
pub fn answer(sweep: &Sweep, way: Way) -> Option<BestPoint> {
    let tried = |entry: &&Entry| entry.point.way == way && !matches!(entry.state, State::LeftOut(_));
    let entries: Vec<&Entry> = sweep.entries().iter().filter(tried).filter(|entry| entry.rate().is_some()).collect();
    let rate = |entry: &Entry| entry.rate().unwrap_or(0.0);
    let best = entries.iter().max_by(|one, other| rate(one).total_cmp(&rate(other)))?;
    let sure = level::sure(&entries.iter().map(|entry| entry.figure).collect::<Vec<_>>(), GOOD_ENOUGH);
    let cost = |&&index: &&usize| {
        let point = entries[index].point;
        (point.in_flight_bytes(), u32::MAX - point.block_bytes)
    };
    let all: Vec<usize> = (0..entries.len()).collect();
    let surely = |&&index: &&usize| sure.as_ref().is_some_and(|sure| sure[index] >= SURE);
    let probably = |&&index: &&usize| rate(entries[index]) >= rate(best) * GOOD_ENOUGH;
    let pick = all.iter().filter(surely).min_by_key(cost).or(all.iter().filter(probably).min_by_key(cost))?;
    let picked = entries[*pick];
    let dd = sweep.entries().iter().find(|entry| entry.point == Point::of_dd());
    Some(BestPoint {
        best: best.point,
        best_bytes_per_s: rate(best),
        pick: picked.point,
        pick_bytes_per_s: rate(picked),
        pick_interval: picked.interval(),
        share: rate(picked) / rate(best),
        confidence: sure.map(|sure| sure[*pick]),
        rounds: picked.rates().len(),
        dd_bytes_per_s: dd.and_then(Entry::rate),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Effort, Trial, grid};

    /// A simulated disk that overlaps the latencies of up to `depth` commands and transfers data at one rate.
    struct Model {
        latency_s: f64,
        rate: f64,
        commands: u32,
    }

    impl Model {
        fn trial(&self, point: Point, noise: f64) -> Trial {
            let alone = self.latency_s + f64::from(point.block_bytes) / self.rate;
            let at_once = f64::from(point.depth.min(self.commands));
            let rate = (f64::from(point.block_bytes) / alone * at_once).min(self.rate) * (1.0 + noise);
            let (requests, bytes) = (1000, 1000 * u64::from(point.block_bytes));
            Trial {
                point,
                offset: 0,
                bytes,
                seconds: bytes as f64 / rate,
                requests,
                p50_us: alone * 1e6,
                p99_us: alone * 1e6,
                max_us: alone * 1e6,
                cpu_s: 0.0,
                moved_bytes: bytes,
                whole_s: bytes as f64 / rate,
                cached_bytes: 0,
                left_bytes: 0,
                failed: 0,
            }
        }

        /// A sweep of this number of rounds, each in another zone, with noise of up to ±3 %.
        fn sweep(&self, ways: &[Way], rounds: u32) -> Sweep {
            let mut sweep = Sweep::new(grid(ways, 512, 128 << 20, Effort::Full), Point::of_dd());
            let mut random = fastrand::Rng::with_seed(5);
            for round in 0..rounds {
                let zone = Model { rate: self.rate * (1.0 - 0.1 * f64::from(round)), ..*self };
                while let Some(index) = sweep.next_point() {
                    let point = sweep.entries()[index].point;
                    sweep.record(index, zone.trial(point, 0.06 * (random.f64() - 0.5)));
                }
                sweep.end_round();
            }
            sweep.conclude();
            sweep
        }
    }

    /// The smallest number of bytes in flight that would reach 95 % of the rate without noise.
    fn knee(model: &Model, slack: f64) -> u64 {
        let points = grid(&[Way::Direct], 512, 128 << 20, Effort::Full);
        let good = |point: &&Point| model.trial(**point, 0.0).bytes_per_s() >= (GOOD_ENOUGH + slack) * model.rate;
        points.iter().filter(good).map(Point::in_flight_bytes).min().unwrap()
    }

    #[test]
    fn the_knee_of_a_disk_with_known_latency_and_rate_is_found() {
        for model in [
            Model { latency_s: 100e-6, rate: 500e6, commands: 32 },
            Model { latency_s: 4e-3, rate: 150e6, commands: 1 },
            Model { latency_s: 20e-6, rate: 3e9, commands: 64 },
        ] {
            let answer = answer(&model.sweep(&[Way::Direct, Way::Buffered], 5), Way::Direct).unwrap();
            let found = answer.pick.in_flight_bytes();
            assert!((knee(&model, -0.03)..=knee(&model, 0.03)).contains(&found), "{answer:?}");
            assert!(answer.share >= GOOD_ENOUGH && answer.rounds >= 2, "{answer:?}");
            assert!(answer.confidence.unwrap() >= 0.5, "{answer:?}");
            assert!(answer.dd_bytes_per_s.unwrap() < answer.pick_bytes_per_s / 10.0);
        }
    }

    #[test]
    fn slow_points_are_dropped_after_one_round_except_those_of_dd() {
        let model = Model { latency_s: 100e-6, rate: 500e6, commands: 32 };
        let sweep = model.sweep(&[Way::Direct, Way::Buffered], 4);
        let of = |point| sweep.entries().iter().find(|entry| entry.point == point).unwrap();
        let slow = of(Point { way: Way::Direct, block_bytes: 512, depth: 1 });
        assert_eq!((slow.trials.len(), &slow.state), (1, &State::Lost));
        assert_eq!(of(Point::of_dd()).trials.len(), 4);
        assert!(sweep.running() < sweep.entries().len() * 3 / 4, "{}", sweep.running());
    }

    #[test]
    fn one_round_gives_no_confidence() {
        let model = Model { latency_s: 100e-6, rate: 500e6, commands: 32 };
        let answer = answer(&model.sweep(&[Way::Direct], 1), Way::Direct).unwrap();
        assert_eq!((answer.confidence, answer.pick_interval, answer.rounds), (None, None, 1));
        assert_eq!(answer.dd_bytes_per_s, None);
    }

    #[test]
    fn three_fast_runs_of_five_do_not_make_the_best() {
        let model = Model { latency_s: 100e-6, rate: 160e6, commands: 4 };
        let point = |block_bytes, depth| Point { way: Way::Direct, block_bytes, depth };
        let lucky = point(8 << 20, 2);
        let even = [(1 << 20, 2), (1 << 20, 4), (2 << 20, 2), (2 << 20, 4)].map(|(bytes, depth)| point(bytes, depth));
        let mut sweep = Sweep::new(even.into_iter().chain([lucky]).collect(), Point::of_dd());
        // Each round is in another zone.
        let rounds = [[0.0, 0.1], [0.01, -0.09], [-0.01, 0.1], [0.0, -0.1], [0.01, 0.1]];
        for (zone, noise) in [1.0, 0.99, 0.98, 0.97, 0.96].into_iter().zip(rounds) {
            let place = Model { rate: model.rate * zone, ..model };
            while let Some(index) = sweep.next_point() {
                let of = noise[usize::from(index == even.len())];
                sweep.record(index, place.trial(sweep.entries()[index].point, of));
            }
            sweep.end_round();
        }
        sweep.conclude();
        let answer = answer(&sweep, Way::Direct).unwrap();
        assert_eq!(answer.pick, even[0], "{answer:?}");
        assert!(answer.share > 0.97, "the center of the lucky one is where the others are: {answer:?}");
    }

    #[test]
    fn a_run_with_failed_requests_has_no_rate() {
        let model = Model { latency_s: 100e-6, rate: 500e6, commands: 1 };
        let point = Point { way: Way::Direct, block_bytes: 4096, depth: 1 };
        let mut sweep = Sweep::new(vec![point], Point::of_dd());
        let bad = Trial { failed: 1, ..model.trial(point, 0.0) };
        sweep.record(0, bad);
        assert_eq!(super::answer(&sweep, Way::Direct), None);
    }
}
