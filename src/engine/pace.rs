//! Finding the block size and depth while copying.
//!
//! Pure: told the time and the bytes that have arrived, it says when to use another pair. The pump carries it out
//! between two rounds, when nothing is in flight.
use crate::core::Tuning;
use std::time::Duration;

/// A block size in bytes and a depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// Bytes per request.
    pub block_bytes: u32,
    /// Most blocks in flight.
    pub depth: u32,
}

impl Pair {
    fn in_flight_bytes(self) -> u64 {
        u64::from(self.block_bytes) * u64::from(self.depth)
    }
}

/// No trial before the copy has run this long: most copies of files are over by then, and a disk has woken up.
const FIRST_TRIAL_AFTER: Duration = Duration::from_millis(400);
/// No search when the rest of the copy takes less than this: a search lasts two to three seconds and costs a tenth of
/// that, which a gain of a few percent must bring in again.
const WORTH_A_SEARCH: Duration = Duration::from_secs(4);
/// The same where the first pair was measured beforehand: a search would bring in a percent or two.
const WORTH_A_SEARCH_TUNED: Duration = Duration::from_secs(30);
/// A pair is judged by at least this much time: shorter, and a virtual machine's scheduling is what is measured.
const WINDOW: Duration = Duration::from_millis(250);
/// A pair that would be taken goes on for this long before it is: it costs nothing when it is better, and halves the
/// chance that it was only lucky.
const WINDOW_CONFIRMED: Duration = Duration::from_millis(500);
/// A pair that has reached less than [`HOPELESS`] of the best after this long is given up: no device is that uneven.
const WINDOW_HOPELESS: Duration = Duration::from_millis(60);
const HOPELESS: f64 = 0.75;
/// And by at least this many times its bytes in flight, so that filling the pipe is not what is measured.
const WINDOW_TURNS: u64 = 3;
/// But no longer than this, once anything has arrived at all.
const WINDOW_MAX: Duration = Duration::from_secs(4);
/// Another pair must be this much better to be taken: measurements of equal pairs differ by less.
const BETTER: f64 = 1.03;
/// A smaller pair is taken when it reaches this share of the best: fewer bytes in flight cost less memory, stay in the
/// processor's cache, and answer sooner.
const AS_GOOD: f64 = 0.98;
/// Nothing smaller than this is tried: there is no memory left to save, and more and smaller requests cost CPU time.
const IN_FLIGHT_BYTES_SMALL: u64 = 1 << 20;
/// Nor fewer blocks than this, one a side: reads and writes would take turns.
const DEPTH_MIN: u32 = 2;
/// Pairs that looked better than the chosen one turns out to be get a second trial, so many after a search.
const SECOND_LOOKS: u32 = 3;
/// Watching: this much slower, or faster, than when it was settled is another disk (inner tracks, a full cache, heat).
const SLOWER: f64 = 0.70;
const FASTER: f64 = 1.50;
/// Watching: judged by windows of this length, and this many in a row.
const WATCH_WINDOW: Duration = Duration::from_secs(2);
const WATCH_WINDOWS: u32 = 3;
/// Watching: at least this long between two searches, doubled with each: a disk that is fast and slow in turn, as USB
/// sticks are, is not searched for ever.
const SEARCH_AGAIN_AFTER: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The first pair runs.
    Starting,
    /// Pairs around the best are tried.
    Searching,
    /// The best of a search runs for the first time since: is it as good as it looked?
    Settling,
    /// A pair that looked better than the best is tried once more.
    LookingAgain,
    /// The best runs; is it still as good as it was?
    Watching,
}

/// The search for a pair, and the watch over it.
#[derive(Debug)]
pub struct Governor {
    bounds: Tuning,
    state: State,
    current: Pair,
    best: (Pair, f64),
    tried: Vec<(Pair, f64)>,
    /// When the present window began, and the bytes that had arrived by then; `None`: the pipe is filling.
    window: Option<(Duration, u64)>,
    /// Bytes that had arrived when the present pair was taken into use.
    began_bytes: u64,
    /// Bytes of the whole copy; `u64::MAX` for a stream.
    len: u64,
    second_looks: u32,
    /// Windows in a row in which the disk was another.
    odd_windows: u32,
    searched_at: Duration,
    patience: Duration,
    /// When it was told last, and the bytes that had arrived by then.
    told: (Duration, u64),
    settled: SteadyRate,
}

/// What came while the pipe was full and no pair was tried, up to the moment that the governor was told last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SteadyRate {
    /// Time.
    pub time: Duration,
    /// Bytes that arrived in it.
    pub bytes: u64,
}

