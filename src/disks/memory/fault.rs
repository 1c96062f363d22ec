//! Simulated faults of a memory endpoint.
use crate::core::{Extent, Op};
use std::time::Duration;

/// A simulated fault of a memory endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Transfers at most this many bytes per call.
    Short(u32),
    /// Every fourth block is slow, so that completions are out of order.
    Uneven,
    /// Fails a transfer of this kind that covers this byte, with a delay, like a bad sector.
    BadAt {
        /// The failing operation.
        op: Op,
        /// Offset of the byte.
        offset: u64,
        /// The error.
        errno: i32,
    },
    /// Fails a transfer of this kind that touches one of these bytes, like a disk that transfers whole sectors.
    BadSectors {
        /// The failing operation.
        op: Op,
        /// Extent of the sectors.
        extent: Extent,
        /// The error.
        errno: i32,
    },
    /// Reports a larger size: reads from this offset on return no bytes.
    EndsAt(u64),
    /// Has no space from this offset on.
    FullAt(u64),
    /// Has only this many bytes and reports more: higher offsets wrap around.
    Wraps(u64),
    /// Every transfer takes this long.
    Takes(Duration),
}
