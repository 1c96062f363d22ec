//! How long a copy takes, place by place: from the rate curves of its sides, before it begins and while it runs.
use super::shift::levels;
use super::zones::Curve;
use crate::core::{Bound, Side};

/// The way is cut into as many steps: more than any disk has zones.
const STEPS: usize = 512;

/// Sides whose times differ by less hold a copy up both.
const CLEARLY_SLOWER: f64 = 1.05;

/// What was estimated counts as much as this share of the whole time in which it came true: the first
/// seconds of a copy say little.
const TRUSTED_SHARE: f64 = 0.02;

/// From this share of the whole time on, settled, a part of a copy says how it goes.
const TOLD_SHARE: f64 = 0.002;

/// A change of the rate is believed when so much of what is known of a copy came since.
const BELIEVED_SHARE: f64 = 0.25;

/// From this share of the bytes on only what has come counts.
const KNOWN_SHARE: f64 = 0.1;

/// The course of a copy, as far as its time goes.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// Bytes of it.
    pub len: u64,
    /// Reading the source and writing the dest, by [`Side::index`], places counted from the first byte of the copy.
    /// `None`: not known, or nothing.
    pub sides: [Option<&'a Curve>; 2],
    /// Most bytes a second.
    pub limit_bytes_per_s: Option<u64>,
    /// One side waits while the other is at work.
    pub in_turn: bool,
    /// From the last byte to the first.
    pub backward: bool,
    /// Either side may be as many times as fast as its curve, by [`Side::index`]; 1: it is not.
    pub faster_max: [f64; 2],
    /// Of a side is not known how long it takes: it may be longer than its curve says, or it has none.
    pub is_open: bool,
    /// What the write cache of the dest swallows at most, where one may.
    pub cache_bytes: u64,
}

impl Course<'_> {
    /// Seconds of either side alone and of the limit for a part of the course.
    fn parts(&self, from: f64, to: f64) -> [f64; 3] {
        let (a, b) = if self.backward { (self.len as f64 - to, self.len as f64 - from) } else { (from, to) };
        let [source, dest] = self.sides.map(|side| side.map_or(0.0, |curve| curve.seconds(a, b)));
        let limit = self.limit_bytes_per_s.map_or(0.0, |rate| (to - from) / rate.max(1) as f64);
        [source, dest, limit]
    }

    /// Seconds of the whole at least, and at most, where that is known.
    pub fn bounds_s(&self) -> (f64, Option<f64>) {
        let sum = |faster| steps(self.len).map(|(from, to)| self.step_s(from, to, faster)).sum::<f64>();
        (sum(self.faster_max), (!self.is_open).then(|| sum([1.0; 2])))
    }

    /// Seconds of a part of it, where either side is as many times as fast as its curve.
    fn step_s(&self, from: f64, to: f64, faster: [f64; 2]) -> f64 {
        let [source, dest, limit] = self.parts(from, to);
        let [source, dest] = [source / faster[0], dest / faster[1]];
        let sides = if self.in_turn { source + dest } else { source.max(dest) };
        sides.max(limit)
    }

    /// What holds such a copy up; `None` where only one side is known.
    pub fn bound(&self) -> Option<Bound> {
        let [source, dest, limit] = self.parts(0.0, self.len as f64);
        let sides = if self.in_turn { source + dest } else { source.max(dest) };
        if limit > sides {
            return Some(Bound::Limit);
        }
        if self.sides.iter().any(Option::is_none) {
            return None;
        }
        Some(match (self.in_turn, source > dest * CLEARLY_SLOWER, dest > source * CLEARLY_SLOWER) {
            (false, true, _) => Bound::Side(Side::Source),
            (false, _, true) => Bound::Side(Side::Dest),
            _ => Bound::Both,
        })
    }
}

/// The steps of so many bytes, from and to.
fn steps(len: u64) -> impl Iterator<Item = (f64, f64)> {
    let edge = move |step: usize| len as f64 * step as f64 / STEPS as f64;
    (0..STEPS).map(move |step| (edge(step), edge(step + 1)))
}

/// How far a copy is at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CopyProgress {
    /// Bytes that are through in any form, in earlier runs too.
    pub done_bytes: u64,
    /// Of these, bytes of this run.
    pub copied_bytes: u64,
    /// Of these, data: the others were zeros, which cost next to nothing.
    pub data_bytes: u64,
    /// Seconds since it began in which the pipe was full and no other block size or depth was tried.
    pub settled_s: f64,
    /// Of the data, what came in those.
    pub settled_bytes: u64,
}

