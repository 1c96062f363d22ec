//! Some ranges of both sides, and nothing between them: those of a list, or what earlier runs left to be copied.
use super::claim::ContiguousExtent;
use super::forward::Forward;
use super::shape::Shape;
use crate::core::{Endpoint, Extent, ExtentSet, Next, Schedule};
use std::io;
use std::sync::Arc;
use std::vec;

/// Hands out the ranges of a list, ascending, each in blocks and around the holes of the source. What lies between
/// them counts as arrived, for nothing of it is to arrive.
pub(super) struct InRanges {
    shape: Shape,
    source: Option<Arc<dyn Endpoint>>,
    ranges: vec::IntoIter<Extent>,
    /// The range that is being handed out.
    inner: Option<Forward>,
    claim: ContiguousExtent,
    /// What this run copies; the rest of the ranges is only read again.
    to_copy: ExtentSet,
}

impl InRanges {
    /// `ranges` count from the first byte of the copy; they ascend and do not touch.
    pub(super) fn new(shape: Shape, source: Option<Arc<dyn Endpoint>>, ranges: Vec<Extent>) -> Self {
        let to_copy: ExtentSet = ranges.iter().copied().collect();
        let mut claim = ContiguousExtent::default();
        to_copy.gaps(Extent::new(0, shape.len)).for_each(|there| claim.settle(there));
        InRanges { shape, source, ranges: ranges.into_iter(), inner: None, claim, to_copy }
    }

    /// What of `ranges` is not durable yet; `align_bytes` is a power of two. The gaps in it are widened to the grid of
    /// blocks that direct I/O can move, but not beyond their range: a few bytes are then copied again, with the same
    /// contents.
    pub(super) fn rest(
        shape: Shape,
        source: Option<Arc<dyn Endpoint>>,
        ranges: &[Extent],
        durable: &ExtentSet,
        align_bytes: u64,
    ) -> Self {
        let mut left = ExtentSet::new();
        for &range in ranges {
            left.extend(durable.gaps(range).filter_map(|gap| widen(gap, &shape, align_bytes).intersection(&range)));
        }
        InRanges::new(shape, source, left.iter().collect())
    }

    /// The same, with all else of `ranges` in its place, to be read again.
    pub(super) fn and_reread(self, ranges: &[Extent]) -> Self {
        let mut all: Vec<Extent> =
            ranges.iter().flat_map(|&range| self.to_copy.gaps(range)).chain(self.ranges).collect();
        all.sort_unstable_by_key(|part| part.offset);
        InRanges { ranges: all.into_iter(), ..self }
    }
}

/// The gap with its ends on the grid that begins behind the first block.
fn widen(gap: Extent, shape: &Shape, align_bytes: u64) -> Extent {
    let head = shape.head_bytes;
    let start = match gap.offset.checked_sub(head) {
        Some(behind) => head + behind / align_bytes * align_bytes,
        None => 0,
    };
    let end = head + gap.end().saturating_sub(head).next_multiple_of(align_bytes);
    let end = end.min(shape.len);
    Extent::new(start, end - start)
}

impl Schedule for InRanges {
    fn next(&mut self, block_bytes: u32) -> io::Result<Next> {
        loop {
            if let Some(inner) = &mut self.inner {
                match inner.next(block_bytes)? {
                    Next::Finished => self.inner = None,
                    next => return Ok(next),
                }
            }
            let Some(range) = self.ranges.next() else { return Ok(Next::Finished) };
            self.inner = Some(Forward::within(self.shape, self.source.clone(), range));
        }
    }

    /// The source has a known size, and all ranges lie in it; one that ends early is an error that the pump reports.
    fn ends_at(&mut self, _offset: u64) {}

    fn is_reread(&self, extent: Extent) -> bool {
        !self.to_copy.overlaps(extent)
    }

    fn settled(&mut self, extent: Extent) {
        self.claim.settle(extent);
    }

    fn claimed(&self) -> Extent {
        Extent::new(0, self.claim.reached())
    }
}
