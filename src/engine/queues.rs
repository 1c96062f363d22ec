//! The queues of a copy, with the gates before them and the digests after them.
use super::gate::{Gate, InOrder, MaxInFlight, Rate};
use super::queue_set::QueueSet;
use crate::core::stages::Digester;
use crate::core::{
    Arena, Completion, DamagedRange, Endpoint, EngineKind, Event, Limits, Observer, Order, Plan, Queue, Ready, Request,
    Route, Side, WriteOrder,
};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The queues of a copy, with the gates before them and the digests after them.
pub(super) struct Queues {
    pub(super) set: QueueSet,
    gates: [Vec<Box<dyn Gate>>; 2],
    /// Limits the blocks in flight on the dest. It comes after the order gate, so that a block delayed for its order
    /// does not occupy a slot that an earlier block needs. The side that is read first needs no such gate: the pump
    /// starts no more blocks than allowed.
    at_dest: MaxInFlight,
    route: Route,
    digests: Option<Digester>,
    /// Requests delayed by gates, by side.
    held: [u32; 2],
    /// When the current request of a slot was submitted to its queue.
    sent_at: Vec<Instant>,
    /// When it completed, for a call made in place; other requests complete when they are reaped.
    done_at: Vec<Option<Instant>>,
    /// Time of the current round.
    pub(super) now: Instant,
    /// Requests in flight while the last round waited.
    pub(super) waited_with: [u32; 2],
    /// Whether a gate delayed a request for a time while the last round waited.
    pub(super) waited_for_time: bool,
    through: Vec<Request>,
}

impl Queues {
    /// Opens the queues of the plan by `engine`. Must be called by the thread of the pump.
    pub(super) fn open(
        plan: &Plan,
        engine: EngineKind,
        ends: &[Arc<dyn Endpoint>; 2],
        slots: u32,
        arena: &Arena,
    ) -> io::Result<Self> {
        let digests = Digester::start(&plan.hashes, plan.digest_blocks, plan.block_map.clone())?;
        let idle = (plan.route == Route::ReadBack).then_some(Side::Source);
        let to_open = |side: Side| {
            let end = &ends[side.index()];
            let helpers_max = match end.facts().order {
                Order::Ascending => 1,
                Order::Any => plan.tuning.in_flight_max,
            };
            (idle != Some(side)).then_some((end, helpers_max))
        };
        Ok(Queues {
            set: QueueSet::open(engine, Side::BOTH.map(to_open), slots, arena)?,
            gates: Side::BOTH.map(|side| gates(plan, side, &ends[side.index()])),
            at_dest: MaxInFlight::new(at_dest_max(plan.route, plan.tuning.limits), slots),
            route: plan.route,
            digests,
            held: [0, 0],
            sent_at: vec![Instant::now(); slots as usize],
            done_at: vec![None; slots as usize],
            now: Instant::now(),
            waited_with: [0, 0],
            waited_for_time: false,
            through: Vec::new(),
        })
    }

    /// Requests in flight on both sides, including delayed ones.
    pub(super) fn in_hand(&self) -> u32 {
        let (held, in_flight) = (self.held, self.set.in_flight());
        held[0] + held[1] + in_flight[0] + in_flight[1]
    }

    /// Latency of the request of this slot that was just reaped, without the time that gates delayed it.
    pub(super) fn took(&self, slot: u32) -> Duration {
        let slot = slot as usize;
        self.done_at[slot].unwrap_or(self.now).saturating_duration_since(self.sent_at[slot])
    }

    /// Requests of a side in flight, including delayed ones.
    pub(super) fn towards(&self, side: Side) -> u32 {
        self.held[side.index()] + self.set.in_flight()[side.index()]
    }

    /// Submits a request.
    pub(super) fn submit(&mut self, request: Request) {
        let side = request.side.index();
        // Most queues have no gate, and each copy of a request costs time.
        let is_free = self.gates[side].is_empty();
        if is_free && (request.side == Side::Source || self.at_dest.lets_through(request.ticket)) {
            return self.submit_again(request);
        }
        self.held[side] += 1;
        let mut through = std::mem::take(&mut self.through);
        self.admit(side, 0, request, &mut through);
        self.send(&mut through);
        self.through = through;
    }

    /// Submits a request again without passing the gates, where it would wait for all requests submitted later.
    #[inline(always)]
    pub(super) fn submit_again(&mut self, request: Request) {
        let slot = request.slot as usize;
        if self.set.calls_in_place(request.side) {
            self.sent_at[slot] = Instant::now();
            self.set.submit(request);
            self.now = Instant::now();
            self.done_at[slot] = Some(self.now);
            return;
        }
        (self.sent_at[slot], self.done_at[slot]) = (self.now, None);
        self.set.submit(request);
    }

    /// Passes what was submitted to the kernel: requests of one batch may be merged by the block layer, and then all of
    /// them fail where one sector is bad.
    pub(super) fn submit_now(&mut self) {
        // An error is that of the next round too, which ends the copy.
        let _ = self.set.flush();
    }

    /// Submits a request, which failed before, as a separate call, so that the block layer does not merge it. It does
    /// not pass the gates again.
    pub(super) fn submit_alone(&mut self, request: Request) {
        let slot = request.slot as usize;
        (self.sent_at[slot], self.done_at[slot]) = (self.now, None);
        self.set.submit_call(request);
    }

    /// Passes the request through the gates of its side, starting at index `first`.
    fn admit(&mut self, side: usize, first: usize, request: Request, through: &mut Vec<Request>) {
        let Some(gate) = self.gates[side].get_mut(first) else {
            match request.side {
                Side::Source => through.push(request),
                Side::Dest => self.at_dest.admit(request, through),
            }
            return;
        };
        let mut released = Vec::new();
        gate.admit(request, &mut released);
        for request in released {
            self.admit(side, first + 1, request, through);
        }
    }

