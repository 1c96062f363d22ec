//! Retries of failed blocks, one at a time, while other blocks continue.
//!
//! The block layer merges adjacent requests and fails all of them together. A direct I/O block is therefore retried
//! alone, so that only the bad block fails and the blocks before it are copied. Because a disk may take half a minute
//! to fail a request, a helper thread of the side makes the retry, not the thread of the pump.
use crate::core::{Request, RequestError};

/// A failed request and its error.
type FailedRequest = (Request, RequestError);

/// The blocks to retry alone.
pub(super) struct AloneRetries {
    /// Blocks waiting for the current retry.
    pub(super) waiting: Vec<FailedRequest>,
    /// The slot of the block being retried, and its earlier error.
    pub(super) now: Option<(u32, RequestError)>,
    /// Number of successful retries.
    pub(super) succeeded: u64,
}

impl AloneRetries {
    /// No retries yet; allocates memory for `slots` requests.
    pub(super) fn new(slots: usize) -> Self {
        AloneRetries { waiting: Vec::with_capacity(slots), now: None, succeeded: 0 }
    }

    /// Number of waiting blocks, which are in no queue.
    pub(super) fn waiting(&self) -> u32 {
        self.waiting.len() as u32
    }

    /// Whether the block in this slot is being retried.
    pub(super) fn is_retrying(&self, slot: u32) -> bool {
        self.now.as_ref().is_some_and(|(now, _)| *now == slot)
    }

    /// Removes the first waiting block, in block order, whose ticket is `is_wanted`.
    pub(super) fn take_first(&mut self, is_wanted: impl Fn(u64) -> bool) -> Option<FailedRequest> {
        let tickets = self.waiting.iter().map(|(request, _)| request.ticket).enumerate();
        let (first, _) = tickets.filter(|(_, ticket)| is_wanted(*ticket)).min_by_key(|(_, ticket)| *ticket)?;
        Some(self.waiting.swap_remove(first))
    }
}
