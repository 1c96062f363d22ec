//! The copy pump in simulated time: one thread, reads then writes, completions in batches.
//!
//! The number of requests in flight is limited for each side; data that was read waits in its block, and the lowest
//! is written first. A change of the limits applies from the next request on.
use super::disk::{Disk, Then};
use super::random::Random;
use super::spec::{Pair, READ, WRITE};
use haul::engine::valves::{Governor, Limits, Round};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

/// Sets the limits.
pub(super) trait Control {
    /// The initial limits.
    fn limits(&self) -> Limits;
    /// New limits after a round, if they change.
    fn observe(&mut self, round: &Round) -> Option<Limits>;
}

impl Control for Governor {
    fn limits(&self) -> Limits {
        Governor::limits(self)
    }
    fn observe(&mut self, round: &Round) -> Option<Limits> {
        Governor::observe(self, round)
    }
}

/// Constant limits.
pub(super) struct Fixed(pub(super) Limits);

impl Control for Fixed {
    fn limits(&self) -> Limits {
        self.0
    }
    fn observe(&mut self, _: &Round) -> Option<Limits> {
        None
    }
}

/// A copy.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) pair: &'a Pair,
    pub(super) len: u64,
    pub(super) pool_bytes: u64,
    /// Seed of the randomness in the disks.
    pub(super) seed: u64,
}

impl Job<'_> {
    /// Copies; returns the seconds until the last byte was written.
    pub(super) fn copy(&self, control: &mut dyn Control) -> f64 {
        Pump::new(self, control).run(self, control)
    }
}

enum Event {
    Disk(usize, Then),
    Complete(u32),
    Wake,
}

struct At(f64, u64, Event);

