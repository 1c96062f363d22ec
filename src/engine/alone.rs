//! Blocks that failed beside others and are retried alone, one after the other, while all the others continue.
//!
//! The block layer merges neighbours into one request and, if it fails, fails all of them. A block that went direct is
//! retried alone, so that only the bad one is blamed and those before it arrive. A disk may try for half a
//! minute before it fails a request, so no try is made by the thread that pumps: it is made by a helper of its side.
use crate::core::{Request, RequestError};

/// A request that failed, and its error.
type FailedRequest = (Request, RequestError);

/// Blocks that are retried alone.
pub(super) struct AloneRetries {
    /// They wait for the one that is tried.
    pub(super) waiting: Vec<FailedRequest>,
    /// The slot of the block that is tried, and its earlier error.
    pub(super) now: Option<(u32, RequestError)>,
    /// Those that succeeded.
    pub(super) succeeded: u64,
}

impl AloneRetries {
    /// Nothing waits; there is room for so many.
    pub(super) fn new(slots: usize) -> Self {
        AloneRetries { waiting: Vec::with_capacity(slots), now: None, succeeded: 0 }
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
    pub(super) fn take_first(&mut self, wanted: impl Fn(u64) -> bool) -> Option<FailedRequest> {
        let tickets = self.waiting.iter().map(|(request, _)| request.ticket).enumerate();
        let (first, _) = tickets.filter(|(_, ticket)| wanted(*ticket)).min_by_key(|(_, ticket)| *ticket)?;
        Some(self.waiting.swap_remove(first))
    }
}
