//! Computes rates and the remaining time from samples: pure, with the time in the samples, so that it can be
//! tested.
use super::sample::Sample;
use super::view::{Speed, StoredView, View};
use crate::core::{Phase, Side};
use crate::measure::{CopyProgress, Forecast, ProgressTrack};
use crate::report::units;
use std::collections::VecDeque;
use std::time::Duration;

/// Window of current rates: short enough to show a change, long enough not to flicker.
const CURRENT: Duration = Duration::from_secs(2);

/// Window of the remaining time without a forecast, so that a short stall has little effect.
const ESTIMATING: Duration = Duration::from_secs(20);

/// Minimum distance between samples: rates over shorter times would be noise.
const SPACING: Duration = Duration::from_millis(50);

/// Time without progress after which a stall is reported: disks that retry a bad sector may take half a minute.
const STALL: Duration = Duration::from_secs(3);

/// Minimum difference between the shares of time spent waiting for each side, for one to count as slower.
const CLEARLY_SLOWER: f64 = 0.1;

/// Keeps the samples of the last seconds and computes rates and the remaining time from them.
#[derive(Debug)]
pub(super) struct Meter {
    total_bytes: Option<u64>,
    limited: bool,
    comparing: bool,
    forecast: Option<Forecast>,
    track: ProgressTrack,
    samples: VecDeque<Sample>,
    /// The time of the first sample during the flush.
    flushing_since: Option<Duration>,
    /// When a byte was last read or acknowledged.
    moved_at: Duration,
}

impl Meter {
    /// For a copy of `total_bytes`; `None`: to the end of a stream. `limited`: `--limit` applies.
    pub(super) fn new(total_bytes: Option<u64>, limited: bool) -> Self {
        Meter {
            total_bytes,
            limited,
            comparing: false,
            forecast: None,
            track: ProgressTrack::default(),
            samples: VecDeque::new(),
            flushing_since: None,
            moved_at: Duration::ZERO,
        }
    }

    /// The same for comparing two sides.
    pub(super) fn comparing(self, comparing: bool) -> Self {
        Meter { comparing, ..self }
    }

    /// The same with a forecast; without one if it is for another copy.
    pub(super) fn estimated(self, forecast: Option<Forecast>) -> Self {
        let forecast = forecast.filter(|forecast| Some(forecast.len()) == self.total_bytes);
        Meter { forecast, ..self }
    }

    /// Adds a sample; samples are in order of time.
    pub(super) fn push(&mut self, sample: Sample) {
        let moved =
            |last: &Sample| last.copied_bytes() != sample.copied_bytes() || last.read_bytes != sample.read_bytes;
        if self.samples.back().is_none_or(moved) {
            self.moved_at = sample.at;
        }
        if sample.phase != Phase::Copying && self.flushing_since.is_none() {
            self.flushing_since = Some(sample.at);
        }
        // The last sample is replaced while it is too close to the one before it.
        let near = self.samples.len() > 1 && {
            let before = self.samples[self.samples.len() - 2];
            sample.at.saturating_sub(before.at) < SPACING
        };
        if near {
            self.samples.pop_back();
        }
        self.samples.push_back(sample);
        self.track.push(reached(&sample));
        // The newest of the samples that are old enough is kept: it is the start of the window.
        while self.samples.len() > 2 && sample.at.saturating_sub(self.samples[1].at) >= ESTIMATING {
            self.samples.pop_front();
        }
    }

    /// The state at the last sample; `None` before the first.
    pub(super) fn view(&self) -> Option<View> {
        let now = *self.samples.back()?;
        let current = self.before(CURRENT);
        let moving_time = self.flushing_since.unwrap_or(now.at);
        let mean = |bytes| units::per_second(bytes, moving_time).unwrap_or(0);
        let speed = |bytes: fn(&Sample) -> u64| {
            let mean = mean(bytes(&now));
            Speed { now_per_s: rate(bytes, current, &now).unwrap_or(mean), mean_per_s: mean }
        };
        let slower = slower(current, &now);
        // `--limit` delays reads, which looks like a slow source.
        let limited = self.limited && slower == Some(Side::Source);
        let copied = now.copied_bytes() + now.already_bytes;
        let still = now.at.saturating_sub(self.moved_at);
        Some(View {
            elapsed: now.at,
            comparing: self.comparing,
            phase: now.phase,
            flushing: self.flushing_since.map(|since| now.at.saturating_sub(since)),
            copied_bytes: self.total_bytes.map_or(copied, |total| copied.min(total)),
            total_bytes: self.total_bytes,
            read_bytes: now.read_bytes,
            written_bytes: now.written_bytes,
            zeroed_bytes: now.zeroed_bytes,
            hole_bytes: now.hole_bytes,
            already_bytes: now.already_bytes,
            stored: self.stored(&now),
            unread_sectors: now.unread_sectors,
            read: speed(|sample| sample.read_bytes),
            write: speed(|sample| sample.written_bytes),
            left: self.left(&now),
            slower: slower.filter(|_| !limited),
            slower_part: slower.filter(|_| !limited).and_then(|side| now.slowest_part[side.index()]),
            limited,
            stalled: (now.phase == Phase::Copying && still >= STALL).then_some(still),
            idle: None,
            block_bytes: now.block_bytes,
            queue_depth: now.queue_depth,
            pool_bytes: now.pool_bytes,
        })
    }

