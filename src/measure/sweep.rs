//! Rounds of runs over many points: losers drop out early, the others are told apart by repetition.
use super::stats::{interval, median};
use super::{Point, Trial, Way};

/// After one round, a point below this share of the best cannot be the answer: no noise of ours is as large.
const LOST_AT_ONCE: f64 = 0.5;

/// After more rounds, a point whose interval ends below this share of the best is out.
const LOST: f64 = 0.9;

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
}

impl Entry {
    /// The rates of its sound runs by round, in bytes a second.
    pub fn rates(&self) -> Vec<(u32, f64)> {
        let sound = self.trials.iter().filter(|(_, trial)| trial.is_sound());
        sound.map(|(round, trial)| (*round, trial.bytes_per_s())).collect()
    }

    /// The median of these; `None` where no run was sound.
    pub fn rate(&self) -> Option<f64> {
        median(&self.rates().into_iter().map(|(_, rate)| rate).collect::<Vec<_>>())
    }

    /// The median of a number of its sound runs.
    pub fn median_of(&self, number: impl Fn(&Trial) -> f64) -> Option<f64> {
        let sound = self.trials.iter().filter(|(_, trial)| trial.is_sound());
        median(&sound.map(|(_, trial)| number(trial)).collect::<Vec<_>>())
    }

    /// Its rates by those of `other` in the rounds that both ran: what differs between places is not in them.
    pub fn shares_of(&self, other: &Entry) -> Vec<f64> {
        let theirs = other.rates();
        let pair = |(round, rate): (u32, f64)| {
            theirs.iter().find(|(other, _)| *other == round).map(|(_, other_rate)| rate / other_rate)
        };
        self.rates().into_iter().filter_map(pair).collect()
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
        let entries: Vec<Entry> =
            points.into_iter().map(|point| Entry { point, trials: Vec::new(), state: State::Running }).collect();
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

    /// The fastest point of that way of those in the running: the one that is surely as fast, by the lower end of the
    /// interval of its rates, not the one that was lucky. Rates are taken by the middle one of their round, so that
    /// places that differ do not count.
    pub fn best(&self, way: Way) -> Option<&Entry> {
        let running = || self.entries.iter().filter(|entry| entry.point.way == way && entry.state == State::Running);
        let mut rounds: Vec<Vec<f64>> = vec![Vec::new(); self.round as usize + 1];
        running().flat_map(Entry::rates).for_each(|(round, rate)| rounds[round as usize].push(rate));
        let middles: Vec<f64> = rounds.iter().map(|rates| median(rates).unwrap_or(1.0)).collect();
        let most = running().map(|entry| entry.rates().len()).max()?;
        let surely = |entry: &Entry| {
            let shares: Vec<f64> =
                entry.rates().into_iter().map(|(round, rate)| rate / middles[round as usize]).collect();
            // Of a single run nobody knows how lucky it was.
            if shares.len() < most.min(2) { None } else { interval(&shares).map(|(low, _)| low).or(median(&shares)) }
        };
        let rated = running().filter_map(|entry| Some((entry, surely(entry)?)));
        rated.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(entry, _)| entry)
    }

    /// Ends the round: drops who lost, and begins the next one in another order, so that nobody always comes behind the
    /// same other.
    pub fn end_round(&mut self) {
        // Each way has an answer of its own.
        for way in [Way::Direct, Way::Buffered, Way::Mapped] {
            let Some(best) = self.best(way).cloned() else { continue };
            let others = self.entries.iter_mut().filter(|entry| entry.point.way == way && entry.point != best.point);
            for entry in others.filter(|entry| entry.point != self.kept && entry.state == State::Running) {
                if has_lost(entry, &best) {
                    entry.state = State::Lost;
                }
            }
        }
        self.round += 1;
        let running = self.entries.iter().enumerate().filter(|(_, entry)| entry.state == State::Running);
        self.to_come = running.map(|(index, _)| index).collect();
        self.random.shuffle(&mut self.to_come);
    }
}

fn has_lost(entry: &Entry, best: &Entry) -> bool {
    let shares = entry.shares_of(best);
    match (shares.as_slice(), interval(&shares)) {
        ([], _) => false,
        ([only], _) => *only < LOST_AT_ONCE,
        (_, Some((_, high))) => high < LOST,
        (_, None) => false,
    }
}
