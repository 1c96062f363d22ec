//! What the pump and the governor tell each other.
use std::time::Duration;

/// What the pump keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes per request, from the next block on.
    pub block_bytes: u32,
    /// Most requests in flight, by `Side::index`.
    pub in_flight: [u32; 2],
    /// Read until the pool is full, then write until it is empty.
    pub bursts: bool,
}

/// Whether both sides may take turns in bursts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bursts {
    /// They are different devices: reads and writes always overlap.
    #[default]
    Never,
    /// They are one device: bursts and overlap are compared, and the faster is kept.
    Try,
    /// Bursts alone.
    Always,
}

/// What a copy begins with.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The first limits.
    pub limits: Limits,
    /// Bytes of the copy; `None`: nobody knows.
    pub len: Option<u64>,
    /// Bytes of all blocks together.
    pub pool_bytes: u64,
    /// No smaller requests are tried.
    pub block_bytes_min: u32,
    /// No larger requests are tried.
    pub block_bytes_max: u32,
    /// Most requests in flight on a side.
    pub in_flight_max: u32,
    /// Whether anything is tried at all.
    pub adaptive: bool,
    /// The first limits were measured by `haul tune`: nothing else is tried early.
    pub tuned: bool,
    /// The sides whose device is said to have a moving head, by `Side::index`.
    pub rotational: [bool; 2],
    /// Whether to take turns.
    pub bursts: Bursts,
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
