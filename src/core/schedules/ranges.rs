//! Some ranges of both sides, and nothing between them.
use super::claim::Claim;
use super::forward::Forward;
use super::rest::widen;
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
    claim: Claim,
}

impl InRanges {
    /// `ranges` count from the first byte of the copy; they ascend and do not touch.
    pub(super) fn new(shape: Shape, source: Option<Arc<dyn Endpoint>>, ranges: Vec<Extent>) -> Self {
        let mut claim = Claim::default();
        let mut at = 0;
        for range in &ranges {
            if range.offset > at {
                claim.settle(Extent::new(at, range.offset - at));
            }
            at = range.end();
        }
        // Behind the last range nothing more is to arrive.
        if at < shape.len {
            claim.settle(Extent::new(at, shape.len - at));
        }
        InRanges { shape, source, ranges: ranges.into_iter(), inner: None, claim }
    }

    /// What of `ranges` is not durable yet. The gaps in it are widened to the grid of blocks that direct I/O can move,
    /// but not beyond their range.
    pub(super) fn rest(
        shape: Shape,
        source: Option<Arc<dyn Endpoint>>,
        ranges: Vec<Extent>,
        durable: &ExtentSet,
        align_bytes: u64,
    ) -> Self {
        let mut left = ExtentSet::new();
        for range in ranges {
            left.extend(durable.gaps(range).filter_map(|gap| widen(gap, &shape, align_bytes).intersection(&range)));
        }
        InRanges::new(shape, source, left.iter().collect())
    }
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

    fn settled(&mut self, extent: Extent) {
        self.claim.settle(extent);
    }

    fn claimed(&self) -> Extent {
        Extent::new(0, self.claim.reached())
    }
}
