//! Several dests that look like one: each block is written to all of them, and one that fails is dropped.
//!
//! This room must not know what the dests are, nor how requests are kept in flight: whoever calls it from several
//! threads keeps all of them busy.
#![forbid(unsafe_code)]
mod part;
#[cfg(test)]
mod tests;

use crate::contract::{
    DestOutcome, Endpoint, EndpointKind, Error, Extent, Facts, Kind, Op, Order, PlanDest, Request, WriteOrder,
};
use part::Part;
use std::io;
use std::sync::{Arc, OnceLock};
use std::thread;

/// Hears of a dest that is dropped, at once and from any thread.
pub type Dropped = Box<dyn Fn(&Error) + Send + Sync>;

/// Several dests that look like one. A block is written to each of them in turn by one call, so that it needs no second
/// owner; with as many calls under way as blocks are in flight, each dest has its share of them.
pub struct Several {
    facts: Facts,
    parts: Vec<Part>,
    /// Calls begin with different dests, so that no dest waits for another at the start of each block; not where the
    /// order of writes matters.
    rotate: bool,
    dropped: OnceLock<Dropped>,
}

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
        facts.calls = crate::contract::CallStyle::Waits;
        let parts = dests.into_iter().map(|(end, plan)| Part::new(end, plan)).collect();
        Several { facts, parts, rotate: write_order == WriteOrder::Any, dropped: OnceLock::new() }
    }

    /// Tells `dropped` of each dest that is dropped from now on. Only the first one told of is heard.
    pub fn on_drop(&self, dropped: Dropped) {
        self.dropped.set(dropped).ok();
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

/// What the copy hears when its last dest is gone: each of them is told with its own error.
fn none_left() -> io::Error {
    io::Error::other("every dest has failed")
}

impl Endpoint for Several {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        let (op, done, count) = (request.op, request.done, self.parts.len());
        let first = if self.rotate { (request.ticket % count as u64) as usize } else { 0 };
        let mut arrived = false;
        for number in 0..count {
            let part = &self.parts[(first + number) % count];
            if !part.is_in() {
                continue;
            }
            let result = part.take(request);
            (request.op, request.done) = (op, done);
            match result {
                Ok(()) => arrived = true,
                Err(error) if error.raw_os_error() == Some(libc::ECANCELED) => return Err(error),
                Err(source) => {
                    if let (Some(error), Some(dropped)) = (part.fail(op, request.at(), source), self.dropped.get()) {
                        dropped(&error);
                    }
                }
            }
        }
        if arrived { Ok(request.left()) } else { Err(none_left()) }
    }

    fn prepare(&self, extent: Extent) -> io::Result<()> {
        self.each("allocate room on", |part| part.prepare(extent))
    }

    fn end_at(&self, _size: u64) -> io::Result<()> {
        self.each("set the end of", Part::set_end)
    }

    fn make_durable(&self) -> io::Result<()> {
        self.each("make durable", Part::make_durable)
    }

    fn cancel(&self) {
        self.parts.iter().for_each(Part::cancel);
    }

    fn diagnose(&self, _op: Op, _offset: u64, error: &io::Error) -> Kind {
        if error.kind() == io::ErrorKind::UnexpectedEof { Kind::EndedEarly } else { Kind::Io }
    }

    fn notes(&self) -> Vec<String> {
        self.parts.iter().flat_map(Part::notes).collect()
    }

    fn dests(&self) -> Vec<DestOutcome> {
        self.parts.iter().map(Part::outcome).collect()
    }
}

/// What several dests are called together, where one name has to do.
impl std::fmt::Debug for Several {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Several").field("address", &self.facts.address).finish_non_exhaustive()
    }
}

/// Whether a dest of this kind keeps what is written to it.
fn keeps(kind: EndpointKind) -> bool {
    matches!(kind, EndpointKind::File | EndpointKind::Block)
}