    fn send(&mut self, through: &mut Vec<Request>) {
        for request in through.drain(..) {
            self.held[request.side.index()] -= 1;
            self.submit_again(request);
        }
    }

    /// Submits the delayed requests that may be submitted now.
    fn release(&mut self) {
        let mut through = std::mem::take(&mut self.through);
        for side in 0..self.gates.len() {
            for number in 0..self.gates[side].len() {
                let mut released = Vec::new();
                self.gates[side][number].release(&mut released);
                for request in released {
                    self.admit(side, number + 1, request, &mut through);
                }
            }
        }
        self.at_dest.release(&mut through);
        self.send(&mut through);
        self.through = through;
    }

    /// The block with this ticket is finished on this side.
    pub(super) fn release_ticket(&mut self, side: Side, ticket: u64) {
        self.gates[side.index()].iter_mut().for_each(|gate| gate.release_ticket(ticket));
        if side == Side::Dest {
            self.make_room(ticket);
        }
    }

    /// The block with this ticket does not occupy a slot of the dest at present.
    pub(super) fn make_room(&mut self, ticket: u64) {
        self.at_dest.release_ticket(ticket);
    }

    /// Applies other limits.
    pub(super) fn set_limits(&mut self, limits: Limits) {
        self.at_dest.set_most(at_dest_max(self.route, limits));
    }

    /// The gate that limits the blocks on the dest.
    pub(super) fn dest_gate(&mut self) -> &mut MaxInFlight {
        &mut self.at_dest
    }

    /// Whether blocks are digested.
    pub(super) fn digests(&self) -> bool {
        self.digests.is_some()
    }

    /// Reports the blocks digested since the last call.
    pub(super) fn report_digested(&self, observer: &dyn Observer) {
        if let Some(digests) = &self.digests {
            digests.digested().into_iter().for_each(|block| observer.on_event(&Event::Digested(block)));
        }
    }

    /// The first range of the block map that was found damaged.
    pub(super) fn damaged(&self) -> Option<DamagedRange> {
        self.digests.as_ref().and_then(Digester::damaged)
    }

    /// Submits a block to be digested.
    pub(super) fn digest(&mut self, request: Request) {
        self.digests.as_mut().expect("called only if there are digests").submit(request);
    }

    /// Returns the requests of a side that have not started.
    pub(super) fn cancel_pending(&mut self, side: Side, back: &mut Vec<Request>) {
        let before = back.len();
        self.gates[side.index()].iter_mut().for_each(|gate| gate.cancel_pending(back));
        if side == Side::Dest {
            self.at_dest.cancel_pending(back);
        }
        self.held[side.index()] -= (back.len() - before) as u32;
    }

    /// Returns the blocks that wait for an earlier one to be digested.
    pub(super) fn cancel_pending_digests(&mut self, ticket: u64) -> Vec<Request> {
        self.digests.as_mut().map_or(Vec::new(), |digests| digests.cancel_pending(ticket))
    }

    /// Flushes, moves completions to `done`, and waits if there are none. Returns early without completions if only
    /// time has passed.
    pub(super) fn poll(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        self.release();
        self.waited_with = self.set.in_flight();
        self.waited_for_time = false;
        self.reap(done)?;
        if done.is_empty() {
            self.wait()?;
            // Requests that may be submitted now wait for the next round: a call in place would be counted as waiting.
            self.reap(done)?;
        }
        self.now = Instant::now();
        self.set.flush()
    }

    fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        self.set.reap(done)?;
        self.digests.as_mut().map_or(Ok(()), |digests| digests.reap(done))
    }

    fn wait(&mut self) -> io::Result<()> {
        let due = self.gates.iter().flatten().filter_map(|gate| gate.due_in(self.now)).min();
        self.waited_for_time = due.is_some();
        let digests = self.digests.as_ref().map_or(Ready::Idle, |digests| digests.ready());
        if self.set.wait(digests, due)? {
            return Ok(());
        }
        Err(io::Error::other("blocks are gated and no completion is pending that could release them"))
    }

    /// Ends the digests and reports the remaining blocks. No block may be in flight to them.
    pub(super) fn finish_digests(&mut self, observer: &dyn Observer) -> Vec<crate::core::Digest> {
        let Some(digests) = self.digests.take() else { return Vec::new() };
        let (digests, blocks) = digests.finish();
        blocks.into_iter().for_each(|block| observer.on_event(&Event::Digested(block)));
        digests
    }
}

/// Maximum number of blocks that the gate before the dest passes. No limit if the dest is read first.
fn at_dest_max(route: Route, limits: Limits) -> u32 {
    if route.reads_from() == Side::Dest { u32::MAX } else { limits.in_flight[Side::Dest.index()] }
}

/// The gates of a side, in the order in which requests pass them.
fn gates(plan: &Plan, side: Side, end: &Arc<dyn Endpoint>) -> Vec<Box<dyn Gate>> {
    let mut gates: Vec<Box<dyn Gate>> = Vec::new();
    if let Some(bytes_per_s) = plan.limit_bytes_per_s.filter(|_| side == plan.route.reads_from()) {
        gates.push(Box::new(Rate::new(bytes_per_s)));
    }
    if end.facts().order == Order::Ascending {
        gates.push(Box::new(InOrder::one_at_a_time()));
    } else if side == Side::Dest && plan.write_order != WriteOrder::Any {
        gates.push(Box::new(InOrder::of_submission()));
    }
    gates
}
