use serde::{Deserialize, Serialize};

/// Block size and depth that `haul tune --save` stored for reading or writing a disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedPace {
    /// Bytes per request; at least 1.
    pub block_bytes: u32,
    /// Requests in flight on this disk; at least 1.
    pub depth: u32,
    /// The measured throughput, in bytes per second.
    pub bytes_per_s: u64,
    /// The date of the measurement in UTC, such as `2026-11-21`.
    pub date: String,
}