/// What a copy is estimated to take, up to every place of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    len: u64,
    /// Seconds up to the end of each step, from 0.
    until_s: Vec<f64>,
    /// It is a range: a guess until the copy shows its rate.
    is_range: bool,
    /// A side of which nothing is known may be slower; it is taken to be as slow everywhere.
    is_open: bool,
    /// What the write cache of the dest swallows at most before the copy goes at its rate.
    cache_bytes: u64,
}

impl Forecast {
    /// The forecast of a copy that takes this course; `None` where nothing is known of it, or it has no bytes.
    pub fn of(course: &Course<'_>) -> Option<Forecast> {
        let known = course.limit_bytes_per_s.is_some() || course.sides.iter().any(Option::is_some);
        if !known || course.len == 0 {
            return None;
        }
        let mut until_s = vec![0.0];
        let mut sum_s = 0.0;
        for (from, to) in steps(course.len) {
            sum_s += course.step_s(from, to, [1.0; 2]);
            until_s.push(sum_s);
        }
        let Course { len, is_open, cache_bytes, .. } = *course;
        let is_range = is_open || course.faster_max != [1.0; 2];
        Some(Forecast { len, until_s, is_range, is_open, cache_bytes })
    }

    /// Bytes that it is for.
    pub fn len(&self) -> u64 {
        self.len
    }

    #[cfg(any(test, feature = "internals"))]
    /// It has none; never so.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Seconds of the whole copy; `None` where they are a range.
    pub fn expected_s(&self) -> Option<f64> {
        (!self.is_range).then(|| self.whole_s())
    }

    /// Seconds of the whole copy, by the rates that are known.
    fn whole_s(&self) -> f64 {
        self.until_s[STEPS]
    }

    /// Share of the time behind so many bytes.
    pub fn share_behind(&self, done_bytes: u64) -> f64 {
        1.0 - self.until(done_bytes) / self.whole_s()
    }

    /// Seconds up to a place.
    fn until(&self, place: u64) -> f64 {
        self.read_off(place, |step| self.until_s[step])
    }

    /// The value of a sum at a place, from its values at the ends of the steps.
    fn read_off(&self, place: u64, at_step: impl Fn(usize) -> f64) -> f64 {
        let steps = (place.min(self.len) as f64 / self.len as f64) * STEPS as f64;
        let step = (steps as usize).min(STEPS - 1);
        let part = steps - step as f64;
        at_step(step) + (at_step(step + 1) - at_step(step)) * part
    }

    /// Seconds that are left of a copy that went like this, by how much slower or faster it is than estimated. `None`
    /// where that cannot be derived from what has come: nothing, or zeros only.
    pub fn left_s(&self, track: &ProgressTrack) -> Option<f64> {
        let now = track.now;
        let base = self.base(track);
        let data = share(now.data_bytes, now.copied_bytes);
        if now.copied_bytes > 0 && now.data_bytes == 0 {
            return None;
        }
        // Where it was never settled it is taken to go as estimated, if that is one time.
        let slower = self.slower(&base, &now).or((!self.is_range).then_some(1.0))?;
        let rest_s = match self.is_open && slower > 1.0 {
            true => self.rest_by_other_side(&base, &now, slower),
            false => (self.whole_s() - self.until(now.done_bytes)) * slower,
        };
        Some(rest_s * data).filter(|rest_s| rest_s.is_finite())
    }

    /// Seconds of all that is left where it was so much slower than estimated from `base` to `now`, because each byte
    /// takes the other side as long, wherever it is.
    fn rest_by_other_side(&self, base: &CopyProgress, now: &CopyProgress, slower: f64) -> f64 {
        let step_bytes = self.len as f64 / STEPS as f64;
        let sums = |byte_s: f64| -> Vec<f64> {
            let mut sum = 0.0;
            let step = |pair: &[f64]| {
                sum += (pair[1] - pair[0]).max(byte_s * step_bytes);
                sum
            };
            std::iter::once(0.0).chain(self.until_s.windows(2).map(step)).collect()
        };
        let took = |sums: &[f64]| {
            self.read_off(now.done_bytes, |step| sums[step]) - self.read_off(base.done_bytes, |step| sums[step])
        };
        let wanted_s = (self.until(now.done_bytes) - self.until(base.done_bytes)) * slower;
        let (mut low, mut high) = (0.0, self.whole_s() / self.len as f64 * slower * 64.0);
        for _ in 0..48 {
            let middle = (low + high) / 2.0;
            if took(&sums(middle)) < wanted_s { low = middle } else { high = middle }
        }
        let sums = sums(high);
        sums[STEPS] - self.read_off(now.done_bytes, |step| sums[step])
    }

