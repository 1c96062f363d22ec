//! The signs of life of a worker. One that cannot give them, or sees that it is no longer wanted, ends itself.
use super::claim::{ShardPlace, removed};
use super::names::{self, Listed};
use crate::core::{CheckpointSink, DigestedBlock, Error, ExtentSet, Fence, Kept, Kind, Result, locked};
use crate::disks::object::SharedState;
use crate::engine::Endpoints;
use crate::job::shard_digests::{DurableValues, ShardDigests, ValuedBlock};
use crate::ledger::fleet::{AttemptRecord, FleetPlan, ShardBlocks};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What one worker has, and where it records that.
pub(crate) struct Attempt {
    pub(crate) state: Arc<SharedState>,
    pub(crate) plan: Arc<FleetPlan>,
    pub(crate) job: String,
    pub(crate) fence: Arc<Fence>,
    record: Mutex<AttemptRecord>,
    /// Number of texts with digests of blocks so far.
    pieces: AtomicU64,
    /// What is cancelled if the worker has to end.
    ends: Mutex<Option<Endpoints>>,
}

impl Attempt {
    /// The attempt that was created with `record` when the clock showed `created`, or later.
    pub(crate) fn new(
        state: Arc<SharedState>,
        plan: Arc<FleetPlan>,
        record: AttemptRecord,
        clock: impl Fn() -> Duration + Send + Sync + 'static,
        created: Duration,
    ) -> Attempt {
        let fence = Arc::new(Fence::new(clock, created + allowed(&plan)));
        Attempt {
            state,
            job: record.job.clone(),
            plan,
            fence,
            record: Mutex::new(record),
            pieces: AtomicU64::new(0),
            ends: Mutex::default(),
        }
    }

    /// Time between two signs of life.
    pub(crate) fn interval(&self) -> Duration {
        Duration::from_secs(self.plan.lease_s) / 4
    }

    /// If the worker has to end, calls of these sides that wait are cancelled.
    pub(crate) fn cancels(&self, ends: &Endpoints) {
        *locked(&self.ends) = Some(ends.clone());
    }

    /// The record as it is now.
    pub(crate) fn record(&self) -> AttemptRecord {
        locked(&self.record).clone()
    }

    /// Where the shard is recorded.
    pub(crate) fn place(&self) -> ShardPlace<'_> {
        let shard = locked(&self.record).shard;
        ShardPlace { state: &self.state, plan: &self.plan, job: &self.job, shard }
    }

    /// Records a sign of life and what is durable, then looks whether the shard is still this worker's.
    ///
    /// # Errors
    /// Io if the state does not answer: then this was none.
    pub(crate) fn beat(&self) -> Result<()> {
        // The time before the request: other workers see the heartbeat only after it.
        let before = self.fence.now();
        let record = {
            let mut record = locked(&self.record);
            record.beat += 1;
            record.written = format!("{:.0}", jiff::Timestamp::now());
            record.clone()
        };
        self.write(&record)?;
        let listed = Listed::of(&self.state.list(&names::folder(&self.plan, record.shard))?);
        if listed.is_stopped {
            self.fence.end("the job was aborted");
        } else if listed.is_done {
            self.fence.end("another worker finished the shard");
        } else if listed.last_attempt > record.attempt {
            self.fence.end("another worker took the shard, because this one gave no sign of life");
        }
        self.fence.extend(before + allowed(&self.plan));
        Ok(())
    }

    /// Records how it ended: this worker writes nothing more to the dest.
    ///
    /// # Errors
    /// Io if the state does not answer.
    pub(crate) fn sign_off(&self, how: &str) -> Result<()> {
        let record = {
            let mut record = locked(&self.record);
            record.beat += 1;
            record.written = format!("{:.0}", jiff::Timestamp::now());
            record.ended = Some(how.to_owned());
            record.clone()
        };
        self.write(&record)
    }

    /// Remembers what is durable, for the next sign of life.
    fn claim(&self, DurableValues { bytes, values }: &DurableValues, unread: &ExtentSet) {
        let mut record = locked(&self.record);
        record.claim_with_values(bytes, unread, values);
        record.copied_bytes = bytes.total_bytes();
    }

    /// Records the digests of blocks that are durable now, for a manifest of the whole; returns what may be claimed.
    ///
    /// # Errors
    /// Io if the state does not answer: then they are recorded later.
    pub(crate) fn record_digests(&self, digests: &ShardDigests, durable: &ExtentSet) -> Result<DurableValues> {
        let ready = digests.ready(durable);
        let has_manifest = self.plan.digest.as_ref().is_some_and(|digest| digest.manifest);
        if has_manifest && !ready.is_empty() {
            let AttemptRecord { job, shard, attempt, .. } = self.record();
            let number = self.pieces.fetch_add(1, Relaxed) + 1;
            let mut blocks: Vec<DigestedBlock> = Vec::new();
            for ValuedBlock { block, .. } in &ready {
                match blocks.last_mut() {
                    Some(DigestedBlock { extent, digest: None })
                        if block.digest.is_none() && extent.end() == block.extent.offset =>
                    {
                        extent.len += block.extent.len;
                    }
                    _ => blocks.push(*block),
                }
            }
            let blocks = ShardBlocks { job, shard, attempt, blocks, ..ShardBlocks::default() };
            let text = blocks.to_text().map_err(|fault| fault.into_error("digests of blocks"))?;
            self.state.replace(&names::blocks(&self.plan, shard, attempt, number), &text)?;
        }
        Ok(digests.record(&ready))
    }

    /// Ends the copy if its record does not exist any more: no other worker would see what it writes now.
    ///
    /// # Errors
    /// Io, then, or if the state does not answer.
    pub(crate) fn check_kept(&self) -> Result<()> {
        let (place, record) = (self.place(), self.record());
        let name = names::attempt(&self.plan, record.shard, record.attempt);
        if self.state.still_has(&name)? {
            return Ok(());
        }
        self.fence.end("the shared state was removed, or is not mounted any more");
        Err(removed(&place.full(&name)))
    }

    fn write(&self, record: &AttemptRecord) -> Result<()> {
        let text = record.to_text().map_err(|fault| fault.into_error("attempt"))?;
        self.check_kept()?;
        self.state.replace(&names::attempt(&self.plan, record.shard, record.attempt), &text)
    }
}

