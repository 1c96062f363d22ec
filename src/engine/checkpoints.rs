//! Checkpoints: during the copy, the dest is flushed periodically and the flushed bytes are recorded.
use crate::core::{
    CheckpointPlan, CheckpointSink, Endpoint, Error, Extent, ExtentSet, JournalTotals, Kept, Kind, Op, Plan, Side,
};
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Minimum interval between checkpoints, as a multiple of their duration, so that they take less than 1 % of the time
/// however slow flushes are.
const REST_PER_FLUSH: u32 = 100;

/// Bytes that are in no checkpoint yet. Offsets count from the first byte of the copy.
#[derive(Clone, Default)]
struct Uncheckpointed {
    /// Acknowledged by the dest.
    pub(super) acknowledged: ExtentSet,
    /// Unreadable on the source, and zeros on the dest.
    pub(super) unread: ExtentSet,
}

impl Uncheckpointed {
    fn is_empty(&self) -> bool {
        self.acknowledged.is_empty() && self.unread.is_empty()
    }

    fn add(&mut self, other: &Uncheckpointed) {
        self.acknowledged.insert_all(&other.acknowledged);
        self.unread.insert_all(&other.unread);
    }
}

/// A checkpoint in progress on a separate thread, while the pump continues.
struct Underway {
    /// The bytes that it makes durable.
    pending: Uncheckpointed,
    pub(super) since: Instant,
    pub(super) thread: JoinHandle<(Box<dyn CheckpointSink>, Result<Kept, CheckpointError>)>,
}

/// Why a checkpoint failed.
pub(super) enum CheckpointError {
    /// The flush failed: acknowledged data may be lost, and the kernel reports the failure only once.
    Flush(io::Error),
    /// The checkpoint could not be recorded. The copy can continue without it.
    Keep(Error),
}

/// Collects what the dest acknowledges, and makes it durable at intervals. All bytes of a checkpoint were acknowledged
/// before its flush began.
pub(super) struct Checkpoints {
    pub(super) dest: Arc<dyn Endpoint>,
    /// `None` while a checkpoint is in progress.
    pub(super) sink: Option<Box<dyn CheckpointSink>>,
    pub(super) every: [Duration; 2],
    /// Bytes that are in no checkpoint yet.
    pending: Uncheckpointed,
    underway: Option<Underway>,
    pub(super) next_at: Instant,
    /// Recording failed: no further checkpoints are made.
    pub(super) is_disabled: bool,
    /// Durable bytes, including those of earlier runs.
    pub(super) durable: ExtentSet,
    /// End of the last acknowledged byte, including those of earlier runs.
    pub(super) end: u64,
    pub(super) flush_failed: bool,
    pub(super) recorded: JournalTotals,
}

impl Checkpoints {
    pub(super) fn new(keeping: CheckpointPlan, dest: &Arc<dyn Endpoint>, now: Instant) -> Self {
        let already_bytes = keeping.already.total_bytes();
        Checkpoints {
            dest: dest.clone(),
            sink: Some(keeping.sink),
            every: keeping.every,
            pending: Uncheckpointed::default(),
            underway: None,
            next_at: now + keeping.every[0],
            is_disabled: false,
            end: keeping.already.end(),
            durable: keeping.already,
            flush_failed: false,
            recorded: JournalTotals { already_bytes, ..JournalTotals::default() },
        }
    }

    /// Adds `extent`, which the dest acknowledged. Bytes in `unread`, which counts on the source where `extent` is at
    /// `on_source`, are zeros on the dest and not durable: a resumed copy reads them again.
    pub(super) fn on_block_done(&mut self, extent: Extent, unread: &ExtentSet, on_source: u64) {
        self.pending.acknowledged.insert(extent);
        for bad in unread.within(Extent::new(on_source, extent.len)) {
            self.unread(Extent::new(extent.offset + (bad.offset - on_source), bad.len));
        }
        self.end = self.end.max(extent.end());
    }

    /// Adds bytes of the copy that cannot be read.
    pub(super) fn unread(&mut self, extent: Extent) {
        self.pending.acknowledged.remove(extent);
        self.pending.unread.insert(extent);
    }

    /// Durable bytes, including those of earlier runs.
    pub(super) fn durable(&self) -> &ExtentSet {
        &self.durable
    }

    /// End of the last acknowledged byte: the minimum size of the dest.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Starts a checkpoint when one is due, and completes one whose thread has ended. Otherwise it costs only two
    /// comparisons.
    pub(super) fn round(&mut self, now: Instant) -> Result<(), CheckpointError> {
        if self.underway.as_ref().is_some_and(|underway| underway.thread.is_finished()) {
            self.collect(now)?;
        }
        if now >= self.next_at && self.underway.is_none() && !self.is_disabled && !self.pending.is_empty() {
            return self.begin(now);
        }
        Ok(())
    }

