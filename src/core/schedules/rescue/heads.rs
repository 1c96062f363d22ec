//! A head that fails. A disk stores a stretch with one head, then one with the next, and so on: what a failing head
//! cannot read comes back at equal distances. Such a period is found in the places where reads begin to fail, and what
//! it predicts is skipped, so that the other heads are read first. A scratch that crosses track after track has a
//! period, too.
//!
//! No I/O and no map: places count in the direction of the pass.
use crate::core::rescue::FailingHead;
use std::collections::VecDeque;

/// Places where reads began to fail that are remembered.
const STARTS_MAX: usize = 64;

/// The newest of them whose distance to the last one is tried as a period.
const CANDIDATES: usize = 12;

/// How far a place may be from its predicted one, as a share of the period.
const TOLERANCE: f64 = 0.03;

/// Logarithm of the probability, at most, that scattered errors have such a period. It is computed at each of maybe
/// 100,000 of them.
const CHANCE_LOG10_MAX: f64 = -10.0;

/// The shortest period in reads; skipping less saves nothing.
const PERIOD_READS_MIN: u64 = 8;

/// Stretches of fewer reads are those of a scratch.
const SHORT_READS: u64 = 8;

/// Reads in flight, by which results may be out of order.
const OUT_OF_ORDER_READS: u64 = 16;

/// After this number of skipped stretches one is approached again, because stretches become shorter towards the end of
/// a disk.
const SKIPPED_MAX: u32 = 12;

/// A share of the period by which a stretch may have moved since it was met last.
const DRIFT: f64 = 0.25;

/// A stretch is left out from this share of the period before its predicted start on, for each one skipped since the
/// last that was met. If it begins earlier nevertheless, that is one failed read, and the next prediction is better.
const MARGIN: f64 = 1.0 / 400.0;

/// Where reads began to fail.
#[derive(Clone, Copy, Debug)]
struct Start {
    at: u64,
    /// Bytes up to the end of the last failed read.
    failed: u64,
    /// Bytes up to the first good read; `None` if there was none yet.
    len: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Period {
    /// The last stretch that was met.
    anchor: u64,
    bytes: f64,
    /// Bytes of a stretch, at least and at most: the ends of the last failed read and the start of the first good one.
    len: [u64; 2],
    /// Stretches skipped since then.
    skipped: u32,
}

impl Period {
    /// Periods from the last stretch to `at`, at least one.
    fn steps_to(&self, at: u64) -> f64 {
        (at.saturating_sub(self.anchor) as f64 / self.bytes).round().max(1.0)
    }

    /// Bytes to skip from the start of a stretch: half of what is unknown of its length, or all if that is little. Of a
    /// scratch only what failed before: what is skipped beside it costs a seek later.
    fn stretch(&self, read_bytes: u64) -> u64 {
        let [least, most] = self.len;
        if least < SHORT_READS * read_bytes {
            return least;
        }
        let unknown = most.saturating_sub(least);
        if unknown <= (4 * read_bytes).max((self.bytes / 128.0) as u64) { most } else { least + unknown / 2 }
    }

    /// A read at this distance from the start of a stretch failed.
    fn is_longer(&mut self, least: u64) {
        let [_, most] = self.len;
        self.len = [least, if most > least { most } else { least + least / 8 }];
    }

    /// A read at this distance from the start of a stretch succeeded.
    fn is_shorter(&mut self, most: u64) {
        let [least, _] = self.len;
        self.len = [if least < most { least } else { most - most / 8 }, most];
    }

    /// Moves it to a stretch that begins here.
    fn moves(&mut self, start: u64) {
        let steps = self.steps_to(start);
        self.bytes += (start as f64 - self.anchor as f64 - steps * self.bytes) / steps;
        (self.anchor, self.skipped) = (start, 0);
    }

    /// Whether a stretch is predicted within this share of the period.
    fn is_near(&self, at: u64, share: f64) -> bool {
        let predicted = self.anchor as f64 + self.steps_to(at) * self.bytes;
        (at as f64 - predicted).abs() <= share * self.bytes
    }
}

/// What the results of the first pass say about heads.
pub(super) struct Heads {
    read_bytes: u64,
    starts: VecDeque<Start>,
    /// Whether the last one is still going on.
    fails: bool,
    good_until: u64,
    periods: Vec<Period>,
    skipped: Option<Skipped>,
    /// The start of the last stretch whose end was predicted after its first read had failed.
    jumped: Option<u64>,
}

/// A stretch that was skipped, until the first read behind it has a result.
#[derive(Clone, Copy, Debug)]
struct Skipped {
    /// The index of its period.
    index: usize,
    /// Its predicted start.
    start: u64,
    /// The read at which the pass continues begins here or behind it.
    to: u64,
}

impl Heads {
    pub(super) fn new(read_bytes: u64) -> Self {
        let (starts, periods) = (VecDeque::new(), Vec::new());
        Heads { read_bytes, starts, fails: false, good_until: 0, periods, skipped: None, jumped: None }
    }

