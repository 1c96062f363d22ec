//! Estimates the rates of the points of a sweep and their deviations, adjusted for differences between rounds. No I/O.
//!
//! Each round is at another location of the disk, and points that were dropped early ran only in the first rounds, so
//! plain medians would not be comparable. Each run is therefore taken relative to the level of its round, and all rates
//! are reported at the median level.
use super::stats::{MAD_TO_SIGMA, center, median};

/// Iterations for determining levels and centers from each other; sufficient for convergence.
const TURNS: usize = 12;

/// The standard deviation of a center of n values is this times theirs, divided by the square root of n.
const SPREAD_OF_CENTER: f64 = 1.03;

/// The common deviation of all points has the weight of this number of runs of a point, because few runs say little
/// about their own deviation.
const KNOWN_RUNS: f64 = 8.0;

/// Deviations are limited to this multiple, so that disturbed runs do not move the center.
const OFF_MAX: f64 = 4.0;

/// 95 % of a normal distribution are within this multiple of the standard deviation.
const WITHIN: f64 = 1.96;

/// The estimated rate of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointRate {
    /// Center of its runs relative to the levels of their rounds, in bytes per second.
    pub bytes_per_s: f64,
    /// Standard deviation of its logarithm; `None` for a single round.
    pub deviation: Option<f64>,
}

impl PointRate {
    /// The 95 % confidence interval of the rate, in bytes per second; `None` if unknown.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let reach = self.deviation? * WITHIN;
        Some((self.bytes_per_s * (-reach).exp(), self.bytes_per_s * reach.exp()))
    }

    /// Lower bound of the rate, in bytes per second.
    pub(super) fn least(&self) -> f64 {
        self.interval().map_or(self.bytes_per_s, |(least, _)| least)
    }

    /// Upper bound of its rate as a share of that of `other`; `None` if unknown.
    pub(super) fn most_of(&self, other: PointRate) -> Option<f64> {
        let reach = WITHIN * self.deviation?.hypot(other.deviation?);
        Some(self.bytes_per_s / other.bytes_per_s * reach.exp())
    }
}

/// Logarithms of the valid rates of a point, by round.
type Runs = Vec<(usize, f64)>;

/// The estimated rates of comparable points of one way, from their valid rates in each round; `None` for points without
/// any.
pub(super) fn figures(rates: &[Vec<(u32, f64)>]) -> Vec<Option<PointRate>> {
    let logarithm = |&(round, rate): &(u32, f64)| (round as usize, rate.ln());
    let runs: Vec<Runs> = rates.iter().map(|rates| rates.iter().map(logarithm).collect()).collect();
    let rounds = runs.iter().flatten().map(|run| run.0 + 1).max().unwrap_or(0);
    let mut levels = vec![0.0; rounds];
    let mut centers = centers_of(&runs, &levels);
    for _ in 0..TURNS {
        levels = levels_of(&runs, &centers, rounds);
        centers = centers_of(&runs, &levels);
    }
    let of_all = spread_of_all(&runs, &centers, &levels);
    let figure = |(runs, center): (&Runs, &Option<f64>)| {
        let (center, count) = ((*center)?, runs.len() as f64);
        let deviation = of_all.map(|of_all| {
            let off = |(round, rate): &(usize, f64)| (rate - levels[*round] - center).abs().min(OFF_MAX * of_all);
            let own: f64 = runs.iter().map(|run| off(run).powi(2)).sum();
            let of_one = ((KNOWN_RUNS * of_all.powi(2) + own) / (KNOWN_RUNS + count - 1.0)).sqrt();
            of_one * SPREAD_OF_CENTER / count.sqrt()
        });
        Some(PointRate { bytes_per_s: center.exp(), deviation })
    };
    runs.iter().zip(&centers).map(figure).collect()
}

fn centers_of(runs: &[Runs], levels: &[f64]) -> Vec<Option<f64>> {
    let one = |runs: &Runs| center(&runs.iter().map(|(round, rate)| rate - levels[*round]).collect::<Vec<_>>());
    runs.iter().map(one).collect()
}

/// Median deviation of the points in each round from their centers. Points with a single run are ignored.
fn levels_of(runs: &[Runs], centers: &[Option<f64>], rounds: usize) -> Vec<f64> {
    let mut off: Vec<Vec<f64>> = vec![Vec::new(); rounds];
    for (runs, center) in runs.iter().zip(centers).filter(|(runs, _)| runs.len() > 1) {
        runs.iter().for_each(|(round, rate)| off[*round].push(rate - center.unwrap_or(*rate)));
    }
    let levels: Vec<f64> = off.iter().map(|off| median(off).unwrap_or(0.0)).collect();
    let middle = median(&levels).unwrap_or(0.0);
    levels.iter().map(|level| level - middle).collect()
}

/// Common standard deviation of single runs; `None` if no point ran twice.
fn spread_of_all(runs: &[Runs], centers: &[Option<f64>], levels: &[f64]) -> Option<f64> {
    let off = runs.iter().zip(centers).filter(|(runs, _)| runs.len() > 1).flat_map(|(runs, center)| {
        // Corrects for the center being closer to few runs than the true value is.
        let missing = (runs.len() as f64 / (runs.len() - 1) as f64).sqrt();
        runs.iter().map(move |(round, rate)| (rate - levels[*round] - center.unwrap_or(*rate)).abs() * missing)
    });
    median(&off.collect::<Vec<_>>()).map(|middle| middle * MAD_TO_SIGMA)
}

/// The probability, from 0 to 1, that each point reaches `share` of the best rate; `None` if unknown. Determined by
/// simulation, which takes into account that the best one is the maximum of many points.
pub(super) fn sure(figures: &[Option<PointRate>], share: f64) -> Option<Vec<f64>> {
    let known: Vec<(usize, f64, f64)> = figures
        .iter()
        .enumerate()
        .filter_map(|(index, figure)| figure.map(|figure| (index, figure)))
        .map(|(index, figure)| Some((index, figure.bytes_per_s.ln(), figure.deviation?)))
        .collect::<Option<_>>()?;
    let most = known.iter().map(|known| known.1).fold(f64::NEG_INFINITY, f64::max);
    // A point this much slower is not the best in any draw.
    let in_reach = |&&(_, rate, deviation): &&(usize, f64, f64)| rate + 6.0 * deviation >= most + share.ln();
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut reached = vec![0u32; figures.len()];
    let contenders: Vec<_> = known.iter().filter(in_reach).collect();
    let mut drawn = vec![0.0; contenders.len()];
    for _ in 0..DRAWS {
        for (slot, &&(_, rate, deviation)) in drawn.iter_mut().zip(&contenders) {
            *slot = rate + deviation * normal(&mut random);
        }
        let enough = drawn.iter().copied().fold(f64::NEG_INFINITY, f64::max) + share.ln();
        for (&value, contender) in drawn.iter().zip(&contenders) {
            reached[contender.0] += u32::from(value >= enough);
        }
    }
    Some(reached.into_iter().map(|count| f64::from(count) / f64::from(DRAWS)).collect())
}

/// Number of draws for [`sure`]: the remaining 5 % then correspond to 100 draws.
const DRAWS: u32 = 2000;

/// Fixed, so that the same runs give the same result.
const SEED: u64 = 0x6861_756c;

/// A normally distributed random number (Box-Muller).
fn normal(random: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

#[cfg(test)]
#[path = "level_tests.rs"]
mod tests;
