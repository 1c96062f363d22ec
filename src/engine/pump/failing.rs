//! Handling of failed requests: the failure is reported, and all blocks before it are completed.
use super::{CopyFailure, Pump};
use crate::core::{Error, Kind, Op, Request, RequestError, Route, Side};
use std::io;

/// Whether the location of the error in a request is known.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) enum ErrorLocation {
    /// It is known, or cannot be located.
    Known,
    /// It is located after the other blocks are finished.
    Unknown,
}

impl Pump<'_> {
    /// Called when a request has failed permanently.
    pub(in crate::engine) fn failed(&mut self, request: Request, error: RequestError) {
        let place = if self.is_suspect(&request, &error) { ErrorLocation::Unknown } else { ErrorLocation::Known };
        self.failed_at(request, error, place);
    }

    /// The same, for a result that the kernel does not report as an error.
    pub(in crate::engine) fn failed_by(&mut self, request: Request, kind: io::ErrorKind) {
        let end = &*self.ends[request.side.index()];
        let error = RequestError::of(end, request.op, request.at(), kind.into());
        self.failed(request, error);
    }

    /// The same, if it is known whether to locate the error.
    pub(in crate::engine) fn failed_at(&mut self, request: Request, error: RequestError, place: ErrorLocation) {
        if error.kind == Kind::Cancelled && self.ending() {
            if request.side == Side::Source && request.op == Op::Read && self.failure.is_none() {
                self.write_block_read(request);
            } else {
                // Release the gate for later requests, so that they can be cancelled too.
                self.queues.release_ticket(request.side, request.ticket);
                self.retire(request);
            }
            return;
        }
        let of_delta = matches!(self.plan.route, Route::Delta { .. }) && request.side == Side::Dest;
        if of_delta && request.op == Op::Read && error.kind == Kind::Io {
            // Unreadable bytes of the dest count as different; writing them may repair them.
            self.unreadable_dest += 1;
            self.on_dest_known(request);
            return;
        }
        let ticket = request.ticket;
        self.queues.make_room(ticket);
        if self.is_first_failure(ticket) {
            let error = self.error_of(&request, error);
            self.set_failure(error, ticket);
            match place {
                ErrorLocation::Unknown => self.set_suspect(request),
                ErrorLocation::Known => self.retire(request),
            }
        } else {
            self.retire(request);
        }
        self.wake_source();
    }

    /// Fails a block for a reason that is not the result of a request.
    pub(in crate::engine) fn fail_block(&mut self, request: Request, error: Error) {
        if self.is_first_failure(request.ticket) {
            self.set_failure(error, request.ticket);
        }
        self.retire(request);
        self.wake_source();
    }

    /// Of several failures, the one of the block nearest to the start is reported.
    fn is_first_failure(&self, ticket: u64) -> bool {
        self.failure.as_ref().is_none_or(|first| ticket < first.ticket)
    }

    pub(super) fn set_failure(&mut self, error: Error, ticket: u64) {
        self.failure = Some(CopyFailure { error, ticket, by_signal: false });
        self.clear_suspect();
    }

    /// Cancels reads that wait for another process, which would keep the copy from ending.
    pub(super) fn wake_source(&self) {
        self.ends[Side::Source.index()].cancel();
    }

    /// The error of a failed request.
    pub(in crate::engine) fn error_of(&self, request: &Request, error: RequestError) -> Error {
        let facts = self.ends[request.side.index()].facts();
        self.advise_on_reread(request, error.into_error(facts, request.op, request.side, request.at()))
    }

    /// When the run ends: abandons blocks that have not started, but completes those before the failed one.
    pub(in crate::engine) fn cancel_queued(&mut self) {
        self.abandon_waiting();
        self.abandon_recoveries();
        let limit = self.failure.as_ref().map(|failure| failure.ticket);
        for side in Side::BOTH {
            let mut back = Vec::new();
            self.queues.cancel_pending(side, &mut back);
            for request in back {
                let continues = match limit {
                    Some(failed) => request.ticket < failed,
                    None => side == Side::Dest && self.may_write(&request),
                };
                if continues {
                    self.queues.submit(request);
                } else {
                    self.abandon(request);
                }
            }
        }
        self.withdraw_queued(limit);
        // Blocks after an abandoned or failed one wait for its digest in vain. Those before it do not: if they are all
        // that is left, the copy is complete, and its digest needs them.
        let pending = self.queues.cancel_pending_digests(self.first_missing_ticket());
        pending.into_iter().for_each(|request| self.retire(request));
        self.search_suspect();
    }

    /// The same for requests that a queue has not passed to the kernel. A search for the bad block continues: nothing
    /// else is in flight then.
    fn withdraw_queued(&mut self, limit: Option<u64>) {
        if self.suspect.is_searched() {
            return;
        }
        let abandoned_from = self.abandoned_from;
        let continues = |request: &Request| match limit {
            Some(failed) => request.ticket < failed,
            None => request.side == Side::Dest && request.ticket < abandoned_from,
        };
        for request in self.queues.set.withdraw(&continues) {
            self.abandon(request);
        }
    }

    /// Abandons the block of this request.
    fn abandon(&mut self, request: Request) {
        // A block that was not read may precede this one; it would wait for it forever.
        self.abandoned_from = self.abandoned_from.min(request.ticket);
        self.retire(request);
    }
}
