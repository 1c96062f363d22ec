//! What the pump and the governor exchange.
use crate::core::Tuning;
pub use crate::core::{Bursts, Limits};
use std::time::Duration;

/// What a governor is to know of a copy.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Where it begins, and how far it may go.
    pub tuning: Tuning,
    /// Bytes of the copy; `None`: not known.
    pub len: Option<u64>,
    /// The sides whose device is said to have a moving head, by `Side::index`.
    pub rotational: [bool; 2],
}

impl Start {
    /// Bytes of all blocks together.
    pub(super) fn pool_bytes(&self) -> u64 {
        self.tuning.pool_bytes.into()
    }
}

/// What a round of the pump brought.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// Since the copy began, at the end of the wait.
    pub now: Duration,
    /// Requests that came back in this round, by side.
    pub came: [u32; 2],
    /// Their bytes, by side.
    pub came_bytes: [u64; 2],
    /// Requests with each device while this round waited, that is since the last round.
    pub in_flight: [u32; 2],
    /// Bytes of data at the destination so far.
    pub arrived_bytes: u64,
    /// Smallest block size among the writes that came back; 0: none.
    pub wrote_block_bytes: u32,
    /// Everything has been read.
    pub finished: bool,
    /// Zeros or holes went by or a rate limit held it back: what came in this round is no measure.
    pub disturbed: bool,
}

/// What arrived while nothing was tried, up to the last round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SteadyRate {
    /// Time.
    pub time: Duration,
    /// Bytes that arrived in it.
    pub bytes: u64,
}
