//! Which bytes of the copy the lines have spoken of so far.
use super::{Entry, Head, LastLine};
use crate::core::{BlockDigest, Extent, ExtentSet};
use crate::ledger::FaultKind;

/// Keeps the rules that writer and reader share. Its memory grows with the gaps between what it was given, not with the
/// lines.
pub(super) struct Coverage {
    block_bytes: u64,
    len_bytes: Option<u64>,
    /// Bytes with a digest or known to be zero.
    told: ExtentSet,
    unread: ExtentSet,
    lines: u64,
}

impl Coverage {
    pub(super) fn new(head: &Head) -> Self {
        Coverage {
            block_bytes: head.block_bytes,
            len_bytes: head.len_bytes,
            told: ExtentSet::new(),
            unread: ExtentSet::new(),
            lines: 0,
        }
    }

    /// Takes one more line in, if it has a place.
    pub(super) fn admit(&mut self, entry: &Entry) -> Result<(), FaultKind> {
        let extent = entry.extent();
        let misplaced = Err(FaultKind::Misplaced(extent));
        if extent.is_empty() || self.len_bytes.is_some_and(|len| extent.end() > len) {
            return misplaced;
        }
        let is_unread = matches!(entry, Entry::Unread(_));
        let told = if is_unread { &mut self.unread } else { &mut self.told };
        if told.overlaps(extent) {
            return misplaced;
        }
        if !is_unread {
            let too_long = matches!(entry, Entry::Block { .. }) && extent.len > self.block_bytes;
            if too_long || !extent.offset.is_multiple_of(self.block_bytes) {
                return misplaced;
            }
            // Only the end of the copy may be within a block. Of a stream that is not known yet; there a gap will show
            // it, as the next block begins at the next multiple.
            let whole_blocks = extent.len.is_multiple_of(self.block_bytes);
            if !whole_blocks && self.len_bytes.is_some_and(|len| len != extent.end()) {
                return misplaced;
            }
        }
        told.insert(extent);
        self.lines += 1;
        Ok(())
    }

    /// The last line, if every byte was spoken of.
    pub(super) fn close(&self, whole: Option<BlockDigest>) -> Result<LastLine, FaultKind> {
        let len_bytes = self.len_bytes.unwrap_or(self.told.end().max(self.unread.end()));
        if let Some(gap) = self.told.gaps(Extent::new(0, len_bytes)).next() {
            return Err(FaultKind::Missing(gap));
        }
        Ok(LastLine { lines: self.lines, len_bytes, whole })
    }
}
