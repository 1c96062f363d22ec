//! Reading around a bad place. Each piece goes the way of any request, so that the other blocks go on meanwhile.
use super::bad_block_search::{Block, Step};
use super::pump::{Failure, Pump};
use crate::core::{
    Arena, Cache, DeviceError, Error, Event, Extent, ExtentSet, Kind, Op, Order, PAGE_BYTES, Request, Route, Side,
    is_of_place,
};
use std::io;
use std::sync::atomic::Ordering::Relaxed;

impl Pump<'_> {
    /// A failed read is to be read around: that was asked for, and what failed is a matter of the place.
    pub(super) fn should_salvage(&self, request: &Request, error: &io::Error) -> bool {
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
    pub(super) fn retry_smaller(&mut self, mut request: Request, error: io::Error) {
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
                // The place is known: nobody has to look closer.
                self.failed_at(request, error, false);
                return;
            }
        }
        // Its turn has been: the gates are behind it.
        self.queues.submit_again(request);
    }

    /// Goes on with the read of a block that has not come to its end.
    pub(super) fn submit_rest(&mut self, mut request: Request) {
        let block = self.block_of(&request);
        let around = &mut self.slots[request.slot as usize].around;
        if around.is_idle() {
            self.queues.submit(request);
            return;
        }
        if request.done == request.until {
            request.until = around.on_block_ready(block, request.done);
        }
        self.queues.submit_again(request);
    }

    /// Zeros stand for a logical block that cannot be read, but for what an earlier run could read of it.
    fn pass_over(&mut self, mut request: Request, error: &io::Error) {
        let side = request.side;
        let bad = Extent::new(request.at(), request.left().into());
        request.rest_mut().fill(0);
        let mut lost: ExtentSet = [bad].into_iter().collect();
        if let Err(source) = self.keep_what_is_durable(&mut request, &mut lost) {
            self.would_be_lost(request, source);
            return;
        }
        if lost.is_empty() {
            self.go_on_behind(request);
            return;
        }
        if self.unread.iter().all(|unread| unread.is_empty()) {
            let (address, at) = (&self.ends[side.index()].facts().address, bad.offset);
            let name = side.name();
            let warning = format!("{name} {address} cannot be read at byte {at} ({error}): --on-error skip goes on");
            self.observer.hear(&Event::Warned(&warning));
        }
        self.unread[side.index()].runs.insert_all(&lost);
        self.tally.unread_sectors.fetch_add(1, Relaxed);
        self.go_on_behind(request);
    }

    /// A resumed copy goes over the bytes beside a gap again, where direct I/O wants whole pages. Of those that cannot
    /// be read any more the dest has what it got, and must not get zeros: they are read from there, and are not `lost`.
    fn keep_what_is_durable(&self, request: &mut Request, lost: &mut ExtentSet) -> io::Result<()> {
        let (Some(checkpoints), Side::Source) = (&self.checkpoints, request.side) else { return Ok(()) };
        let (start, first) = (self.plan.source.offset, request.at());
        let bad = Extent::new(first - start, request.left().into());
        let there: Vec<Extent> = checkpoints.durable().within(bad).collect();
        for extent in there {
            let at = (start + extent.offset - first) as usize;
            self.read_dest(extent, &mut request.rest_mut()[at..at + extent.len as usize])?;
            lost.remove(Extent::new(start + extent.offset, extent.len));
        }
        Ok(())
    }

    /// Reads an extent of the copy from the dest. It is done here and now: this is rarer than rare.
    fn read_dest(&self, extent: Extent, bytes: &mut [u8]) -> io::Result<()> {
        let align = u64::from(self.plan.dest.access.offset_align_bytes).max(PAGE_BYTES as u64);
        let wanted = Extent::new(self.plan.dest.offset + extent.offset, extent.len);
        let offset = wanted.offset / align * align;
        let into = (wanted.offset - offset) as usize;
        let len = u32::try_from((wanted.end() - offset).next_multiple_of(align)).map_err(io::Error::other)?;
        let arena = Arena::map(len as usize)?;
        let buffer = arena.carve(len, 1).pop().ok_or(io::ErrorKind::OutOfMemory)?;
        let (side, op) = (Side::Dest, Op::Read);
        let mut request = Request { slot: 0, ticket: 0, side, op, offset, len, done: 0, until: len, buffer };
        while (request.done as usize) < into + bytes.len() {
            match self.ends[Side::Dest.index()].perform(&mut request)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                moved => request.done += moved,
            }
        }
        bytes.copy_from_slice(&request.buffer.bytes()[into..into + bytes.len()]);
        Ok(())
    }

    /// Neither side gives what is durable: writing zeros there would lose it.
    fn would_be_lost(&mut self, request: Request, source: io::Error) {
        let (address, at) = (&self.plan.source.address, request.at());
        let dest = &self.plan.dest.address;
        let what = format!(
            "source {address} cannot be read any more, and dest {dest} has what was read before but \
                            cannot be read either: zeros would be written over it"
        );
        let error = Error { offset: Some(at), ..Error::new(Kind::Io, what).on(Side::Source).because(source) };
        let error = error.advise("Go on with --direct never, which writes nothing beside what is not durable yet.");
        let ticket = request.ticket;
        if self.failure.as_ref().is_none_or(|first| ticket < first.ticket) {
            self.failure = Some(Failure { error, ticket, by_signal: false });
            self.acquit();
        }
        self.retire(request);
        self.ends[Side::Source.index()].cancel();
    }

    /// Reads on behind a bad place.
    fn go_on_behind(&mut self, mut request: Request) {
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
    pub(super) fn give_up(&mut self, request: Request, error: io::Error) {
        let ticket = request.ticket;
        match &mut self.failure {
            Some(failure) => failure.ticket = failure.ticket.min(ticket),
            None => {
                let error = self.error_of(&request, error);
                self.failure = Some(Failure { error, ticket, by_signal: true });
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
