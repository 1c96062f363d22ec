//! Retrying failed requests one at a time.
use super::Pump;
use crate::core::{Cache, Completion, Op, Request, RequestError, Transferred};

impl Pump<'_> {
    /// Whether retrying a failed request alone may succeed.
    pub(in crate::engine) fn may_retry_alone(&self, request: &Request, error: &RequestError) -> bool {
        let direct = self.plan.side(request.side).access.cache == Cache::Direct;
        direct && request.op != Op::Zero && !self.ending() && error.may_be_merged()
    }

    /// Adds a failed request to those to be retried, and starts the first one.
    pub(in crate::engine) fn retry_alone(&mut self, request: Request, error: RequestError) {
        self.queues.make_room(request.ticket);
        self.alone.waiting.push((request, error));
        self.retry_next_alone();
    }

    fn retry_next_alone(&mut self) {
        if self.alone.now.is_some() || self.stop_requested() {
            return;
        }
        // After a failure, complete only blocks before it.
        let limit = self.failure.as_ref().map_or(u64::MAX, |failure| failure.ticket);
        if let Some((request, error)) = self.alone.take_first(|ticket| ticket < limit) {
            self.alone.now = Some((request.slot, error));
            self.queues.submit_alone(request);
        }
    }

    /// Called when the block that is retried alone has completed.
    pub(in crate::engine) fn on_retried_alone(&mut self, completion: Completion) {
        let Completion { request, result } = completion;
        if matches!(result, Transferred::Retry) {
            self.queues.submit_alone(request);
            return;
        }
        let Some((_, first)) = self.alone.now.take() else { return };
        match result {
            // The retry was not made, because no thread could be started.
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

    /// When the run ends: abandons all waiting requests after a stop request, otherwise those after the failed block.
    pub(in crate::engine) fn abandon_waiting(&mut self) {
        let by_signal = self.stop_requested();
        let limit = self.failure.as_ref().filter(|_| !by_signal).map_or(0, |failure| failure.ticket);
        while let Some((request, error)) = self.alone.take_first(|ticket| ticket >= limit) {
            if by_signal { self.abandon_search(request, error) } else { self.failed(request, error) }
        }
        self.retry_next_alone();
    }
}
