//! Rare events, sent as they happen.
use super::{DigestedBlock, Error, Limits};

/// The current phase of the copy; [`super::Tally::phase`] holds its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Transferring data.
    Copying = 0,
    /// Making the transferred data durable.
    Flushing = 1,
    /// The copy has ended.
    Ended = 2,
}

/// A rare event of a running copy.
#[derive(Debug)]
pub enum Event<'a> {
    /// A phase has started.
    Began(Phase),
    /// New limits apply from the next block on.
    Paced {
        /// The new limits.
        limits: Limits,
        /// The reason, a clause.
        because: &'a str,
    },
    /// A planned method was not available; this one is used instead.
    FellBack(&'a str),
    /// A warning; the copy continues.
    Warned(&'a str),
    /// A block, or a run of zeros, was digested after it was written; ascending. Frequent: progress displays ignore it.
    Digested(DigestedBlock),
    /// The copy failed.
    Failed(&'a Error),
}

/// Receives events. Called from the pump's thread; must return immediately.
pub trait Observer: Sync {
    /// Receives one event.
    fn on_event(&self, event: &Event<'_>);
}

/// Ignores all events.
#[derive(Debug)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn on_event(&self, _event: &Event<'_>) {}
}
