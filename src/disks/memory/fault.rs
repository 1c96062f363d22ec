//! How a memory endpoint misbehaves.
use crate::core::{Extent, Op};
use std::time::Duration;

/// One way in which a memory endpoint misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Moves at most this many bytes a time.
    Short(u32),
    /// Every fourth block takes its time, so that completions come out of order.
    Uneven,
    /// Fails a transfer of this kind that covers this byte, late, as a bad sector does.
    BadAt {
        /// Which operation fails.
        op: Op,
        /// The byte.
        offset: u64,
        /// What it says.
        errno: i32,
    },
    /// Fails a transfer of this kind that touches one of these bytes, as a disk does, which moves whole sectors.
    BadSectors {
        /// Which operation fails.
        op: Op,
        /// The bytes of the sectors.
        extent: Extent,
        /// What it says.
        errno: i32,
    },
    /// Says that it is longer than it is: nothing can be read from here on.
    EndsAt(u64),
    /// Has no room from here on.
    FullAt(u64),
    /// Holds only this many bytes, though it says that it has more: offsets beyond begin again.
    Wraps(u64),
    /// Every transfer takes this long.
    Takes(Duration),
}
