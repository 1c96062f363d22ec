//! A schedule from the last byte to the first.
use super::claim::ContiguousExtent;
use super::shape::Shape;
use crate::core::{Extent, Next, Run, RunKind, Schedule};
use std::io;

/// Schedules blocks from the last to the first, for a dest that overlaps its source at a higher offset: every byte is
/// read before it is overwritten. Never used for streams.
pub(super) struct Backward {
    shape: Shape,
    /// Start of the extent that was already scheduled.
    cursor: u64,
    /// Mirrored: byte 0 is the last byte of the copy.
    claim: ContiguousExtent,
}

impl Backward {
    pub(super) fn new(shape: Shape) -> Self {
        Backward { cursor: shape.len, shape, claim: ContiguousExtent::default() }
    }
}

impl Schedule for Backward {
    fn next(&mut self, block_bytes: u32) -> io::Result<Next> {
        let end = self.cursor;
        if end == 0 {
            return Ok(Next::Finished);
        }
        let (head, block) = (self.shape.head_bytes, u64::from(block_bytes));
        let grid = if end > head { (end - 1 - head) / block * block + head } else { 0 };
        let cut = self.shape.tail_cut();
        let start = if cut < end && end == self.shape.len { grid.max(cut) } else { grid };
        self.cursor = start;
        Ok(Next::Do(Run { extent: Extent::new(start, end - start), kind: RunKind::Data }))
    }

    /// The length of a backward copy is known; the pump reports a source that ends early.
    fn ends_at(&mut self, _offset: u64) {}

    fn complete(&mut self, extent: Extent) {
        self.claim.complete(Extent::new(self.shape.len - extent.end(), extent.len));
    }

    fn claimed(&self) -> Extent {
        let reached = self.claim.reached();
        Extent::new(self.shape.len - reached, reached)
    }
}
