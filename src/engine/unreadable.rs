//! Reading around a bad place. Each piece goes the way of any request, so that the other blocks go on meanwhile.
use super::around::{Block, Step};
use super::pump::{Failure, Pump};
use crate::contract::{Cache, DeviceError, Event, Extent, Op, Order, Request, Route, Side, is_of_place};
use std::io;
use std::sync::atomic::Ordering::Relaxed;

impl Pump<'_> {
    /// A failed read is to be read around: that was asked for, and what failed is a matter of the place.
    pub(super) fn goes_around(&self, request: &Request, error: &io::Error) -> bool {
        let end = &self.ends[request.side.index()];
        let may = self.plan.on_error.looks_closer() && request.op == Op::Read && end.facts().order == Order::Any;
        // Bytes that are to be checked by their digest have to be there.
        // And what the dest lacks of a block that may not have to be written is written.
        let here = match self.plan.route {
            Route::ReadBack => false,
            Route::Delta { .. } => request.side == Side::Source,
            Route::Copy | Route::Compare { .. } => true,
        };
        may && here && is_of_place(end.diagnose(Op::Read, request.at(), error), error)
    }

    /// A read has failed: reads a smaller piece, or the same again, or takes it for unreadable.
    pub(super) fn read_around(&mut self, mut request: Request, error: io::Error) {
        let unread = &mut self.unread[request.side.index()];
        unread.failed_reads += 1;
        unread.failing += self.meter.now.saturating_duration_since(self.queues.sent_at(request.slot));
        if self.ending() {
            self.give_up(request, error);
            return;
        }
        let (block, tries) = (self.block_of(&request), self.tries(&request));
        let blamed = DeviceError::of(&error).and_then(|said| said.offset);
        let around = &mut self.slots[request.slot as usize].around;
        match around.failed(block, request.done, request.until, blamed, tries) {
            Step::ReadTo(until) => request.until = until,
            Step::Again => {}
            Step::Bad if self.plan.on_error.skip => {
                self.pass_over(request, &error);
                return;
            }
            Step::Bad => {
                let ticket = request.ticket;
                self.failed(request, error);
                // The place is known: nobody has to look closer.
                self.failure.iter_mut().filter(|failure| failure.ticket == ticket).for_each(|it| it.reading = None);
                return;
            }
        }
        // Its turn has been: the gates are behind it.
        self.queues.submit_again(request);
    }

    /// Goes on with the read of a block that has not come to its end.
    pub(super) fn read_on(&mut self, mut request: Request) {
        let block = self.block_of(&request);
        let around = &mut self.slots[request.slot as usize].around;
        if around.is_idle() {
            self.queues.submit(request);
            return;
        }
        if request.done == request.until {
            request.until = around.has_come(block, request.done);
        }
        self.queues.submit_again(request);
    }

    /// Zeros stand for a logical block that cannot be read.
    fn pass_over(&mut self, mut request: Request, error: &io::Error) {
        let side = request.side;
        let bad = Extent::new(request.at(), request.left().into());
        request.rest_mut().fill(0);
        if self.unread.iter().all(|unread| unread.is_empty()) {
            let (address, at) = (&self.ends[side.index()].facts().address, bad.offset);
            let name = side.name();
            let warning = format!("{name} {address} cannot be read at byte {at} ({error}): --on-error skip goes on");
            self.observer.hear(&Event::Warned(&warning));
        }
        self.unread[side.index()].runs.insert(bad);
        self.tally.unread_sectors.fetch_add(1, Relaxed);
        request.done = request.until;
        if request.done < request.len {
            let block = self.block_of(&request);
            let around = &mut self.slots[request.slot as usize].around;
            request.until = around.has_passed(block, request.done);
            self.queues.submit_again(request);
        } else {
            self.all_read(request);
        }
    }

    /// The run ends, and with it the search: nobody waits for a disk that tries for seconds. Whatever ends the run
    /// stays what is told; nothing from here on is claimed, or written where order matters.
    fn give_up(&mut self, request: Request, error: io::Error) {
        let ticket = request.ticket;
        match &mut self.failure {
            Some(failure) => failure.ticket = failure.ticket.min(ticket),
            None => {
                let error = self.error_of(&request, error);
                self.failure = Some(Failure { error, ticket, reading: None, by_signal: true });
            }
        }
        self.retire(request);
        self.ends[Side::Source.index()].cancel();
    }

    fn block_of(&self, request: &Request) -> Block {
        let (facts, access) = (self.ends[request.side.index()].facts(), self.plan.side(request.side).access);
        let direct = if access.cache == Cache::Direct { access.offset_align_bytes } else { 1 };
        let finest_bytes = self.unread[request.side.index()].sector_bytes.max(facts.logical_block_bytes).max(direct);
        Block { offset: request.offset, len: request.len, finest_bytes }
    }

    /// Times that a logical block is tried again. The block layer merges neighbours and fails them together, so at the
    /// edge of a block, beside which others are in flight, one failure is no proof.
    fn tries(&self, request: &Request) -> u32 {
        let merged = self.plan.side(request.side).through.is_none();
        let at_edge = request.done == 0 || request.until == request.len;
        self.plan.on_error.retries.max(u32::from(merged && at_edge))
    }
}
