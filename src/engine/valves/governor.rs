//! The governor: chooses trials and keeps their cost low.
use super::bursts::BurstSearch;
use super::change::{Bounds, LimitChange};
use super::limits::{Bursts, Limits, Round, Start, SteadyRate};
use super::reason;
use super::trial::{Gains, Running, Trial, Verdict, is_clear, is_clear_early};
use super::window::{FIRST_REQUESTS, Window, WindowShare, wanted};
use crate::core::Side;
use std::time::Duration;

/// Number of requests that one side waits for the measurement of the other side.
const WAIT_REQUESTS: u32 = 24;
/// Number of requests that suffice for a very clear result.
const CLEAR_REQUESTS: u32 = 4;
/// Minimum remaining time for later trials, in seconds: they cost tens of milliseconds and gain one or two percent.
const LATER_LEFT_S: f64 = 15.0;
/// Pause between later trials, in seconds. It grows by half after each trial without gain, up to [`PAUSE_MAX_S`].
const PAUSE_S: f64 = 0.5;
/// See [`PAUSE_S`].
const PAUSE_MAX_S: f64 = 30.0;
/// A later trial begins only if the lost time is below this share of the elapsed time.
const LOST_SHARE_MAX: f64 = 0.01;
/// Minimum remaining time for trials on a rotational side, in seconds: its initial limits are usually right.
const ROTATIONAL_LEFT_S: f64 = 5.0;
/// A window that takes this multiple of its usual time is abandoned.
const WINDOW_TIME_FACTOR: f64 = 6.0;
/// A side is tuned only if it was at its limit for this share of the time.
const FULL_SHARE_MIN: f64 = 0.3;
/// Time at the start in which windows are short, in seconds.
const EARLY_S: f64 = 1.0;
/// The first blocks are ignored: the rate is not steady while the pool fills.
const FILLING_BLOCKS: u64 = 8;
/// Maximum number of trials in the report; later ones replace the oldest.
const TRIALS_MAX: usize = 256;

/// Index of the destination in arrays with one entry per side.
const DEST: usize = 1;

/// Tunes the limits of a copy while it runs.
#[derive(Debug)]
pub struct Governor {
    start: Start,
    bounds: Bounds,
    limits: Limits,
    windows: [Window; 2],
    running: Option<Running>,
    bursts: BurstSearch,
    /// Whether more and fewer requests were tried for a side since its last change.
    tried: [[bool; 2]; 2],
    /// Whether doubling was tried a second time, because a single pair of windows was against it.
    retried: [bool; 2],
    /// The last successful change, to be tried again.
    again: Option<LimitChange>,
    /// Index of the next later trial.
    turn: usize,
    next_at_s: f64,
    pause_s: f64,
    lost_s: f64,
    /// Time for which each side was at its limit since the last trial, in seconds.
    full_s: [f64; 2],
    since_s: f64,
    now_s: f64,
    dest_bytes: u64,
    settled_s: f64,
    settled_bytes: u64,
    trials: Vec<Trial>,
}

impl Governor {
    /// Starts with `start.tuning.limits`, clamped to the bounds.
    pub fn new(start: Start) -> Self {
        let bounds = Bounds::of(&start);
        let bursts = BurstSearch::new(&start);
        let limits = Limits { bursts: bursts.first(), ..bounds.clamp(start.tuning.limits) };
        let mut governor = Governor {
            start,
            bounds,
            limits,
            windows: [Window::default(); 2],
            running: None,
            bursts,
            tried: [[start.tuning.tuned; 2]; 2],
            retried: [start.tuning.tuned; 2],
            again: None,
            turn: 0,
            next_at_s: if start.tuning.tuned { EARLY_S } else { 0.0 },
            pause_s: PAUSE_S,
            lost_s: 0.0,
            full_s: [0.0; 2],
            since_s: 0.0,
            now_s: 0.0,
            dest_bytes: 0,
            settled_s: 0.0,
            settled_bytes: 0,
            trials: Vec::with_capacity(if start.tuning.adaptive { TRIALS_MAX } else { 0 }),
        };
        governor.restart_windows();
        governor
    }

    /// The current limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Time and bytes outside trials; their rate predicts the rest of the copy.
    pub fn steady_rate(&self) -> SteadyRate {
        SteadyRate { time: Duration::from_secs_f64(self.settled_s), bytes: self.settled_bytes }
    }

