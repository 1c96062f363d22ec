//! Checkpoints: periodically the dest is made durable beside the running copy, and what had arrived is written down.
use crate::core::{
    CheckpointPlan, CheckpointSink, Endpoint, Error, Extent, ExtentSet, JournalTotals, Kind, Op, Plan, Side,
};
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A checkpoint may cost its own time at the most, however the device deals with a flush: with this many times of it
/// between two of them, less than one part in a hundred.
const REST_PER_FLUSH: u32 = 100;

/// What arrived and is in no checkpoint yet; offsets count from the first byte of the copy.
#[derive(Clone, Default)]
struct Uncheckpointed {
    /// Acknowledged by the dest.
    pub(super) arrived: ExtentSet,
    /// Not to be read from the source, and zeros on the dest.
    pub(super) unread: ExtentSet,
}

impl Uncheckpointed {
    fn is_empty(&self) -> bool {
        self.arrived.is_empty() && self.unread.is_empty()
    }

    fn add(&mut self, other: &Uncheckpointed) {
        self.arrived.insert_all(&other.arrived);
        self.unread.insert_all(&other.unread);
    }
}

/// A checkpoint under way, on a thread of its own: the pump continues.
struct Underway {
    /// What it makes durable.
    news: Uncheckpointed,
    pub(super) since: Instant,
    pub(super) thread: JoinHandle<(Box<dyn CheckpointSink>, Result<(), CheckpointError>)>,
}

/// Why a checkpoint is none.
pub(super) enum CheckpointError {
    /// The dest was not made durable: what had been acknowledged may be lost, and the failure is reported only once.
    Flush(io::Error),
    /// Nothing could be written down. The copy need not care.
    Keep(Error),
}

/// Gathers what the dest acknowledges and makes it durable in bounded steps. Everything in a set was acknowledged
/// before the flush that stands for it began.
pub(super) struct Checkpoints {
    pub(super) dest: Arc<dyn Endpoint>,
    /// Here while no checkpoint is under way.
    pub(super) keeper: Option<Box<dyn CheckpointSink>>,
    pub(super) every: [Duration; 2],
    /// In no checkpoint yet.
    news: Uncheckpointed,
    underway: Option<Underway>,
    pub(super) next_at: Instant,
    /// Nothing can be written down: no more flushes for it.
    pub(super) given_up: bool,
    /// Durable, from this run or before.
    pub(super) durable: ExtentSet,
    /// The byte after the last that was acknowledged, in this run or before.
    pub(super) end: u64,
    pub(super) flush_failed: bool,
    pub(super) kept: JournalTotals,
}

impl Checkpoints {
    pub(super) fn new(keeping: CheckpointPlan, dest: &Arc<dyn Endpoint>, now: Instant) -> Self {
        let already_bytes = keeping.already.total_bytes();
        Checkpoints {
            dest: dest.clone(),
            keeper: Some(keeping.keeper),
            every: keeping.every,
            news: Uncheckpointed::default(),
            underway: None,
            next_at: now + keeping.every[0],
            given_up: false,
            end: keeping.already.end(),
            durable: keeping.already,
            flush_failed: false,
            kept: JournalTotals { already_bytes, ..JournalTotals::default() },
        }
    }

    /// Every byte of `extent` was acknowledged by the dest. What is `unread` of it, counted on the source where the
    /// copy begins at `start`, has zeros there and is not durable: a resumed copy tries it again.
    pub(super) fn on_block_done(&mut self, extent: Extent, unread: &ExtentSet, start: u64) {
        self.news.arrived.insert(extent);
        for bad in unread.within(Extent::new(start + extent.offset, extent.len)) {
            self.unread(Extent::new(bad.offset - start, bad.len));
        }
        self.end = self.end.max(extent.end());
    }

    /// These bytes of the copy cannot be read.
    pub(super) fn unread(&mut self, extent: Extent) {
        self.news.arrived.remove(extent);
        self.news.unread.insert(extent);
    }

    /// What is durable, from this run or before.
    pub(super) fn durable(&self) -> &ExtentSet {
        &self.durable
    }