    /// The heads found so far.
    pub(super) fn found(&self) -> impl Iterator<Item = FailingHead> + '_ {
        let stretch = |period: &Period| period.stretch(self.read_bytes);
        let head =
            move |period: &Period| FailingHead { period_bytes: period.bytes as u64, stretch_bytes: stretch(period) };
        self.periods.iter().map(head)
    }

    /// Called when the read of `from` to `to` succeeded.
    pub(super) fn on_good(&mut self, from: u64, to: u64) {
        self.good_until = self.good_until.max(to);
        let behind = self.skipped.take_if(|skipped| from >= skipped.to);
        if let Some(Skipped { index, start, .. }) = behind {
            let period = &mut self.periods[index];
            period.is_shorter(from.saturating_sub(start).max(self.read_bytes));
            if period.stretch(self.read_bytes) as f64 > period.bytes * (1.0 - DRIFT) {
                self.periods.remove(index);
            }
        }
        let Some(last) = self.starts.back_mut().filter(|last| self.fails && from > last.at) else { return };
        let (start, len) = (last.at, from - last.at);
        last.len = Some(len);
        self.fails = false;
        if behind.is_none() {
            self.follow(start, len);
        }
    }

    /// Moves the period that explains reads which failed for `len` bytes from `start` on.
    fn follow(&mut self, start: u64, len: u64) {
        let is_stretch = |period: &&mut Period| len >= period.len[0] / 4 && period.is_near(start, DRIFT / 2.0);
        if let Some(period) = self.periods.iter_mut().find(is_stretch) {
            period.moves(start);
        }
    }

    /// Called when the read from `at` failed, or was slow.
    pub(super) fn on_bad(&mut self, at: u64) {
        let behind = self.skipped.filter(|skipped| at >= skipped.to);
        if let Some(Skipped { index, start, .. }) = behind {
            self.periods[index].is_longer(at + self.read_bytes - start);
        }
        if let Some(last) = self.starts.back_mut().filter(|last| self.fails && at > last.at) {
            last.failed = at + self.read_bytes - last.at;
        }
        if self.fails || self.starts.back().is_some_and(|last| at <= last.at) {
            return;
        }
        self.fails = true;
        // Behind what was skipped, reads do not begin to fail: they fail already.
        let begins = at <= self.good_until + OUT_OF_ORDER_READS * self.read_bytes && behind.is_none();
        self.starts.push_back(Start { at, failed: self.read_bytes, len: None });
        if self.starts.len() > STARTS_MAX {
            self.starts.pop_front();
        }
        if !begins || self.periods.iter().any(|period| period.is_near(at, TOLERANCE)) {
            return;
        }
        if let Some(period) = self.find() {
            // A period that was found again with another length is the same head in another zone.
            self.periods.retain(|known| (known.bytes - period.bytes).abs() > DRIFT * known.bytes);
            self.periods.push(period);
            self.skipped = None;
        }
    }

    /// The period of the last start, if there is one that chance does not explain.
    fn find(&self) -> Option<Period> {
        let newest = self.starts.back()?.at;
        let candidates = self.starts.iter().rev().skip(1).take(CANDIDATES);
        let candidates = candidates.map(|start| newest - start.at);
        let chains = candidates.filter(|bytes| *bytes >= PERIOD_READS_MIN * self.read_bytes);
        let chains = chains.map(|bytes| self.chain(newest, bytes as f64));
        let best = chains.min_by(|one, other| one.chance_log10.total_cmp(&other.chance_log10))?;
        (best.chance_log10 <= CHANCE_LOG10_MAX).then(|| {
            let median = |mut lengths: Vec<u64>| {
                lengths.sort_unstable();
                lengths.get(lengths.len() / 2).copied().unwrap_or(self.read_bytes)
            };
            let (failed, lengths) = best.lengths.into_iter().unzip();
            let mut period = Period { anchor: newest, bytes: best.bytes, len: [median(failed), 0], skipped: 0 };
            period.is_shorter(median(lengths));
            period
        })
    }