    fn begin(&mut self, now: Instant) -> Result<(), CheckpointError> {
        let Some(mut sink) = self.sink.take() else { return Ok(()) };
        let pending = std::mem::take(&mut self.pending);
        let (dest, recording) = (self.dest.clone(), pending.clone());
        let work = move || {
            let flushed = dest.make_durable().map_err(CheckpointError::Flush);
            let recorded = flushed.and_then(|()| {
                let kept = dest.kept(recording.acknowledged);
                sink.keep(&kept, &recording.unread).map(|()| kept).map_err(CheckpointError::Keep)
            });
            (sink, recorded)
        };
        // A thread per checkpoint costs about 20 µs every few seconds, and nothing for short copies.
        let thread = thread::Builder::new().name("haul-checkpoint".to_owned()).spawn(work);
        match thread {
            Ok(thread) => {
                self.underway = Some(Underway { pending, since: now, thread });
                Ok(())
            }
            // The sink was moved into the closure and is lost.
            Err(source) => {
                let error = Error::new(Kind::Io, "cannot start a thread for checkpoints").because(source);
                self.on_recorded(&pending, Err(CheckpointError::Keep(error)))
            }
        }
    }

    /// Waits for the checkpoint in progress, if any, and returns its result.
    pub(super) fn collect(&mut self, now: Instant) -> Result<(), CheckpointError> {
        let Some(Underway { pending, since, thread }) = self.underway.take() else { return Ok(()) };
        let (sink, result) = match thread.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        self.sink = Some(sink);
        let took = now.saturating_duration_since(since);
        let [least, most] = self.every;
        self.next_at = now + (took * REST_PER_FLUSH).min(most).max(least);
        self.on_recorded(&pending, result)
    }

    fn on_recorded(
        &mut self,
        pending: &Uncheckpointed,
        result: Result<Kept, CheckpointError>,
    ) -> Result<(), CheckpointError> {
        match &result {
            Ok(kept) => {
                self.durable.insert_all(&kept.bytes);
                // What the dest still collects is in a later checkpoint.
                let mut later = pending.acknowledged.clone();
                later.remove_all(&kept.bytes);
                self.pending.acknowledged.insert_all(&later);
                self.recorded.checkpoints += 1;
            }
            Err(CheckpointError::Keep(_)) => {
                self.pending.add(pending);
                self.is_disabled = true;
            }
            Err(CheckpointError::Flush(_)) => (self.is_disabled, self.flush_failed) = (true, true),
        }
        result.map(|_| ())
    }

    /// Records the bytes since the last checkpoint, after the dest was flushed.
    pub(super) fn record_rest(&mut self) -> Result<(), CheckpointError> {
        let pending = std::mem::take(&mut self.pending);
        match self.sink.as_mut() {
            Some(sink) if !pending.is_empty() => {
                let kept = self.dest.kept(pending.acknowledged.clone());
                let result = sink.keep(&kept, &pending.unread).map(|()| kept).map_err(CheckpointError::Keep);
                self.on_recorded(&pending, result)
            }
            _ => Ok(()),
        }
    }

    /// Whether a flush failed, so that acknowledged bytes since the last checkpoint may be lost.
    pub(super) fn flush_failed(&self) -> bool {
        self.flush_failed
    }

    /// The totals for the report.
    pub(super) fn into_kept(self) -> JournalTotals {
        JournalTotals { durable_bytes: self.durable.total_bytes(), ..self.recorded }
    }
}

/// Warning that the journal can no longer be written.
pub(super) fn disabled_warning(error: &Error) -> String {
    // Omit the error number that Rust appends.
    let cause = error.source.as_ref().map(|source| format!(": {source}")).unwrap_or_default();
    let cause = cause.split(" (os error").next().unwrap_or_default();
    format!("{error}{cause}; the journal is no longer updated, and --resume continues from its last checkpoint")
}

/// Error of a failed flush of the dest.
pub(super) fn flush_error(plan: &Plan, dest: &Arc<dyn Endpoint>, source: io::Error) -> Error {
    let kind = dest.diagnose(Op::Write, plan.dest.map.start(), &source);
    let what = format!("cannot flush destination {}", plan.dest.address);
    let error = Error::new(kind, what).on(Side::Dest).because(source);
    let advice = "Data written since the last checkpoint may be lost, and the kernel does not report which bytes: \
        check the device and the kernel log (dmesg).";
    error.advise(advice)
}
