//! One of several dests: what it is given, and what it has acknowledged.
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
    /// It has failed: nothing more is given to it.
    out: AtomicBool,
    /// It held the others up: nothing more is given to it either.
    behind: AtomicBool,
    /// No room could be had there: nothing of it has changed.
    has_no_room: AtomicBool,
    known: Mutex<Known>,
    pace: Mutex<Pace>,
    tally: Arc<DestTally>,
}

#[derive(Default)]
struct Known {
    /// What it acknowledged; offsets count from the first byte of the copy.
    arrived: ExtentSet,
    error: Option<Error>,
    durable: bool,
    /// A write or a flush failed, and none has succeeded since: it is not known what of that is there.
    unknown: bool,
    /// The end of the file could not be set.
    too_short: bool,
    written_bytes: u64,
    zeroed_bytes: u64,
    hole_bytes: u64,
}

impl Part {
    pub(super) fn new(end: Arc<dyn Endpoint>, plan: PlanDest) -> Self {
        let (out, behind) = (AtomicBool::new(false), AtomicBool::new(false));
        let tally = Arc::new(DestTally::new(&plan.side.address, end.facts().memory.is_some()));
        let has_no_room = AtomicBool::new(false);
        Part { end, plan, out, behind, has_no_room, known: Mutex::default(), pace: Mutex::default(), tally }
    }

    /// Its running numbers.
    pub(super) fn tally(&self) -> Arc<DestTally> {
        self.tally.clone()
    }

    fn now(&self, state: DestState) {
        self.tally.state.store(state as u8, Relaxed);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It has neither failed nor been left behind.
    pub(super) fn is_in(&self) -> bool {
        !self.out.load(Relaxed) && !self.behind.load(Relaxed)
    }

    /// It may be left behind.
    pub(super) fn may_fall_behind(&self) -> bool {
        self.plan.may_fall_behind
    }

    /// Gives it nothing more; what it has in hand it finishes.
    pub(super) fn leave_behind(&self) {
        self.behind.store(true, Relaxed);
        self.now(DestState::Behind);
    }

    /// How fast it is.
    pub(super) fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same as [`Part::take`], with the time it takes.
    pub(super) fn take_in_time(&self, request: &mut Request) -> Result<(), RequestError> {
        self.pace().enter(Instant::now());
        let len = request.left();
        let result = self.take(request);
        self.pace().leave(Instant::now(), if result.is_ok() { len } else { 0 });
        result
    }

    /// Carries the whole transfer of the request out. The request's `op` and `done` are left anywhere.
    fn take(&self, request: &mut Request) -> Result<(), RequestError> {
        let zero = request.op == Op::Zero;
        request.op = match (request.op, self.plan.zeros) {
            (Op::Zero, Zeros::Leave) => {
                let len = request.left();
                self.acknowledged(request.at(), len, |known| known.hole_bytes += u64::from(len));
                return Ok(());
            }
            (Op::Zero, Zeros::Device) => Op::Zero,
            // The bytes in the buffer are zeros: the plan of the copy says so.
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
                    self.acknowledged(at, moved, |known| match request.op {
                        Op::Zero => known.zeroed_bytes += bytes,
                        _ => known.written_bytes += bytes,
                    });
                    request.done += moved;
                }
                Transferred::Retry => std::thread::yield_now(),
                Transferred::Failed(error) if may_try_again && error.may_be_a_neighbours() => may_try_again = false,
                Transferred::Failed(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn acknowledged(&self, at: u64, len: u32, count: impl FnOnce(&mut Known)) {
        let mut known = self.known();
        known.arrived.insert(Extent::new(at - self.plan.side.offset, len.into()));
        count(&mut known);
        self.tally.copied_bytes.fetch_add(len.into(), Relaxed);
    }

    /// Drops it. `None`: another block has failed there before; what is reported is the first that did.
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
        let told = Error { source, what: kept.what.clone(), advice: kept.advice.clone(), ..kept };
        let mut known = self.known();
        known.error = Some(kept);
        // Through the page cache it may have been any of those acknowledged before: nothing is claimed without a flush.
        known.unknown = keeps(self.plan.side.kind);
        drop(known);
        Some(told)
    }

    /// Something failed that was not about a block.
    pub(super) fn fail_at_end(&self, doing: &str, source: io::Error) {
        let kind = self.end.diagnose(Op::Write, self.plan.side.offset, &source);
        let what = format!("cannot {doing} destination {}", self.plan.side.address);
        let error = Error::new(kind, what).on(Side::Dest).because(source);
        let advice = "Written data may be lost: check the device and the kernel log (dmesg), then copy again.";
        self.out.store(true, Relaxed);
        self.now(DestState::Failed);
        self.known().error.get_or_insert(error.advise(advice));
    }

    pub(super) fn prepare(&self, extent: Extent) -> io::Result<()> {
        let prepared = if self.plan.preallocate { self.end.prepare(extent) } else { Ok(()) };
        self.has_no_room.store(prepared.is_err(), Relaxed);
        prepared
    }

    /// Lets a file end where what arrived does; what was not got to of a file that was there is still the user's.
    pub(super) fn set_end(&self) -> io::Result<()> {
        let existing = self.plan.side.access.existing;
        let is_wanted = self.plan.set_end || existing == Existing::Create;
        if !is_wanted || self.has_no_room.load(Relaxed) {
            return Ok(());
        }
        let mut end = self.plan.side.offset + self.arrived().end();
        if existing == Existing::Keep {
            end = end.max(self.end.facts().size.unwrap_or(0));
        }
        let ended = self.end.end_at(end);
        // Holes behind the end of a file that is too short do not exist.
        self.known().too_short = ended.is_err();
        ended
    }

    /// Also where it has failed: what it claims has to be there.
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
        if unknown || too_short { Extent::new(0, 0) } else { self.arrived() }
    }

    /// What was acknowledged with nothing missing before it, whether or not that can be claimed.
    fn arrived(&self) -> Extent {
        let known = self.known();
        known.arrived.iter().next().filter(|first| first.offset == 0).unwrap_or(Extent::new(0, 0))
    }

    /// It was left behind, and did not fail.
    pub(super) fn is_behind(&self) -> bool {
        self.behind.load(Relaxed) && !self.out.load(Relaxed)
    }

    pub(super) fn cancel(&self) {
        self.end.cancel();
    }

    /// What it says at the end, with its name.
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

/// Whether a dest of this kind keeps what is written to it.
pub(super) fn keeps(kind: EndpointKind) -> bool {
    matches!(kind, EndpointKind::File | EndpointKind::Block | EndpointKind::FileStream)
}
