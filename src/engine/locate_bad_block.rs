//! Locates the logical block at which a read failed, in smaller pieces, after all other blocks have completed. Each
//! piece is a normal request, so a stop request is noticed between them.
use crate::core::Request;

/// The block whose failed read ended the copy.
#[derive(Default)]
pub(super) struct Suspect {
    /// Waits until all other blocks are finished.
    pub(super) parked: Option<Request>,
    /// End of the failed read in the block, while pieces of it are read.
    pub(super) search_until: Option<u32>,
}

impl Suspect {
    /// Number of waiting blocks, which are in no queue.
    pub(super) fn waiting(&self) -> u32 {
        u32::from(self.parked.is_some())
    }

    /// Whether its pieces are being read; nothing else is in flight then.
    pub(super) fn is_searched(&self) -> bool {
        self.search_until.is_some()
    }
}
