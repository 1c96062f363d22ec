//! Chooses how the blocks of the route Delta are written: what differs after reading the dest, or everything without
//! reading it.
//!
//! Where much differs, reading the dest and writing many small pieces can take longer than writing whole blocks. How
//! much longer depends on the device, so both methods are measured during the copy. Blocks are assigned to batches of
//! one method; the time between the ends of two batches is the time of the later one, so that all times add up to the
//! time of the copy. A batch of the other method is inserted now and then, at most as often as it costs 1 % of the
//! time. Pure: it takes times and bytes, and returns methods.
use crate::core::{Bursts, Plan, Route};

/// How a block is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// The dest is read first; pieces that differ are written.
    WriteDifferences,
    /// The dest is not read; the whole block is written.
    WriteAll,
}

impl Method {
    fn other(self) -> Self {
        match self {
            Method::WriteDifferences => Method::WriteAll,
            Method::WriteAll => Method::WriteDifferences,
        }
    }
}

/// Bytes of a batch: this part of the copy, within these limits.
const BATCHES_PER_COPY: u64 = 128;
/// See [`BATCHES_PER_COPY`].
const BATCH_BYTES: [u64; 2] = [4 << 20, 32 << 20];
/// Minimum share of blocks that differ for which writing everything is tried. It wears flash and cannot gain if the
/// dest is only read.
const DIFFERING_MIN: f64 = 1.0 / 16.0;
/// Number of batches over which that share is averaged.
const SHARE_BATCHES: f64 = 8.0;
/// Bytes at the start of a trial whose time is not judged, in whole batches: what the writes of the other method left
/// to do, such as completing erase blocks, is done then.
const UNJUDGED_BYTES: u64 = 8 << 20;
/// Batches of a trial that are judged.
const JUDGED_BATCHES: u64 = 1;
/// Minimum number of batches that must remain for a trial.
const BATCHES_LEFT_MIN: u64 = 12;
/// A gain, as the logarithm of a ratio of times, for which one trial suffices.
const CLEAR_GAIN: f64 = 0.25;
/// Minimum mean gain of two trials.
const GAIN_MIN: f64 = 0.03;
/// Maximum share of the time that trials without a gain may cost.
const COST_MAX: f64 = 0.01;
/// Minimum number of batches between trials.
const INTERVAL_MIN: f64 = 8.0;
/// Number of batches from which the time of the current method is taken, at most.
const BASE_BATCHES_MAX: f64 = 16.0;
/// Number of batches that may be in progress. More blocks extend the latest.
const OPEN_MAX: usize = 8;
/// Maximum number of blocks in progress until the first trial has ended, so that few blocks use the slower method.
const FIRST_BLOCKS_MAX: u32 = 6;

/// Sums over recent batches of the current method.
#[derive(Clone, Copy, Debug, Default)]
struct Base {
    time_s: f64,
    bytes: f64,
    blocks: f64,
}

#[derive(Clone, Copy, Debug)]
struct Batch {
    method: Method,
    assigned_bytes: u64,
    done_bytes: u64,
    blocks: u32,
    differing: u32,
    /// Whether its time is not representative.
    disturbed: bool,
}

/// The state of the choice.
#[derive(Debug)]
pub(super) struct DeltaMethod {
    enabled: bool,
    batch_bytes: u64,
    left_bytes: u64,
    current: Method,
    open: [Batch; OPEN_MAX],
    /// Number of the batch to which blocks are assigned.
    newest: u64,
    /// Number of the oldest batch that is not finished.
    oldest: u64,
    /// Number of the first batch that tries the other method.
    trial: Option<u64>,
    /// Time and bytes of the judged batches of the trial.
    tried: Base,
    /// End of the last finished batch, in seconds.
    ended_s: f64,
    /// Recent batches of the current method.
    base: Base,
    /// Share of blocks that differed recently.
    differing: f64,
    /// Number of finished batches whose dest was read.
    compared_batches: f64,
    /// Seconds per byte of the other method in its last trial.
    other_s: Option<f64>,
    /// The gain of the last trial, if another one has to confirm it.
    unconfirmed: Option<f64>,
    /// Number of finished batches at which the next trial may begin.
    next_trial: u64,
    /// Whether a trial has ended.
    is_decided: bool,
    /// Bytes written without reading the dest.
    pub(super) unread_dest_bytes: u64,
}

