//! Rounds of runs over many points: losers drop out early, the others are distinguished by repetition.
use super::stats::{center, median};
use super::{Point, PointRate, Trial, Way, level};

/// After one round, a point below this share of the best cannot be the answer: measurement noise is smaller.
const LOST_AT_ONCE: f64 = 0.5;

/// After more rounds, a point that surely stays below this share of the best is out.
const LOST: f64 = 0.9;

/// Ways that are compared, each for itself.
const WAYS: [Way; 4] = [Way::Direct, Way::Buffered, Way::Mapped, Way::Indirect];

/// What became of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It is measured as long as there is time.
    Running,
    /// It clearly lost.
    Lost,
    /// It was not tried, and why: a clause.
    LeftOut(&'static str),
}

/// A point and its runs.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Way, block size and depth.
    pub point: Point,
    /// Its runs with the number of their round.
    pub trials: Vec<(u32, Trial)>,
    /// What became of it.
    pub state: State,
    /// What it gives, once the sweep is over.
    pub figure: Option<PointRate>,
}

impl Entry {
    /// The rates of its sound runs by round, in bytes a second.
    pub fn rates(&self) -> Vec<(u32, f64)> {
        let sound = self.trials.iter().filter(|(_, trial)| trial.is_sound());
        sound.map(|(round, trial)| (*round, trial.bytes_per_s())).collect()
    }

    /// What it gives in bytes a second: the one number for it, wherever it is reported. Before the sweep is over, the
    /// center of its runs so far; `None` where no run was sound.
    pub fn rate(&self) -> Option<f64> {
        let so_far = || center(&self.rates().into_iter().map(|(_, rate)| rate).collect::<Vec<_>>());
        self.figure.map_or_else(so_far, |figure| Some(figure.bytes_per_s))
    }

    /// An interval in which that lies with 95 % confidence; `None` of one round.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.figure?.interval()
    }

    /// The median of a number of its sound runs.
    pub fn median_of(&self, number: impl Fn(&Trial) -> f64) -> Option<f64> {
        let sound = self.trials.iter().filter(|(_, trial)| trial.is_sound());
        median(&sound.map(|(_, trial)| number(trial)).collect::<Vec<_>>())
    }

    /// The page cache had some of it: the rate is not the disk's.
    pub fn was_cached(&self) -> bool {
        self.trials.iter().any(|(_, trial)| trial.is_sound() && trial.cached_bytes > 0)
    }
}

/// The points of a sweep, and which is next.
#[derive(Clone, Debug)]
pub struct Sweep {
    entries: Vec<Entry>,
    /// Never dropped: what the answer is compared with.
    kept: Point,
    round: u32,
    /// Indexes still to come in this round, the next one last.
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
        // The first round goes up in block size, so that its lines can be read as they come.
        let mut to_come: Vec<usize> = (0..entries.len()).collect();
        to_come.reverse();
        Sweep { entries, kept, round: 0, to_come, random: fastrand::Rng::with_seed(0) }
    }

    /// All points.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The present round, from 0.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The next point of this round; `None` when the round is over.
    pub fn next_point(&mut self) -> Option<usize> {
        self.to_come.pop()
    }

    /// Runs to come in this round.
    pub fn to_come(&self) -> usize {
        self.to_come.len()
    }

    /// Points still in the running.
    pub fn running(&self) -> usize {
        self.entries.iter().filter(|entry| entry.state == State::Running).count()
    }

    /// Notes a run.
    pub fn record(&mut self, index: usize, trial: Trial) {
        self.entries[index].trials.push((self.round, trial));
    }

    /// Leaves a point out, for a reason.
    pub fn leave_out(&mut self, index: usize, why: &'static str) {
        self.entries[index].state = State::LeftOut(why);
    }

    /// Ends the sweep: each point has its figure from now on.
    pub fn conclude(&mut self) {
        for way in WAYS {
            let (indexes, rates) = self.rates_of(|entry| entry.point.way == way);
            let figures = level::figures(&rates);
            indexes.into_iter().zip(figures).for_each(|(index, figure)| self.entries[index].figure = figure);
        }
    }

    /// Ends the round: drops losing points, and begins the next one in another order, so that no point always follows
    /// the same other.
    pub fn end_round(&mut self) {
        for way in WAYS {
            self.drop_losers(way);
        }
        self.round += 1;
        let running = self.entries.iter().enumerate().filter(|(_, entry)| entry.state == State::Running);
        self.to_come = running.map(|(index, _)| index).collect();
        self.random.shuffle(&mut self.to_come);
    }

    /// The indexes of these entries, and their rates by round.
    fn rates_of(&self, these: impl Fn(&Entry) -> bool) -> (Vec<usize>, Vec<Vec<(u32, f64)>>) {
        let wanted = self.entries.iter().enumerate().filter(|(_, entry)| these(entry));
        wanted.map(|(index, entry)| (index, entry.rates())).unzip()
    }

    /// Drops the points of that way that clearly lost to the one that is surely fastest, not to one that was lucky.
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
