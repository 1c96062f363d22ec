//! What earlier runs left to be copied, from the first byte to the last.
use super::claim::Claim;
use super::forward::Forward;
use super::shape::Shape;
use crate::core::{Endpoint, Extent, ExtentSet, Next, Schedule};
use std::io;
use std::sync::Arc;
use std::vec;

/// Hands out what is not durable yet. Gaps are widened to the grid of blocks that direct I/O can move: a few bytes are
/// then copied again, with the same contents.
pub(super) struct Rest {
    shape: Shape,
    source: Option<Arc<dyn Endpoint>>,
    gaps: vec::IntoIter<Extent>,
    /// The gap that is being handed out.
    inner: Option<Forward>,
    claim: Claim,
}

impl Rest {
    /// `durable` counts from the first byte of the copy; `align_bytes` is a power of two.
    pub(super) fn new(shape: Shape, source: Option<Arc<dyn Endpoint>>, durable: &ExtentSet, align_bytes: u64) -> Self {
        let whole = Extent::new(0, shape.len);
        let widened: ExtentSet = durable.gaps(whole).map(|gap| widen(gap, &shape, align_bytes)).collect();
        let mut claim = Claim::default();
        widened.gaps(whole).for_each(|there| claim.settle(there));
        let gaps: Vec<Extent> = widened.iter().collect();
        Rest { shape, source, gaps: gaps.into_iter(), inner: None, claim }
    }
}

/// The gap with its ends on the grid that begins behind the first block.
pub(super) fn widen(gap: Extent, shape: &Shape, align_bytes: u64) -> Extent {
    let head = shape.head_bytes;
    let start = match gap.offset.checked_sub(head) {
        Some(behind) => head + behind / align_bytes * align_bytes,
        None => 0,
    };
    let end = head + gap.end().saturating_sub(head).next_multiple_of(align_bytes);
    let end = end.min(shape.len);
    Extent::new(start, end - start)
}

impl Schedule for Rest {
    fn next(&mut self, block_bytes: u32) -> io::Result<Next> {
        loop {
            if let Some(inner) = &mut self.inner {
                match inner.next(block_bytes)? {
                    Next::Finished => self.inner = None,
                    next => return Ok(next),
                }
            }
            let Some(gap) = self.gaps.next() else { return Ok(Next::Finished) };
            self.inner = Some(Forward::within(self.shape, self.source.clone(), gap));
        }
    }

    /// A copy that can be resumed knows its length; a source that ends early is an error that the pump reports.
    fn ends_at(&mut self, _offset: u64) {}

    fn settled(&mut self, extent: Extent) {
        self.claim.settle(extent);
    }

    fn claimed(&self) -> Extent {
        Extent::new(0, self.claim.reached())
    }
}
