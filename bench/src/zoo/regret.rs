//! How much longer copies take than with the best fixed limits.
use super::families::{Draw, FAMILIES, pair};
use super::oracle;
use super::pump::Job;
use super::start::{self, POOL_BYTES};
use haul::engine::valves::{Governor, Limits, Trial};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One copy.
#[derive(Clone, Debug)]
pub struct Regret {
    /// The family of the pair.
    pub family: &'static str,
    /// Its seed.
    pub seed: u64,
    /// The ratio of its time to that with the best fixed limits.
    pub ratio: f64,
    /// The time with the best fixed limits, in seconds.
    pub best_s: f64,
    /// The best fixed limits.
    pub best: Limits,
    /// The limits at its end.
    pub found: Limits,
    /// The reason, as in a report.
    pub because: String,
    /// The trials.
    pub trials: Vec<Trial>,
    /// The governor's estimate of the cost of its search, in seconds.
    pub lost_s: f64,
}

/// Geometric mean and greatest of many ratios.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Geometric mean.
    pub mean: f64,
    /// The largest.
    pub worst: f64,
}

/// The regret of one copy of `len` bytes.
fn regret(family: &'static str, seed: u64, len: u64, draw: &Draw) -> Regret {
    let pair = pair(family, seed, draw);
    let best = oracle::find(&pair, len, seed);
    let mut governor = Governor::new(start::of(&pair, len));
    let took_s = Job { pair: &pair, len, pool_bytes: POOL_BYTES, seed }.copy(&mut governor);
    Regret {
        family,
        seed,
        // Better than all fixed limits does not compensate for another pair.
        ratio: took_s / best.took_s,
        best_s: best.took_s,
        best: best.limits,
        found: governor.limits(),
        because: governor.because(),
        trials: governor.trials().to_vec(),
        lost_s: governor.lost().as_secs_f64(),
    }
}

/// The regrets of copies of `len` bytes, on all pairs of the families (all, if none is named) and seeds, in that
/// order. `stop` is called before each; the completed ones are returned.
pub fn regrets(
    families: &[&str],
    seeds: Range<u64>,
    len: u64,
    draw: &Draw,
    stop: &(dyn Fn() -> bool + Sync),
) -> Vec<Regret> {
    let chosen = FAMILIES.iter().copied().filter(|family| families.is_empty() || families.contains(family));
    let jobs: Vec<(&'static str, u64)> =
        chosen.flat_map(|family| seeds.clone().map(move |seed| (family, seed))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(family, seed)) = jobs.get(index).filter(|_| !stop()) else { return done };
            done.push((index, regret(family, seed, len, draw)));
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get());
    let mut done: Vec<(usize, Regret)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, regret)| regret).collect()
}

/// Geometric mean and worst; `None` if there are none.
pub fn summary<'a>(regrets: impl IntoIterator<Item = &'a Regret>) -> Option<Summary> {
    let (mut sum, mut count, mut worst) = (0.0, 0u32, f64::MIN);
    for regret in regrets {
        (sum, count, worst) = (sum + regret.ratio.ln(), count + 1, f64::max(worst, regret.ratio));
    }
    (count > 0).then(|| Summary { mean: (sum / f64::from(count)).exp(), worst })
}