    /// Time lost to trials so far: beyond what the same bytes would have taken without them.
    pub fn lost(&self) -> Duration {
        Duration::from_secs_f64(self.lost_s)
    }

    /// The completed trials, oldest first.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// The reason for the current limits, a clause.
    pub fn because(&self) -> String {
        reason::of(&self.start, self.limits, &self.trials)
    }

    /// Processes a round of the pump. Returns the new limits; `None` if they do not change.
    pub fn observe(&mut self, round: &Round) -> Option<Limits> {
        let now_s = round.now.as_secs_f64();
        let passed_s = (now_s - self.now_s).max(0.0);
        (self.now_s, self.dest_bytes) = (now_s.max(self.now_s), round.dest_bytes);
        self.note_settled(passed_s, round);
        if !self.start.tuning.adaptive {
            return None;
        }
        let before = self.limits;
        let left_s = self.left_s();
        if let Some(bursts) = self.bursts.observe(round, passed_s, left_s) {
            self.use_bursts(bursts);
        }
        if self.bursts.allows_trials() && !self.limits.bursts {
            self.note_windows(passed_s, round);
            if !round.finished {
                match self.running {
                    Some(running) => self.continue_trial(running, round.disturbed),
                    None => self.begin_trial(),
                }
            }
        }
        (self.limits != before).then_some(self.limits)
    }

    /// Switches bursts on or off, and records a completed comparison.
    fn use_bursts(&mut self, bursts: bool) {
        self.running = None;
        self.limits.bursts = bursts;
        self.restart_windows();
        self.lost_s += self.bursts.take_lost_s();
        if let Some(trial) = self.bursts.take_trial(self.now_s, self.limits) {
            self.record(trial);
        }
    }

    fn restart_windows(&mut self) {
        for (window, limit) in self.windows.iter_mut().zip(self.limits.in_flight) {
            window.begin(limit, 0);
        }
        (self.full_s, self.since_s) = ([0.0; 2], self.now_s);
    }

    fn note_settled(&mut self, passed_s: f64, round: &Round) {
        // The baseline windows of a trial count as steady once requests with the other limits have completed.
        let calm = self.running.is_none_or(|running| !running.is_changed() && !self.windows[running.by].skips());
        let filling = round.dest_bytes < u64::from(self.limits.block_bytes) * FILLING_BLOCKS;
        if calm && !filling && !round.disturbed && !self.bursts.measures() {
            self.settled_s += passed_s;
            self.settled_bytes += round.completed_bytes[DEST];
        }
    }

    fn note_windows(&mut self, passed_s: f64, round: &Round) {
        // On one device, a side could gain what the other one loses.
        let together = self.start.tuning.bursts != Bursts::Never;
        let traffic_bytes: u64 = round.completed_bytes.iter().sum();
        for side in 0..2 {
            self.windows[side].note(&WindowShare {
                passed_s,
                requests: round.completed[side],
                bytes: if together { traffic_bytes } else { round.completed_bytes[side] },
                dest_bytes: round.completed_bytes[DEST],
                in_flight: round.in_flight[side],
                limit: self.limits.in_flight[side],
                wrote_block_bytes: if side == DEST { round.wrote_block_bytes } else { 0 },
                disturbed: round.disturbed,
            });
            if self.windows[side].is_full() {
                self.full_s[side] += passed_s;
            }
        }
    }

    /// Remaining time at the mean rate so far, in seconds.
    fn left_s(&self) -> f64 {
        let Some(len) = self.start.len else { return f64::INFINITY };
        len.saturating_sub(self.dest_bytes) as f64 * self.now_s / self.dest_bytes.max(1) as f64
    }

    fn use_limits(&mut self, limits: Limits, by: usize) {
        let other_size = limits.block_bytes != self.limits.block_bytes;
        let awaited = if by == DEST && other_size { limits.block_bytes } else { 0 };
        let skip = if limits == self.limits { 0 } else { limits.in_flight[by].max(self.limits.in_flight[by]) };
        self.limits = limits;
        self.windows[by].begin(skip, awaited);
        if let Some(running) = &mut self.running {
            (running.step_began_s, running.step_dest_bytes) = (self.now_s, self.dest_bytes);
        }
    }

