use serde::{Deserialize, Serialize};

/// Block size and depth that `haul tune --save` found for reading a disk, or for writing it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedPace {
    /// Bytes per request; at least 1.
    pub block_bytes: u32,
    /// Requests in flight towards this disk; at least 1.
    pub depth: u32,
    /// What it gave, in bytes a second.
    pub bytes_per_s: u64,
    /// The day, as in `2026-11-21`, in UTC.
    pub date: String,
}