    /// The start that is nearest to this place.
    fn near(&self, wanted: f64) -> Option<&Start> {
        let next = self.starts.partition_point(|start| (start.at as f64) < wanted);
        let both = [next.checked_sub(1), Some(next)].into_iter().flatten().filter_map(|at| self.starts.get(at));
        both.min_by(|one, other| (one.at as f64 - wanted).abs().total_cmp(&(other.at as f64 - wanted).abs()))
    }

    /// Follows a period back from `newest`, over one missing start at a time.
    fn chain(&self, newest: u64, bytes: f64) -> Chain {
        let (mut at, mut step) = (newest as f64, bytes);
        let (mut hits, mut missing, mut missed) = (0u32, 0u32, 0u32);
        let (mut lengths, mut from) = (Vec::new(), newest);
        while at - step >= self.starts[0].at as f64 * (1.0 - f64::EPSILON) - TOLERANCE * step {
            let wanted = at - step;
            match self.near(wanted).filter(|start| (start.at as f64 - wanted).abs() <= TOLERANCE * step) {
                Some(start) => {
                    step += (at - start.at as f64 - step) / 4.0;
                    (at, from) = (start.at as f64, start.at);
                    lengths.extend(start.len.map(|len| (start.failed, len)));
                    (hits, missing, missed) = (hits + 1, missing + missed, 0);
                }
                None if missed < 1 => {
                    at = wanted;
                    missed += 1;
                }
                None => break,
            }
        }
        let within = (self.starts.len() - self.starts.partition_point(|start| start.at < from)) as f64;
        let periods = f64::from(hits + missing).max(1.0);
        let window = 2.0 * TOLERANCE * step + self.read_bytes as f64;
        let by_chance = (within / periods * window / step).min(1.0);
        // The first hit is that from which the period was taken.
        let chance_log10 = (CANDIDATES as f64).log10()
            + log10_binomial(hits + missing, missing)
            + f64::from(hits.saturating_sub(1)) * by_chance.log10();
        let bytes = if hits > 0 { (newest - from) as f64 / periods } else { bytes };
        Chain { bytes, chance_log10, lengths }
    }

    /// The end of the stretch in which a read has just failed, if it is known.
    fn over(&mut self, at: u64) -> Option<u64> {
        let start = self.starts.back().filter(|start| self.fails && start.at < at && self.jumped != Some(start.at))?.at;
        let index = self.periods.iter().position(|period| period.is_near(start, TOLERANCE))?;
        let period = &mut self.periods[index];
        if start > period.anchor {
            period.moves(start);
        }
        let to = start + period.stretch(self.read_bytes);
        self.jumped = Some(start);
        self.skipped = Some(Skipped { index, start, to: to.saturating_sub(self.read_bytes) });
        (to > at).then_some(to)
    }

    /// Where the pass continues instead of at `at`, if the read of a failing head is predicted there.
    pub(super) fn around(&mut self, at: u64) -> u64 {
        if let Some(to) = self.over(at) {
            return to;
        }
        let mut to = at;
        let read_bytes = self.read_bytes;
        for (index, period) in self.periods.iter_mut().enumerate() {
            let margin = (MARGIN * f64::from(period.skipped + 1) * period.bytes) as u64;
            let steps = ((to + margin).saturating_sub(period.anchor) as f64 / period.bytes).floor().max(1.0);
            let start = (period.anchor as f64 + steps * period.bytes) as u64;
            let stretch = period.stretch(read_bytes);
            let is_predicted = (start.saturating_sub(margin)..start + stretch).contains(&to);
            if !is_predicted || self.fails || period.skipped >= SKIPPED_MAX {
                continue;
            }
            period.skipped += 1;
            to = start + stretch;
            self.skipped = Some(Skipped { index, start, to: to.saturating_sub(read_bytes) });
        }
        // A stretch that was approached and not found: the period is another one now.
        let lost = |period: &Period| {
            period.skipped >= SKIPPED_MAX
                && at as f64 > period.anchor as f64 + (f64::from(SKIPPED_MAX) + 2.0) * period.bytes
        };
        if self.periods.iter().any(lost) {
            self.periods.retain(|period| !lost(period));
            self.skipped = None;
        }
        to
    }
}

/// A period, and how likely it is by chance.
struct Chain {
    bytes: f64,
    chance_log10: f64,
    /// The failed bytes and the length of each stretch.
    lengths: Vec<(u64, u64)>,
}

fn log10_binomial(of: u32, take: u32) -> f64 {
    (0..take).map(|at| f64::from(of - at).log10() - f64::from(at + 1).log10()).sum()
}

#[cfg(test)]
#[path = "heads_tests.rs"]
mod tests;