    /// The side that may be the bottleneck. If both sides are at their limit, as while the pool fills, it is the slower
    /// one.
    fn side_to_tune(&self) -> Option<usize> {
        let full_min_s = FULL_SHARE_MIN * (self.now_s - self.since_s).max(1e-9);
        let full = self.full_s.map(|full_s| full_s >= full_min_s);
        let enough = |side: usize| self.windows[side].requests >= FIRST_REQUESTS.min(self.limits.in_flight[side]);
        let ready = [0, 1].map(|side| full[side] && enough(side));
        match ready {
            [false, false] => None,
            [true, true] => Some(usize::from(self.windows[1].rate() < self.windows[0].rate())),
            [source, _] => {
                let side = usize::from(!source);
                // The other side may become ready soon, unless it is at its limit only at times.
                let awaits_other = full[1 - side] && self.windows[side].requests < WAIT_REQUESTS;
                (!awaits_other).then_some(side)
            }
        }
    }

    fn begin_trial(&mut self) {
        let Some(by) = self.side_to_tune() else { return };
        let Some(change) = self.next_change(by) else { return };
        let Some(other) = self.bounds.after(self.limits, change) else { return };
        let mut running = Running::new(change, by, [self.limits, other], self.now_s, self.dest_bytes);
        let window = self.windows[by];
        // The expected duration of the first window.
        running.base_took_s = window.time_for(wanted(self.is_early(by), self.limits.in_flight[by]).0);
        self.running = Some(running);
    }

    /// The next trial. The first trials follow each other; later ones have pauses between them.
    fn next_change(&mut self, by: usize) -> Option<LimitChange> {
        let of_other = [LimitChange::More(1 - by), LimitChange::Fewer(1 - by)];
        if let Some(change) = self.again.take().filter(|change| !of_other.contains(change)) {
            return Some(change);
        }
        let few_s = self.dest_bytes < self.start.pool_bytes() || self.left_s() < ROTATIONAL_LEFT_S;
        if self.start.rotational[by] && few_s {
            return None;
        }
        let more = LimitChange::More(by);
        let up = if self.bounds.after(self.limits, more).is_some() { more } else { LimitChange::Smaller };
        if !std::mem::replace(&mut self.tried[by][0], true) {
            return Some(up);
        }
        let fewer = LimitChange::Fewer(by);
        if !self.tried[by][1] && self.bounds.after(self.limits, fewer).is_some() {
            self.tried[by][1] = true;
            return Some(fewer);
        }
        let due = self.now_s >= self.next_at_s && self.left_s() >= LATER_LEFT_S;
        if !due || self.lost_s > LOST_SHARE_MAX * self.now_s {
            return None;
        }
        self.turn += 1;
        Some([up, fewer, LimitChange::Larger][self.turn % 3])
    }

    /// Whether the first trials of a side are not complete.
    fn is_early(&self, by: usize) -> bool {
        let [more, fewer] = self.tried[by];
        let may_be_fewer = self.bounds.after(self.limits, LimitChange::Fewer(by)).is_some();
        !more || (!fewer && may_be_fewer) || self.now_s < EARLY_S
    }

    /// Whether a single clear gain suffices. A higher depth does not double the rate of a rotational disk, and later
    /// trials do not find what the first ones missed: such a gain has another cause, such as another process that
    /// ended.
    fn trusts_one_gain(&self, running: &Running) -> bool {
        running.change.adds() && self.is_early(running.by) && !self.start.rotational[running.by]
    }

