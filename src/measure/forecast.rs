//! How long a copy takes, place by place: from the rate curves of its sides, before it begins and while it runs.
use super::zones::Curve;
use crate::core::{Bound, Side};

/// The way is cut into as many steps: more than any disk has zones.
const STEPS: usize = 512;

/// Sides whose times differ by less hold a copy up both.
const CLEARLY_SLOWER: f64 = 1.05;

/// What was foretold counts as much as this share of the whole time in which it came true: the first seconds of a copy
/// say little.
const TRUSTED_SHARE: f64 = 0.02;

/// From this share of the whole time on, settled, a part of a copy says how it goes.
const TOLD_SHARE: f64 = 0.002;

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
}

impl Course<'_> {
    /// Seconds of either side alone and of the limit for a part of the course.
    fn parts(&self, from: f64, to: f64) -> [f64; 3] {
        let (a, b) = if self.backward { (self.len as f64 - to, self.len as f64 - from) } else { (from, to) };
        let [source, dest] = self.sides.map(|side| side.map_or(0.0, |curve| curve.seconds(a, b)));
        let limit = self.limit_bytes_per_s.map_or(0.0, |rate| (to - from) / rate.max(1) as f64);
        [source, dest, limit]
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

/// How far a copy is at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reached {
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

/// Logarithm of a change of the rate that is no longer a fault of the curve: by a quarter.
const CHANGE: f64 = 0.25;

/// What a copy was foretold to take, up to every place of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    len: u64,
    /// Seconds up to the end of each step, from 0.
    until_s: Vec<f64>,
}

impl Forecast {
    /// The forecast of a copy that takes this course; `None` where nothing is known of it, or it has no bytes.
    pub fn of(course: &Course<'_>) -> Option<Forecast> {
        let known = course.limit_bytes_per_s.is_some() || course.sides.iter().any(Option::is_some);
        if !known || course.len == 0 {
            return None;
        }
        let edge = |step: usize| course.len as f64 * step as f64 / STEPS as f64;
        let mut until_s = vec![0.0];
        for step in 0..STEPS {
            let [source, dest, limit] = course.parts(edge(step), edge(step + 1));
            let sides = if course.in_turn { source + dest } else { source.max(dest) };
            until_s.push(until_s[step] + sides.max(limit));
        }
        Some(Forecast { len: course.len, until_s })
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

    /// Seconds of the whole copy.
    pub fn whole_s(&self) -> f64 {
        self.until_s[STEPS]
    }

    /// Seconds up to a place.
    fn until(&self, place: u64) -> f64 {
        let steps = (place.min(self.len) as f64 / self.len as f64) * STEPS as f64;
        let step = (steps as usize).min(STEPS - 1);
        let part = steps - step as f64;
        self.until_s[step] + (self.until_s[step + 1] - self.until_s[step]) * part
    }

    /// Seconds that are left of a copy that was `then` there and is `now` here, by how much slower or faster it is than
    /// foretold. `None` where that cannot be told from what has come: nothing, or zeros only.
    ///
    /// What counts is how it went from its beginning on, for a curve through a few places is wrong here and there by
    /// some percent. But where it goes otherwise now by more than that, something has changed.
    pub fn left_s(&self, then: &Reached, now: &Reached) -> Option<f64> {
        let start = Reached { done_bytes: now.done_bytes - now.copied_bytes, ..Reached::default() };
        // Where it was never settled it is taken to go as foretold.
        let ever = self.slower(&start, now).unwrap_or(1.0);
        let change = self.slower(then, now).map_or(0.0, |lately| (lately / ever).ln());
        let slower = if change.is_finite() { ever * (change * (change.abs() / CHANGE).min(1.0)).exp() } else { ever };
        let rest_s = (self.whole_s() - self.until(now.done_bytes)) * share(now.data_bytes, now.copied_bytes);
        let told = (now.copied_bytes == 0 || now.data_bytes > 0) && slower.is_finite();
        told.then_some(rest_s * slower)
    }

    /// How many times as long as foretold it took from `then` to `now`, while it was settled; `None`: it never was.
    fn slower(&self, then: &Reached, now: &Reached) -> Option<f64> {
        let (data, done) = (now.data_bytes.saturating_sub(then.data_bytes), now.done_bytes - then.done_bytes);
        let settled = now.settled_bytes.saturating_sub(then.settled_bytes).min(data);
        let foretold_s = (self.until(now.done_bytes) - self.until(then.done_bytes)) * share(settled, done);
        let took_s = now.settled_s - then.settled_s;
        let known = now.settled_bytes as f64 / self.len as f64 / KNOWN_SHARE;
        let trusted_s = TRUSTED_SHARE * self.whole_s() * (1.0 - known).max(0.0);
        let told = foretold_s + trusted_s > TOLD_SHARE * self.whole_s();
        told.then(|| (took_s + trusted_s) / (foretold_s + trusted_s))
    }
}

/// Of nothing, all is data.
fn share(data: u64, all: u64) -> f64 {
    if all == 0 { 1.0 } else { data as f64 / all as f64 }
}

#[cfg(test)]
#[path = "forecast_tests.rs"]
mod tests;
