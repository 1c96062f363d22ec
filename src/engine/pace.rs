//! Finding the block size and depth while copying.
//!
//! Pure: told the time and the bytes that have arrived, it says when to use another pair. The pump carries it out
//! between two rounds, when nothing is in flight.
use crate::contract::Tuning;
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
/// A pair is judged by at least this much time: shorter, and a virtual machine's scheduling is what is measured.
const WINDOW: Duration = Duration::from_millis(250);
/// And at least this many times its bytes in flight, so that filling the pipe is not what is measured.
const WINDOW_TURNS: u64 = 3;
/// But no longer than this, once anything has arrived at all.
const WINDOW_MAX: Duration = Duration::from_secs(4);
/// Another pair must be this much better to be taken: measurements of equal pairs differ by less.
const BETTER: f64 = 1.03;
/// A smaller pair is taken when it reaches this share of the best: smaller blocks and fewer in flight cost less memory
/// and answer sooner.
const AS_GOOD: f64 = 0.98;
/// Watching: this much slower than when it was settled is another disk (inner tracks, a full cache, heat).
const CHANGED: f64 = 0.70;
/// Watching: judged by windows of this length, and this many in a row.
const WATCH_WINDOW: Duration = Duration::from_secs(2);
const WATCH_WINDOWS: u32 = 3;
/// Watching: at least this long between two searches, doubled each time one finds nothing better.
const SEARCH_AGAIN_AFTER: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The first pair runs.
    Starting,
    /// Pairs around the best are tried.
    Searching,
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
    slow_windows: u32,
    searched_at: Duration,
    patience: Duration,
}

impl Governor {
    /// Begins with the plan's pair.
    pub fn new(tuning: Tuning) -> Self {
        let current = Pair { block_bytes: tuning.block_bytes, depth: tuning.depth };
        Governor {
            bounds: tuning,
            state: State::Starting,
            current,
            best: (current, 0.0),
            tried: Vec::new(),
            window: None,
            began_bytes: 0,
            slow_windows: 0,
            searched_at: Duration::ZERO,
            patience: SEARCH_AGAIN_AFTER,
        }
    }

    /// Tells the time since the copy began and the bytes of data that have arrived. Says which pair to use from now
    /// on, when that is another; the caller then calls [`Governor::resumed`].
    pub fn observe(&mut self, now: Duration, arrived_bytes: u64) -> Option<Pair> {
        if !self.bounds.adaptive {
            return None;
        }
        if arrived_bytes < self.began_bytes + self.current.in_flight_bytes() {
            return None;
        }
        let (began, at) = *self.window.get_or_insert((now, arrived_bytes));
        let (elapsed, bytes) = (now.saturating_sub(began), arrived_bytes - at);
        let turned = bytes >= WINDOW_TURNS * self.current.in_flight_bytes();
        let least = if self.state == State::Watching { WATCH_WINDOW } else { WINDOW };
        let enough = elapsed >= least && (turned || (elapsed >= WINDOW_MAX && bytes > 0));
        if !enough || now < FIRST_TRIAL_AFTER {
            return None;
        }
        self.window = Some((now, arrived_bytes));
        self.judge(bytes as f64 / elapsed.as_secs_f64(), now)
    }

    fn judge(&mut self, rate: f64, now: Duration) -> Option<Pair> {
        match self.state {
            State::Starting => self.begin_search(rate, now),
            State::Searching => {
                self.tried.push((self.current, rate));
                let (best, best_rate) = self.best;
                let smaller = self.current.in_flight_bytes() < best.in_flight_bytes();
                if rate > best_rate * BETTER || (smaller && rate >= best_rate * AS_GOOD) {
                    // The rate to beat stays the best seen: many small concessions must not add up.
                    self.best = (self.current, rate.max(best_rate));
                }
                self.next_trial(now)
            }
            State::Watching => {
                self.best.1 = self.best.1.max(rate);
                self.slow_windows = if rate < self.best.1 * CHANGED { self.slow_windows + 1 } else { 0 };
                let due = now >= self.searched_at + self.patience;
                if self.slow_windows >= WATCH_WINDOWS && due { self.begin_search(rate, now) } else { None }
            }
        }
    }

    fn begin_search(&mut self, rate: f64, now: Duration) -> Option<Pair> {
        self.state = State::Searching;
        self.slow_windows = 0;
        self.best = (self.current, rate);
        self.tried.clear();
        self.tried.push((self.current, rate));
        self.next_trial(now)
    }

    fn next_trial(&mut self, now: Duration) -> Option<Pair> {
        let was = self.current;
        match self.candidates().find(|pair| self.tried.iter().all(|(tried, _)| tried != pair)) {
            Some(pair) => self.current = pair,
            None => {
                self.patience = if self.best.0 == self.tried[0].0 { self.patience * 2 } else { SEARCH_AGAIN_AFTER };
                self.state = State::Watching;
                self.searched_at = now;
                self.current = self.best.0;
            }
        }
        (self.current != was).then_some(self.current)
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
            pair.depth >= 1
                && pair.depth <= bounds.depth_max
                && pair.block_bytes >= bounds.block_bytes_min
                && pair.block_bytes <= bounds.block_bytes_max
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
            State::Starting => "as planned; the copy was over before another pair could be tried",
            State::Searching => "still being tried when the copy ended",
            State::Watching => "the smallest within 2 % of the best rate of those tried",
        }
    }

    /// Why the pair that was just taken into use: for whoever watches.
    pub fn taken_because(&self) -> &'static str {
        if self.state == State::Watching { "settled" } else { "trying" }
    }

    /// The pairs tried in the last search and the rates they reached, in bytes a second.
    pub fn tried(&self) -> Vec<(u32, u32, u64)> {
        self.tried.iter().map(|&(pair, rate)| (pair.block_bytes, pair.depth, rate as u64)).collect()
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
