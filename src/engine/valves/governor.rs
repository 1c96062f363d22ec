//! The governor: which trial is next, and what it costs.
use super::bursts::BurstSearch;
use super::change::{Bounds, LimitChange};
use super::limits::{Bursts, Limits, Round, Start, SteadyRate};
use super::reason;
use super::trial::{Gains, Running, Trial, Verdict, is_clear, is_clear_early};
use super::window::{FIRST_REQUESTS, Window, WindowShare, wanted};
use crate::core::Side;
use std::time::Duration;

/// One side waits for so many of its requests for the other side to be measured, too.
const WAIT_REQUESTS: u32 = 24;
/// Requests that are enough for what is very clear.
const CLEAR_REQUESTS: u32 = 4;
/// Later trials only where so many seconds are left: they cost some tens of milliseconds and bring a percent or two.
const LATER_LEFT_S: f64 = 15.0;
/// Between two later trials, in seconds; grows by half with each that brought nothing, up to [`PAUSE_MAX_S`].
const PAUSE_S: f64 = 0.5;
/// See [`PAUSE_S`].
const PAUSE_MAX_S: f64 = 30.0;
/// Share of the time so far that may have been lost before a later trial begins.
const LOST_SHARE_MAX: f64 = 0.01;
/// A side with a moving head is left alone where fewer seconds than this are left: what it begins with is right.
const ROTATIONAL_LEFT_S: f64 = 5.0;
/// A window that has not filled in so many times its usual length is abandoned.
const PATIENCE: f64 = 6.0;
/// A side is judged when its limit was reached for so much of the time.
const FULL_SHARE_MIN: f64 = 0.3;
/// The first seconds, in which windows are short.
const EARLY_S: f64 = 1.0;
/// While the pool fills, what arrives is no steady rate: so many blocks do not count.
const FILLING_BLOCKS: u64 = 8;
/// Trials kept for the report; of more, the last.
const TRIALS_MAX: usize = 256;

/// Index of the destination in arrays of one entry a side.
const DEST: usize = 1;

/// Finds the limits of a copy while it runs.
#[derive(Debug)]
pub struct Governor {
    start: Start,
    bounds: Bounds,
    limits: Limits,
    windows: [Window; 2],
    running: Option<Running>,
    bursts: BurstSearch,
    /// Changes of a side that were tried since it was last changed: more, fewer.
    tried: [[bool; 2]; 2],
    /// Whether twice as many were tried a second time, because one pair of windows was against them.
    retried: [bool; 2],
    /// The change that won, which is tried again.
    again: Option<LimitChange>,
    /// Which later trial is next.
    turn: usize,
    next_at_s: f64,
    pause_s: f64,
    lost_s: f64,
    /// Seconds in which each limit was reached since the last trial, and when that ended.
    full_s: [f64; 2],
    since_s: f64,
    now_s: f64,
    arrived_bytes: u64,
    settled_s: f64,
    settled_bytes: u64,
    trials: Vec<Trial>,
}

