//! The start and the end of a block: a slot, memory, and the first request.
use super::{CopyFailure, Pump, Slot};
use crate::core::{Buffer, Error, Kind, Next, Op, Request, Route, Run, RunKind, Side, Zeros};

/// A slot and a buffer for a block, and those for the dest if both are compared.
struct Reserved {
    first: (u32, Buffer),
    beside: Option<(u32, Buffer)>,
}

impl Pump<'_> {
    /// Starts blocks while the side that is read first accepts more, and memory is available.
    pub(super) fn feed(&mut self) {
        let side = self.plan.route.reads_from();
        self.writing &= self.in_hand > 0;
        while !self.finished
            && !self.writing
            && self.in_hand < self.delta.blocks_max()
            && self.queues.towards(side) < self.limits.in_flight[side.index()]
            && !self.ending()
        {
            let Some(reserved) = self.reserve() else { return };
            match self.schedule.next(self.limits.block_bytes) {
                Ok(Next::Do(run)) => {
                    self.begin(run, reserved);
                    continue;
                }
                Ok(Next::Wait) => {
                    self.release_reserved(reserved);
                    return;
                }
                Ok(Next::Finished) => self.finished = true,
                Err(source) => {
                    let what = format!("cannot find the holes of source {}", self.plan.source.address);
                    let error = Error::new(Kind::Io, what).on(Side::Source).because(source);
                    let error = error.advise("Copy it with --sparse never, which reads all data.");
                    self.failure = Some(CopyFailure { error, ticket: self.next_ticket, by_signal: false });
                }
            }
            self.release_reserved(reserved);
        }
    }

    /// Reserves a slot and a buffer for the next block, and for the bytes of the dest if they will be compared, so that
    /// blocks cannot deadlock waiting for memory. `None` until other blocks are finished.
    fn reserve(&mut self) -> Option<Reserved> {
        let first = self.take_slot()?;
        if self.plan.route.buffers_per_block() == 1 {
            return Some(Reserved { first, beside: None });
        }
        match self.take_slot() {
            Some(second) => Some(Reserved { first, beside: Some(second) }),
            None => {
                self.free_slot(first);
                None
            }
        }
    }

    fn release_reserved(&mut self, reserved: Reserved) {
        self.free_slot(reserved.first);
        reserved.beside.into_iter().for_each(|beside| self.free_slot(beside));
    }

    pub(super) fn take_slot(&mut self) -> Option<(u32, Buffer)> {
        let buffer = self.pool.take(self.limits.block_bytes)?;
        Some((self.free.pop().expect("as many slots as the pool has blocks"), buffer))
    }

    fn free_slot(&mut self, (slot, buffer): (u32, Buffer)) {
        self.free.push(slot);
        self.pool.release(buffer);
    }

    fn begin(&mut self, run: Run, reserved: Reserved) {
        let Reserved { first: (slot, buffer), beside } = reserved;
        self.comparing.spares[slot as usize] = beside;
        let (ticket, zero) = (self.next_ticket, run.kind == RunKind::Zero);
        self.next_ticket += 1;
        self.in_hand += 1;
        let reread = self.schedule.is_reread(run.extent);
        self.slots[slot as usize] = Slot { zero, reread, ..Slot::of(run.extent) };
        let (side, op) = (self.plan.route.reads_from(), Op::Read);
        let offset = self.plan.side(side).map.at(run.extent.offset);
        let len = u32::try_from(run.extent.len).expect("a schedule's runs fit in 32 bits");
        let mut request = Request { slot, ticket, side, op, offset, len, done: 0, until: len, buffer };
        if zero {
            self.queues.release_ticket(side, ticket);
            if self.fills_zeros() {
                request.buffer.bytes_mut()[..len as usize].fill(0);
            }
            self.on_block_ready(request);
        } else {
            self.queues.submit(request);
            if self.reports_reads {
                self.queues.submit_now();
            }
        }
    }

    /// Whether buffers of zero runs are filled with zeros.
    pub(super) fn fills_zeros(&self) -> bool {
        let written = matches!(self.plan.zeros, Zeros::Write | Zeros::Each);
        written || matches!(self.plan.route, Route::Delta { .. })
    }

    /// Releases the block, and the bytes of the dest for comparison.
    pub(in crate::engine) fn retire(&mut self, request: Request) {
        self.queues.make_room(request.ticket);
        if let Some(parked) = self.comparing.take(request.slot) {
            self.release(parked);
        }
        if let Some(spare) = self.comparing.spares[request.slot as usize].take() {
            self.free_slot(spare);
        }
        self.release(request);
        self.in_hand -= 1;
    }

    pub(in crate::engine) fn release(&mut self, request: Request) {
        self.free_slot((request.slot, request.buffer));
    }
}
