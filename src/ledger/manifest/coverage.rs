//! The bytes of the copy that are covered by the lines so far.
use super::{Entry, Head, LastLine};
use crate::core::{BlockDigest, Extent, ExtentSet};
use crate::ledger::FaultKind;

/// Checks the rules for writer and reader. Its memory grows with the number of gaps between covered extents,
/// not with the number of lines.
pub(super) struct Coverage {
    block_bytes: u64,
    len_bytes: Option<u64>,
    /// Bytes with a digest or recorded as zeros.
    covered: ExtentSet,
    unread: ExtentSet,
    /// Number of bytes in the ranges of each side, by [`crate::core::Side::index`].
    listed_bytes: [u64; 2],
    lines: u64,
}

impl Coverage {
    pub(super) fn new(head: &Head) -> Self {
        Coverage {
            block_bytes: head.block_bytes,
            len_bytes: head.len_bytes,
            covered: ExtentSet::new(),
            unread: ExtentSet::new(),
            listed_bytes: [0; 2],
            lines: 0,
        }
    }

    /// Adds one more line, if it is valid here.
    pub(super) fn admit(&mut self, entry: &Entry) -> Result<(), FaultKind> {
        let extent = entry.extent();
        let misplaced = Err(FaultKind::Misplaced(extent));
        if let Entry::Range(side, _) = entry {
            let sum = &mut self.listed_bytes[side.index()];
            match sum.checked_add(extent.len).filter(|_| !extent.is_empty()) {
                Some(more) => *sum = more,
                None => return misplaced,
            }
            self.lines += 1;
            return Ok(());
        }
        if extent.is_empty() || self.len_bytes.is_some_and(|len| extent.end() > len) {
            return misplaced;
        }
        let is_unread = matches!(entry, Entry::Unread(_));
        let covered = if is_unread { &mut self.unread } else { &mut self.covered };
        if covered.overlaps(extent) {
            return misplaced;
        }
        if !is_unread {
            let too_long = matches!(entry, Entry::Block { .. }) && extent.len > self.block_bytes;
            if too_long || !extent.offset.is_multiple_of(self.block_bytes) {
                return misplaced;
            }
            // A block may end early only at the end of the copy. The end of a stream is not known yet; there an
            // early end will show as a gap, because the next block begins at the next multiple.
            let whole_blocks = extent.len.is_multiple_of(self.block_bytes);
            if !whole_blocks && self.len_bytes.is_some_and(|len| len != extent.end()) {
                return misplaced;
            }
        }
        covered.insert(extent);
        self.lines += 1;
        Ok(())
    }

    /// Makes the last line, if every byte is covered.
    pub(super) fn close(&self, whole: Option<BlockDigest>) -> Result<LastLine, FaultKind> {
        let len_bytes = self.len_bytes.unwrap_or(self.covered.end().max(self.unread.end()));
        if let Some(gap) = self.covered.gaps(Extent::new(0, len_bytes)).next() {
            return Err(FaultKind::Missing(gap));
        }
        if let Some(bytes) = self.listed_bytes.into_iter().find(|&bytes| bytes > 0 && bytes != len_bytes) {
            return Err(FaultKind::Invalid(format!("ranges of {bytes} bytes in a copy of {len_bytes}")));
        }
        Ok(LastLine { lines: self.lines, len_bytes, whole })
    }
}
