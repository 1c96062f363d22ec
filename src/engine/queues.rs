//! What is in front of the queues of a copy, and waiting for any of them.
use super::gate::{Gate, InOrder, MaxInFlight, Rate};
use super::queue_set::QueueSet;
use crate::core::stages::Digester;
use crate::core::{
    Arena, Completion, Endpoint, EngineKind, Event, Limits, Observer, Order, Plan, Queue, Ready, Request, Route, Side,
    WriteOrder,
};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The queues of a copy, the gates in front of them, and the digests behind them.
pub(super) struct Queues {
    pub(super) set: QueueSet,
    gates: [Vec<Box<dyn Gate>>; 2],
    /// How many blocks are with the dest at a time. Behind the order: what that holds back must not take the place of
    /// the one that it waits for. What is read first needs no gate: no more is begun than may go.
    at_dest: MaxInFlight,
    route: Route,
    digests: Option<Digester>,
    /// Requests held at a gate, by side.
    held: [u32; 2],
    /// When the present request of a slot went through the gates.
    sent_at: Vec<Instant>,
    /// When it was done, where a call on the spot did it: others are done when they are reaped.
    done_at: Vec<Option<Instant>>,
    /// The time of the present round.
    pub(super) now: Instant,
    /// Requests in flight while the last round waited.
    pub(super) waited_with: [u32; 2],
    /// A gate held something back for its time had not come, while the last round waited.
    pub(super) waited_for_time: bool,
    through: Vec<Request>,
}

