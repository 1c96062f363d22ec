//! From the first byte to the last, holes as they come.
use super::claim::ContiguousExtent;
use super::shape::Shape;
use crate::core::{Endpoint, Extent, Next, Run, RunKind, Schedule};
use std::io;
use std::sync::Arc;

/// From the first byte to the last. Asks the source for its next hole only when it gets there, so that a file of a
/// million holes takes no memory.
pub(super) struct Forward {
    shape: Shape,
    source: Option<Arc<dyn Endpoint>>,
    cursor: u64,
    /// The run that `cursor` is in.
    run: Option<Run>,
    claim: ContiguousExtent,
}

impl Forward {
    pub(super) fn new(shape: Shape, source: Option<Arc<dyn Endpoint>>) -> Self {
        Forward { shape, source, cursor: 0, run: None, claim: ContiguousExtent::default() }
    }

    /// The same of a part of it.
    pub(super) fn within(shape: Shape, source: Option<Arc<dyn Endpoint>>, part: Extent) -> Self {
        let shape = Shape { len: part.end(), ..shape };
        Forward { cursor: part.offset, ..Forward::new(shape, source) }
    }

    /// The run that begins at the cursor, with its end where direct I/O can begin or stop: a zero run gives its odd
    /// ends to the data around it, so that no page is written by two requests.
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

    /// Length of the next block of data, given what is left of its run.
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

    fn settled(&mut self, extent: Extent) {
        self.claim.settle(extent);
    }

    fn claimed(&self) -> Extent {
        Extent::new(0, self.claim.reached())
    }
}
