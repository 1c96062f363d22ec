//! Which queue serves which side, what stands in front of it, and waiting for any of them.
use super::gate::{Gate, InOrder, MaxInFlight, Rate, WritesAfterReads};
use super::ring::{Form, Narrow, RingQueue, Wide};
use super::threads::Calls;
use crate::core::stages::Digester;
use crate::core::{
    Arena, Completion, Endpoint, EngineKind, Event, Observer, OnRing, Order, Plan, Queue, Ready, Request, Route, Side,
    WriteOrder,
};
use crate::sys::wait_any;
use std::io;
use std::sync::Arc;
use std::time::Instant;

/// Descriptors to wait for at once: a ring, the own queue and the calls of either side, digests.
const WAITED_FOR_MAX: usize = 6;

/// Requests with a side that shares one moving head with the other: one to work on, one to go on with.
const FEW_FOR_ONE_HEAD: u32 = 2;

/// The queues of a copy: a ring both sides may share, blocking calls for what cannot be on it, digests, and the gates
/// in front of them.
pub(super) struct Queues {
    queues: Vec<Box<dyn Queue>>,
    /// Index of the ring or the side's own queue, by side.
    own: [Option<usize>; 2],
    /// Index of the side's blocking calls.
    calls: [usize; 2],
    gates: [Vec<Box<dyn Gate>>; 2],
    digests: Option<Digester>,
    /// Requests in flight or held at a gate, by side.
    in_hand: [u32; 2],
    /// Of these, the requests that are through the gates.
    in_flight: [u32; 2],
    /// When the present request of a slot went through the gates.
    sent_at: Vec<Instant>,
    /// The time of the present turn.
    pub(super) now: Instant,
    /// Requests in flight while the last turn waited.
    pub(super) waited_with: [u32; 2],
    /// A gate held something back for its time had not come, while the last turn waited.
    pub(super) waited_for_time: bool,
    through: Vec<Request>,
    /// How it was set up, for the report.
    pub(super) detail: Vec<String>,
    /// What could not be had.
    pub(super) notes: Vec<String>,
}

impl Queues {
    /// Opens what the plan asks for. Called by the thread that pumps.
    pub(super) fn open(plan: &Plan, ends: &[Arc<dyn Endpoint>; 2], slots: u32, arena: &Arena) -> io::Result<Self> {
        let mut queues = Queues {
            queues: Vec::new(),
            own: [None, None],
            calls: [0, 0],
            gates: Side::BOTH.map(|side| gates(plan, side, &ends[side.index()])),
            digests: Digester::start(&plan.hashes, plan.digest_blocks)?,
            in_hand: [0, 0],
            in_flight: [0, 0],
            sent_at: vec![Instant::now(); slots as usize],
            now: Instant::now(),
            waited_with: [0, 0],
            waited_for_time: false,
            through: Vec::new(),
            detail: Vec::new(),
            notes: Vec::new(),
        };
        if plan.engine == EngineKind::Ring {
            queues.open_ring(plan, ends, slots, arena)?;
        }
        for side in Side::BOTH {
            let end = ends[side.index()].clone();
            let calls = match plan.engine {
                EngineKind::Sync => Calls::on_the_spot(end),
                _ if end.facts().order == Order::Ascending => Calls::by_helpers(end, 1)?,
                _ if plan.burst_bytes.is_some() => Calls::by_helpers(end, FEW_FOR_ONE_HEAD)?,
                _ => Calls::by_helpers(end, slots)?,
            };
            queues.calls[side.index()] = queues.queues.len();
            queues.queues.push(Box::new(calls));
        }
        Ok(queues)
    }

    /// One ring for the sides that can be on it, beside it the queues that sides bring along, helpers for what is left.
    fn open_ring(&mut self, plan: &Plan, ends: &[Arc<dyn Endpoint>; 2], slots: u32, arena: &Arena) -> io::Result<()> {
        let idle = (plan.route == Route::ReadBack).then_some(Side::Source);
        let able = self.open_shared(ends, slots, arena)?;
        for (side, end) in Side::BOTH.into_iter().zip(ends) {
            if able[side.index()] || idle == Some(side) {
                continue;
            }
            if let Some(queue) = end.own_queue(slots) {
                self.own[side.index()] = Some(self.queues.len());
                self.queues.push(queue?);
            } else if able != [false, false] {
                self.detail.push(format!("{} by helper threads", side.name()));
            }
        }
        if self.own == [None, None] {
            self.notes.push("neither side can be on a ring: helper threads make the calls".to_owned());
        }
        Ok(())
    }

