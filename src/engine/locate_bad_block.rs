//! Where exactly a read failed, searched for in pieces once all other blocks are home. Each piece goes the way of any
//! request, so that a stop is noticed between two of them.
use crate::core::Request;

/// A block whose read ended the copy.
#[derive(Default)]
pub(super) struct Suspect {
    /// It waits for all others to be home.
    pub(super) parked: Option<Request>,
    /// Where the read ended that failed, in bytes of the block, while pieces of it are read.
    pub(super) looking_until: Option<u32>,
}

impl Suspect {
    /// Blocks that wait, in no queue.
    pub(super) fn waiting(&self) -> u32 {
        u32::from(self.parked.is_some())
    }

    /// Pieces of it are read; nothing else is on its way.
    pub(super) fn is_searched(&self) -> bool {
        self.looking_until.is_some()
    }
}
