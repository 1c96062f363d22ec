//! Recording the course of a rescue.
use super::RescueState;
use crate::core::Extent;

/// How a read ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadResult {
    /// All of it was read.
    Read,
    /// None of it.
    Failed,
}

/// Records the course of a rescue. Called by the thread that copies, so that it must be quick.
pub trait RescueLog: Send {
    /// A phase or a pass begins.
    fn on_phase(&mut self, state: &RescueState);

    /// A read ended; `state` includes its result, but what was read is not written yet.
    fn on_read(&mut self, extent: Extent, result: ReadResult, state: &RescueState);

    /// The rescue ended.
    fn on_end(&mut self, state: &RescueState);
}