impl Governor {
    /// Begins with `start.tuning.limits`, kept within the bounds.
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
            arrived_bytes: 0,
            settled_s: 0.0,
            settled_bytes: 0,
            trials: Vec::with_capacity(if start.tuning.adaptive { TRIALS_MAX } else { 0 }),
        };
        governor.restart_windows();
        governor
    }

    /// The limits in use.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// What arrived while nothing was tried: the rate of it is the one to come.
    pub fn settled(&self) -> SteadyRate {
        SteadyRate { time: Duration::from_secs_f64(self.settled_s), bytes: self.settled_bytes }
    }

    /// What the search has cost so far: time that trials took beyond what their bytes would have taken without them.
    pub fn lost(&self) -> Duration {
        Duration::from_secs_f64(self.lost_s)
    }

    /// The trials that are over, oldest first.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Why these limits, in one clause.
    pub fn because(&self) -> String {
        reason::of(&self.start, self.limits, &self.trials)
    }

    /// Takes in a round of the pump. Returns other limits to use from now on, or `None`: those in use stay.
    pub fn observe(&mut self, round: &Round) -> Option<Limits> {
        let now_s = round.now.as_secs_f64();
        let passed_s = (now_s - self.now_s).max(0.0);
        (self.now_s, self.arrived_bytes) = (now_s.max(self.now_s), round.arrived_bytes);
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
                    Some(running) => self.go_on(running, round.disturbed),
                    None => self.begin_trial(),
                }
            }
        }
        (self.limits != before).then_some(self.limits)
    }

    /// Takes turns from now on, or no longer; and puts down a comparison that is over.
    fn use_bursts(&mut self, bursts: bool) {
        self.running = None;
        self.limits.bursts = bursts;
        self.restart_windows();
        self.lost_s += self.bursts.take_lost_s();
        if let Some(trial) = self.bursts.take_trial(self.now_s, self.limits) {
            self.put_down(trial);
        }
    }

    fn restart_windows(&mut self) {
        for (window, limit) in self.windows.iter_mut().zip(self.limits.in_flight) {
            window.begin(limit, 0);
        }
        (self.full_s, self.since_s) = ([0.0; 2], self.now_s);
    }

    fn note_settled(&mut self, passed_s: f64, round: &Round) {
        // The base of a trial, once what was tried is out of the pipe, is as good as no trial.
        let calm = self.running.is_none_or(|running| !running.is_changed() && !self.windows[running.by].skips());
        let filling = round.arrived_bytes < u64::from(self.limits.block_bytes) * FILLING_BLOCKS;
        if calm && !filling && !round.disturbed && !self.bursts.measures() {
            self.settled_s += passed_s;
            self.settled_bytes += round.came_bytes[DEST];
        }
    }

    fn note_windows(&mut self, passed_s: f64, round: &Round) {
        // On one device a side could gain what the other loses.
        let together = self.start.tuning.bursts != Bursts::Never;
        let traffic_bytes: u64 = round.came_bytes.iter().sum();
        for side in 0..2 {
            self.windows[side].note(&WindowShare {
                passed_s,
                requests: round.came[side],
                bytes: if together { traffic_bytes } else { round.came_bytes[side] },
                arrived_bytes: round.came_bytes[DEST],
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

    /// Seconds that are left at the rate so far.
    fn left_s(&self) -> f64 {
        let Some(len) = self.start.len else { return f64::INFINITY };
        len.saturating_sub(self.arrived_bytes) as f64 * self.now_s / self.arrived_bytes.max(1) as f64
    }

    fn use_limits(&mut self, limits: Limits, by: usize) {
        let other_size = limits.block_bytes != self.limits.block_bytes;
        let awaited = if by == DEST && other_size { limits.block_bytes } else { 0 };
        let skip = if limits == self.limits { 0 } else { limits.in_flight[by].max(self.limits.in_flight[by]) };
        self.limits = limits;
        self.windows[by].begin(skip, awaited);
        if let Some(running) = &mut self.running {
            (running.step_began_s, running.step_arrived_bytes) = (self.now_s, self.arrived_bytes);
        }
    }

    /// The side whose limit may be what limits the copy. Where both reach theirs, as they do while the pool fills, it
    /// is the slower one.
    fn side_to_judge(&self) -> Option<usize> {
        let full_min_s = FULL_SHARE_MIN * (self.now_s - self.since_s).max(1e-9);
        let full = self.full_s.map(|full_s| full_s >= full_min_s);
        let enough = |side: usize| self.windows[side].requests >= FIRST_REQUESTS.min(self.limits.in_flight[side]);
        let ready = [0, 1].map(|side| full[side] && enough(side));
        match ready {
            [false, false] => None,
            [true, true] => Some(usize::from(self.windows[1].rate() < self.windows[0].rate())),
            [source, _] => {
                let side = usize::from(!source);
                // The other side may become ready, but not where it is full only at times.
                let awaits_other = full[1 - side] && self.windows[side].requests < WAIT_REQUESTS;
                (!awaits_other).then_some(side)
            }
        }
    }

    fn begin_trial(&mut self) {
        let Some(by) = self.side_to_judge() else { return };
        let Some(change) = self.next_change(by) else { return };
        let Some(other) = self.bounds.after(self.limits, change) else { return };
        let mut running = Running::new(change, by, [self.limits, other], self.now_s, self.arrived_bytes);
        let window = self.windows[by];
        // What the first window will take, as far as can be reported.
        running.base_took_s = window.time_for(wanted(self.is_early(by), self.limits.in_flight[by]).0);
        self.running = Some(running);
    }

    /// The first trials follow each other; between later ones there are pauses.
    fn next_change(&mut self, by: usize) -> Option<LimitChange> {
        let of_other = [LimitChange::More(1 - by), LimitChange::Fewer(1 - by)];
        if let Some(change) = self.again.take().filter(|change| !of_other.contains(change)) {
            return Some(change);
        }
        let few_s = self.arrived_bytes < self.start.pool_bytes() || self.left_s() < ROTATIONAL_LEFT_S;
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

    /// Whether the first trials of a side are still under way.
    fn is_early(&self, by: usize) -> bool {
        let [more, fewer] = self.tried[by];
        let may_be_fewer = self.bounds.after(self.limits, LimitChange::Fewer(by)).is_some();
        !more || (!fewer && may_be_fewer) || self.now_s < EARLY_S
    }

    /// Whether one clear gain is enough. More in flight does not double what a head does, nor do later trials find what
    /// the first ones missed: a gain like that is caused by another process that ended.
    fn trusts_one_gain(&self, running: &Running) -> bool {
        running.change.adds() && self.is_early(running.by) && !self.start.rotational[running.by]
    }

    /// Goes on with a trial after a round.
    fn go_on(&mut self, mut running: Running, disturbed: bool) {
        let by = running.by;
        if self.windows[by].awaits_blocks(2 * self.start.pool_bytes()) || disturbed {
            (running.step_began_s, running.step_arrived_bytes) = (self.now_s, self.arrived_bytes);
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
                // A queue that was served out of order stays so for a while: the better of the windows before and
                // after counts, with their mean bad changes would win.
                running.gains.add((running.rate_other / running.rate_base.max(rate)).ln());
            }
            running.rate_base = rate;
            (running.arrived_base, running.base_took_s) =
                (window.arrived_bytes as f64 / window.time_s.max(1e-9), window.time_for(requests));
            if let Some(kept) = running.gains.judge() {
                return self.end_trial(running, if kept { Verdict::Kept } else { Verdict::Dropped });
            }
        }
        running.step += 1;
        self.running = Some(running);
        self.use_limits(running.limits(), by);
    }

    /// Ends a trial whose window does not fill because the side no longer reaches its limit. If more were asked for and
    /// no less arrives, the other side is the bottleneck now.
    fn end_where_not_full(&mut self, running: Running, time_s: f64, took_s: f64) {
        if took_s <= (PATIENCE * running.base_took_s).max(4.0 * time_s) {
            return;
        }
        let arrived = self.arrived_bytes.saturating_sub(running.step_arrived_bytes) as f64 / took_s;
        let rarely_full = self.windows[running.by].time_s < 0.5 * took_s;
        let may_keep = running.is_changed() && running.change.adds() && !self.start.rotational[running.by];
        let kept = may_keep && rarely_full && arrived >= 0.97 * running.arrived_base;
        self.end_trial(running, if kept { Verdict::NoLongerFull } else { Verdict::Dropped });
    }

    fn end_trial(&mut self, running: Running, verdict: Verdict) {
        let kept = verdict != Verdict::Dropped;
        // Before its second window nothing has been tried.
        if running.step > 0 {
            self.put_down(Trial {
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
        // What a change reached that was kept at once is what the next one has to beat.
        if to != self.limits || !running.is_changed() {
            self.use_limits(to, running.by);
        }
        self.pause_s = (self.pause_s * 1.5).min(PAUSE_MAX_S);
        if kept {
            self.again = (verdict == Verdict::Kept).then_some(running.change);
            self.pause_s = PAUSE_S;
            match running.change {
                // Whether that was luck is seen once no more is gained.
                LimitChange::More(side) => (self.tried[side], self.retried[side]) = ([false, false], false),
                LimitChange::Fewer(side) => self.tried[side] = [true, false],
                LimitChange::Smaller | LimitChange::Larger => {}
            }
        } else if running.change == LimitChange::More(running.by) && running.gains.pairs == 1 {
            // One pair may have met a pause of something else. Not again: what is slower twice is slower.
            let retried = std::mem::replace(&mut self.retried[running.by], true);
            self.tried[running.by][0] = retried;
        }
        self.next_at_s = self.now_s + self.pause_s;
        (self.full_s, self.since_s) = ([0.0; 2], self.now_s);
    }

    fn put_down(&mut self, trial: Trial) {
        if self.trials.len() == TRIALS_MAX {
            self.trials.remove(0);
        }
        self.trials.push(trial);
    }
}
