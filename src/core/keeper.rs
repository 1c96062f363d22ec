//! Writing down, while a copy runs, which bytes of it are durable.
use super::{ExtentSet, Result};
use std::time::Duration;

/// Records which bytes of a copy are durable. Called from one thread at a time, never from the pump's.
pub trait CheckpointSink: Send {
    /// The bytes of `durable` are on the dest and survive a power loss, in addition to all that were reported before;
    /// those of `unread` could not be read from the source, and have zeros there. Offsets count from the first byte of
    /// the copy. On return it is written down durably.
    ///
    /// # Errors
    /// It could not be written down. What was reported before still holds, and the same may be reported again
    /// later.
    fn keep(&mut self, durable: &ExtentSet, unread: &ExtentSet) -> Result<()>;
}

/// How a copy is written down.
pub struct CheckpointPlan {
    /// Who does it.
    pub keeper: Box<dyn CheckpointSink>,
    /// Least and greatest time between two checkpoints: where a flush takes long, they are as far apart as is allowed.
    /// The first comes after the least.
    pub every: [Duration; 2],
    /// What earlier runs made durable; the schedule hands out none of it.
    pub already: ExtentSet,
}
