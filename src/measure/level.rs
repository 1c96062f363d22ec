//! The rates of the points of a sweep, freed of what differs between its rounds, with their spread. Pure.
//!
//! Each round is somewhere else on the disk, and a point that lost early ran in the first rounds alone: its plain
//! median would be that of other places. So each run is taken by the level of its round, and all rates are reported at
//! the middle level.
use super::stats::{MAD_TO_SIGMA, center, median};

/// Levels and centers are found from each other; this often is enough for both to settle.
const TURNS: usize = 12;

/// The spread of a center of n values is this times their own by the root of n.
const SPREAD_OF_CENTER: f64 = 1.03;

/// What all points know of the spread of a run counts as much as so many runs of the point itself: of few runs their
/// own spread says next to nothing.
const KNOWN_RUNS: f64 = 8.0;

/// A disturbed run is taken for no farther off than so many deviations: the center does not follow it either.
const OFF_MAX: f64 = 4.0;

/// 95 % of a normal distribution are within so many deviations.
const WITHIN: f64 = 1.96;

/// What a point gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointRate {
    /// The center of its runs, each by the level of its round, in bytes a second.
    pub bytes_per_s: f64,
    /// Standard deviation of its logarithm; `None`: unknown for a single round.
    pub deviation: Option<f64>,
}

impl PointRate {
    /// An interval in which the rate lies with 95 % confidence, in bytes a second; `None` if unknown.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let reach = self.deviation? * WITHIN;
        Some((self.bytes_per_s * (-reach).exp(), self.bytes_per_s * reach.exp()))
    }

    /// What it surely gives, in bytes a second.
    pub(super) fn least(&self) -> f64 {
        self.interval().map_or(self.bytes_per_s, |(least, _)| least)
    }

    /// The share of `other` that it surely does not exceed; `None` if unknown.
    pub(super) fn most_of(&self, other: PointRate) -> Option<f64> {
        let reach = WITHIN * self.deviation?.hypot(other.deviation?);
        Some(self.bytes_per_s / other.bytes_per_s * reach.exp())
    }
}

/// The logarithms of the sound rates of a point by round.
type Runs = Vec<(usize, f64)>;

/// The figures of points of one way, which are comparable, by their sound rates in each round; `None` of none.
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

/// How far the middle point of each round is from its center. A point that ran once says nothing of that.
fn levels_of(runs: &[Runs], centers: &[Option<f64>], rounds: usize) -> Vec<f64> {
    let mut off: Vec<Vec<f64>> = vec![Vec::new(); rounds];
    for (runs, center) in runs.iter().zip(centers).filter(|(runs, _)| runs.len() > 1) {
        runs.iter().for_each(|(round, rate)| off[*round].push(rate - center.unwrap_or(*rate)));
    }
    let levels: Vec<f64> = off.iter().map(|off| median(off).unwrap_or(0.0)).collect();
    let middle = median(&levels).unwrap_or(0.0);
    levels.iter().map(|level| level - middle).collect()
}

/// The standard deviation of one run of an ordinary point; `None` where none ran twice.
fn spread_of_all(runs: &[Runs], centers: &[Option<f64>], levels: &[f64]) -> Option<f64> {
    let off = runs.iter().zip(centers).filter(|(runs, _)| runs.len() > 1).flat_map(|(runs, center)| {
        // The center is nearer to few runs than the truth is.
        let missing = (runs.len() as f64 / (runs.len() - 1) as f64).sqrt();
        runs.iter().map(move |(round, rate)| (rate - levels[*round] - center.unwrap_or(*rate)).abs() * missing)
    });
    median(&off.collect::<Vec<_>>()).map(|middle| middle * MAD_TO_SIGMA)
}

/// How sure one may be, from 0 to 1, that each point reaches `share` of the best of all; `None` if unknown. All that is
/// known of the points is drawn many times, so that it counts, too, that the best is the best of many.
pub(super) fn sure(figures: &[Option<PointRate>], share: f64) -> Option<Vec<f64>> {
    let known: Vec<(usize, f64, f64)> = figures
        .iter()
        .enumerate()
        .filter_map(|(index, figure)| figure.map(|figure| (index, figure)))
        .map(|(index, figure)| Some((index, figure.bytes_per_s.ln(), figure.deviation?)))
        .collect::<Option<_>>()?;
    let most = known.iter().map(|known| known.1).fold(f64::NEG_INFINITY, f64::max);
    // A point so far behind is not the best, whatever is drawn.
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

/// See [`sure`]: the 5 % that a 95 % leaves then rest on 100 draws.
const DRAWS: u32 = 2000;

/// The draws are not for secrets: the same runs give the same answer.
const SEED: u64 = 0x6861_756c;

/// A number of the normal distribution, by Box and Muller.
fn normal(random: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

#[cfg(test)]
#[path = "level_tests.rs"]
mod tests;
