//! A copy to several dests: what is planned for each, and how each ended.
use super::{Error, Extent, PlanSide, Zeros};
use std::path::PathBuf;

/// What is planned for one of several dests. All of them begin at the same offset.
#[derive(Clone, Debug)]
pub struct PlanDest {
    /// How it is opened and used.
    pub side: PlanSide,
    /// What becomes of zero runs there.
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
    /// Bytes of data that it acknowledged.
    pub written_bytes: u64,
    /// Bytes that it zeroed by itself.
    pub zeroed_bytes: u64,
    /// Bytes left as holes.
    pub hole_bytes: u64,
}
