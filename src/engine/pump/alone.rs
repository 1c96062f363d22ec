//! Trying a request again with nothing beside it.
use super::Pump;
use crate::core::{Cache, Completion, Op, Request, RequestError, Transferred};

impl Pump<'_> {
    /// A failed request is worth another try alone.
    pub(in crate::engine) fn may_retry_alone(&self, request: &Request, error: &RequestError) -> bool {
        let direct = self.plan.side(request.side).access.cache == Cache::Direct;
        direct && request.op != Op::Zero && !self.ending() && error.may_be_a_neighbours()
    }

    /// Tries a failed request once more, when its turn comes.
    pub(in crate::engine) fn retry_alone(&mut self, request: Request, error: RequestError) {
        self.queues.make_room(request.ticket);
        self.alone.waiting.push((request, error));
        self.retry_next_alone();
    }

    fn retry_next_alone(&mut self) {
        if self.alone.now.is_some() || self.stop_asked() {
            return;
        }
        // Of a copy that has failed, only what is ahead of the failure is brought home.
        let limit = self.failure.as_ref().map_or(u64::MAX, |failure| failure.ticket);
        if let Some((request, error)) = self.alone.take_first(|ticket| ticket < limit) {
            self.alone.now = Some((request.slot, error));
            self.queues.submit_alone(request);
        }
    }

    /// The block that was retried alone has come back.
    pub(in crate::engine) fn on_retried_alone(&mut self, completion: Completion) {
        let Completion { request, result } = completion;
        if matches!(result, Transferred::Retry) {
            self.queues.submit_alone(request);
            return;
        }
        let Some((_, first)) = self.alone.now.take() else { return };
        match result {
            // No retry was made, because no thread could be started.
            Transferred::Failed(error) if !error.is_of_kernel() && error.device().is_none() => {
                self.failed(request, first);
            }
            Transferred::Failed(error) => self.failed(request, error),
            Transferred::Retry => self.queues.submit_again(request),
            Transferred::Moved(moved) => {
                self.alone.succeeded += u64::from(moved > 0);
                if request.op == Op::Read { self.on_read(request, moved) } else { self.on_write(request, moved) }
            }
        }
        self.retry_next_alone();
    }

    /// On the way out: those that wait are given up where a stop was asked for, and those behind a failure.
    pub(in crate::engine) fn give_up_waiting(&mut self) {
        let by_signal = self.stop_asked();
        let limit = self.failure.as_ref().filter(|_| !by_signal).map_or(0, |failure| failure.ticket);
        while let Some((request, error)) = self.alone.take_first(|ticket| ticket >= limit) {
            if by_signal { self.give_up(request, error) } else { self.failed(request, error) }
        }
        self.retry_next_alone();
    }
}
