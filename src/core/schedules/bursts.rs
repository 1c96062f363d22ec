//! A burst of blocks, then none until all of them have arrived.
use crate::core::{Extent, Next, Schedule};
use std::io;

/// Hands out a burst, then waits until all of it has arrived. For two sides on one moving head: with the gate that
/// holds writes back until the reads are done, the head moves twice a burst instead of twice a block.
pub(super) struct Bursts {
    inner: Box<dyn Schedule>,
    burst_bytes: u64,
    /// Bytes handed out in this burst.
    given: u64,
    /// Bytes of this burst that have arrived.
    arrived: u64,
}

impl Bursts {
    pub(super) fn new(inner: Box<dyn Schedule>, burst_bytes: u64) -> Self {
        Bursts { inner, burst_bytes, given: 0, arrived: 0 }
    }
}

impl Schedule for Bursts {
    fn next(&mut self, block_bytes: u32) -> io::Result<Next> {
        if self.given + u64::from(block_bytes) > self.burst_bytes && self.given > 0 {
            if self.arrived < self.given {
                return Ok(Next::Wait);
            }
            (self.given, self.arrived) = (0, 0);
        }
        let next = self.inner.next(block_bytes)?;
        if let Next::Do(run) = next {
            self.given += run.extent.len;
        }
        Ok(next)
    }

    fn ends_at(&mut self, offset: u64) {
        self.inner.ends_at(offset);
    }

    fn settled(&mut self, extent: Extent) {
        self.arrived += extent.len;
        self.inner.settled(extent);
    }

    fn claimed(&self) -> Extent {
        self.inner.claimed()
    }
}
