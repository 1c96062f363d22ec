//! Several dests combined into one endpoint: each block is written to all of them, and a failed dest is dropped.
//!
//! This room must not know what the dests are, nor how requests are kept in flight: calls from several threads keep all
//! dests busy.
#![forbid(unsafe_code)]
mod pace;
mod part;
#[cfg(test)]
mod tests;

use crate::core::{
    ClosingReport, DestTally, Endpoint, Error, Extent, Facts, Kind, Order, PlanDest, Request, WriteOrder, run_beside,
};
use part::Part;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// Called immediately and from any thread when a dest is dropped.
pub type OnDestDropped = Box<dyn Fn(&Error) + Send + Sync>;

/// Several dests combined into one endpoint. One call writes a block to all of them in turn, so that the block has a
/// single owner. With one call per block in flight, the calls are distributed over the dests.
pub struct Several {
    facts: Facts,
    parts: Vec<Part>,
    /// Whether calls start with different dests, so that they do not wait for the same dest; not if the order of writes
    /// matters.
    rotate: bool,
    dropped: OnceLock<OnDestDropped>,
    /// Number of calls in progress, on any dest.
    calls: AtomicU32,
    patience: Duration,
}

/// A dest delays another if it is slower by this factor; for a smaller difference a second read is not worthwhile.
const SLOWER: f64 = 1.5;

/// A dest with less busy time than this is not evaluated: disks may pause briefly, for example when a cache is full.
const BUSY_TIME_MIN: Duration = Duration::from_secs(3);

impl Several {
    /// Combines these dests, at least one, each with its plan.
    pub fn new(dests: Vec<(Arc<dyn Endpoint>, PlanDest)>, write_order: WriteOrder) -> Self {
        let mut facts = dests[0].0.facts().clone();
        facts.address = dests.iter().map(|(_, plan)| plan.side.address.as_str()).collect::<Vec<_>>().join(", ");
        facts.id = None;
        if dests.iter().any(|(end, _)| end.facts().is_written_in_order()) {
            facts.order = Order::Ascending;
        }
        // The dests may be a mix of memory and disks, so calls may take long.
        facts.calls = crate::core::CallStyle::Waits;
        let parts = dests.into_iter().map(|(end, plan)| Part::new(end, plan)).collect();
        Several {
            facts,
            parts,
            rotate: write_order == WriteOrder::Any,
            dropped: OnceLock::new(),
            calls: AtomicU32::new(0),
            patience: BUSY_TIME_MIN,
        }
    }

    /// Sets the function to call when a dest is dropped. Only the first one is used.
    pub fn on_drop(&self, dropped: OnDestDropped) {
        self.dropped.set(dropped).ok();
    }

    #[cfg(any(test, feature = "internals"))]
    /// The same with another minimum busy time before a dest may count as too slow.
    pub fn with_patience(self, patience: Duration) -> Self {
        Several { patience, ..self }
    }

    /// The dests that were left behind, by index, and what each claims.
    pub fn behind(&self) -> Vec<(usize, Extent)> {
        let behind = self.parts.iter().enumerate().filter(|(_, part)| part.is_behind());
        behind.map(|(number, part)| (number, part.claimed())).collect()
    }

    /// Writes a block to each active dest.
    fn write_to_all(&self, request: &mut Request) -> io::Result<u32> {
        let (op, done, count) = (request.op, request.done, self.parts.len());
        let first = if self.rotate { (request.ticket % count as u64) as usize } else { 0 };
        let mut is_written = false;
        for number in 0..count {
            let part = &self.parts[(first + number) % count];
            if !part.is_in() {
                continue;
            }
            if self.delays_others(part) {
                part.leave_behind();
                continue;
            }
            let result = part.write_in_time(request);
            (request.op, request.done) = (op, done);
            match result {
                Ok(()) => is_written = true,
                Err(error) if error.kind == Kind::Cancelled => return Err(error.source),
                Err(error) => {
                    if let (Some(error), Some(dropped)) = (part.fail(op, request.at(), error), self.dropped.get()) {
                        dropped(&error);
                    }
                }
            }
        }
        if is_written { Ok(request.left()) } else { Err(no_dest_left()) }
    }

    /// Whether the dest delays the others: nearly all blocks in flight wait for it, and another dest is much faster.
    fn delays_others(&self, part: &Part) -> bool {
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

    /// Calls `what` for all active dests in parallel; a dest that fails is dropped.
    ///
    /// If none is left, returns the error of the last one.
    fn each(&self, doing: &str, what: impl Fn(&Part) -> io::Result<()> + Sync) -> io::Result<()> {
        thread::scope(|scope| {
            let what = &what;
            let beside = |part| (part, run_beside(scope, "haul-dest", move || what(part)));
            let calls: Vec<_> = self.parts.iter().map(beside).collect();
            for (part, call) in calls {
                if let Err(source) = call.join().unwrap_or_else(|_| Err(io::Error::other("it panicked"))) {
                    part.fail_at_end(doing, source);
                }
            }
        });
        if self.parts.iter().any(Part::is_in) { Ok(()) } else { Err(no_dest_left()) }
    }
}

/// The error that the copy gets when its last dest has failed; each dest is reported with its own error.
fn no_dest_left() -> io::Error {
    io::Error::other("every destination has failed")
}

impl Endpoint for Several {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        self.calls.fetch_add(1, Relaxed);
        let result = self.write_to_all(request);
        self.calls.fetch_sub(1, Relaxed);
        result
    }

    fn prepare(&self, extent: Extent) -> io::Result<()> {
        self.each("allocate space on", |part| part.prepare(extent))
    }

    fn end_at(&self, _size: u64) -> io::Result<()> {
        self.each("set the length of", Part::set_end)
    }

    fn complete(&self, size: u64) -> io::Result<()> {
        self.each("complete", |part| part.complete(size))
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

/// The common name of several dests, for messages with a single name.
impl std::fmt::Debug for Several {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Several").field("address", &self.facts.address).finish_non_exhaustive()
    }
}
