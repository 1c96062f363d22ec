//! One of several dests: its requests and what it has acknowledged.
use super::pace::Pace;
use crate::core::{
    Cache, ClosingReport, DestOutcome, DestState, DestTally, Endpoint, EndpointKind, Error, Existing, Extent,
    ExtentSet, Op, PlanDest, Request, RequestError, Side, Transferred, Zeros,
};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// One of several dests.
pub(super) struct Part {
    end: Arc<dyn Endpoint>,
    plan: PlanDest,
    /// It has failed and gets no more requests.
    out: AtomicBool,
    /// It was left behind because it was too slow, and gets no more requests.
    behind: AtomicBool,
    /// Allocation failed; the dest was not changed.
    has_no_space: AtomicBool,
    known: Mutex<Known>,
    pace: Mutex<Pace>,
    tally: Arc<DestTally>,
}

#[derive(Default)]
struct Known {
    /// Acknowledged bytes; offsets count from the first byte of the copy.
    acknowledged: ExtentSet,
    error: Option<Error>,
    durable: bool,
    /// Whether a write or flush failed and none succeeded since: it is unknown which of the data the dest has.
    unknown: bool,
    /// Whether setting the size of the file failed.
    too_short: bool,
    written_bytes: u64,
    zeroed_bytes: u64,
    hole_bytes: u64,
}

impl Part {
    pub(super) fn new(end: Arc<dyn Endpoint>, plan: PlanDest) -> Self {
        let (out, behind) = (AtomicBool::new(false), AtomicBool::new(false));
        let tally = Arc::new(DestTally::new(&plan.side.address, end.facts().memory.is_some()));
        let has_no_space = AtomicBool::new(false);
        Part { end, plan, out, behind, has_no_space, known: Mutex::default(), pace: Mutex::default(), tally }
    }

    /// Its counters.
    pub(super) fn tally(&self) -> Arc<DestTally> {
        self.tally.clone()
    }

