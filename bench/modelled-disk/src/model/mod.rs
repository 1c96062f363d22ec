//! A disk in virtual time: commands and their arrival times go in, their completion times come out.
//!
//! No clock, no I/O, no thread. Times are nanoseconds since an arbitrary start and never decrease. The disk's own
//! time continues from completion to completion, so a late call does not slow it down: see [`Disk::advance`].
//!
//! ```text
//!  submit ──▶ queue (which next?) ──▶ read_ahead, write_cache ──▶ head (when does its first byte come by?)
//!                                                           zones, wear, heat (how long do its bytes take?) ──▶ answer
//! ```
//! A command may be split on arrival (pieces); a solid-state disk may process several in parallel (channels).
mod channels;
pub mod counters;
mod faults;
mod head;
mod heat;
mod pieces;
mod queue;
mod read_ahead;
mod wear;
mod write_cache;
pub mod zones;

pub use counters::Counters;
pub use faults::{Failure, Faults};
pub use zones::Zones;

use crate::parameters::{Extent, Parameters};
use channels::Channels;
use counters::seconds;
use head::{Head, When};
use pieces::Pieces;
use queue::{Queue, Waiting};
use read_ahead::ReadAhead;
pub(crate) use wear::Wear;
use write_cache::WriteCache;
use zones::span_ns;

/// The kinds of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Transfers bytes from the disk.
    Read,
    /// Transfers bytes, or zeros, to the disk.
    Write,
    /// Writes the cache to the medium.
    Flush,
    /// Discards data.
    Trim,
}

/// The number of a command, in order of arrival.
pub type Ticket = u64;

/// The completion of one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The command.
    pub ticket: Ticket,
    /// The time of its completion.
    pub at_ns: u64,
    /// It failed.
    pub failed: bool,
}

/// A disk.
pub struct Disk {
    parameters: Parameters,
    head: Head,
    queue: Queue,
    pieces: Pieces,
    channels: Channels,
    read_ahead: ReadAhead,
    cache: WriteCache,
    wear: Wear,
    faults: Faults,
    counters: Counters,
    tickets: Ticket,
    /// The time at which the disk can start the next command.
    free_ns: u64,
    /// The completion time of the last command that was started.
    answered_ns: u64,
    /// Time of the last reported completion: a command that was split is reported with its last piece only.
    reported_ns: u64,
    /// The end of everything that was started.
    busy_until_ns: u64,
    first_ns: Option<u64>,
    /// The end of the last command that transferred bytes.
    last_end: u64,
    /// Number of submitted commands that have not left.
    present: u64,
}

impl Disk {
    /// A new disk; the parameters must have been checked.
    pub fn new(parameters: &Parameters) -> Disk {
        let parameters = parameters.scaled();
        Disk {
            head: Head::new(&parameters),
            queue: Queue::new(parameters.queue_depth, parameters.one_way),
            pieces: Pieces::new(parameters.transfer_max_bytes),
            channels: Channels::new(&parameters),
            read_ahead: ReadAhead::new(&parameters),
            cache: WriteCache::new(parameters.write_cache_bytes),
            wear: Wear::new(&parameters),
            faults: Faults::new(&parameters),
            counters: Counters::default(),
            tickets: 0,
            free_ns: 0,
            answered_ns: 0,
            reported_ns: 0,
            busy_until_ns: 0,
            first_ns: None,
            last_end: 0,
            present: 0,
            parameters,
        }
    }

    /// A command arrives at `now_ns`. Call [`Disk::advance`] next, and [`Disk::leave`] after it has completed.
    pub fn submit(&mut self, now_ns: u64, kind: Kind, extent: Extent) -> Ticket {
        self.tickets += 1;
        self.present += 1;
        self.counters.queue_max = self.counters.queue_max.max(self.present);
        self.first_ns.get_or_insert(now_ns);
        let arrival_ns = now_ns + self.parameters.distance_ns / 2;
        for piece in self.pieces.cut(self.tickets, kind, extent) {
            self.queue.add(self.tickets, kind, piece, arrival_ns);
        }
        self.tickets
    }

    /// Decides every command whose turn is by `now_ns`. Each decision is made for the time at which the disk was
    /// idle, among the commands that had arrived by then, even if this is called later.
    pub fn advance(&mut self, now_ns: u64) -> Vec<Answer> {
        let mut answers = Vec::new();
        while let Some((ready_ns, decide_ns)) = self.decision() {
            // Without reordering the oldest is next, regardless of later commands: it can be started at once.
            if self.queue.reorders() && decide_ns > now_ns {
                break;
            }
            let (from, read_ahead) = (self.last_end, &self.read_ahead);
            let next = self.queue.take(from, decide_ns, |one| continues_here(read_ahead, from, one));
            let Some(next) = next else { break };
            let served = self.serve(next, ready_ns.max(next.arrival_ns));
            if let Some(answer) = self.pieces.complete(served) {
                self.reported_ns = answer.at_ns;
                answers.push(answer);
            }
        }
        answers
    }