impl PartialEq for At {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for At {}
impl PartialOrd for At {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for At {
    /// The earliest is the greatest, for a heap.
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.total_cmp(&self.0).then(other.1.cmp(&self.1))
    }
}

/// Future events, in order of time.
#[derive(Default)]
struct Agenda {
    heap: BinaryHeap<At>,
    count: u64,
}

impl Agenda {
    fn add(&mut self, at_s: f64, event: Event) {
        self.count += 1;
        self.heap.push(At(at_s, self.count, event));
    }
    fn add_all(&mut self, of_disk: usize, out: &mut Vec<(f64, Then)>) {
        for (at_s, then) in out.drain(..) {
            self.add(at_s, Event::Disk(of_disk, then));
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Slot {
    ticket: u64,
    at: u64,
    len: u64,
    direction: usize,
    parts: u32,
}

struct Pump {
    disks: [Disk; 2],
    random: Random,
    agenda: Agenda,
    out: Vec<(f64, Then)>,
    limits: Limits,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Requests that have completed since the last round.
    ready: Vec<u32>,
    /// Blocks that have been read but not written yet.
    held: BTreeMap<u64, u32>,
    in_flight: [u32; 2],
    used_bytes: u64,
    next_at: u64,
    ticket: u64,
    next_write: u64,
    arrived_bytes: u64,
    /// The time until which the pump's thread is busy, and when it wakes next.
    busy_until_s: f64,
    wake_at_s: f64,
    /// In bursts: whether it is currently writing.
    writing: bool,
}

impl Pump {
    fn new(job: &Job<'_>, control: &dyn Control) -> Self {
        let disk = |side: usize| Disk::new(&job.pair.disks[side], job.seed ^ (side as u64 + 1), job.len);
        let mut pump = Pump {
            disks: [disk(READ), disk(WRITE)],
            random: Random::new(job.seed ^ 3),
            agenda: Agenda::default(),
            out: Vec::new(),
            limits: control.limits(),
            slots: Vec::new(),
            free: Vec::new(),
            ready: Vec::new(),
            held: BTreeMap::new(),
            in_flight: [0; 2],
            used_bytes: 0,
            next_at: 0,
            ticket: 0,
            next_write: 0,
            arrived_bytes: 0,
            busy_until_s: 0.0,
            wake_at_s: f64::INFINITY,
            writing: false,
        };
        pump.agenda.add(0.0, Event::Wake);
        pump
    }

    fn run(&mut self, job: &Job<'_>, control: &mut dyn Control) -> f64 {
        while let Some(At(now_s, _, event)) = self.agenda.heap.pop() {
            match event {
                Event::Disk(disk, then) => self.advance_disk(disk, now_s, then),
                Event::Complete(request) => {
                    self.ready.push(request);
                    let at_s = (now_s + 8e-6 + self.random.exponential(job.pair.wake_s)).max(self.busy_until_s);
                    if at_s < self.wake_at_s {
                        self.wake_at_s = at_s;
                        self.agenda.add(at_s, Event::Wake);
                    }
                }
                Event::Wake if now_s < self.wake_at_s && self.arrived_bytes > 0 => {}
                Event::Wake => {
                    self.round(job, now_s, control);
                    if self.arrived_bytes >= job.len {
                        return now_s;
                    }
                }
            }
        }
        f64::INFINITY
    }

    fn advance_disk(&mut self, disk: usize, now_s: f64, then: Then) {
        match then {
            Then::Arrive(part) => self.disks[disk].arrive(now_s, part, &mut self.out),
            Then::Served(part) => {
                self.disks[disk].served(now_s, part, &mut self.out);
                let slot = &mut self.slots[part.req as usize];
                slot.parts -= 1;
                if slot.parts == 0 {
                    let spec = &self.disks[disk].spec;
                    let back_s = spec.back_s + self.random.exponential(spec.jitter_s);
                    self.agenda.add(now_s + back_s, Event::Complete(part.req));
                }
            }
        }
        self.agenda.add_all(disk, &mut self.out);
    }

    /// Handles completions, asks for new limits, and submits what they permit.
    fn round(&mut self, job: &Job<'_>, now_s: f64, control: &mut dyn Control) {
        self.wake_at_s = f64::INFINITY;
        let [round_s, request_s] = job.pair.cpu_s;
        let now_s = now_s + round_s + request_s * self.ready.len() as f64;
        self.busy_until_s = now_s;
        let mut round = Round { now: Duration::from_secs_f64(now_s), in_flight: self.in_flight, ..Round::default() };
        self.collect(&mut round);
        if self.arrived_bytes >= job.len {
            return;
        }
        round.dest_bytes = self.arrived_bytes;
        round.finished = self.next_at >= job.len;
        if let Some(limits) = control.observe(&round) {
            self.limits = limits;
        }
        let full = self.used_bytes + u64::from(self.limits.block_bytes) > job.pool_bytes || self.next_at >= job.len;
        self.writing = match (self.limits.bursts, self.writing) {
            (false, _) => true,
            (true, true) => self.used_bytes > 0,
            (true, false) => full && self.in_flight[READ] == 0,
        };
        self.write(job, now_s);
        self.read(job, now_s);
        if self.used_bytes == 0 {
            self.wake_at_s = now_s + 1e-6;
            self.agenda.add(self.wake_at_s, Event::Wake);
        }
    }

    fn collect(&mut self, round: &mut Round) {
        let slots = &self.slots;
        self.ready.sort_unstable_by_key(|&request| slots[request as usize].ticket);
        for request in self.ready.drain(..) {
            let slot = self.slots[request as usize];
            self.in_flight[slot.direction] -= 1;
            round.completed[slot.direction] += 1;
            round.completed_bytes[slot.direction] += slot.len;
            if slot.direction == READ {
                self.held.insert(slot.ticket, request);
            } else {
                let least = if round.wrote_block_bytes == 0 { u32::MAX } else { round.wrote_block_bytes };
                round.wrote_block_bytes = least.min(slot.len as u32);
                self.arrived_bytes += slot.len;
                self.used_bytes -= slot.len;
                self.free.push(request);
            }
        }
    }

    fn write(&mut self, job: &Job<'_>, now_s: f64) {
        while self.writing && self.in_flight[WRITE] < self.limits.in_flight[WRITE] {
            let Some((&ticket, &request)) = self.held.first_key_value() else { return };
            if job.pair.is_ordered() && ticket != self.next_write {
                return;
            }
            self.held.pop_first();
            self.next_write = ticket + 1;
            self.slots[request as usize].direction = WRITE;
            self.send(job, now_s, request);
        }
    }

    fn read(&mut self, job: &Job<'_>, now_s: f64) {
        let block_bytes = u64::from(self.limits.block_bytes);
        while self.next_at < job.len
            && self.in_flight[READ] < self.limits.in_flight[READ]
            && (self.used_bytes + block_bytes <= job.pool_bytes || self.used_bytes == 0)
            && !(self.limits.bursts && self.writing)
        {
            let len = block_bytes.min(job.len - self.next_at);
            let request = self.free.pop().unwrap_or_else(|| {
                self.slots.push(Slot::default());
                self.slots.len() as u32 - 1
            });
            self.slots[request as usize] =
                Slot { ticket: self.ticket, at: self.next_at, len, direction: READ, parts: 0 };
            self.used_bytes += len;
            self.next_at += len;
            self.ticket += 1;
            self.send(job, now_s, request);
        }
    }

    fn send(&mut self, job: &Job<'_>, now_s: f64, request: u32) {
        let Slot { at, len, direction, .. } = self.slots[request as usize];
        self.in_flight[direction] += 1;
        let (disk, at) = match (job.pair.one, direction) {
            (true, WRITE) => (READ, job.len * 3 / 2 + at),
            _ => (direction, at),
        };
        let parts = self.disks[disk].submit(now_s, request, direction, at, len, &mut self.out);
        self.slots[request as usize].parts = parts;
        self.agenda.add_all(disk, &mut self.out);
    }
}
