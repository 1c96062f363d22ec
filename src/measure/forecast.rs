//! Forecasts the duration of a copy from the rate curves of its sides, before and during the copy.
use super::shift::levels;
use super::zones::Curve;
use crate::core::{Bound, Side};

/// Number of steps into which the copy is divided: more than the zones of any disk.
const STEPS: usize = 512;

/// If the times of the sides differ by less than this factor, both are the bottleneck.
const CLEARLY_SLOWER: f64 = 1.05;

/// Weight of the estimate, as a share of the total time: the first seconds of a copy say little about its rate.
const TRUSTED_SHARE: f64 = 0.02;

/// Minimum share of the total time in steady state before the rate of a copy is used.
const STEADY_SHARE_MIN: f64 = 0.002;

/// A change of the rate is accepted once this share of the known part of the copy follows it.
const ACCEPTED_SHARE: f64 = 0.25;

/// From this share of the bytes on, only the measured rate is used, not the estimate.
const KNOWN_SHARE: f64 = 0.1;

/// The expected rates of a copy along its course.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// Length in bytes.
    pub len: u64,
    /// Rate curves of reading the source and writing the dest, by [`Side::index`]. Offsets count from the first byte of
    /// the copy. `None` if unknown, or not limiting.
    pub sides: [Option<&'a Curve>; 2],
    /// Rate limit in bytes per second.
    pub limit_bytes_per_s: Option<u64>,
    /// Whether the sides work in turn instead of in parallel.
    pub in_turn: bool,
    /// Whether the copy goes from the last byte to the first.
    pub backward: bool,
    /// Maximum factor by which each side may be faster than its curve, by [`Side::index`]; 1 if it cannot be.
    pub faster_max: [f64; 2],
    /// Whether the time of a side is unbounded: it may be slower than its curve, or has none.
    pub is_open: bool,
    /// Maximum size of the dest's write cache; 0 if it has none.
    pub cache_bytes: u64,
}

impl Course<'_> {
    /// Time in seconds of each side alone, and of the rate limit, for a part of the copy.
    fn parts(&self, from: f64, to: f64) -> [f64; 3] {
        let (a, b) = if self.backward { (self.len as f64 - to, self.len as f64 - from) } else { (from, to) };
        let [source, dest] = self.sides.map(|side| side.map_or(0.0, |curve| curve.seconds(a, b)));
        let limit = self.limit_bytes_per_s.map_or(0.0, |rate| (to - from) / rate.max(1) as f64);
        [source, dest, limit]
    }

    /// Minimum and maximum time of the whole copy in seconds; the maximum is `None` if unknown.
    pub fn bounds_s(&self) -> (f64, Option<f64>) {
        let sum = |faster| steps(self.len).map(|(from, to)| self.step_s(from, to, faster)).sum::<f64>();
        (sum(self.faster_max), (!self.is_open).then(|| sum([1.0; 2])))
    }

    /// Time in seconds of a part, if the sides are faster than their curves by these factors.
    fn step_s(&self, from: f64, to: f64, faster: [f64; 2]) -> f64 {
        let [source, dest, limit] = self.parts(from, to);
        let [source, dest] = [source / faster[0], dest / faster[1]];
        let sides = if self.in_turn { source + dest } else { source.max(dest) };
        sides.max(limit)
    }

    /// The expected bottleneck; `None` if only one side is known.
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

/// Divides `len` bytes into steps, each with its start and end.
fn steps(len: u64) -> impl Iterator<Item = (f64, f64)> {
    let edge = move |step: usize| len as f64 * step as f64 / STEPS as f64;
    (0..STEPS).map(move |step| (edge(step), edge(step + 1)))
}

/// The progress of a copy at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CopyProgress {
    /// Bytes copied in any form, including those of earlier runs.
    pub done_bytes: u64,
    /// The part of them copied by this run.
    pub copied_bytes: u64,
    /// The part of that which is data. The rest was zeros, which take almost no time.
    pub data_bytes: u64,
    /// Time in steady state, without trials of other limits, in seconds.
    pub settled_s: f64,
    /// Bytes of data copied in that time.
    pub settled_bytes: u64,
}

/// The forecast of a copy: the expected time up to each offset.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    len: u64,
    /// Time in seconds up to the end of each step, starting with 0.
    until_s: Vec<f64>,
    /// Whether the estimate is a range, which is only a guess until the rate is measured.
    is_range: bool,
    /// Whether an unknown side may be slower; its rate is then assumed to be uniform.
    is_open: bool,
    /// Maximum size of the dest's write cache, which is filled before the copy reaches its steady rate.
    cache_bytes: u64,
}

impl Forecast {
    /// The forecast for this course; `None` if no rate is known, or there are no bytes.
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

    /// Length of the copy in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    #[cfg(any(test, feature = "internals"))]
    /// Always false: a forecast has at least one byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Expected time of the whole copy in seconds; `None` if it is a range.
    pub fn expected_s(&self) -> Option<f64> {
        (!self.is_range).then(|| self.whole_s())
    }

    /// Time of the whole copy in seconds, at the known rates.
    fn whole_s(&self) -> f64 {
        self.until_s[STEPS]
    }

