//! Data exchanged between the pump and the governor.
use crate::core::Tuning;
pub use crate::core::{Bursts, Limits};
use std::time::Duration;

/// Properties of a copy that the governor needs.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The initial limits and their bounds.
    pub tuning: Tuning,
    /// Length of the copy in bytes; `None` if unknown.
    pub len: Option<u64>,
    /// Whether the device of each side is rotational, by `Side::index`.
    pub rotational: [bool; 2],
}

impl Start {
    /// Memory of all blocks, in bytes.
    pub(super) fn pool_bytes(&self) -> u64 {
        self.tuning.pool_bytes.into()
    }
}

/// The results of a round of the pump.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// Time since the start of the copy, at the end of the wait.
    pub now: Duration,
    /// Number of requests that completed in this round, by side.
    pub completed: [u32; 2],
    /// Their total bytes, by side.
    pub completed_bytes: [u64; 2],
    /// Requests in flight on each side while this round waited.
    pub in_flight: [u32; 2],
    /// Bytes of data finished on the destination so far.
    pub dest_bytes: u64,
    /// Minimum block size of the writes completed in this round; 0 if there are none.
    pub wrote_block_bytes: u32,
    /// Whether everything has been read.
    pub finished: bool,
    /// Whether the results are not representative, because zeros or holes were skipped or the rate limit delayed
    /// requests.
    pub disturbed: bool,
}

/// Time and bytes outside trials, up to the last round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SteadyRate {
    /// The time.
    pub time: Duration,
    /// Bytes finished on the destination in that time.
    pub bytes: u64,
}
