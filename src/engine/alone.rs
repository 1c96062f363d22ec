//! Blocks that failed beside others and are retried alone, one after the other, while all the others go on.
//!
//! The block layer merges neighbours into one request and, if it fails, fails all of them. A block that went direct is
//! retried alone, so that only the bad one is blamed and those before it arrive. A disk may try for half a
//! minute before it fails a request, so no try is made by the thread that pumps: it is made by a helper of its side.
use super::pump::Pump;
use crate::core::{Cache, Completion, Op, Request, RequestError, Transferred};

/// A request that failed, and what was said of it.
type Failed = (Request, RequestError);

/// Blocks that are retried alone.
#[derive(Default)]
pub(super) struct Alone {
    /// They wait for the one that is tried.
    waiting: Vec<Failed>,
    /// The slot of the block that is tried, and what was said of it before.
    now: Option<(u32, RequestError)>,
    /// Those that succeeded.
    pub(super) succeeded: u64,
}

impl Alone {
    /// There are so many slots from now on; nothing waits.
    pub(super) fn slots(&mut self, count: usize) {
        self.waiting.reserve(count);
    }

    /// Blocks that wait, in no queue.
    pub(super) fn waiting(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// The block in this slot is retried alone now.
    pub(super) fn is_retrying(&self, slot: u32) -> bool {
        self.now.as_ref().is_some_and(|(now, _)| *now == slot)
    }

    /// Takes out the first in the order of blocks of those that are `wanted`.
    fn take_first(&mut self, wanted: impl Fn(u64) -> bool) -> Option<Failed> {
        let tickets = self.waiting.iter().map(|(request, _)| request.ticket).enumerate();
        let (first, _) = tickets.filter(|(_, ticket)| wanted(*ticket)).min_by_key(|(_, ticket)| *ticket)?;
        Some(self.waiting.swap_remove(first))
    }
}

impl Pump<'_> {
    /// A failed request is worth another try alone.
    pub(super) fn may_retry_alone(&self, request: &Request, error: &RequestError) -> bool {
        let direct = self.plan.side(request.side).access.cache == Cache::Direct;
        direct && request.op != Op::Zero && !self.ending() && error.may_be_a_neighbours()
    }

    /// Tries a failed request once more, when its turn comes.
    pub(super) fn retry_alone(&mut self, request: Request, error: RequestError) {
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
    pub(super) fn on_retried_alone(&mut self, completion: Completion) {
        let Completion { request, result } = completion;
        if matches!(result, Transferred::Retry) {
            self.queues.submit_alone(request);
            return;
        }
        let Some((_, first)) = self.alone.now.take() else { return };
        match result {
            // No try was made, for want of a thread.
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
    pub(super) fn give_up_waiting(&mut self) {
        let by_signal = self.stop_asked();
        let limit = self.failure.as_ref().filter(|_| !by_signal).map_or(0, |failure| failure.ticket);
        while let Some((request, error)) = self.alone.take_first(|ticket| ticket >= limit) {
            if by_signal { self.give_up(request, error) } else { self.failed(request, error) }
        }
        self.retry_next_alone();
    }
}