    /// The byte after the last that was acknowledged: the dest must not end before it.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Begins a checkpoint where it is time for one, and ends one whose thread is through. Costs two comparisons
    /// otherwise.
    pub(super) fn round(&mut self, now: Instant) -> Result<(), CheckpointError> {
        if self.underway.as_ref().is_some_and(|underway| underway.thread.is_finished()) {
            self.collect(now)?;
        }
        if now >= self.next_at && self.underway.is_none() && !self.given_up && !self.news.is_empty() {
            return self.begin(now);
        }
        Ok(())
    }

    fn begin(&mut self, now: Instant) -> Result<(), CheckpointError> {
        let Some(mut keeper) = self.keeper.take() else { return Ok(()) };
        let news = std::mem::take(&mut self.news);
        let (dest, told) = (self.dest.clone(), news.clone());
        let work = move || {
            let flushed = dest.make_durable().map_err(CheckpointError::Flush);
            let kept = flushed.and_then(|()| keeper.keep(&told.arrived, &told.unread).map_err(CheckpointError::Keep));
            (keeper, kept)
        };
        // A thread for each costs some 20 µs once in seconds, and nothing where a copy is over before.
        let thread = thread::Builder::new().name("haul-checkpoint".to_owned()).spawn(work);
        match thread {
            Ok(thread) => {
                self.underway = Some(Underway { news, since: now, thread });
                Ok(())
            }
            // The keeper went with the thread that was not made.
            Err(source) => {
                let error = Error::new(Kind::Io, "cannot start a thread for checkpoints").because(source);
                self.took_in(&news, Err(CheckpointError::Keep(error)))
            }
        }
    }

    /// Waits for the checkpoint under way, if any, and gets its result.
    pub(super) fn collect(&mut self, now: Instant) -> Result<(), CheckpointError> {
        let Some(Underway { news, since, thread }) = self.underway.take() else { return Ok(()) };
        let (keeper, result) = match thread.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        self.keeper = Some(keeper);
        let took = now.saturating_duration_since(since);
        let [least, most] = self.every;
        self.next_at = now + (took * REST_PER_FLUSH).min(most).max(least);
        self.took_in(&news, result)
    }

    fn took_in(&mut self, news: &Uncheckpointed, result: Result<(), CheckpointError>) -> Result<(), CheckpointError> {
        match &result {
            Ok(()) => {
                self.durable.insert_all(&news.arrived);
                self.kept.checkpoints += 1;
            }
            Err(CheckpointError::Keep(_)) => {
                self.news.add(news);
                self.given_up = true;
            }
            Err(CheckpointError::Flush(_)) => (self.given_up, self.flush_failed) = (true, true),
        }
        result
    }

    /// Writes down what arrived since the last checkpoint. The dest has been made durable since.
    pub(super) fn keep_the_rest(&mut self) -> Result<(), CheckpointError> {
        let news = std::mem::take(&mut self.news);
        match self.keeper.as_mut() {
            Some(keeper) if !news.is_empty() => {
                let result = keeper.keep(&news.arrived, &news.unread).map_err(CheckpointError::Keep);
                self.took_in(&news, result)
            }
            _ => Ok(()),
        }
    }

    /// A flush failed: what had been acknowledged before it, and was in no checkpoint, may be lost.
    pub(super) fn flush_failed(&self) -> bool {
        self.flush_failed
    }

    /// What to report at the end.
    pub(super) fn into_kept(self) -> JournalTotals {
        JournalTotals { durable_bytes: self.durable.total_bytes(), ..self.kept }
    }
}

/// The sentence about a journal that cannot be written to any more.
pub(super) fn given_up(error: &Error) -> String {
    // The kernel's error, without the number that Rust adds.
    let said = error.source.as_ref().map(|source| format!(": {source}")).unwrap_or_default();
    let said = said.split(" (os error").next().unwrap_or_default();
    format!("{error}{said}; the journal is no longer updated, and --resume continues from its last checkpoint")
}

/// A dest that could not be made durable.
pub(super) fn flush_error(plan: &Plan, dest: &Arc<dyn Endpoint>, source: io::Error) -> Error {
    let kind = dest.diagnose(Op::Write, plan.dest.offset, &source);
    let what = format!("cannot flush destination {}", plan.dest.address);
    let error = Error::new(kind, what).on(Side::Dest).because(source);
    let advice = "Data written since the last checkpoint may be lost, and the kernel does not report which bytes: \
        check the device and the kernel log (dmesg).";
    error.advise(advice)
}
