//! Collects blocks whose digests were reported.
use crate::core::{DigestedBlock, Event, ExtentSet, Observer};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stores the digested blocks that it receives.
#[derive(Default)]
pub(crate) struct DigestedBlockList(Mutex<Vec<DigestedBlock>>);

impl DigestedBlockList {
    pub(crate) fn add(&self, block: DigestedBlock) {
        self.blocks().push(block);
    }

    /// The extents for which there is a digest.
    pub(crate) fn extents(&self) -> ExtentSet {
        self.blocks().iter().map(|block| block.extent).collect()
    }

    /// All blocks, in the order in which they were reported.
    pub(crate) fn into_blocks(self) -> Vec<DigestedBlock> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn blocks(&self) -> MutexGuard<'_, Vec<DigestedBlock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for DigestedBlockList {
    fn on_event(&self, event: &Event<'_>) {
        if let Event::Digested(block) = event {
            self.add(*block);
        }
    }
}
