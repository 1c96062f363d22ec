//! Several dests that look like one: each block is written to all of them, and one that fails is dropped.
//!
//! This room must not know what the dests are, nor how requests are kept in flight: whoever calls it from several
//! threads keeps all of them busy.
#![forbid(unsafe_code)]
mod pace;
mod part;
#[cfg(test)]
mod tests;

use crate::core::{
    ClosingReport, DestTally, Endpoint, Error, Extent, Facts, Kind, Order, PlanDest, Request, WriteOrder,
};
use part::Part;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// Hears of a dest that is dropped, at once and from any thread.
pub type OnDestDropped = Box<dyn Fn(&Error) + Send + Sync>;

/// Several dests that look like one. A block is written to each of them in turn by one call, so that it needs no second
/// owner; with as many calls under way as blocks are in flight, each dest has its share of them.
pub struct Several {
    facts: Facts,
    parts: Vec<Part>,
    /// Calls begin with different dests, so that no dest waits for another at the start of each block; not where the
    /// order of writes matters.
    rotate: bool,
    dropped: OnceLock<OnDestDropped>,
    /// Calls under way, whichever dest they are with.
    calls: AtomicU32,
    patience: Duration,
}

/// A dest that is this much slower than another holds that one up; a smaller difference is not worth a second read.
const SLOWER: f64 = 1.5;

/// A dest that has had less than this to do is not judged: a cache fills, a disk tidies up, and continues.
const PATIENCE: Duration = Duration::from_secs(3);

impl Several {
    /// One dest of these, of which there is one at least; each with its plan.
    pub fn new(dests: Vec<(Arc<dyn Endpoint>, PlanDest)>, write_order: WriteOrder) -> Self {
        let mut facts = dests[0].0.facts().clone();
        facts.address = dests.iter().map(|(_, plan)| plan.side.address.as_str()).collect::<Vec<_>>().join(", ");
        facts.id = None;
        if dests.iter().any(|(end, _)| end.facts().order == Order::Ascending) {
            facts.order = Order::Ascending;
        }
        // Some of them can be memory and some a disk: the calls may take a while.
        facts.calls = crate::core::CallStyle::Waits;
        let parts = dests.into_iter().map(|(end, plan)| Part::new(end, plan)).collect();
        Several {
            facts,
            parts,
            rotate: write_order == WriteOrder::Any,
            dropped: OnceLock::new(),
            calls: AtomicU32::new(0),
            patience: PATIENCE,
        }
    }

    /// Passes each dest to `dropped` that is dropped from now on. Only the first one passed is used.
    pub fn on_drop(&self, dropped: OnDestDropped) {
        self.dropped.set(dropped).ok();
    }

    #[cfg(any(test, feature = "internals"))]
    /// The same, with another time before a dest is judged as too slow.
    pub fn with_patience(self, patience: Duration) -> Self {
        Several { patience, ..self }
    }

    /// The dests that were left behind, by their number, and what each claims.
    pub fn behind(&self) -> Vec<(usize, Extent)> {
        let behind = self.parts.iter().enumerate().filter(|(_, part)| part.is_behind());
        behind.map(|(number, part)| (number, part.claimed())).collect()
    }

    /// Gives a block to each dest that is in.
    fn give(&self, request: &mut Request) -> io::Result<u32> {
        let (op, done, count) = (request.op, request.done, self.parts.len());
        let first = if self.rotate { (request.ticket % count as u64) as usize } else { 0 };
        let mut arrived = false;
        for number in 0..count {
            let part = &self.parts[(first + number) % count];
            if !part.is_in() {
                continue;
            }
            if self.holds_up(part) {
                part.leave_behind();
                continue;
            }
            let result = part.take_in_time(request);
            (request.op, request.done) = (op, done);
            match result {
                Ok(()) => arrived = true,
                Err(error) if error.kind == Kind::Cancelled => return Err(error.source),
                Err(error) => {
                    if let (Some(error), Some(dropped)) = (part.fail(op, request.at(), error), self.dropped.get()) {
                        dropped(&error);
                    }
                }
            }
        }
        if arrived { Ok(request.left()) } else { Err(none_left()) }
    }

    /// It holds the others up: nearly all blocks on their way are with it, and another dest is much faster.
    fn holds_up(&self, part: &Part) -> bool {
        if !part.may_fall_behind() {
            return false;
        }
        let now = Instant::now();
        let (calls, busy, rate) = {
            let pace = part.pace();
            (pace.calls(), pace.busy(now), pace.bytes_per_s(now))
        };
        let crowded = calls >= 2 && (calls + 1) * 4 >= self.calls.load(Relaxed) * 3;
        if !crowded || busy < self.patience {
            return false;
        }
        let others = self.parts.iter().filter(|other| other.is_in() && !std::ptr::eq(*other, part));
        let mut rates = others.filter_map(|other| other.pace().bytes_per_s(now));
        rate.is_some_and(|rate| rates.any(|other| other >= rate * SLOWER))
    }

    /// Does something to each dest that is still in, at once; one that fails is dropped.
    ///
    /// An error where none is left, the last one's.
    fn each(&self, doing: &str, what: impl Fn(&Part) -> io::Result<()> + Sync) -> io::Result<()> {
        thread::scope(|scope| {
            let calls: Vec<_> = self.parts.iter().map(|part| (part, scope.spawn(|| what(part)))).collect();
            for (part, call) in calls {
                if let Err(source) = call.join().unwrap_or_else(|_| Err(io::Error::other("it panicked"))) {
                    part.fail_at_end(doing, source);
                }
            }
        });
        if self.parts.iter().any(Part::is_in) { Ok(()) } else { Err(none_left()) }
    }
}

/// What the copy receives when its last dest has failed: each of them is reported with its own error.
fn none_left() -> io::Error {
    io::Error::other("every destination has failed")
}

impl Endpoint for Several {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        self.calls.fetch_add(1, Relaxed);
        let result = self.give(request);
        self.calls.fetch_sub(1, Relaxed);
        result
    }

    fn prepare(&self, extent: Extent) -> io::Result<()> {
        self.each("allocate space on", |part| part.prepare(extent))
    }

    fn end_at(&self, _size: u64) -> io::Result<()> {
        self.each("set the length of", Part::set_end)
    }

    fn make_durable(&self) -> io::Result<()> {
        self.each("flush", Part::make_durable)
    }

    fn cancel(&self) {
        self.parts.iter().for_each(Part::cancel);
    }

    fn closing(&self) -> ClosingReport {
        let (mut notes, mut fallbacks) = (Vec::new(), Vec::new());
        for part in &self.parts {
            let closing = part.closing();
            notes.extend(closing.notes);
            fallbacks.extend(closing.fallbacks);
        }
        let dests = self.parts.iter().map(Part::outcome).collect();
        ClosingReport { notes, fallbacks, dests, ..ClosingReport::default() }
    }

    fn dest_tallies(&self) -> Vec<Arc<DestTally>> {
        self.parts.iter().map(Part::tally).collect()
    }
}

/// What several dests are called together, where one name has to do.
impl std::fmt::Debug for Several {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Several").field("address", &self.facts.address).finish_non_exhaustive()
    }
}
