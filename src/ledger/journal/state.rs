//! The claims of a journal.
use crate::core::{BlockDigests, DigestedBlock, Extent, ExtentSet, Upload};
use std::collections::BTreeMap;

/// The bytes of the copy that need not be copied again. Offsets count from the first byte of the copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Bytes that are on the dest and survive a power loss.
    pub durable: ExtentSet,
    /// Bytes of the source that could not be read, and are not durable.
    pub unread: ExtentSet,
    /// The upload whose parts have the durable bytes, if the dest is an object.
    pub upload: Option<Upload>,
    /// Digests of blocks of the source, as they were copied. Their bytes need not be durable.
    pub digests: Option<RecordedDigests>,
}

/// Digests of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedDigests {
    /// How the blocks were digested.
    pub how: BlockDigests,
    /// The blocks by offset.
    pub blocks: BTreeMap<u64, DigestedBlock>,
}

impl State {
    /// Adds parts of an upload.
    pub(super) fn add_upload(&mut self, more: &Upload) {
        match &mut self.upload {
            Some(upload) => upload.add(more),
            None => self.upload = Some(more.clone()),
        }
    }

    /// Adds digests of blocks. Those of blocks of another kind are of no use any more.
    pub(super) fn add_digests(&mut self, how: BlockDigests, blocks: &[DigestedBlock]) {
        let same = self.digests.take().filter(|digests| digests.how == how);
        let mut digests = same.unwrap_or(RecordedDigests { how, blocks: BTreeMap::new() });
        digests.blocks.extend(blocks.iter().map(|block| (block.extent.offset, *block)));
        self.digests = Some(digests);
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
