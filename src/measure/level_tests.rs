//! Sweeps over simulated disks with known rates and realistic noise.
use super::super::pick::{GOOD_ENOUGH, answer};
use super::super::{BestPoint, Effort, Point, Sweep, Trial, Way, grid};
use super::*;

/// A simulated noisy disk that overlaps the latencies of several commands and transfers data at one rate.
#[derive(Clone, Copy, Debug)]
struct Noisy {
    latency_s: f64,
    rate: f64,
    commands: u32,
    /// Ratio of the rates of the last and the first round.
    inner: f64,
    /// Standard deviation of a run.
    noise: f64,
    /// Standard deviation of a drift over about a dozen runs.
    drift: f64,
    /// Share of runs that are disturbed and take up to four times as long.
    disturbed: f64,
}

impl Noisy {
    fn truth(&self, point: Point) -> f64 {
        let alone = self.latency_s + f64::from(point.block_bytes) / self.rate;
        (f64::from(point.block_bytes) / alone * f64::from(point.depth.min(self.commands))).min(self.rate)
    }

    /// A sweep of this number of rounds; the last one may be incomplete.
    fn sweep(&self, rounds: u32, cut: bool, seed: u64) -> Sweep {
        let few = |point: &Point| point.block_bytes >= 16 << 10;
        let points = grid(&[Way::Direct], 512, 128 << 20, Effort::Full).into_iter().filter(few).collect();
        let mut sweep = Sweep::new(points, Point::of_dd());
        let mut random = fastrand::Rng::with_seed(seed);
        let mut drift = 0.0;
        for round in 0..rounds {
            let zone = 1.0 - (1.0 - self.inner) * f64::from(round) / f64::from(rounds);
            let mut left = if cut && round + 1 == rounds { sweep.to_come() / 3 } else { usize::MAX };
            while let Some(index) = sweep.next_point().filter(|_| left > 0) {
                left -= 1;
                drift = drift * 0.95 + self.drift * 0.31 * normal(&mut random);
                let slow = if random.f64() < self.disturbed { 1.0 + 3.0 * random.f64() } else { 1.0 };
                let of = (drift + self.noise * normal(&mut random)).exp() * zone / slow;
                let point = sweep.entries()[index].point;
                sweep.record(index, trial(point, self.truth(point) * of));
            }
            if left > 0 {
                sweep.end_round();
            }
        }
        sweep.conclude();
        sweep
    }

    /// Whether the picked point is in truth as good as the best.
    fn is_right(&self, found: &BestPoint, sweep: &Sweep) -> bool {
        let most = sweep.entries().iter().map(|entry| self.truth(entry.point)).fold(0.0, f64::max);
        self.truth(found.pick) >= most * GOOD_ENOUGH
    }
}

fn trial(point: Point, rate: f64) -> Trial {
    let (requests, bytes) = (1000, 1000 * u64::from(point.block_bytes));
    let seconds = bytes as f64 / rate;
    let (p50_us, p99_us, max_us, cpu_s) = (1.0, 1.0, 1.0, 0.0);
    let (cached_bytes, left_bytes, failed, offset) = (0, 0, 0, 0);
    let (moved_bytes, whole_s) = (bytes, seconds);
    Trial {
        point,
        offset,
        bytes,
        seconds,
        requests,
        p50_us,
        p99_us,
        max_us,
        cpu_s,
        moved_bytes,
        whole_s,
        cached_bytes,
        left_bytes,
        failed,
    }
}

const QUIET: Noisy =
    Noisy { latency_s: 100e-6, rate: 500e6, commands: 32, inner: 1.0, noise: 0.01, drift: 0.0, disturbed: 0.0 };

fn disks() -> Vec<Noisy> {
    let fast = Noisy { latency_s: 20e-6, rate: 3e9, commands: 64, ..QUIET };
    let turning = Noisy { latency_s: 4e-3, rate: 150e6, commands: 1, inner: 0.5, ..QUIET };
    let mut disks = Vec::new();
    for disk in [QUIET, fast, turning] {
        for noise in [0.01, 0.03, 0.1, 0.25] {
            disks.push(Noisy { noise, ..disk });
            disks.push(Noisy { noise, drift: 0.1, disturbed: 0.05, ..disk });
        }
    }
    disks
}

/// The numbers of sweeps with 95 % confidence, of wrong results among them, and of right results.
fn judged(disk: &Noisy, rounds: u32, seeds: std::ops::Range<u64>) -> [u64; 3] {
    let mut counts = [0; 3];
    for seed in seeds {
        let sweep = disk.sweep(rounds, seed % 2 == 1, seed);
        let found = answer(&sweep, Way::Direct).unwrap();
        let (is_sure, is_right) = (found.confidence.unwrap() >= 0.95, disk.is_right(&found, &sweep));
        let seen = [is_sure, is_sure && !is_right, is_right];
        counts.iter_mut().zip(seen).for_each(|(count, seen)| *count += u64::from(seen));
    }
    counts
}

#[test]
fn a_confidence_of_95_percent_is_wrong_in_at_most_one_run_of_twenty() {
    let mut all = [0; 3];
    for (number, disk) in (0..).zip(disks()) {
        for (turn, rounds) in (0..).zip([2, 4, 7]) {
            let first = (number * 3 + turn) * SEEDS;
            let counts @ [sure, wrong, right] = judged(&disk, rounds, first..first + SEEDS);
            println!("{rounds} rounds: {sure} sure, {wrong} of them wrong, {right} right of {SEEDS}: {disk:?}");
            all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
    let [sure, wrong, right] = all;
    println!("{sure} sure, {wrong} of them wrong, {right} right");
    assert!(wrong * 20 <= sure, "{wrong} of {sure}");
    assert!(sure >= 40, "to be sure of nothing is no help: {sure}");
}

/// Sweeps per disk and number of rounds: 216 in total.
const SEEDS: u64 = 3;