impl Governor {
    /// Begins with the plan's pair, for a copy of `len` bytes; `None`: nobody knows.
    pub fn new(tuning: Tuning, len: Option<u64>) -> Self {
        let current = Pair { block_bytes: tuning.block_bytes, depth: tuning.depth };
        Governor {
            bounds: tuning,
            state: State::Starting,
            current,
            best: (current, 0.0),
            tried: Vec::new(),
            window: None,
            began_bytes: 0,
            len: len.unwrap_or(u64::MAX),
            second_looks: 0,
            odd_windows: 0,
            searched_at: Duration::ZERO,
            patience: SEARCH_AGAIN_AFTER,
            told: (Duration::ZERO, 0),
            settled: SteadyRate::default(),
        }
    }

    /// Tells the time since the copy began and the bytes of data that have arrived. Says which pair to use from now
    /// on, when that is another; the caller then calls [`Governor::resumed`].
    pub fn observe(&mut self, now: Duration, arrived_bytes: u64) -> Option<Pair> {
        self.note_settled(now, arrived_bytes);
        if !self.bounds.adaptive {
            return None;
        }
        if arrived_bytes < self.began_bytes + self.current.in_flight_bytes() {
            return None;
        }
        let (began, at) = *self.window.get_or_insert((now, arrived_bytes));
        let (elapsed, bytes) = (now.saturating_sub(began), arrived_bytes - at);
        if elapsed < WINDOW_HOPELESS || bytes == 0 || now < FIRST_TRIAL_AFTER {
            return None;
        }
        let rate = bytes as f64 / elapsed.as_secs_f64();
        let turned = bytes >= WINDOW_TURNS * self.current.in_flight_bytes();
        if elapsed < self.window_for(rate) || !(turned || elapsed >= WINDOW_MAX) {
            return None;
        }
        self.window = Some((now, arrived_bytes));
        let left = Duration::try_from_secs_f64(self.len.saturating_sub(arrived_bytes) as f64 / rate);
        self.judge(rate, now, left.unwrap_or(Duration::MAX))
    }

    fn note_settled(&mut self, now: Duration, arrived_bytes: u64) {
        let (at, bytes) = std::mem::replace(&mut self.told, (now, arrived_bytes));
        let filling = bytes < self.began_bytes + self.current.in_flight_bytes();
        if !filling && !matches!(self.state, State::Searching | State::LookingAgain) {
            self.settled.time += now.saturating_sub(at);
            self.settled.bytes += arrived_bytes.saturating_sub(bytes);
        }
    }

    /// What came so far while nothing was tried: the rate of it is the one to come.
    pub fn settled(&self) -> SteadyRate {
        self.settled
    }

    /// How long the present pair is looked at, when it has reached `rate` so far.
    fn window_for(&self, rate: f64) -> Duration {
        match self.state {
            State::Starting => WINDOW,
            State::Searching if self.is_better(rate) => WINDOW_CONFIRMED,
            State::Searching | State::LookingAgain if rate < self.best.1 * HOPELESS => WINDOW_HOPELESS,
            State::Searching => WINDOW,
            State::LookingAgain => WINDOW_CONFIRMED,
            State::Settling | State::Watching => WATCH_WINDOW,
        }
    }

    /// Whether the present pair, at `rate`, is to be preferred to the best.
    fn is_better(&self, rate: f64) -> bool {
        let (best, best_rate) = self.best;
        let smaller = self.current.in_flight_bytes() < best.in_flight_bytes();
        rate > best_rate * BETTER || (smaller && rate >= best_rate * AS_GOOD)
    }

    fn judge(&mut self, rate: f64, now: Duration, left: Duration) -> Option<Pair> {
        match self.state {
            State::Starting => self.begin_search(rate, now, left),
            State::Searching => {
                self.tried.push((self.current, rate));
                if self.is_better(rate) {
                    // The rate to beat stays the best seen: many small concessions must not add up.
                    self.best = (self.current, rate.max(self.best.1));
                }
                self.next_trial(now, left)
            }
            State::LookingAgain => {
                self.tried.iter_mut().filter(|(pair, _)| *pair == self.current).for_each(|tried| tried.1 = rate);
                if rate <= self.best.1 * BETTER {
                    return self.settle();
                }
                self.best = (self.current, rate);
                self.state = State::Searching;
                self.next_trial(now, left)
            }
            State::Settling => {
                self.best.1 = rate;
                self.look_again(left)
            }
            State::Watching => {
                let odd = rate < self.best.1 * SLOWER || rate > self.best.1 * FASTER;
                self.odd_windows = if odd { self.odd_windows + 1 } else { 0 };
                let due = now >= self.searched_at.saturating_add(self.patience);
                if self.odd_windows < WATCH_WINDOWS || !due {
                    return None;
                }
                self.patience = self.patience.saturating_mul(2);
                self.begin_search(rate, now, left)
            }
        }
    }