    /// The ring itself, in the form that its sides need; says which of them are on it.
    fn open_shared(&mut self, ends: &[Arc<dyn Endpoint>; 2], slots: u32, arena: &Arena) -> io::Result<[bool; 2]> {
        let mut on_ring = ends.each_ref().map(|end| end.on_ring().is_some().then(|| end.clone()));
        if on_ring.iter().flatten().any(needs_wide) {
            match RingQueue::<Wide>::open(on_ring.clone(), slots, arena) {
                Ok(ring) => return Ok(self.add_ring(ring, &on_ring)),
                Err(why) => self
                    .notes
                    .push(format!("no ring takes a device's own commands here ({why}): helper threads give them")),
            }
            on_ring = on_ring.map(|end| end.filter(|end| !needs_wide(end)));
        }
        if on_ring.iter().all(Option::is_none) {
            return Ok([false, false]);
        }
        let ring = RingQueue::<Narrow>::open(on_ring.clone(), slots, arena)?;
        Ok(self.add_ring(ring, &on_ring))
    }

    /// Takes in a ring for those of the sides that are on it.
    fn add_ring<F>(&mut self, ring: RingQueue<F>, on_ring: &[Option<Arc<dyn Endpoint>>; 2]) -> [bool; 2]
    where
        F: Form + 'static,
    {
        let (detail, notes) = ring.detail();
        self.detail.extend(detail.iter().map(|&detail| detail.to_owned()));
        self.notes.extend_from_slice(notes);
        let able = on_ring.each_ref().map(Option::is_some);
        self.own = able.map(|able| able.then_some(self.queues.len()));
        self.queues.push(Box::new(ring));
        able
    }

    /// Requests in flight towards either side, held ones included.
    pub(super) fn in_hand(&self) -> u32 {
        self.in_hand.iter().sum()
    }

    /// When the present request of this slot went through the gates: what it waited for before that was not the
    /// device.
    pub(super) fn sent_at(&self, slot: u32) -> Instant {
        self.sent_at[slot as usize]
    }

    /// Takes a request in.
    pub(super) fn submit(&mut self, request: Request) {
        let side = request.side.index();
        self.in_hand[side] += 1;
        let mut through = std::mem::take(&mut self.through);
        self.admit(side, 0, request, &mut through);
        self.send(&mut through);
        self.through = through;
    }

    /// Takes a request in that came back with nothing done. Its turn has been and it was paid for: the gates are behind
    /// it, and in front of them it would wait for all that came after.
    pub(super) fn submit_again(&mut self, request: Request) {
        self.in_hand[request.side.index()] += 1;
        let mut through = std::mem::take(&mut self.through);
        through.push(request);
        self.send(&mut through);
        self.through = through;
    }

    /// Takes a request in that failed beside others: a call of its own is merged with none of them. The gates are
    /// behind it.
    pub(super) fn submit_alone(&mut self, request: Request) {
        let side = request.side.index();
        self.in_hand[side] += 1;
        self.in_flight[side] += 1;
        self.sent_at[request.slot as usize] = self.now;
        self.queues[self.calls[side]].submit(request);
    }

    /// Takes the request through the gates of its side from number `first` on.
    fn admit(&mut self, side: usize, first: usize, request: Request, through: &mut Vec<Request>) {
        let Some(gate) = self.gates[side].get_mut(first) else {
            through.push(request);
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
            let side = request.side.index();
            self.in_flight[side] += 1;
            self.sent_at[request.slot as usize] = self.now;
            let index = self.own[side].filter(|&own| self.queues[own].takes(&request)).unwrap_or(self.calls[side]);
            self.queues[index].submit(request);
        }
    }

    /// Lets go what gates held back and may go by now.
    fn release(&mut self) {
        let source_idle = self.in_hand[Side::Source.index()] == 0;
        let mut through = std::mem::take(&mut self.through);
        for side in 0..self.gates.len() {
            for number in 0..self.gates[side].len() {
                let mut let_go = Vec::new();
                self.gates[side][number].release(source_idle, &mut let_go);
                for request in let_go {
                    self.admit(side, number + 1, request, &mut through);
                }
            }
        }
        self.send(&mut through);
        self.through = through;
    }

    /// The block with this ticket is through with this side.
    pub(super) fn pass(&mut self, side: Side, ticket: u64) {
        self.gates[side.index()].iter_mut().for_each(|gate| gate.pass(ticket));
    }

    /// `depth` blocks are in flight from now on, and more of the arena may be in use; nothing is in flight.
    pub(super) fn paced(&mut self, depth: u32, arena: &Arena) {
        self.gates.iter_mut().flatten().for_each(|gate| gate.paced(depth));
        self.queues.iter_mut().for_each(|queue| queue.memory_grew(arena));
    }

    /// Something digests blocks.
    pub(super) fn digests(&self) -> bool {
        self.digests.is_some()
    }

    /// Tells which blocks were digested since the last time.
    pub(super) fn tell_digested(&self, observer: &dyn Observer) {
        if let Some(digests) = &self.digests {
            digests.digested().into_iter().for_each(|block| observer.hear(&Event::Digested(block)));
        }
    }