    fn now(&self, state: DestState) {
        self.tally.state.store(state as u8, Relaxed);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is active: neither failed nor left behind.
    pub(super) fn is_in(&self) -> bool {
        !self.out.load(Relaxed) && !self.behind.load(Relaxed)
    }

    /// Whether it may be left behind.
    pub(super) fn may_fall_behind(&self) -> bool {
        self.plan.may_fall_behind
    }

    /// Submits no more requests to it; requests in flight are completed.
    pub(super) fn leave_behind(&self) {
        self.behind.store(true, Relaxed);
        self.now(DestState::Behind);
    }

    /// Its throughput.
    pub(super) fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Like [`Part::write`], and measures the busy time.
    pub(super) fn write_in_time(&self, request: &mut Request) -> Result<(), RequestError> {
        self.pace().enter(Instant::now());
        let len = request.left();
        let result = self.write(request);
        self.pace().leave(Instant::now(), if result.is_ok() { len } else { 0 });
        result
    }

    /// Executes the whole transfer of the request. Leaves `op` and `done` of the request undefined.
    fn write(&self, request: &mut Request) -> Result<(), RequestError> {
        let zero = request.op == Op::Zero;
        request.op = match (request.op, self.plan.zeros) {
            (Op::Zero, Zeros::Leave) => {
                let len = request.left();
                self.on_acknowledged(request.at(), len, |known| known.hole_bytes += u64::from(len));
                return Ok(());
            }
            (Op::Zero, Zeros::Device) => Op::Zero,
            // The plan ensures that the buffer contains zeros.
            (op, _) => {
                if zero {
                    Op::Write
                } else {
                    op
                }
            }
        };
        let mut may_try_again = self.plan.side.access.cache == Cache::Direct && request.op != Op::Zero;
        while request.done < request.until {
            let at = request.at();
            let result = self.end.perform(request).map(Some);
            match Transferred::by(&*self.end, request, result) {
                Transferred::Moved(0) => {
                    return Err(RequestError::of(&*self.end, request.op, at, io::ErrorKind::WriteZero.into()));
                }
                Transferred::Moved(moved) => {
                    let bytes = u64::from(moved);
                    self.on_acknowledged(at, moved, |known| match request.op {
                        Op::Zero => known.zeroed_bytes += bytes,
                        _ => known.written_bytes += bytes,
                    });
                    request.done += moved;
                }
                Transferred::Retry => std::thread::yield_now(),
                Transferred::Failed(error) if may_try_again && error.may_be_merged() => may_try_again = false,
                Transferred::Failed(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn on_acknowledged(&self, at: u64, len: u32, count: impl FnOnce(&mut Known)) {
        let mut known = self.known();
        known.acknowledged.extend(self.plan.side.map.copied_from(Extent::new(at, len.into())));
        count(&mut known);
        self.tally.copied_bytes.fetch_add(len.into(), Relaxed);
    }

    /// Drops the dest. Returns its error; `None` if another block failed before, because only the first failure is
    /// reported.
    pub(super) fn fail(&self, op: Op, offset: u64, error: RequestError) -> Option<Error> {
        if self.out.swap(true, Relaxed) {
            return None;
        }
        self.now(DestState::Failed);
        let kept = error.into_error(self.end.facts(), op, Side::Dest, offset);
        let again = |source: &io::Error| match source.raw_os_error() {
            Some(number) => io::Error::from_raw_os_error(number),
            None => io::Error::new(source.kind(), source.to_string()),
        };
        let source = kept.source.as_ref().map(again);
        let reported = Error { source, what: kept.what.clone(), advice: kept.advice.clone(), ..kept };
        let mut known = self.known();
        known.error = Some(kept);
        // With buffered I/O any acknowledged write may have failed, so nothing is claimed without a flush.
        known.unknown = keeps(self.plan.side.kind);
        drop(known);
        Some(reported)
    }

    /// Drops the dest after a failure that does not concern a block.
    pub(super) fn fail_at_end(&self, doing: &str, source: io::Error) {
        let kind = self.end.diagnose(Op::Write, self.plan.side.map.start(), &source);
        let what = format!("cannot {doing} destination {}", self.plan.side.address);
        let error = Error::new(kind, what).on(Side::Dest).because(source);
        let advice = "Written data may be lost: check the device and the kernel log (dmesg), then copy again.";
        self.out.store(true, Relaxed);
        self.now(DestState::Failed);
        self.known().error.get_or_insert(error.advise(advice));
    }

    pub(super) fn prepare(&self, extent: Extent) -> io::Result<()> {
        let prepared = if self.plan.preallocate { self.end.prepare(extent) } else { Ok(()) };
        self.has_no_space.store(prepared.is_err(), Relaxed);
        prepared
    }

    /// Sets the size of a file to the end of the acknowledged data. Old data that the copy did not reach is kept.
    pub(super) fn set_end(&self) -> io::Result<()> {
        let existing = self.plan.side.access.existing;
        let is_wanted = self.plan.set_end || existing == Existing::Create;
        if !is_wanted || self.has_no_space.load(Relaxed) {
            return Ok(());
        }
        let mut end = self.plan.side.map.end(self.contiguous().end());
        if existing == Existing::Keep {
            end = end.max(self.end.facts().size.unwrap_or(0));
        }
        let ended = self.end.end_at(end);
        // Holes past the end of a file that is too short do not exist.
        self.known().too_short = ended.is_err();
        ended
    }

    /// Makes it visible, if it was not dropped.
    pub(super) fn complete(&self, size: u64) -> io::Result<()> {
        if self.is_in() { self.end.complete(size) } else { Ok(()) }
    }

    /// Also after a failure, because claimed bytes must be durable.
    pub(super) fn make_durable(&self) -> io::Result<()> {
        if !keeps(self.plan.side.kind) || !self.plan.durable && !self.out.load(Relaxed) {
            return Ok(());
        }
        if self.is_in() {
            self.now(DestState::Flushing);
        }
        let flushed = self.end.make_durable();
        if self.is_in() && flushed.is_ok() {
            self.now(DestState::Done);
        }
        let mut known = self.known();
        (known.durable, known.unknown) = (flushed.is_ok(), flushed.is_err());
        flushed
    }

    pub(super) fn claimed(&self) -> Extent {
        let (unknown, too_short) = {
            let known = self.known();
            (known.unknown, known.too_short)
        };
        if unknown || too_short { Extent::new(0, 0) } else { self.contiguous() }
    }

    /// The contiguous acknowledged extent, regardless of whether it can be claimed.
    fn contiguous(&self) -> Extent {
        let known = self.known();
        known.acknowledged.iter().next().filter(|first| first.offset == 0).unwrap_or(Extent::new(0, 0))
    }

    /// Whether it was left behind and did not fail.
    pub(super) fn is_behind(&self) -> bool {
        self.behind.load(Relaxed) && !self.out.load(Relaxed)
    }

    pub(super) fn cancel(&self) {
        self.end.cancel();
    }

    /// Its closing report, prefixed with its name.
    pub(super) fn closing(&self) -> ClosingReport {
        let ClosingReport { notes, fallbacks, .. } = self.end.closing();
        let named = |all: Vec<String>| {
            all.into_iter().map(|note| format!("destination {}: {note}", self.plan.side.address)).collect()
        };
        ClosingReport { notes: named(notes), fallbacks: named(fallbacks), ..ClosingReport::default() }
    }

    pub(super) fn outcome(&self) -> DestOutcome {
        let claimed = self.claimed();
        let mut known = self.known();
        DestOutcome {
            address: self.plan.side.address.clone(),
            path: self.plan.side.path.clone(),
            behind: self.behind.load(Relaxed) && known.error.is_none(),
            error: known.error.take(),
            claimed,
            durable: known.durable,
            memory: self.end.facts().memory.clone(),
            written_bytes: known.written_bytes,
            zeroed_bytes: known.zeroed_bytes,
            hole_bytes: known.hole_bytes,
            verified: None,
        }
    }
}

/// Whether an endpoint of this kind stores what is written to it.
pub(super) fn keeps(kind: EndpointKind) -> bool {
    matches!(kind, EndpointKind::FileStream) || kind.is_storage()
}
