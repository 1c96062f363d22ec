//! What a journal claims.
use crate::core::{Extent, ExtentSet};

/// Which bytes of the copy need nothing any more. Offsets count from the first byte of the copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// They are on the dest and survive a power loss.
    pub durable: ExtentSet,
    /// They could not be read from the source, and are not durable.
    pub unread: ExtentSet,
}

impl State {
    /// Takes in what one record says. What became durable was read after all.
    pub(super) fn apply(&mut self, durable: &[Extent], unread: &[Extent]) {
        self.unread.extend(unread.iter().copied());
        self.durable.extend(durable.iter().copied());
        for extent in durable {
            self.unread.remove(*extent);
        }
        for extent in unread {
            let read: Vec<Extent> = self.durable.within(*extent).collect();
            read.into_iter().for_each(|extent| self.unread.remove(extent));
        }
    }
}
