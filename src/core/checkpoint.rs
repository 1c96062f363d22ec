//! Checkpoints: recording which bytes are durable during a copy.
use super::{ExtentSet, Kept, Result};
use std::time::Duration;

/// Records which bytes of a copy are durable. Called from one thread at a time, never from the pump's.
pub trait CheckpointSink: Send {
    /// Records that the bytes of `kept` are durable on the dest, in addition to all bytes reported before. The bytes
    /// of `unread` could not be read from the source and are zeros on the dest. Offsets count from the first byte of
    /// the copy. The record itself is durable when this returns.
    ///
    /// # Errors
    /// Writing the record failed. Earlier records remain valid, and the same bytes may be reported again later.
    fn keep(&mut self, kept: &Kept, unread: &ExtentSet) -> Result<()>;
}

/// How and how often checkpoints are made.
pub struct CheckpointPlan {
    /// Records the checkpoints.
    pub sink: Box<dyn CheckpointSink>,
    /// Minimum and maximum time between two checkpoints. The first is due after the minimum; slow flushes extend the
    /// interval up to the maximum.
    pub every: [Duration; 2],
    /// Bytes that earlier runs made durable; the schedule omits them.
    pub already: ExtentSet,
    /// Those of them whose digests earlier runs recorded: they are not read again either.
    pub digested: ExtentSet,
}
