//! The contiguous extent that was copied.
use crate::core::Extent;
use std::collections::BTreeMap;

/// Grows from one end while extents complete in any order. It stores at most as many extents as are in flight.
#[derive(Debug, Default)]
pub(super) struct ContiguousExtent {
    /// Length from the start of the copy, or from its end for a backward copy.
    reached: u64,
    /// Completed extents beyond `reached`: offset to end.
    ahead: BTreeMap<u64, u64>,
}

impl ContiguousExtent {
    /// Adds a copied `extent`.
    pub(super) fn complete(&mut self, extent: Extent) {
        self.ahead.insert(extent.offset, extent.end());
        while let Some(end) = self.ahead.remove(&self.reached) {
            self.reached = end;
        }
    }

    /// The current length of the contiguous extent.
    pub(super) fn reached(&self) -> u64 {
        self.reached
    }
}
