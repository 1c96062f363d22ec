//! Copies to several dests: the plan and the outcome of each.
use super::{Error, Extent, PlanSide, Verified, Zeros};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU64};

/// The plan for one of several dests. The copy begins at the same offset on all of them.
#[derive(Clone, Debug)]
pub struct PlanDest {
    /// How it is opened and accessed.
    pub side: PlanSide,
    /// What happens to zero runs.
    pub zeros: Zeros,
    /// Whether to set the size of the file at the end.
    pub set_end: bool,
    /// Whether to allocate space before the first write.
    pub preallocate: bool,
    /// Whether to flush it at the end.
    pub durable: bool,
    /// Whether it may be left behind if it is too slow for the others; the missing bytes are copied to it afterwards.
    pub may_fall_behind: bool,
}

/// The state of one of several dests; [`DestTally::state`] holds its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DestState {
    /// Being written, or read back.
    Moving = 0,
    /// Being flushed.
    Flushing = 1,
    /// Finished.
    Done = 2,
    /// Left behind because it was too slow for the others; the missing bytes are copied to it afterwards.
    Behind = 3,
    /// Dropped after a failure.
    Failed = 4,
}

impl DestState {
    /// The state with this number; `Failed` for an unknown number.
    pub fn of(number: u8) -> Self {
        let all = [DestState::Moving, DestState::Flushing, DestState::Done, DestState::Behind];
        all.into_iter().find(|state| *state as u8 == number).unwrap_or(DestState::Failed)
    }
}

/// Counters of one of several dests: updated by its writer, polled by the progress display.
#[derive(Debug)]
pub struct DestTally {
    /// The address, as the user gave it.
    pub address: String,
    /// Whether it is volatile storage, where flushed data does not survive a power loss.
    pub in_memory: bool,
    /// Bytes of data and zeros that it acknowledged.
    pub copied_bytes: AtomicU64,
    /// Number of the current [`DestState`].
    pub state: AtomicU8,
}

impl DestTally {
    /// The initial counters.
    pub fn new(address: &str, in_memory: bool) -> Self {
        let (copied_bytes, state) = (AtomicU64::new(0), AtomicU8::new(0));
        DestTally { address: address.to_owned(), in_memory, copied_bytes, state }
    }
}

/// The outcome of one of several dests.
#[derive(Debug)]
pub struct DestOutcome {
    /// The address, as the user gave it.
    pub address: String,
    /// The path that was opened.
    pub path: PathBuf,
    /// Why it was dropped, or why finishing it failed; `None` if it has all data of the copy.
    pub error: Option<Error>,
    /// Whether it was left behind, and bytes are still to be copied to it.
    pub behind: bool,
    /// The contiguous extent that was copied to it; offsets count from the first byte of the copy.
    pub claimed: Extent,
    /// Whether the claimed bytes were flushed.
    pub durable: bool,
    /// The volatile storage that it is on, if any: see [`super::Facts::memory`].
    pub memory: Option<String>,
    /// Bytes of data that it acknowledged.
    pub written_bytes: u64,
    /// Bytes that it zeroed without receiving data.
    pub zeroed_bytes: u64,
    /// Bytes left as holes.
    pub hole_bytes: u64,
    /// The result of reading it back; `None` if that was not done.
    pub verified: Option<Verified>,
}