    fn begin_search(&mut self, rate: f64, now: Duration, left: Duration) -> Option<Pair> {
        let worth = if self.bounds.tuned { WORTH_A_SEARCH_TUNED } else { WORTH_A_SEARCH };
        if left < worth {
            return None;
        }
        self.state = State::Searching;
        (self.odd_windows, self.second_looks) = (0, 0);
        self.best = (self.current, rate);
        self.tried.clear();
        self.tried.push((self.current, rate));
        self.next_trial(now, left)
    }

    fn next_trial(&mut self, now: Duration, left: Duration) -> Option<Pair> {
        let untried = |pair: &Pair| self.tried.iter().all(|(tried, _)| tried != pair);
        match self.candidates().find(untried).filter(|_| left >= WINDOW_CONFIRMED) {
            Some(pair) => self.take(pair),
            None => {
                self.searched_at = now;
                self.settle()
            }
        }
    }

    fn settle(&mut self) -> Option<Pair> {
        self.state = State::Settling;
        self.take(self.best.0)
    }

    /// Tries the pair once more that looked best of those that looked better than the chosen one now does: one of the
    /// two was measured in a lucky or an unlucky moment.
    fn look_again(&mut self, left: Duration) -> Option<Pair> {
        let (best, best_rate) = self.best;
        let better = self.tried.iter().filter(|&&(pair, rate)| pair != best && rate > best_rate * BETTER);
        let again = better.max_by(|one, other| one.1.total_cmp(&other.1)).map(|&(pair, _)| pair);
        match again.filter(|_| self.second_looks < SECOND_LOOKS && left >= WORTH_A_SEARCH) {
            Some(pair) => {
                self.second_looks += 1;
                self.state = State::LookingAgain;
                self.take(pair)
            }
            None => {
                self.state = State::Watching;
                None
            }
        }
    }

    fn take(&mut self, pair: Pair) -> Option<Pair> {
        let was = std::mem::replace(&mut self.current, pair);
        (pair != was).then_some(pair)
    }

    /// Pairs worth trying from the best on: first the one far away (fewer, larger requests: what a moving head wants),
    /// then the neighbours.
    fn candidates(&self) -> impl Iterator<Item = Pair> + use<> {
        let Pair { block_bytes, depth } = self.best.0;
        let bounds = self.bounds;
        let steps = [
            (block_bytes.saturating_mul(4), depth / 8),
            (block_bytes.saturating_mul(2), depth / 2),
            (block_bytes, depth / 2),
            (block_bytes, depth.saturating_mul(2)),
            (block_bytes.saturating_mul(2), depth),
            (block_bytes / 2, depth.saturating_mul(2)),
            (block_bytes / 2, depth),
        ];
        steps.into_iter().map(|(block_bytes, depth)| Pair { block_bytes, depth }).filter(move |pair| {
            pair.depth >= DEPTH_MIN
                && pair.depth <= bounds.depth_max
                && pair.block_bytes >= bounds.block_bytes_min
                && pair.block_bytes <= bounds.block_bytes_max
                && pair.in_flight_bytes() >= IN_FLIGHT_BYTES_SMALL
                && pair.in_flight_bytes() <= u64::from(bounds.in_flight_bytes_max)
        })
    }

    /// Tells that the pair asked for is in use from now on, with nothing in flight yet.
    pub fn resumed(&mut self, arrived_bytes: u64) {
        self.window = None;
        self.began_bytes = arrived_bytes;
    }

    /// Forgets the present window: what arrived in it does not count, because it was not data.
    pub fn disturbed(&mut self, now: Duration, arrived_bytes: u64) {
        if self.window.is_some() {
            self.window = Some((now, arrived_bytes));
        }
    }

    /// The pair in use.
    pub fn current(&self) -> Pair {
        self.current
    }

    /// Why this pair, in a clause; `planned` is the plan's own reason.
    pub fn because(&self) -> &'static str {
        match self.state {
            _ if !self.bounds.adaptive => "as planned",
            State::Starting if self.bounds.tuned => "as planned, by what haul tune saved",
            State::Starting => "as planned; it was over before another pair could be tried",
            State::Searching | State::LookingAgain => "still being tried when the copy ended",
            State::Settling | State::Watching => "the smallest within 2 % of the best rate of those tried",
        }
    }

    /// Why the pair that was just taken into use: for whoever watches.
    pub fn taken_because(&self) -> &'static str {
        if matches!(self.state, State::Settling | State::Watching) { "settled" } else { "trying" }
    }

    /// The pairs tried in the last search and the rates they reached, in bytes a second.
    pub fn tried(&self) -> Vec<(u32, u32, u64)> {
        self.tried.iter().map(|&(pair, rate)| (pair.block_bytes, pair.depth, rate as u64)).collect()
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