impl Queues {
    /// Opens what the plan asks for, by `engine`. Called by the thread that pumps.
    pub(super) fn open(
        plan: &Plan,
        engine: EngineKind,
        ends: &[Arc<dyn Endpoint>; 2],
        slots: u32,
        arena: &Arena,
    ) -> io::Result<Self> {
        let digests = Digester::start(&plan.hashes, plan.digest_blocks)?;
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

    /// Requests in flight towards either side, held ones included.
    pub(super) fn in_hand(&self) -> u32 {
        let (held, in_flight) = (self.held, self.set.in_flight());
        held[0] + held[1] + in_flight[0] + in_flight[1]
    }

    /// How long the present request of this slot took, reaped in the present round: from the moment it was through the
    /// gates, for what it waited for before that was not the device.
    pub(super) fn took(&self, slot: u32) -> Duration {
        let slot = slot as usize;
        self.done_at[slot].unwrap_or(self.now).saturating_duration_since(self.sent_at[slot])
    }

    /// Requests that a side has or is to have, held ones included.
    pub(super) fn towards(&self, side: Side) -> u32 {
        self.held[side.index()] + self.set.in_flight()[side.index()]
    }

    /// Takes a request in.
    pub(super) fn submit(&mut self, request: Request) {
        let side = request.side.index();
        // Most queues have no gate in front: each copy of a request costs time.
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

    /// Takes a request in that came back with nothing done. Its turn has been and it was paid for: the gates are behind
    /// it, and in front of them it would wait for all that came after.
    #[inline(always)]
    pub(super) fn submit_again(&mut self, request: Request) {
        let slot = request.slot as usize;
        if self.set.calls_on_the_spot(request.side) {
            self.sent_at[slot] = Instant::now();
            self.set.submit(request);
            self.now = Instant::now();
            self.done_at[slot] = Some(self.now);
            return;
        }
        (self.sent_at[slot], self.done_at[slot]) = (self.now, None);
        self.set.submit(request);
    }

    /// Takes a request in that failed beside others: a call of its own is merged with none of them. The gates are
    /// behind it.
    pub(super) fn submit_alone(&mut self, request: Request) {
        let slot = request.slot as usize;
        (self.sent_at[slot], self.done_at[slot]) = (self.now, None);
        self.set.submit_call(request);
    }

    /// Takes the request through the gates of its side from number `first` on.
    fn admit(&mut self, side: usize, first: usize, request: Request, through: &mut Vec<Request>) {
        let Some(gate) = self.gates[side].get_mut(first) else {
            match request.side {
                Side::Source => through.push(request),
                Side::Dest => self.at_dest.admit(request, through),
            }
            return;
        };
        let mut let_go = Vec::new();
        gate.admit(request, &mut let_go);
        for request in let_go {
            self.admit(side, first + 1, request, through);
        }
    }

    fn send(&mut self, through: &mut Vec<Request>) {
        for request in through.drain(..) {
            self.held[request.side.index()] -= 1;
            self.submit_again(request);
        }
    }

    /// Lets go what gates held back and may go by now.
    fn release(&mut self) {
        let mut through = std::mem::take(&mut self.through);
        for side in 0..self.gates.len() {
            for number in 0..self.gates[side].len() {
                let mut let_go = Vec::new();
                self.gates[side][number].release(&mut let_go);
                for request in let_go {
                    self.admit(side, number + 1, request, &mut through);
                }
            }
        }
        self.at_dest.release(&mut through);
        self.send(&mut through);
        self.through = through;
    }

    /// The block with this ticket is through with this side.
    pub(super) fn release_ticket(&mut self, side: Side, ticket: u64) {
        self.gates[side.index()].iter_mut().for_each(|gate| gate.release_ticket(ticket));
        if side == Side::Dest {
            self.make_room(ticket);
        }
    }

    /// The block with this ticket is not with the dest for now: another may be.
    pub(super) fn make_room(&mut self, ticket: u64) {
        self.at_dest.release_ticket(ticket);
    }

    /// Other limits hold from now on.
    pub(super) fn set_limits(&mut self, limits: Limits) {
        self.at_dest.set_most(at_dest_max(self.route, limits));
    }

    /// What holds blocks back that are to go to the dest.
    pub(super) fn dest_gate(&mut self) -> &mut MaxInFlight {
        &mut self.at_dest
    }

    /// Something digests blocks.
    pub(super) fn digests(&self) -> bool {
        self.digests.is_some()
    }

    /// Tells which blocks were digested since the last time.
    pub(super) fn report_digested(&self, observer: &dyn Observer) {
        if let Some(digests) = &self.digests {
            digests.digested().into_iter().for_each(|block| observer.on_event(&Event::Digested(block)));
        }
    }

    /// Takes a block to be digested.
    pub(super) fn digest(&mut self, request: Request) {
        self.digests.as_mut().expect("asked for only where there are digests").submit(request);
    }

    /// Gives back the requests of a side that have not started.
    pub(super) fn cancel_pending(&mut self, side: Side, back: &mut Vec<Request>) {
        let before = back.len();
        self.gates[side.index()].iter_mut().for_each(|gate| gate.cancel_pending(back));
        if side == Side::Dest {
            self.at_dest.cancel_pending(back);
        }
        self.held[side.index()] -= (back.len() - before) as u32;
    }

    /// Gives back the blocks that wait for an earlier one to be digested.
    pub(super) fn cancel_pending_digests(&mut self) -> Vec<Request> {
        self.digests.as_mut().map_or(Vec::new(), Digester::cancel_pending)
    }

    /// Hands over what was submitted and moves what is finished to `done`; waits for something when nothing is. Returns
    /// early, with nothing, when only time has passed.
    pub(super) fn poll(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        self.release();
        self.waited_with = self.set.in_flight();
        self.waited_for_time = false;
        self.reap(done)?;
        if done.is_empty() {
            self.wait()?;
            // What may go by now goes in the next round: a call on the spot would take its time from this wait.
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

    /// Ends the digests, of which nothing may be in flight, and reports the blocks that are left.
    pub(super) fn finish_digests(&mut self, observer: &dyn Observer) -> Vec<crate::core::Digest> {
        let Some(digests) = self.digests.take() else { return Vec::new() };
        let (digests, blocks) = digests.finish();
        blocks.into_iter().for_each(|block| observer.on_event(&Event::Digested(block)));
        digests
    }
}

/// Most blocks that the gate in front of the dest lets through: where the dest is what is read first, no gate counts.
fn at_dest_max(route: Route, limits: Limits) -> u32 {
    if route.reads_from() == Side::Dest { u32::MAX } else { limits.in_flight[Side::Dest.index()] }
}

/// What is in front of a side, in the order in which requests meet it.
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
