//! Reading around bad blocks. Each piece is a normal request, so other blocks continue meanwhile.
use super::failing::ErrorLocation;
use super::{CopyFailure, Pump};
use crate::core::{Error, Event, Extent, ExtentSet, Kind, Op, Order, Request, RequestError, Route, Side};
use crate::engine::bad_block_search::{Block, Step};
use crate::engine::recover_from_dest::BadPlace;
use crate::engine::recover_from_dest::finest_bytes;
use std::io;
use std::sync::atomic::Ordering::Relaxed;

impl Pump<'_> {
    /// Whether to read around a failed read: it was requested, and the failure depends on the offset.
    pub(in crate::engine) fn should_salvage(&self, request: &Request, error: &RequestError) -> bool {
        let end = &self.ends[request.side.index()];
        let may = self.plan.on_error.reads_around() && request.op == Op::Read && end.facts().order == Order::Any;
        // Reading back needs all bytes for their digest. On the route Delta, unreadable bytes of the dest are written
        // instead.
        let here = match self.plan.route {
            Route::ReadBack => false,
            Route::Delta { .. } => request.side == Side::Source,
            Route::Copy | Route::Compare { .. } => true,
        };
        may && here && error.depends_on_offset()
    }

    /// Called when a read failed: reads a smaller piece, retries, or treats the piece as unreadable.
    pub(in crate::engine) fn retry_smaller(&mut self, mut request: Request, error: RequestError) {
        let unread = &mut self.unread[request.side.index()];
        unread.failed_reads += 1;
        unread.failing += self.queues.took(request.slot);
        if self.ending() {
            self.abandon_search(request, error);
            return;
        }
        let (block, tries) = (self.block_of(&request), self.tries(&request));
        let error_offset = error.error_offset();
        let around = &mut self.slots[request.slot as usize].around;
        match around.failed(block, request.done, request.until, error_offset, tries) {
            Step::ReadTo(until) => request.until = until,
            Step::Again => {}
            Step::Bad if self.plan.on_error.skip => {
                self.skip_bad_block(request, error);
                return;
            }
            Step::Bad => {
                self.failed_at(request, error, ErrorLocation::Known);
                return;
            }
        }
        // It has passed the gates before.
        self.queues.submit_again(request);
    }

    /// Continues the read of an incomplete block.
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

    /// Replaces an unreadable logical block with zeros, except for bytes that an earlier run has copied.
    fn skip_bad_block(&mut self, mut request: Request, error: RequestError) {
        request.rest_mut().fill(0);
        let durable = match (&self.checkpoints, request.side) {
            (Some(checkpoints), Side::Source) => {
                let first = self.slots[request.slot as usize].extent.offset + u64::from(request.done);
                checkpoints.durable().within(Extent::new(first, request.left().into())).collect()
            }
            _ => ExtentSet::new(),
        };
        let place = BadPlace { request, durable, error };
        if place.durable.is_empty() { self.skip_place(place) } else { self.recover(place) }
    }

    /// Records the unreadable bytes of a unreadable place, and continues reading after it.
    pub(in crate::engine) fn skip_place(&mut self, place: BadPlace) {
        let BadPlace { request, durable, error } = place;
        let side = request.side;
        let bad = Extent::new(request.at(), request.left().into());
        let mut lost: ExtentSet = [bad].into_iter().collect();
        let source = &self.plan.source.map;
        durable.iter().for_each(|extent| lost.remove(source.place(extent)));
        if lost.is_empty() {
            self.continue_after(request);
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
        self.continue_after(request);
    }

    /// Fails the block if durable bytes cannot be read on either side: writing zeros would destroy them.
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

    /// Continues reading after a unreadable place.
    fn continue_after(&mut self, mut request: Request) {
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

    /// Ends the search when the run ends, because a disk may retry for seconds. The cause of the end is reported;
    /// nothing from here on is claimed, or written in copies that need an order.
    pub(in crate::engine) fn abandon_search(&mut self, request: Request, error: RequestError) {
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

    /// Number of retries of a logical block. Because the block layer merges adjacent requests and fails them together,
    /// the first and last piece of a block are retried at least once.
    fn tries(&self, request: &Request) -> u32 {
        let merged = self.plan.side(request.side).through.is_none();
        let at_edge = request.done == 0 || request.until == request.len;
        self.plan.on_error.retries.max(u32::from(merged && at_edge))
    }
}