    /// The time at which [`Disk::advance`] must be called for the oldest waiting command, if none completes before.
    pub fn alarm(&self) -> Option<u64> {
        let (_, decide_ns) = self.decision()?;
        (decide_ns != self.reported_ns).then_some(decide_ns)
    }

    /// The command that has waited longest.
    pub fn oldest(&self) -> Option<Ticket> {
        self.queue.oldest().map(|waiting| waiting.ticket)
    }

    /// One command was returned to its sender.
    pub fn leave(&mut self) {
        self.present -= 1;
    }

    /// The counters so far.
    pub fn counters(&self) -> Counters {
        let mut counters = self.counters;
        counters.span_s = seconds(self.answered_ns.saturating_sub(self.first_ns.unwrap_or(0)));
        counters.idle_s = (counters.span_s - counters.busy_s).max(0.0);
        counters.warmest_c = self.wear.heat().warmest_c();
        counters
    }

    /// The temperature at `now_ns`, in °C, with all events until then processed.
    pub fn celsius(&self, now_ns: u64) -> f64 {
        self.wear.heat().celsius(now_ns)
    }

    /// The time at which the disk starts the next command, and the time at which it chooses it. A busy disk chooses
    /// at once; an idle one considers all commands that arrive during the overhead of the first. Before a seek it
    /// waits, within the grace time, for a command that continues here: the seek counts from the beginning, so that
    /// waiting costs nothing.
    fn decision(&self) -> Option<(u64, u64)> {
        let oldest = self.queue.oldest()?;
        let ready_ns = oldest.arrival_ns.max(self.free_ns);
        if !self.queue.reorders() || self.parameters.one_way {
            return Some((ready_ns, ready_ns));
        }
        let look_ns = if oldest.arrival_ns > self.free_ns { self.parameters.overhead_ns } else { 0 };
        let decide_ns = ready_ns + look_ns;
        if self.head.revolution_ns == 0 || self.last_end == 0 || oldest.kind == Kind::Flush {
            return Some((ready_ns, decide_ns));
        }
        let patient_until_ns = self.free_ns + self.parameters.grace_ns;
        let goes_on_ns = self.queue.continuing_since(|one| continues_here(&self.read_ahead, self.last_end, one));
        Some((ready_ns, decide_ns.max(patient_until_ns.min(goes_on_ns.unwrap_or(u64::MAX)))))
    }

    fn serve(&mut self, command: Waiting, ready_ns: u64) -> Answer {
        let Waiting { ticket, kind, extent, .. } = command;
        let mut when = When { ready_ns, begin_ns: ready_ns + self.parameters.overhead_ns };
        self.empty_cache_until(ready_ns);
        if self.parameters.choke_depth > 0 && self.present > self.parameters.choke_depth {
            when.begin_ns += self.parameters.choke_ns;
            self.counters.chokes += 1;
        }
        let stall_ns = self.faults.stall_ns(&extent);
        self.counters.stalls += u64::from(stall_ns > 0);
        when.begin_ns += stall_ns + self.faults.slow_ns(kind, &extent);
        let failure = self.faults.fails(kind, &extent, ready_ns);
        let failed = failure.is_some();
        let done_ns = match kind {
            _ if failure == Some(Failure::Dead) => when.begin_ns,
            _ if failed => self.fail(kind, extent, when),
            Kind::Read => self.read(extent, when),
            Kind::Write => self.write(extent, when),
            Kind::Flush => self.empty_cache_until(u64::MAX).max(when.begin_ns).max(self.channels.all_free_ns()),
            Kind::Trim => when.begin_ns,
        };
        if matches!(kind, Kind::Read | Kind::Write) {
            self.last_end = extent.end();
        }
        self.free_ns = self.channels.take(done_ns).unwrap_or(done_ns);
        self.answered_ns =
            done_ns + self.parameters.latency_ns + self.parameters.distance_ns - self.parameters.distance_ns / 2;
        // Time in which several channels work counts once.
        let busy_ns = done_ns.saturating_sub(ready_ns.max(self.busy_until_ns));
        self.busy_until_ns = self.busy_until_ns.max(done_ns);
        self.note(kind, extent, failed, busy_ns);
        Answer { ticket, at_ns: self.answered_ns, failed }
    }

    fn note(&mut self, kind: Kind, extent: Extent, failed: bool, busy_ns: u64) {
        self.counters.busy_s += seconds(busy_ns);
        match kind {
            Kind::Flush => self.counters.flushes += 1,
            Kind::Trim => self.counters.trims += 1,
            Kind::Read | Kind::Write => {
                let direction = self.counters.of(kind);
                direction.commands += 1;
                direction.errors += u64::from(failed);
                direction.bytes += if failed { 0 } else { extent.len };
                direction.busy_s += seconds(busy_ns);
            }
        }
    }

