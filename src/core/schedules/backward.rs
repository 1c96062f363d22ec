//! From the last byte to the first.
use super::claim::ContiguousExtent;
use super::shape::Shape;
use crate::core::{Extent, Next, Run, RunKind, Schedule};
use std::io;

/// From the last byte to the first, for a dest that overlaps its source and lies behind it: no byte is overwritten
/// before it was read. Never asked of a stream.
pub(super) struct Backward {
    shape: Shape,
    /// First byte of what was handed out.
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

    /// A backward copy knows its length; a source that ends early is an error that the pump reports.
    fn ends_at(&mut self, _offset: u64) {}

    fn settled(&mut self, extent: Extent) {
        self.claim.settle(Extent::new(self.shape.len - extent.end(), extent.len));
    }

    fn claimed(&self) -> Extent {
        let reached = self.claim.reached();
        Extent::new(self.shape.len - reached, reached)
    }
}
