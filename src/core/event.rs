//! Rare facts, sent as they happen.
use super::{DigestedBlock, Error, Limits};

/// What the copy is busy with; the number is what [`super::Tally::phase`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Moving bytes.
    Copying = 0,
    /// Making what was moved durable.
    Flushing = 1,
    /// Nothing more will happen.
    Ended = 2,
}

/// A rare fact about the running copy.
#[derive(Debug)]
pub enum Event<'a> {
    /// A phase began.
    Began(Phase),
    /// Other limits hold from the next block on.
    Paced {
        /// What they are.
        limits: Limits,
        /// One clause: why.
        because: &'a str,
    },
    /// Something planned was not available and another way was taken.
    FellBack(&'a str),
    /// Something the user should know, that does not end the copy.
    Warned(&'a str),
    /// A block has arrived and was digested, or zeros have; ascending. Not rare: progress displays skip it.
    Digested(DigestedBlock),
    /// The copy ends here.
    Failed(&'a Error),
}

/// Receives events. Called from the pump's thread: must return at once.
pub trait Observer: Sync {
    /// Hears of one event.
    fn on_event(&self, event: &Event<'_>);
}

/// Hears nothing.
#[derive(Debug)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn on_event(&self, _event: &Event<'_>) {}
}