    fn interface_ns(&self, len: u64) -> u64 {
        span_ns(len, self.parameters.interface_bytes_per_s)
    }

    fn read(&mut self, extent: Extent, when: When) -> u64 {
        if self.cache.holds(&extent) {
            self.counters.read.from_memory += 1;
            return when.begin_ns + self.interface_ns(extent.len);
        }
        if let Some(done_ns) = self.read_ahead.read(extent, when, &mut self.head) {
            self.counters.read.from_memory += 1;
            self.head.free_ns = done_ns;
            return done_ns;
        }
        if self.channels.are_some() {
            let link_ns = self.head.zones.passing_ns(extent.offset, extent.len);
            return self.through_channel(extent.len, link_ns, when);
        }
        let way = self.head.way(extent.offset, when);
        self.counters.went(Kind::Read, &way);
        let passed_ns = way.start_ns + self.head.zones.passing_ns(extent.offset, extent.len);
        let done_ns = passed_ns.max(when.begin_ns + self.interface_ns(extent.len));
        self.head.passed(extent.end(), passed_ns, done_ns);
        self.head.free_ns = done_ns;
        self.read_ahead.go_on(extent.end(), passed_ns);
        done_ns
    }

    fn write(&mut self, extent: Extent, when: When) -> u64 {
        if !self.cache.takes(extent.len) {
            self.empty_cache_until(u64::MAX);
            return self.write_medium(extent, when);
        }
        let mut room_ns = when.begin_ns;
        while !self.cache.has_room(extent.len) {
            room_ns = room_ns.max(self.empty_one_piece());
        }
        let done_ns = room_ns + self.interface_ns(extent.len);
        self.cache.add(extent, done_ns);
        self.counters.write.from_memory += 1;
        done_ns
    }

    fn write_medium(&mut self, extent: Extent, when: When) -> u64 {
        self.read_ahead.stop();
        if self.channels.are_some() {
            let cost = self.wear.write(extent, when.begin_ns);
            self.counters.wore(&cost);
            return self.through_channel(extent.len, cost.ns, when);
        }
        let way = self.head.way(extent.offset, when);
        self.counters.went(Kind::Write, &way);
        let cost = self.wear.write(extent, way.start_ns);
        self.counters.wore(&cost);
        let passed_ns = way.start_ns + cost.ns;
        let done_ns = passed_ns.max(when.begin_ns + self.interface_ns(extent.len));
        self.head.passed(extent.end(), passed_ns, done_ns);
        self.head.free_ns = done_ns;
        done_ns
    }

    /// A command that starts on its channel and takes `link_ns` of the shared link; returns its completion time.
    fn through_channel(&mut self, len: u64, link_ns: u64, when: When) -> u64 {
        let own_ns = when.begin_ns + self.channels.own_ns(len);
        let link_from_ns = own_ns.saturating_sub(link_ns).max(self.head.free_ns);
        self.head.free_ns = link_from_ns + link_ns;
        own_ns.max(self.head.free_ns).max(when.begin_ns + self.interface_ns(len))
    }

    /// Writes the next bytes of the write cache to the medium; returns the time when this ends. Without any: when
    /// the head is idle.
    fn empty_one_piece(&mut self) -> u64 {
        let begin_ns = self.head.free_ns.max(self.cache.since_ns);
        match self.cache.take_piece(self.head.offset()) {
            Some(piece) => self.write_medium(piece, When { ready_ns: begin_ns, begin_ns }),
            None => self.head.free_ns,
        }
    }

    /// Empties the write cache as far as the head can before `until_ns`; a piece in progress is completed.
    fn empty_cache_until(&mut self, until_ns: u64) -> u64 {
        while !self.cache.is_empty() && self.head.free_ns.max(self.cache.since_ns) < until_ns {
            self.empty_one_piece();
        }
        self.head.free_ns
    }

    /// Seeks to the extent and fails.
    fn fail(&mut self, kind: Kind, extent: Extent, when: When) -> u64 {
        self.read_ahead.stop();
        let way = self.head.way(extent.offset, when);
        self.counters.went(kind, &way);
        let done_ns = way.start_ns + self.head.zones.passing_ns(extent.offset, extent.len) + self.parameters.bad_ns;
        self.head.passed(extent.end(), done_ns, done_ns);
        self.head.free_ns = done_ns;
        done_ns
    }
}

/// Whether the command needs no head movement.
fn continues_here(read_ahead: &ReadAhead, last_end: u64, one: &Waiting) -> bool {
    one.extent.offset == last_end || (one.kind == Kind::Read && read_ahead.covers(&one.extent))
}

#[cfg(test)]
mod tests;