impl DeltaMethod {
    /// The choice for the copy of this plan. If both sides are on one device, only differences are written: bursts
    /// are longer than batches. So they are if nothing is to be tuned.
    pub(super) fn of(plan: &Plan) -> Self {
        let tunes = plan.tuning.adaptive && plan.tuning.bursts == Bursts::Never;
        DeltaMethod::new(tunes && matches!(plan.route, Route::Delta { .. }), plan.len)
    }

    /// The choice for a copy of `len` bytes, if known. If not `enabled`, only differences are written.
    pub(super) fn new(enabled: bool, len: Option<u64>) -> Self {
        let batch_bytes = len.map_or(0, |len| len / BATCHES_PER_COPY).clamp(BATCH_BYTES[0], BATCH_BYTES[1]);
        let left_bytes = len.unwrap_or(u64::MAX);
        DeltaMethod {
            enabled: enabled && left_bytes / batch_bytes > BATCHES_LEFT_MIN,
            batch_bytes,
            left_bytes,
            current: Method::WriteDifferences,
            open: [Batch::of(Method::WriteDifferences); OPEN_MAX],
            newest: 0,
            oldest: 0,
            trial: None,
            tried: Base::default(),
            ended_s: 0.0,
            base: Base::default(),
            differing: 0.0,
            compared_batches: 0.0,
            other_s: None,
            unconfirmed: None,
            next_trial: 1,
            is_decided: false,
            unread_dest_bytes: 0,
        }
    }

    /// Maximum number of blocks in progress.
    pub(super) fn blocks_max(&self) -> u32 {
        let may_change = self.oldest == 0 || self.differing >= DIFFERING_MIN;
        if self.enabled && !self.is_decided && may_change { FIRST_BLOCKS_MAX } else { u32::MAX }
    }

    /// The method for a block of `bytes`, and the number of its batch.
    pub(super) fn assign(&mut self, bytes: u64) -> (Method, u64) {
        self.left_bytes = self.left_bytes.saturating_sub(bytes);
        let is_full = self.batch(self.newest).assigned_bytes >= self.batch_bytes;
        if self.enabled && is_full && self.newest - self.oldest + 1 < OPEN_MAX as u64 {
            self.newest += 1;
            if self.tries() {
                (self.trial, self.tried) = (Some(self.newest), Base::default());
            }
            let tries = self.trial.is_some_and(|first| self.newest < first + self.trial_batches());
            let method = if tries { self.current.other() } else { self.current };
            *self.batch(self.newest) = Batch::of(method);
        }
        let newest = self.newest;
        let batch = self.batch(newest);
        batch.assigned_bytes += bytes;
        let method = batch.method;
        if method == Method::WriteAll {
            self.unread_dest_bytes += bytes;
        }
        (method, newest)
    }

    /// Records that a block of this batch is finished. `differed`: whether anything was written.
    pub(super) fn complete(&mut self, batch: u64, bytes: u64, differed: bool, disturbed: bool, now_s: f64) {
        let done = self.batch(batch);
        done.done_bytes += bytes;
        done.blocks += 1;
        done.differing += u32::from(differed);
        done.disturbed |= disturbed;
        while self.oldest < self.newest && self.batch(self.oldest).is_finished() {
            self.finish(now_s);
        }
    }

    fn batch(&mut self, number: u64) -> &mut Batch {
        &mut self.open[(number % OPEN_MAX as u64) as usize]
    }

    fn unjudged_batches(&self) -> u64 {
        UNJUDGED_BYTES.div_ceil(self.batch_bytes)
    }

    fn trial_batches(&self) -> u64 {
        self.unjudged_batches() + JUDGED_BATCHES
    }

    /// Whether the next batch tries the other method.
    fn tries(&self) -> bool {
        let may_gain = self.current == Method::WriteAll || self.differing >= DIFFERING_MIN;
        self.trial.is_none()
            && self.oldest >= self.next_trial
            && self.base.bytes > 0.0
            && may_gain
            && self.left_bytes / self.batch_bytes >= BATCHES_LEFT_MIN
    }