    /// From where on it counts how a copy went: the last change of its rate, once enough has come since then; until
    /// then the change before that. A cache that swallowed what came first and is full now says nothing of the rest.
    fn base(&self, track: &ProgressTrack) -> CopyProgress {
        let Some((first, behind)) = track.marks.split_first() else { return track.now };
        let mut slowness = Vec::with_capacity(behind.len());
        let mut before = first;
        for mark in behind {
            let Some(estimated_s) = self.settled_s(before, mark).filter(|estimated_s| *estimated_s > 0.0) else {
                return *first;
            };
            slowness.push((mark.settled_s - before.settled_s) / estimated_s);
            before = mark;
        }
        let levels = levels(&slowness);
        let Some(last) = levels.last() else { return *first };
        let is_long = (last.end - last.start) as f64 >= BELIEVED_SHARE * slowness.len() as f64;
        let level = if is_long { last } else { &levels[levels.len().saturating_sub(2)] };
        track.marks[level.start]
    }

    /// Seconds that were estimated for what came from `then` to `now` while it was settled; `None` of nothing.
    fn settled_s(&self, then: &CopyProgress, now: &CopyProgress) -> Option<f64> {
        let done = now.done_bytes.checked_sub(then.done_bytes).filter(|done| *done > 0)?;
        let data = now.data_bytes.saturating_sub(then.data_bytes);
        let settled = now.settled_bytes.saturating_sub(then.settled_bytes).min(data);
        Some((self.until(now.done_bytes) - self.until(then.done_bytes)) * share(settled, done))
    }

    /// How many times as long as estimated it took from `then` to `now`, while it was settled; `None`: it never was.
    fn slower(&self, then: &CopyProgress, now: &CopyProgress) -> Option<f64> {
        let took_s = now.settled_s - then.settled_s;
        let mut estimated_s = self.settled_s(then, now).unwrap_or(0.0);
        if self.cache_bytes > 0 && then.settled_s == 0.0 {
            // As far as it is ahead, a write cache may have swallowed that: it does so once.
            let settled = share(now.settled_bytes, now.copied_bytes);
            let held_from = now.done_bytes.saturating_sub(self.cache_bytes);
            let held = (self.until(now.done_bytes) - self.until(held_from)) * settled;
            estimated_s = estimated_s.min(took_s).max(estimated_s - held);
        }
        let known = now.settled_bytes as f64 / self.len as f64 / KNOWN_SHARE;
        let trusted_s = if self.is_range { 0.0 } else { TRUSTED_SHARE * self.whole_s() * (1.0 - known).max(0.0) };
        let is_told = estimated_s + trusted_s > TOLD_SHARE * self.whole_s().min(took_s / TOLD_SHARE);
        is_told.then(|| (took_s + trusted_s) / (estimated_s + trusted_s))
    }
}

/// Most moments that are kept.
const MARKS_MAX: usize = 64;

/// How a copy went so far: moments of it, as many settled bytes apart.
#[derive(Clone, Debug, Default)]
pub struct ProgressTrack {
    /// The first is its beginning.
    marks: Vec<CopyProgress>,
    /// Settled bytes from one to the next, at least.
    apart_bytes: u64,
    now: CopyProgress,
}

impl ProgressTrack {
    /// Goes on to `now`.
    pub fn push(&mut self, now: CopyProgress) {
        if now.settled_bytes < self.now.settled_bytes {
            // Another pass of the copy has begun, which has settled nothing yet.
            *self = ProgressTrack::default();
        }
        if self.marks.is_empty() {
            let done_bytes = now.done_bytes.saturating_sub(now.copied_bytes);
            self.marks.push(CopyProgress { done_bytes, ..CopyProgress::default() });
        }
        self.now = now;
        let last = self.marks[self.marks.len() - 1];
        if now.settled_bytes - last.settled_bytes >= self.apart_bytes.max(1) {
            self.marks.push(now);
        }
        if self.marks.len() > MARKS_MAX {
            let mut number = 0;
            self.marks.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.apart_bytes = (now.settled_bytes / MARKS_MAX as u64 * 2).max(1);
        }
    }
}

/// Of nothing, all is data.
fn share(data: u64, all: u64) -> f64 {
    if all == 0 { 1.0 } else { data as f64 / all as f64 }
}

#[cfg(test)]
#[path = "forecast_tests.rs"]
mod tests;