    /// Share of the total time that the first `done_bytes` take.
    pub fn share_of_time(&self, done_bytes: u64) -> f64 {
        1.0 - self.until(done_bytes) / self.whole_s()
    }

    /// Expected time up to an offset, in seconds.
    fn until(&self, place: u64) -> f64 {
        self.read_off(place, |step| self.until_s[step])
    }

    /// Interpolates a sum at an offset between its values at the ends of steps.
    fn read_off(&self, place: u64, at_step: impl Fn(usize) -> f64) -> f64 {
        let steps = (place.min(self.len) as f64 / self.len as f64) * STEPS as f64;
        let step = (steps as usize).min(STEPS - 1);
        let part = steps - step as f64;
        at_step(step) + (at_step(step + 1) - at_step(step)) * part
    }

    /// Remaining time in seconds after this progress, corrected by how much slower or faster it was than estimated.
    /// `None` if that is unknown: nothing, or only zeros, was copied.
    pub fn left_s(&self, track: &ProgressTrack) -> Option<f64> {
        let now = track.now;
        let base = self.base(track);
        let data = share(now.data_bytes, now.copied_bytes);
        if now.copied_bytes > 0 && now.data_bytes == 0 {
            return None;
        }
        // If it was never in steady state, assume the estimate, if that is a single time.
        let slower = self.slower(&base, &now).or((!self.is_range).then_some(1.0))?;
        let rest_s = match self.is_open && slower > 1.0 {
            true => self.rest_by_other_side(&base, &now, slower),
            false => (self.whole_s() - self.until(now.done_bytes)) * slower,
        };
        Some(rest_s * data).filter(|rest_s| rest_s.is_finite())
    }

    /// Remaining time in seconds if an unknown side is the bottleneck: each of its bytes takes equally long, at any
    /// offset. It was slower than estimated by the factor `slower` from `base` to `now`.
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

    /// The moment from which the progress counts: the last change of the rate, if enough data followed it, otherwise
    /// the previous change. The time in which a write cache absorbed data is excluded that way once it is full.
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
        let is_long = (last.end - last.start) as f64 >= ACCEPTED_SHARE * slowness.len() as f64;
        let level = if is_long { last } else { &levels[levels.len().saturating_sub(2)] };
        track.marks[level.start]
    }

    /// Estimated time in seconds for the data copied in steady state from `then` to `now`; `None` if there is none.
    fn settled_s(&self, then: &CopyProgress, now: &CopyProgress) -> Option<f64> {
        let done = now.done_bytes.checked_sub(then.done_bytes).filter(|done| *done > 0)?;
        let data = now.data_bytes.saturating_sub(then.data_bytes);
        let settled = now.settled_bytes.saturating_sub(then.settled_bytes).min(data);
        Some((self.until(now.done_bytes) - self.until(then.done_bytes)) * share(settled, done))
    }

    /// Ratio of the actual to the estimated time from `then` to `now`, in steady state; `None` if it was never in
    /// steady state.
    fn slower(&self, then: &CopyProgress, now: &CopyProgress) -> Option<f64> {
        let took_s = now.settled_s - then.settled_s;
        let mut estimated_s = self.settled_s(then, now).unwrap_or(0.0);
        if self.cache_bytes > 0 && then.settled_s == 0.0 {
            // A write cache may have absorbed the data by which it is ahead, but only once.
            let settled = share(now.settled_bytes, now.copied_bytes);
            let held_from = now.done_bytes.saturating_sub(self.cache_bytes);
            let held = (self.until(now.done_bytes) - self.until(held_from)) * settled;
            estimated_s = estimated_s.min(took_s).max(estimated_s - held);
        }
        let known = now.settled_bytes as f64 / self.len as f64 / KNOWN_SHARE;
        let trusted_s = if self.is_range { 0.0 } else { TRUSTED_SHARE * self.whole_s() * (1.0 - known).max(0.0) };
        let is_reported = estimated_s + trusted_s > STEADY_SHARE_MIN * self.whole_s().min(took_s / STEADY_SHARE_MIN);
        is_reported.then(|| (took_s + trusted_s) / (estimated_s + trusted_s))
    }
}

/// Maximum number of stored moments.
const MARKS_MAX: usize = 64;

/// The progress of a copy so far: moments with equal distances in steady bytes.
#[derive(Clone, Debug, Default)]
pub struct ProgressTrack {
    /// The first one is the start of the copy.
    marks: Vec<CopyProgress>,
    /// Minimum steady bytes between moments.
    apart_bytes: u64,
    now: CopyProgress,
}

impl ProgressTrack {
    /// Adds the current progress.
    pub fn push(&mut self, now: CopyProgress) {
        if now.settled_bytes < self.now.settled_bytes {
            // Another pass of the copy has started, without steady bytes yet.
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

/// Share of data; 1 if there are no bytes.
fn share(data: u64, all: u64) -> f64 {
    if all == 0 { 1.0 } else { data as f64 / all as f64 }
}

#[cfg(test)]
#[path = "forecast_tests.rs"]
mod tests;