    /// Takes the result of the oldest batch, which ended at `now_s`.
    fn finish(&mut self, now_s: f64) {
        let (number, batch) = (self.oldest, *self.batch(self.oldest));
        let time_s = (now_s - self.ended_s).max(1e-9);
        (self.ended_s, self.oldest) = (now_s, number + 1);
        let bytes = batch.done_bytes as f64;
        if batch.method == Method::WriteDifferences && batch.blocks > 0 {
            let share = f64::from(batch.differing) / f64::from(batch.blocks);
            self.compared_batches += 1.0;
            self.differing += (share - self.differing) / self.compared_batches.min(SHARE_BATCHES);
        }
        let of_trial =
            self.trial.and_then(|first| number.checked_sub(first)).filter(|of_trial| *of_trial < self.trial_batches());
        if let Some(of_trial) = of_trial {
            if of_trial >= self.unjudged_batches() && !batch.disturbed {
                self.tried.time_s += time_s;
                self.tried.bytes += bytes;
            }
            if of_trial + 1 == self.trial_batches() {
                self.trial = None;
                let base_s = self.base.time_s / self.base.bytes * self.tried.bytes;
                if self.tried.bytes == 0.0 {
                    self.next_trial = self.oldest + INTERVAL_MIN as u64;
                } else {
                    self.judge(base_s, self.tried.time_s);
                }
            }
        } else if batch.method == self.current && !batch.disturbed && number > 0 {
            let max = BASE_BATCHES_MAX * self.batch_bytes as f64;
            let kept = ((max - bytes) / self.base.bytes.max(1.0)).clamp(0.0, 1.0);
            self.base = Base {
                time_s: self.base.time_s * kept + time_s,
                bytes: self.base.bytes * kept + bytes,
                blocks: self.base.blocks * kept + f64::from(batch.blocks),
            };
            self.look_again();
        } else if number == 0 && self.base.bytes == 0.0 {
            // The first batch includes the start of the copy, but nothing else is known yet.
            self.base = Base { time_s: time_s * 1e-6, bytes: bytes * 1e-6, blocks: f64::from(batch.blocks) };
        }
    }

    /// Relative uncertainty of a comparison, because a few blocks may differ more or less often than all.
    fn content_noise(&self) -> f64 {
        let (share, blocks) = (self.differing.clamp(1e-3, 1.0), self.base.blocks.max(1.0));
        ((1.0 - share) / (share * blocks)).sqrt()
    }

    /// Begins a trial at once if the current method has become slower than the other one was in its last trial.
    fn look_again(&mut self) {
        let gain = self.other_s.map_or(0.0, |other_s| (self.base.time_s / self.base.bytes / other_s).ln());
        if gain >= GAIN_MIN + self.content_noise() / 2.0 && self.trial.is_none() && self.oldest < self.next_trial {
            (self.unconfirmed, self.next_trial, self.other_s) = (Some(gain), self.oldest, None);
        }
    }

    /// Decides after a trial that took `time_s`, where the current method takes `base_s`.
    fn judge(&mut self, base_s: f64, time_s: f64) {
        self.is_decided = true;
        self.other_s = Some(time_s / self.tried.bytes);
        let gain = (base_s / time_s).ln();
        let mean = self.unconfirmed.take().map(|earlier| (earlier + gain) / 2.0);
        let noise = self.content_noise();
        if gain >= CLEAR_GAIN + noise / 2.0 || mean.is_some_and(|mean| mean >= GAIN_MIN + noise / 2.0) {
            self.current = self.current.other();
            (self.base, self.other_s) = (Base::default(), None);
            self.next_trial = self.oldest + INTERVAL_MIN as u64 * 2;
        } else if gain > 0.0 && mean.is_none() {
            self.unconfirmed = Some(gain);
            self.next_trial = self.oldest + 1;
        } else {
            let batches = (time_s / base_s - 1.0).max(0.0) * self.trial_batches() as f64 / COST_MAX;
            self.next_trial = self.oldest + batches.max(INTERVAL_MIN) as u64;
        }
    }
}

impl Batch {
    fn of(method: Method) -> Self {
        Batch { method, assigned_bytes: 0, done_bytes: 0, blocks: 0, differing: 0, disturbed: false }
    }

    fn is_finished(&self) -> bool {
        self.done_bytes >= self.assigned_bytes
    }
}

#[cfg(test)]
#[path = "delta_method_tests.rs"]
mod tests;
