//! Modelled disks in virtual time, as endpoints: haul's queues, pump and measurements run with the model of the
//! disks, independent of the machine's clock.
use haul::core::{Completion, Endpoint, EndpointKind, Facts, Kind, Op, Queue, Ready, Request, Transferred};
use haul::measure::{Clock, Thermometer};
use modelled_disk::model::{self, Answer, Disk, Ticket};
use modelled_disk::parameters::{Extent, Parameters};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Called with the time, in seconds, after every tenth of a second.
pub type Tick = Box<dyn FnMut(f64) + Send>;

/// The time that some disks share. It advances only while all threads wait.
pub struct World {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    now_ns: u64,
    disks: Vec<Served>,
    /// Disks whose queue was polled without result since the last event, one bit each.
    asked: u64,
    ticks: u64,
    tick: Option<Tick>,
}

/// One disk, and its requests.
struct Served {
    disk: Disk,
    flying: BTreeMap<Ticket, Request>,
    /// Future completions, the next one first.
    answers: BTreeMap<(u64, Ticket), Answer>,
}

impl World {
    pub fn new() -> Arc<World> {
        Arc::new(World { state: Mutex::default() })
    }

    /// A clock that shows the simulated time.
    pub fn clock(self: &Arc<World>) -> Clock {
        let world = self.clone();
        Clock::of(move || Duration::from_nanos(world.lock().now_ns))
    }

    /// The temperature that the first disk reports, in whole degrees like drives, with this limit.
    pub fn thermometer(self: &Arc<World>, limit_c: u64) -> Thermometer {
        let world = self.clone();
        let celsius = move || {
            let state = world.lock();
            state.disks.first().map(|served| served.disk.celsius(state.now_ns).round())
        };
        Thermometer::of(Some(limit_c as f64), celsius)
    }

    /// Seconds since the start.
    pub fn now_s(&self) -> f64 {
        self.lock().now_ns as f64 / 1e9
    }

    /// Calls `tick` from now on.
    pub fn on_tick(&self, tick: Tick) {
        let mut state = self.lock();
        state.ticks = state.now_ns / 100_000_000;
        state.tick = Some(tick);
    }

    /// Adds a new disk.
    pub fn add(self: &Arc<World>, parameters: &Parameters) -> Arc<dyn Endpoint> {
        parameters.check().expect("a valid disk");
        let mut state = self.lock();
        let disk = Disk::new(parameters);
        state.disks.push(Served { disk, flying: BTreeMap::new(), answers: BTreeMap::new() });
        let facts = Facts {
            size: Some(parameters.size_bytes),
            logical_block_bytes: 512,
            ..Facts::new("modelled disk", EndpointKind::Memory)
        };
        Arc::new(InVirtualTime { world: self.clone(), number: state.disks.len() - 1, facts })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn submit(&mut self, number: usize, op: Op, offset: u64, len: u64) -> Ticket {
        self.asked = 0;
        let kind = if op == Op::Read { model::Kind::Read } else { model::Kind::Write };
        let now_ns = self.now_ns;
        self.disks[number].disk.submit(now_ns, kind, Extent { offset, len })
    }

    /// Completions of this disk up to now.
    fn come(&mut self, number: usize) -> Vec<Ticket> {
        let now_ns = self.now_ns;
        let served = &mut self.disks[number];
        let mut come = Vec::new();
        while let Some(entry) = served.answers.first_entry().filter(|entry| entry.key().0 <= now_ns) {
            come.push(entry.remove().ticket);
            served.disk.leave();
        }
        if !come.is_empty() {
            self.asked = 0;
        }
        come
    }

    /// Advances the time to the next event.
    fn pass(&mut self) {
        self.collect_answers();
        let next = |served: &Served| {
            let answer = served.answers.keys().next().map(|(at_ns, _)| *at_ns);
            answer.into_iter().chain(served.disk.alarm()).min()
        };
        let next_ns = self.disks.iter().filter_map(next).min().expect("a disk has a next event");
        self.now_ns = self.now_ns.max(next_ns);
        self.collect_answers();
        self.asked = 0;
        let ticks = self.now_ns / 100_000_000;
        if ticks > self.ticks {
            self.ticks = ticks;
            let now_s = self.now_ns as f64 / 1e9;
            self.tick.iter_mut().for_each(|tick| tick(now_s));
        }
    }

    fn collect_answers(&mut self) {
        for served in &mut self.disks {
            for answer in served.disk.advance(self.now_ns) {
                served.answers.insert((answer.at_ns, answer.ticket), answer);
            }
        }
    }

    /// The queue of this disk is empty. When all waiting queues have been polled, the time advances.
    fn nothing(&mut self, number: usize) {
        self.asked |= 1 << number;
        let waiting = (0..self.disks.len()).filter(|&number| !self.disks[number].flying.is_empty());
        if waiting.fold(0, |bits, number| bits | 1 << number) & !self.asked == 0 {
            self.pass();
        }
    }
}

struct InVirtualTime {
    world: Arc<World>,
    number: usize,
    facts: Facts,
}

impl InVirtualTime {
    /// Executes one command alone.
    fn alone(&self, submit: impl FnOnce(&mut State) -> Ticket) {
        let mut state = self.world.lock();
        let ticket = submit(&mut state);
        while !state.come(self.number).contains(&ticket) {
            state.pass();
        }
    }
}

impl Endpoint for InVirtualTime {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn perform(&self, request: &mut Request) -> io::Result<u32> {
        let (op, offset, len) = (request.op, request.at(), request.left());
        self.alone(|state| state.submit(self.number, op, offset, len.into()));
        Ok(len)
    }

    fn own_queue(&self, _depth: u32) -> Option<io::Result<Box<dyn Queue>>> {
        Some(Ok(Box::new(OfDisk { world: self.world.clone(), number: self.number })))
    }

    fn make_durable(&self) -> io::Result<()> {
        self.alone(|state| {
            state.asked = 0;
            let now_ns = state.now_ns;
            state.disks[self.number].disk.submit(now_ns, model::Kind::Flush, Extent { offset: 0, len: 0 })
        });
        Ok(())
    }

    fn diagnose(&self, _op: Op, _offset: u64, _error: &io::Error) -> Kind {
        Kind::Io
    }
}

/// The queue of a disk, with exclusive use of the disk.
struct OfDisk {
    world: Arc<World>,
    number: usize,
}

impl Queue for OfDisk {
    fn submit(&mut self, request: Request) {
        let mut state = self.world.lock();
        let ticket = state.submit(self.number, request.op, request.at(), request.left().into());
        state.disks[self.number].flying.insert(ticket, request);
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Completion>) -> io::Result<()> {
        let mut state = self.world.lock();
        if state.disks[self.number].flying.is_empty() {
            return Ok(());
        }
        let come = state.come(self.number);
        if come.is_empty() {
            state.nothing(self.number);
        }
        for ticket in come {
            let request = state.disks[self.number].flying.remove(&ticket).expect("it was submitted");
            let moved = request.left();
            done.push(Completion { request, result: Transferred::Moved(moved) });
        }
        Ok(())
    }

    fn ready(&self) -> Ready {
        if self.world.lock().disks[self.number].flying.is_empty() { Ready::Idle } else { Ready::Now }
    }
}