    fn continue_trial(&mut self, mut running: Running, disturbed: bool) {
        let by = running.by;
        if self.windows[by].awaits_blocks(2 * self.start.pool_bytes()) || disturbed {
            (running.step_began_s, running.step_dest_bytes) = (self.now_s, self.dest_bytes);
            self.running = Some(running);
            return;
        }
        let (requests, time_s) = wanted(self.is_early(by), self.limits.in_flight[by]);
        let took_s = self.now_s - running.step_began_s;
        let window = self.windows[by];
        if !window.has(requests, time_s) {
            let half = CLEAR_REQUESTS.max(self.limits.in_flight[by]);
            let gain = (window.rate() / running.rate_base).ln();
            let early = running.is_changed() && window.has(half, time_s / 2.0);
            match is_clear_early(gain).filter(|&kept| early && (!kept || self.trusts_one_gain(&running))) {
                Some(kept) => {
                    self.lost_s += (1.0 - gain.exp()).max(0.0) * took_s;
                    running.gains = Gains::one(gain);
                    self.end_trial(running, if kept { Verdict::Kept } else { Verdict::Dropped });
                }
                None => self.end_where_not_full(running, time_s, took_s),
            }
            return;
        }
        let rate = window.rate();
        if running.is_changed() {
            running.rate_other = rate;
            let gain = (rate / running.rate_base).ln();
            let first_pair = running.gains.pairs == 0;
            self.lost_s += (1.0 - rate / running.rate_base).max(0.0) * took_s;
            if let Some(kept) = is_clear(gain).filter(|&kept| first_pair && (!kept || self.trusts_one_gain(&running))) {
                running.gains = Gains::one(gain);
                return self.end_trial(running, if kept { Verdict::Kept } else { Verdict::Dropped });
            }
        } else {
            if running.step > 0 {
                // A queue that was served out of order stays so for a while. So the gain is relative to the better of
                // the windows before and after; with their mean, bad changes would be kept.
                running.gains.add((running.rate_other / running.rate_base.max(rate)).ln());
            }
            running.rate_base = rate;
            (running.dest_rate_base, running.base_took_s) =
                (window.dest_bytes as f64 / window.time_s.max(1e-9), window.time_for(requests));
            if let Some(kept) = running.gains.verdict() {
                return self.end_trial(running, if kept { Verdict::Kept } else { Verdict::Dropped });
            }
        }
        running.step += 1;
        self.running = Some(running);
        self.use_limits(running.limits(), by);
    }

    /// Ends a trial whose window does not fill because the side is no longer at its limit. If the depth was increased
    /// and throughput is unchanged, the other side is the bottleneck now.
    fn end_where_not_full(&mut self, running: Running, time_s: f64, took_s: f64) {
        if took_s <= (WINDOW_TIME_FACTOR * running.base_took_s).max(4.0 * time_s) {
            return;
        }
        let dest_rate = self.dest_bytes.saturating_sub(running.step_dest_bytes) as f64 / took_s;
        let rarely_full = self.windows[running.by].time_s < 0.5 * took_s;
        let may_keep = running.is_changed() && running.change.adds() && !self.start.rotational[running.by];
        let kept = may_keep && rarely_full && dest_rate >= 0.97 * running.dest_rate_base;
        self.end_trial(running, if kept { Verdict::NoLongerFull } else { Verdict::Dropped });
    }

    fn end_trial(&mut self, running: Running, verdict: Verdict) {
        let kept = verdict != Verdict::Dropped;
        // Before the second window nothing was tried.
        if running.step > 0 {
            self.record(Trial {
                at: Duration::from_secs_f64(self.now_s),
                side: Some(Side::BOTH[running.by]),
                from: running.base,
                to: running.other,
                gain_percent: running.gains.percent(),
                pairs: running.gains.pairs,
                verdict,
            });
        }
        self.running = None;
        let to = if kept { running.other } else { running.base };
        // If a change was kept at once, its rate is the baseline of the next one.
        if to != self.limits || !running.is_changed() {
            self.use_limits(to, running.by);
        }
        self.pause_s = (self.pause_s * 1.5).min(PAUSE_MAX_S);
        if kept {
            self.again = (verdict == Verdict::Kept).then_some(running.change);
            self.pause_s = PAUSE_S;
            match running.change {
                // Whether it was chance shows once doubling gains nothing more.
                LimitChange::More(side) => (self.tried[side], self.retried[side]) = ([false, false], false),
                LimitChange::Fewer(side) => self.tried[side] = [true, false],
                LimitChange::Smaller | LimitChange::Larger => {}
            }
        } else if running.change == LimitChange::More(running.by) && running.gains.pairs == 1 {
            // A single pair may have met an unrelated pause, so try once more, but not a third time.
            let retried = std::mem::replace(&mut self.retried[running.by], true);
            self.tried[running.by][0] = retried;
        }
        self.next_at_s = self.now_s + self.pause_s;
        (self.full_s, self.since_s) = ([0.0; 2], self.now_s);
    }

    fn record(&mut self, trial: Trial) {
        if self.trials.len() == TRIALS_MAX {
            self.trials.remove(0);
        }
        self.trials.push(trial);
    }
}
