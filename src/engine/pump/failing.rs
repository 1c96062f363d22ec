//! What happens to a copy when a request fails: it is reported, and all ahead of it brought home.
use super::{CopyFailure, Pump};
use crate::core::{Error, Kind, Op, Request, RequestError, Route, Side};
use std::io;

/// Where in a request it was that it failed.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) enum BlamedPlace {
    /// It is reported as it is.
    Known,
    /// It is to be searched for once the other blocks are home.
    ToFind,
}

impl Pump<'_> {
    /// A request has failed for good.
    pub(in crate::engine) fn failed(&mut self, request: Request, error: RequestError) {
        let place = if self.is_suspect(&request, &error) { BlamedPlace::ToFind } else { BlamedPlace::Known };
        self.failed_at(request, error, place);
    }

    /// The same, where the kernel called no error what is one here.
    pub(in crate::engine) fn failed_by(&mut self, request: Request, kind: io::ErrorKind) {
        let end = &*self.ends[request.side.index()];
        let error = RequestError::of(end, request.op, request.at(), kind.into());
        self.failed(request, error);
    }

    /// The same, with what is known of the place.
    pub(in crate::engine) fn failed_at(&mut self, request: Request, error: RequestError, place: BlamedPlace) {
        if error.kind == Kind::Cancelled && self.ending() {
            if request.side == Side::Source && request.op == Op::Read && self.failure.is_none() {
                self.write_what_came(request);
            } else {
                // Those behind it are let through to be cancelled too: nothing else would ever let them go.
                self.queues.release_ticket(request.side, request.ticket);
                self.retire(request);
            }
            return;
        }
        let of_delta = matches!(self.plan.route, Route::Delta { .. }) && request.side == Side::Dest;
        if of_delta && request.op == Op::Read && error.kind == Kind::Io {
            // What cannot be read there is not what it should be; writing it is what may cure it.
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
                BlamedPlace::ToFind => self.set_suspect(request),
                BlamedPlace::Known => self.retire(request),
            }
        } else {
            self.retire(request);
        }
        self.wake_source();
    }

    /// A block cannot be copied for a reason that no request has reported.
    pub(in crate::engine) fn fail_block(&mut self, request: Request, error: Error) {
        if self.is_first_failure(request.ticket) {
            self.set_failure(error, request.ticket);
        }
        self.retire(request);
        self.wake_source();
    }

    /// Of several failures the one at the block nearest to the beginning is reported.
    fn is_first_failure(&self, ticket: u64) -> bool {
        self.failure.as_ref().is_none_or(|first| ticket < first.ticket)
    }

    fn set_failure(&mut self, error: Error, ticket: u64) {
        self.failure = Some(CopyFailure { error, ticket, by_signal: false });
        self.clear_suspect();
    }

    /// A read that waits for bytes of another program would keep the copy from ending.
    fn wake_source(&self) {
        self.ends[Side::Source.index()].cancel();
    }

    /// What to tell of a failed request.
    pub(in crate::engine) fn error_of(&self, request: &Request, error: RequestError) -> Error {
        let facts = self.ends[request.side.index()].facts();
        self.advise_on_reread(request, error.into_error(facts, request.op, request.side, request.at()))
    }

    /// On the way out: abandons what has not started, but brings home the blocks ahead of the one that failed.
    pub(in crate::engine) fn cancel_queued(&mut self) {
        self.give_up_waiting();
        self.give_up_recoveries();
        let limit = self.failure.as_ref().map(|failure| failure.ticket);
        for side in Side::BOTH {
            let mut back = Vec::new();
            self.queues.cancel_pending(side, &mut back);
            for request in back {
                let goes_on = match limit {
                    Some(failed) => request.ticket < failed,
                    None => side == Side::Dest && self.may_write(&request),
                };
                if goes_on {
                    self.queues.submit(request);
                } else {
                    self.abandon(request);
                }
            }
        }
        self.withdraw_queued(limit);
        // Blocks wait there for one before them, which may have been given up: of a copy that does not end there is no
        // digest to be reported.
        let pending = self.queues.cancel_pending_digests();
        pending.into_iter().for_each(|request| self.retire(request));
        self.search_suspect();
    }

    /// The same for what a queue keeps to itself. What is searched goes on: nothing else is in flight then.
    fn withdraw_queued(&mut self, limit: Option<u64>) {
        if self.suspect.is_searched() {
            return;
        }
        let given_up = self.given_up;
        let goes_on = |request: &Request| match limit {
            Some(failed) => request.ticket < failed,
            None => request.side == Side::Dest && request.ticket < given_up,
        };
        for request in self.queues.set.withdraw(&goes_on) {
            self.abandon(request);
        }
    }

    /// The block of this request is not copied.
    fn abandon(&mut self, request: Request) {
        // A block that needed no read may be ahead of this one: its turn would never come.
        self.given_up = self.given_up.min(request.ticket);
        self.retire(request);
    }
}
