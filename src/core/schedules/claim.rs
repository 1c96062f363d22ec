//! What has arrived with nothing missing in between.
use crate::core::Extent;
use std::collections::BTreeMap;

/// Grows from one end as extents settle in any order. The extents waiting for an earlier one are never more than are
/// in flight.
#[derive(Debug, Default)]
pub(super) struct ContiguousExtent {
    /// Bytes from the beginning; for a backward copy, mirrored, from the end.
    reached: u64,
    /// Settled extents beyond `reached`: offset to end.
    ahead: BTreeMap<u64, u64>,
}

impl ContiguousExtent {
    /// Notes that `extent` has arrived.
    pub(super) fn settle(&mut self, extent: Extent) {
        self.ahead.insert(extent.offset, extent.end());
        while let Some(end) = self.ahead.remove(&self.reached) {
            self.reached = end;
        }
    }

    /// Bytes from the beginning with none missing.
    pub(super) fn reached(&self) -> u64 {
        self.reached
    }
}
