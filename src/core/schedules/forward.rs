//! A schedule from the first byte to the last, which skips holes.
use super::claim::ContiguousExtent;
use super::shape::Shape;
use crate::core::{Endpoint, Extent, Next, Run, RunKind, Schedule};
use std::io;
use std::sync::Arc;

/// Schedules blocks from the first to the last. Queries the source for one hole at a time, so that memory use does not
/// depend on the number of holes.
pub(super) struct Forward {
    shape: Shape,
    source: Option<Arc<dyn Endpoint>>,
    cursor: u64,
    /// The run that contains `cursor`.
    run: Option<Run>,
    claim: ContiguousExtent,
}

impl Forward {
    pub(super) fn new(shape: Shape, source: Option<Arc<dyn Endpoint>>) -> Self {
        Forward { shape, source, cursor: 0, run: None, claim: ContiguousExtent::default() }
    }

    /// The run at the cursor, with borders aligned for direct I/O: unaligned ends of a zero run become part of the
    /// adjacent data, so that no two requests write to the same page.
    fn find_run(&self) -> io::Result<Run> {
        let (start, end) = (self.cursor, self.shape.len);
        let Some(source) = &self.source else {
            return Ok(Run { extent: Extent::new(start, end - start), kind: RunKind::Data });
        };
        let found = source.run_at(Extent::new(self.shape.source_offset + start, end - start))?;
        let found_end = start + found.extent.len.max(1);
        let (kind, run_end) = match found.kind {
            RunKind::Data => (RunKind::Data, self.shape.aligned_up(found_end)),
            RunKind::Zero if found_end >= end => (RunKind::Zero, end),
            RunKind::Zero => (RunKind::Zero, self.shape.aligned_down(found_end)),
        };
        if run_end <= start {
            let data_end = self.shape.aligned_up(start + 1);
            return Ok(Run { extent: Extent::new(start, data_end - start), kind: RunKind::Data });
        }
        Ok(Run { extent: Extent::new(start, run_end - start), kind })
    }

    /// Length of the next data block, given the remaining length of its run.
    fn data_len(&self, left: u64, block_bytes: u32) -> u64 {
        let mut len = left.min(u64::from(block_bytes));
        if self.cursor == 0 && self.shape.head_bytes > 0 {
            len = len.min(self.shape.head_bytes);
        }
        let cut = self.shape.tail_cut();
        if self.cursor < cut && cut < self.cursor + len { cut - self.cursor } else { len }
    }
}

impl Schedule for Forward {
    fn next(&mut self, block_bytes: u32) -> io::Result<Next> {
        if self.cursor >= self.shape.len {
            return Ok(Next::Finished);
        }
        let run = match self.run {
            Some(run) if self.cursor < run.extent.end() => run,
            _ => self.find_run()?,
        };
        self.run = Some(run);
        let left = run.extent.end().min(self.shape.len) - self.cursor;
        let len = match run.kind {
            RunKind::Data => self.data_len(left, block_bytes),
            RunKind::Zero => left.min(u64::from(self.shape.zero_bytes_max.unwrap_or(block_bytes))),
        };
        let extent = Extent::new(self.cursor, len);
        self.cursor += len;
        Ok(Next::Do(Run { extent, kind: run.kind }))
    }

    fn ends_at(&mut self, offset: u64) {
        self.shape.len = self.shape.len.min(offset);
    }

    fn complete(&mut self, extent: Extent) {
        self.claim.complete(extent);
    }

    fn claimed(&self) -> Extent {
        Extent::new(0, self.claim.reached())
    }
}
