//! Sweeps: rounds of runs over many points. Slow points are dropped early, the others are distinguished by repetition.
use super::stats::{center, median};
use super::{Point, PointRate, Trial, Way, level};

/// After one round, a point below this share of the best is dropped: the difference exceeds measurement noise.
const LOST_AT_ONCE: f64 = 0.5;

/// After more rounds, a point whose upper bound is below this share of the best is dropped.
const LOST: f64 = 0.9;

/// The ways, each of which is evaluated separately.
const WAYS: [Way; 4] = [Way::Direct, Way::Buffered, Way::Mapped, Way::Indirect];

/// The state of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It is measured while there is time.
    Running,
    /// It was dropped as too slow.
    Lost,
    /// It was not tried; the reason is a clause.
    LeftOut(&'static str),
}

/// A point and its runs.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Way, block size and depth.
    pub point: Point,
    /// Its runs with their round numbers.
    pub trials: Vec<(u32, Trial)>,
    /// Its state.
    pub state: State,
    /// Its estimated rate, after the sweep.
    pub figure: Option<PointRate>,
}

impl Entry {
    /// The rates of its valid runs by round, in bytes per second.
    pub fn rates(&self) -> Vec<(u32, f64)> {
        let sound = self.trials.iter().filter(|(_, trial)| trial.is_sound());
        sound.map(|(round, trial)| (*round, trial.bytes_per_s())).collect()
    }

    /// Its rate in bytes per second, as shown in all reports. During the sweep, the center of its runs so far; `None`
    /// without valid runs.
    pub fn rate(&self) -> Option<f64> {
        let so_far = || center(&self.rates().into_iter().map(|(_, rate)| rate).collect::<Vec<_>>());
        self.figure.map_or_else(so_far, |figure| Some(figure.bytes_per_s))
    }

    /// The 95 % confidence interval of that rate; `None` for a single round.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.figure?.interval()
    }

    /// The median of a property of its valid runs.
    pub fn median_of(&self, number: impl Fn(&Trial) -> f64) -> Option<f64> {
        let sound = self.trials.iter().filter(|(_, trial)| trial.is_sound());
        median(&sound.map(|(_, trial)| number(trial)).collect::<Vec<_>>())
    }

    /// Whether some of its data was cached, so that the rate is not that of the disk.
    pub fn was_cached(&self) -> bool {
        self.trials.iter().any(|(_, trial)| trial.is_sound() && trial.cached_bytes > 0)
    }
}

/// The points of a sweep, and the order of their runs.
#[derive(Clone, Debug)]
pub struct Sweep {
    entries: Vec<Entry>,
    /// Never dropped, for comparison.
    kept: Point,
    round: u32,
    /// Indexes of the remaining points of this round, in reverse order.
    to_come: Vec<usize>,
    random: fastrand::Rng,
}

impl Sweep {
    /// A sweep over `points`; `kept` is never dropped.
    pub fn new(points: Vec<Point>, kept: Point) -> Sweep {
        let entries: Vec<Entry> = points
            .into_iter()
            .map(|point| Entry { point, trials: Vec::new(), state: State::Running, figure: None })
            .collect();
        // The first round is in ascending order of block size, so that its output is ordered.
        let mut to_come: Vec<usize> = (0..entries.len()).collect();
        to_come.reverse();
        Sweep { entries, kept, round: 0, to_come, random: fastrand::Rng::with_seed(0) }
    }

    /// All points.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The current round, from 0.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The next point of this round; `None` at the end of the round.
    pub fn next_point(&mut self) -> Option<usize> {
        self.to_come.pop()
    }

    /// Number of remaining runs in this round.
    pub fn to_come(&self) -> usize {
        self.to_come.len()
    }

    /// Number of points that were not dropped.
    pub fn running(&self) -> usize {
        self.entries.iter().filter(|entry| entry.state == State::Running).count()
    }

    /// Records a run.
    pub fn record(&mut self, index: usize, trial: Trial) {
        self.entries[index].trials.push((self.round, trial));
    }

    /// Omits a point, for a reason.
    pub fn leave_out(&mut self, index: usize, why: &'static str) {
        self.entries[index].state = State::LeftOut(why);
    }

    /// Ends the sweep and computes the final rates.
    pub fn conclude(&mut self) {
        for way in WAYS {
            let (indexes, rates) = self.rates_of(|entry| entry.point.way == way);
            let figures = level::figures(&rates);
            indexes.into_iter().zip(figures).for_each(|(index, figure)| self.entries[index].figure = figure);
        }
    }

    /// Ends the round: drops slow points, and starts the next round in random order, so that no point always follows
    /// the same other one.
    pub fn end_round(&mut self) {
        for way in WAYS {
            self.drop_losers(way);
        }
        self.round += 1;
        let running = self.entries.iter().enumerate().filter(|(_, entry)| entry.state == State::Running);
        self.to_come = running.map(|(index, _)| index).collect();
        self.random.shuffle(&mut self.to_come);
    }

    /// The indexes of the selected entries, and their rates by round.
    fn rates_of(&self, these: impl Fn(&Entry) -> bool) -> (Vec<usize>, Vec<Vec<(u32, f64)>>) {
        let wanted = self.entries.iter().enumerate().filter(|(_, entry)| these(entry));
        wanted.map(|(index, entry)| (index, entry.rates())).unzip()
    }

    /// Drops the points of this way that are clearly slower than the one with the highest lower bound, which excludes
    /// chance.
    fn drop_losers(&mut self, way: Way) {
        let (indexes, rates) = self.rates_of(|entry| entry.point.way == way && entry.state == State::Running);
        let figures = level::figures(&rates);
        let Some(best) = figures.iter().flatten().copied().max_by(|one, other| one.least().total_cmp(&other.least()))
        else {
            return;
        };
        for (index, figure) in indexes.into_iter().zip(figures) {
            let entry = &mut self.entries[index];
            if entry.point != self.kept && figure.is_some_and(|figure| has_lost(figure, best)) {
                entry.state = State::Lost;
            }
        }
    }
}

fn has_lost(figure: PointRate, best: PointRate) -> bool {
    match figure.most_of(best) {
        Some(most) => most < LOST,
        None => figure.bytes_per_s < LOST_AT_ONCE * best.bytes_per_s,
    }
}