    /// The compressed file that is read, or else the one that is written.
    fn stored(&self, now: &Sample) -> Option<StoredView> {
        let side = Side::BOTH.into_iter().find(|side| now.stored_bytes[side.index()] > 0)?;
        let bytes = |sample: &Sample| sample.stored_bytes[side.index()];
        let now_per_s = rate(bytes, self.before(CURRENT), now).unwrap_or(0);
        let total_bytes = (side == Side::Source && now.stored_total_bytes > 0).then_some(now.stored_total_bytes);
        Some(StoredView { side, bytes: bytes(now), total_bytes, now_per_s })
    }

    /// The newest sample that is at least `time` older than the last one, or the oldest.
    fn before(&self, time: Duration) -> Option<&Sample> {
        let now = self.samples.back()?.at;
        let old_enough = |sample: &&Sample| now.saturating_sub(sample.at) >= time;
        self.samples.iter().rev().find(old_enough).or_else(|| self.samples.front())
    }

    /// The remaining time, from the forecast, or else by extrapolation. The time in which the pool was filled
    /// and other block sizes were tried does not count. Holes and zeros take almost no time and are unevenly
    /// distributed, so they must not affect the rate: the rest is assumed to contain the same share of data as
    /// the part copied so far, and data is copied at the rate of data.
    fn left(&self, now: &Sample) -> Option<Duration> {
        let copied = now.copied_bytes();
        let Some(total_bytes) = self.total_bytes else { return self.left_of_stored(now) };
        let rest = total_bytes.saturating_sub(copied + now.already_bytes);
        if rest == 0 {
            return Some(Duration::ZERO);
        }
        let then = self.before(ESTIMATING);
        if let Some(seconds) = self.forecast.as_ref().and_then(|forecast| forecast.left_s(&self.track)) {
            return Duration::try_from_secs_f64(seconds).ok();
        }
        let settled_rate = then.and_then(|then| {
            let bytes = now.settled_bytes.saturating_sub(then.settled_bytes);
            units::per_second(bytes, now.settled.saturating_sub(then.settled).max(SPACING))
        });
        let positive = |rate: &u64| *rate > 0;
        let data_rate = settled_rate.filter(positive).or_else(|| rate(|sample| sample.written_bytes, then, now));
        let data_rate = data_rate.filter(positive);
        let seconds = match data_rate {
            Some(rate) => rest as f64 * (now.written_bytes as f64 / copied as f64) / rate as f64,
            // Bytes that are only read again count too.
            None => rest as f64 / rate(|it| it.copied_bytes() + it.already_bytes, then, now).filter(positive)? as f64,
        };
        Duration::try_from_secs_f64(seconds).ok()
    }
}

impl Meter {
    /// The remaining time by the rate at which a compressed file is read.
    fn left_of_stored(&self, now: &Sample) -> Option<Duration> {
        let [done, _] = now.stored_bytes;
        let rest = now.stored_total_bytes.checked_sub(done).filter(|_| done > 0)?;
        let rate = rate(|sample| sample.stored_bytes[0], self.before(ESTIMATING), now).filter(|rate| *rate > 0)?;
        Duration::try_from_secs_f64(rest as f64 / rate as f64).ok()
    }
}

fn reached(sample: &Sample) -> CopyProgress {
    let copied_bytes = sample.copied_bytes();
    CopyProgress {
        done_bytes: copied_bytes + sample.already_bytes,
        copied_bytes,
        data_bytes: sample.written_bytes,
        settled_s: sample.settled.as_secs_f64(),
        settled_bytes: sample.settled_bytes,
    }
}

fn rate(bytes: impl Fn(&Sample) -> u64, then: Option<&Sample>, now: &Sample) -> Option<u64> {
    let then = then?;
    units::per_second(bytes(now).saturating_sub(bytes(then)), now.at.saturating_sub(then.at))
}

/// The side for which the copy waited since then, if one clearly was the bottleneck.
fn slower(then: Option<&Sample>, now: &Sample) -> Option<Side> {
    let then = then?;
    let time = now.at.saturating_sub(then.at).as_secs_f64();
    let share = |side: Side| {
        let [before, after] = [then, now].map(|sample| sample.waited[side.index()]);
        after.saturating_sub(before).as_secs_f64() / time
    };
    let more = share(Side::Source) - share(Side::Dest);
    if more >= CLEARLY_SLOWER {
        Some(Side::Source)
    } else if more <= -CLEARLY_SLOWER {
        Some(Side::Dest)
    } else {
        None
    }
}

#[cfg(test)]
#[path = "meter_tests.rs"]
mod tests;
