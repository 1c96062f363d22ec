//! A copy to several dests: what is planned for each, and how each ended.
use super::{Error, Extent, PlanSide, Verified, Zeros};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU64};

/// What is planned for one of several dests. All of them begin at the same offset.
#[derive(Clone, Debug)]
pub struct PlanDest {
    /// How it is opened and used.
    pub side: PlanSide,
    /// What happens to zero runs there.
    pub zeros: Zeros,
    /// Let the file end where the copy ends.
    pub set_end: bool,
    /// Allocate it before the first write.
    pub preallocate: bool,
    /// Flush it at the end.
    pub durable: bool,
    /// Leave it behind rather than let it hold the others up; what it lacks is copied to it afterwards.
    pub may_fall_behind: bool,
}

/// What one of several dests is busy with; the number is what [`DestTally::state`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DestState {
    /// Taking bytes, or reading them back.
    Moving = 0,
    /// Making them durable.
    Flushing = 1,
    /// Nothing more will happen.
    Done = 2,
    /// It held the others up; what it lacks is copied to it afterwards.
    Behind = 3,
    /// It was dropped.
    Failed = 4,
}

impl DestState {
    /// The state of that number; any other one is `Failed`.
    pub fn of(number: u8) -> Self {
        let all = [DestState::Moving, DestState::Flushing, DestState::Done, DestState::Behind];
        all.into_iter().find(|state| *state as u8 == number).unwrap_or(DestState::Failed)
    }
}

/// The running numbers of one of several dests: written by its writer, polled by the progress display.
#[derive(Debug)]
pub struct DestTally {
    /// As the user named it.
    pub address: String,
    /// It keeps its bytes in memory: what is flushed there survives no power loss.
    pub in_memory: bool,
    /// Bytes that it has acknowledged in any form.
    pub copied_bytes: AtomicU64,
    /// The number of a [`DestState`].
    pub state: AtomicU8,
}

impl DestTally {
    /// Before the first byte.
    pub fn new(address: &str, in_memory: bool) -> Self {
        let (copied_bytes, state) = (AtomicU64::new(0), AtomicU8::new(0));
        DestTally { address: address.to_owned(), in_memory, copied_bytes, state }
    }
}

/// How one of several dests ended.
#[derive(Debug)]
pub struct DestOutcome {
    /// As the user named it.
    pub address: String,
    /// What was opened.
    pub path: PathBuf,
    /// Why it was dropped, or its end failed; `None`: it has all that the copy has come to.
    pub error: Option<Error>,
    /// It held the others up and was left behind; what it lacks is to be copied to it.
    pub behind: bool,
    /// All bytes that arrived there with none missing between them; offsets count from the first byte of the copy.
    pub claimed: Extent,
    /// What is claimed survives a power loss.
    pub durable: bool,
    /// What keeps it in memory, where that is so: see [`super::Facts::memory`].
    pub memory: Option<String>,
    /// Bytes of data that it acknowledged.
    pub written_bytes: u64,
    /// Bytes that it zeroed by itself.
    pub zeroed_bytes: u64,
    /// Bytes left as holes.
    pub hole_bytes: u64,
    /// The result of reading it back; `None`: it was not.
    pub verified: Option<Verified>,
}
