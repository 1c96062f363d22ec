//! The claims of a journal.
use crate::core::{Extent, ExtentSet, Upload};

/// The bytes of the copy that need not be copied again. Offsets count from the first byte of the copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Bytes that are on the dest and survive a power loss.
    pub durable: ExtentSet,
    /// Bytes of the source that could not be read, and are not durable.
    pub unread: ExtentSet,
    /// The upload whose parts have the durable bytes, if the dest is an object.
    pub upload: Option<Upload>,
}

impl State {
    /// Adds parts of an upload.
    pub(super) fn add_upload(&mut self, more: &Upload) {
        match &mut self.upload {
            Some(upload) => upload.add(more),
            None => self.upload = Some(more.clone()),
        }
    }

    /// Adds one record. Bytes that became durable are no longer unread.
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
