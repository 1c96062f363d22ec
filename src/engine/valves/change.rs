//! Possible changes of the limits, and their bounds.
use super::limits::{Limits, Start};
use crate::core::PAGE_BYTES;

/// Minimum depth to try: with fewer requests, a device would idle between two of them.
const IN_FLIGHT_MIN: u32 = 2;

/// A change of the limits; sides by `Side::index`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitChange {
    /// Double the requests in flight of a side.
    More(usize),
    /// Halve them.
    Fewer(usize),
    /// Double the requests of both sides and halve the block size.
    Smaller,
    /// Halve the requests of both sides and double the block size.
    Larger,
}

impl LimitChange {
    /// Whether it increases the requests in flight.
    pub(super) fn adds(self) -> bool {
        matches!(self, LimitChange::More(_) | LimitChange::Smaller)
    }
}

/// Bounds of the limits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Maximum bytes in flight of a side: half of the pool, so that each side has a share.
    side_bytes: u64,
    block_bytes_min: u32,
    block_bytes_max: u32,
    in_flight_max: u32,
}

impl Bounds {
    /// The bounds of a copy.
    pub(super) fn of(start: &Start) -> Self {
        Bounds {
            side_bytes: start.pool_bytes() / 2,
            block_bytes_min: start.tuning.block_bytes_min,
            block_bytes_max: start.tuning.block_bytes_max,
            in_flight_max: start.tuning.in_flight_max.max(1),
        }
    }

    /// The limits within the bounds nearest to the initial ones, with the same number of bytes in flight.
    pub(super) fn clamp(&self, limits: Limits) -> Limits {
        let block_bytes = limits.block_bytes.min(self.block_bytes_max).max(self.block_bytes_min);
        Limits { block_bytes, in_flight: limits.in_flight.map(|count| count.clamp(1, self.in_flight_max)), ..limits }
    }

    /// The limits after `change`; `None` if they exceed the bounds.
    pub(super) fn after(&self, limits: Limits, change: LimitChange) -> Option<Limits> {
        let mut to = limits;
        match change {
            LimitChange::More(side) => to.in_flight[side] = to.in_flight[side].checked_mul(2)?,
            LimitChange::Fewer(side) => to.in_flight[side] /= 2,
            LimitChange::Smaller => {
                to.block_bytes /= 2;
                to.in_flight = to.in_flight.map(|count| count.saturating_mul(2));
            }
            LimitChange::Larger => {
                to.block_bytes = to.block_bytes.checked_mul(2)?;
                to.in_flight = to.in_flight.map(|count| (count / 2).max(IN_FLIGHT_MIN));
            }
        }
        // Direct I/O requires whole pages.
        let whole = to.block_bytes == limits.block_bytes || to.block_bytes.is_multiple_of(PAGE_BYTES as u32);
        let block_fits = (self.block_bytes_min..=self.block_bytes_max).contains(&to.block_bytes);
        let fits = |side: usize| {
            let bytes = |limits: &Limits| u64::from(limits.in_flight[side]) * u64::from(limits.block_bytes);
            let count = to.in_flight[side];
            let count_fits = (IN_FLIGHT_MIN..=self.in_flight_max).contains(&count);
            (count == limits.in_flight[side] || count_fits) && bytes(&to) <= self.side_bytes.max(bytes(&limits))
        };
        (whole && block_fits && fits(0) && fits(1)).then_some(to)
    }
}