/// How long a worker continues after its last sign of life.
fn allowed(plan: &FleetPlan) -> Duration {
    Duration::from_secs(plan.lease_s) * 2 / 3
}

/// Gives signs of life from another thread until it is dropped.
pub(crate) struct Heartbeat {
    wake: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Begins.
    ///
    /// # Errors
    /// Io if no thread can be started.
    pub(crate) fn start(attempt: &Arc<Attempt>) -> Result<Heartbeat> {
        let (wake, woken) = channel();
        let attempt = attempt.clone();
        let work = move || beats(&attempt, &woken);
        let thread = thread::Builder::new().name("haul-heartbeat".to_owned()).spawn(work);
        let failed = |source| Error::new(Kind::Io, "cannot start a thread for signs of life").because(source);
        let thread = thread.map_err(failed)?;
        Ok(Heartbeat { wake: Some(wake), thread: Some(thread) })
    }

    /// What gives a sign of life at once.
    pub(crate) fn waker(&self) -> Sender<()> {
        self.wake.clone().expect("it is taken only when this is dropped")
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.wake = None;
        // The checkpoints, which could wake it too, ended with the copy.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn beats(attempt: &Attempt, woken: &Receiver<()>) {
    let interval = attempt.interval();
    let mut pause = interval;
    loop {
        match woken.recv_timeout(pause) {
            Err(RecvTimeoutError::Disconnected) => return,
            Ok(()) | Err(RecvTimeoutError::Timeout) => {}
        }
        // After a failure sooner, so that there are several before the end.
        pause = if attempt.beat().is_ok() { interval } else { interval / 6 };
        if attempt.fence.is_over() {
            locked(&attempt.ends).iter().flatten().for_each(|end| end.cancel());
            return;
        }
    }
}

/// Takes the checkpoints of a shard: what is durable is recorded with a sign of life.
pub(crate) struct ShardCheckpoints {
    attempt: Arc<Attempt>,
    wake: Option<Sender<()>>,
    durable: ExtentSet,
    unread: ExtentSet,
    digests: Option<Arc<ShardDigests>>,
}

impl ShardCheckpoints {
    /// `already` is durable since earlier attempts. With `digests`, only blocks that have one are recorded.
    pub(crate) fn new(
        attempt: Arc<Attempt>,
        wake: Option<Sender<()>>,
        already: ExtentSet,
        digests: Option<Arc<ShardDigests>>,
    ) -> Self {
        ShardCheckpoints { attempt, wake, durable: already, unread: ExtentSet::new(), digests }
    }

    fn recorded(&self) -> Result<DurableValues> {
        match &self.digests {
            Some(_) if self.attempt.plan.is_one_block() => Ok(DurableValues::default()),
            Some(digests) => self.attempt.record_digests(digests, &self.durable),
            None => Ok(DurableValues { bytes: self.durable.clone(), values: Vec::new() }),
        }
    }
}

impl CheckpointSink for ShardCheckpoints {
    fn keep(&mut self, kept: &Kept, unread: &ExtentSet) -> Result<()> {
        self.durable.insert_all(&kept.bytes);
        self.unread.insert_all(unread);
        // A state that does not answer ends the copy by its fence, or has the next checkpoint.
        if let Ok(recorded) = self.recorded() {
            self.attempt.claim(&recorded, &self.unread);
        }
        // The thread has ended with the lease: the copy ends too.
        if let Some(wake) = &self.wake {
            let _ = wake.send(());
        }
        Ok(())
    }
}
