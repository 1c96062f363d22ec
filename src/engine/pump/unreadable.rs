//! Reading around a bad place. Each piece goes the way of any request, so that the other blocks go on meanwhile.
use super::failing::BlamedPlace;
use super::{CopyFailure, Pump};
use crate::core::{Error, Event, Extent, ExtentSet, Kind, Op, Order, Request, RequestError, Route, Side};
use crate::engine::bad_block_search::{Block, Step};
use crate::engine::recover_from_dest::BadPlace;
use crate::engine::recover_from_dest::finest_bytes;
use std::io;
use std::sync::atomic::Ordering::Relaxed;

impl Pump<'_> {
    /// A failed read is to be read around: that was asked for, and what failed is a matter of the place.
    pub(in crate::engine) fn should_salvage(&self, request: &Request, error: &RequestError) -> bool {
        let end = &self.ends[request.side.index()];
        let may = self.plan.on_error.looks_closer() && request.op == Op::Read && end.facts().order == Order::Any;
        // Bytes that are to be checked by their digest have to be there.
        // And what the dest lacks of a block that may not have to be written is written.
        let here = match self.plan.route {
            Route::ReadBack => false,
            Route::Delta { .. } => request.side == Side::Source,
            Route::Copy | Route::Compare { .. } => true,
        };
        may && here && error.is_of_place()
    }

    /// A read has failed: reads a smaller piece, or the same again, or takes it for unreadable.
    pub(in crate::engine) fn retry_smaller(&mut self, mut request: Request, error: RequestError) {
        let unread = &mut self.unread[request.side.index()];
        unread.failed_reads += 1;
        unread.failing += self.queues.took(request.slot);
        if self.ending() {
            self.give_up(request, error);
            return;
        }
        let (block, tries) = (self.block_of(&request), self.tries(&request));
        let blamed = error.blamed();
        let around = &mut self.slots[request.slot as usize].around;
        match around.failed(block, request.done, request.until, blamed, tries) {
            Step::ReadTo(until) => request.until = until,
            Step::Again => {}
            Step::Bad if self.plan.on_error.skip => {
                self.skip_bad_block(request, error);
                return;
            }
            Step::Bad => {
                self.failed_at(request, error, BlamedPlace::Known);
                return;
            }
        }
        // Its turn has been: the gates are behind it.
        self.queues.submit_again(request);
    }

    /// Goes on with the read of a block that has not come to its end.
    pub(in crate::engine) fn submit_rest(&mut self, mut request: Request) {
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
    fn skip_bad_block(&mut self, mut request: Request, error: RequestError) {
        request.rest_mut().fill(0);
        let durable = match (&self.checkpoints, request.side) {
            (Some(checkpoints), Side::Source) => {
                let first = request.at() - self.plan.source.offset;
                checkpoints.durable().within(Extent::new(first, request.left().into())).collect()
            }
            _ => ExtentSet::new(),
        };
        let place = BadPlace { request, durable, error };
        if place.durable.is_empty() { self.skip_place(place) } else { self.recover(place) }
    }

    /// Notes what is lost of a bad place, and reads on behind it.
    pub(in crate::engine) fn skip_place(&mut self, place: BadPlace) {
        let BadPlace { request, durable, error } = place;
        let side = request.side;
        let bad = Extent::new(request.at(), request.left().into());
        let mut lost: ExtentSet = [bad].into_iter().collect();
        let start = self.plan.source.offset;
        durable.iter().for_each(|extent| lost.remove(Extent::new(start + extent.offset, extent.len)));
        if lost.is_empty() {
            self.go_on_behind(request);
            return;
        }
        if self.unread.iter().all(|unread| unread.is_empty()) {
            let (address, at) = (&self.ends[side.index()].facts().address, bad.offset);
            let name = side.name();
            let warning =
                format!("cannot read {name} {address} at byte {at} ({}): continuing (--on-error skip)", error.source);
            self.watch.observer.on_event(&Event::Warned(&warning));
        }
        self.unread[side.index()].runs.insert_all(&lost);
        self.watch.tally.unread_sectors.fetch_add(1, Relaxed);
        self.go_on_behind(request);
    }

    /// Neither side gives what is durable: writing zeros there would lose it.
    pub(in crate::engine) fn fail_rather_than_lose(&mut self, request: Request, source: io::Error) {
        let (address, at) = (&self.plan.source.address, request.at());
        let dest = &self.plan.dest.address;
        let what = format!(
            "cannot read source {address}, and cannot read the data that an earlier run copied to destination {dest}: \
             haul would overwrite it with zeros"
        );
        let error = Error { offset: Some(at), ..Error::new(Kind::Io, what).on(Side::Source).because(source) };
        let error = error.advise("Continue with --direct never, which writes only data that is not durable yet.");
        self.fail_block(request, error);
    }

    /// Reads on behind a bad place.
    fn go_on_behind(&mut self, mut request: Request) {
        request.done = request.until;
        if request.done < request.len {
            let block = self.block_of(&request);
            let around = &mut self.slots[request.slot as usize].around;
            request.until = around.on_bad_block(block, request.done);
            self.queues.submit_again(request);
        } else {
            self.all_read(request);
        }
    }

    /// The run ends, and with it the search: it does not wait for a disk that tries for seconds. Whatever ends the run
    /// stays what is reported; nothing from here on is claimed, or written where order matters.
    pub(in crate::engine) fn give_up(&mut self, request: Request, error: RequestError) {
        let ticket = request.ticket;
        match &mut self.failure {
            Some(failure) => failure.ticket = failure.ticket.min(ticket),
            None => {
                let error = self.error_of(&request, error);
                self.failure = Some(CopyFailure { error, ticket, by_signal: true });
            }
        }
        self.retire(request);
        self.ends[Side::Source.index()].cancel();
    }

    fn block_of(&self, request: &Request) -> Block {
        let finest_bytes = finest_bytes(self.plan, request.side, self.ends[request.side.index()].facts());
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