    /// Takes a block to be digested.
    pub(super) fn digest(&mut self, request: Request) {
        self.digests.as_mut().expect("asked for only where there are digests").submit(request);
    }

    /// Gives back the requests of a side that have not started.
    pub(super) fn recall(&mut self, side: Side, back: &mut Vec<Request>) {
        let before = back.len();
        self.gates[side.index()].iter_mut().for_each(|gate| gate.recall(back));
        self.in_hand[side.index()] -= (back.len() - before) as u32;
    }

    /// Gives back the blocks that wait for an earlier one to be digested.
    pub(super) fn cancel_pending_digests(&mut self) -> Vec<Request> {
        self.digests.as_mut().map_or(Vec::new(), Digester::cancel_pending)
    }

    /// Hands over what was submitted and moves what is finished to `done`; waits for something when nothing is. Returns
    /// early, with nothing, when only time has passed.
    pub(super) fn turn(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        self.release();
        self.waited_with = self.in_flight;
        self.waited_for_time = false;
        self.reap(done)?;
        if done.is_empty() {
            self.wait()?;
            self.now = Instant::now();
            self.release();
            self.reap(done)?;
        } else {
            self.now = Instant::now();
        }
        for queue in &mut self.queues {
            queue.flush()?;
        }
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        for queue in &mut self.queues {
            let before = done.len();
            queue.reap(done)?;
            for completion in &done[before..] {
                let side = completion.request.side.index();
                self.in_flight[side] -= 1;
                self.in_hand[side] -= 1;
            }
        }
        if let Some(digests) = &mut self.digests {
            digests.reap(done)?;
        }
        Ok(())
    }

    fn wait(&mut self) -> io::Result<()> {
        let mut polls = [libc::pollfd { fd: -1, events: 0, revents: 0 }; WAITED_FOR_MAX];
        let (mut busy, mut count) = (None, 0);
        let digests = self.digests.as_ref().map(|digests| digests.ready());
        for (index, ready) in self.queues.iter().map(|queue| queue.ready()).chain(digests).enumerate() {
            match ready {
                Ready::Idle => {}
                Ready::Now => return Ok(()),
                Ready::On { fd, events } => {
                    polls[count] = libc::pollfd { fd, events, revents: 0 };
                    count += 1;
                    busy = Some(index);
                }
            }
        }
        let due = self.gates.iter().flatten().filter_map(|gate| gate.due_in(self.now)).min();
        self.waited_for_time = due.is_some();
        let only = busy.filter(|&index| count == 1 && due.is_none() && index < self.queues.len());
        if let Some(waited) = only.and_then(|index| self.queues[index].flush_and_wait()) {
            return waited;
        }
        if count == 0 && due.is_none() {
            return Err(io::Error::other("blocks are held back and nothing is on its way that could let them go"));
        }
        for queue in &mut self.queues {
            queue.flush()?;
        }
        wait_any(&mut polls[..count], due)
    }

    /// Ends the digests, of which nothing may be in flight, and tells the blocks that are left.
    pub(super) fn finish_digests(&mut self, observer: &dyn Observer) -> Vec<crate::core::Digest> {
        let Some(digests) = self.digests.take() else { return Vec::new() };
        let (digests, blocks) = digests.finish();
        blocks.into_iter().for_each(|block| observer.hear(&Event::Digested(block)));
        digests
    }
}

fn needs_wide(end: &Arc<dyn Endpoint>) -> bool {
    end.on_ring().is_some_and(OnRing::needs_wide)
}

/// What stands in front of a side, in the order in which requests meet it.
fn gates(plan: &Plan, side: Side, end: &Arc<dyn Endpoint>) -> Vec<Box<dyn Gate>> {
    let mut gates: Vec<Box<dyn Gate>> = Vec::new();
    if let Some(bytes_per_s) = plan.limit_bytes_per_s.filter(|_| side == plan.route.reads_from()) {
        gates.push(Box::new(Rate::new(bytes_per_s)));
    }
    if side == Side::Dest && plan.burst_bytes.is_some() {
        gates.push(Box::new(WritesAfterReads::default()));
    }
    if end.facts().order == Order::Ascending {
        gates.push(Box::new(InOrder::one_at_a_time()));
    } else if side == Side::Dest && plan.write_order != WriteOrder::Any {
        gates.push(Box::new(InOrder::of_submission()));
    }
    // Behind the order: those that it holds back must not take the places of the one that they wait for.
    if plan.burst_bytes.is_some() {
        gates.push(Box::new(MaxInFlight::new(FEW_FOR_ONE_HEAD as usize)));
    } else if plan.side(side).moves_head {
        gates.push(Box::new(MaxInFlight::half_of(plan.tuning.depth)));
    }
    gates
}
