//! A schedule for a list of extents.
use super::ContiguousExtent;
use crate::core::{Extent, Next, Plan, Run, RunKind, Schedule};
use std::io;

/// Schedules the extents of a list in order, divided into blocks.
struct Listed {
    extents: Vec<Extent>,
    next: usize,
    /// Bytes of the next extent that were already scheduled.
    done: u64,
    claim: ContiguousExtent,
}

/// Schedules the ascending `extents` of the copy as data. A block never crosses the border of an extent, nor of a range
/// of the plan.
pub fn listed(plan: &Plan, extents: &[Extent]) -> Box<dyn Schedule> {
    debug_assert!(extents.windows(2).all(|pair| pair[0].end() <= pair[1].offset), "ascending");
    Box::new(Listed::of(extents.iter().flat_map(|&extent| plan.pieces(extent)).map(|piece| piece.copy).collect()))
}

impl Listed {
    fn of(extents: Vec<Extent>) -> Self {
        Listed { extents, next: 0, done: 0, claim: ContiguousExtent::default() }
    }
}

impl Schedule for Listed {
    fn next(&mut self, block_bytes: u32) -> io::Result<Next> {
        while let Some(extent) = self.extents.get(self.next) {
            let left = extent.len - self.done;
            if left == 0 {
                (self.next, self.done) = (self.next + 1, 0);
                continue;
            }
            let extent = Extent::new(extent.offset + self.done, left.min(u64::from(block_bytes)));
            self.done += extent.len;
            return Ok(Next::Do(Run { extent, kind: RunKind::Data }));
        }
        Ok(Next::Finished)
    }

    fn ends_at(&mut self, offset: u64) {
        self.extents.retain(|extent| extent.end() <= offset);
    }

    fn complete(&mut self, extent: Extent) {
        self.claim.complete(extent);
    }

    fn claimed(&self) -> Extent {
        Extent::new(0, self.claim.reached())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extent_is_scheduled_once_and_none_is_merged() {
        let extents = vec![Extent::new(0, 10), Extent::new(10, 4), Extent::new(20, 0), Extent::new(100, 9)];
        let mut schedule = Listed::of(extents);
        let mut given = Vec::new();
        while let Next::Do(run) = schedule.next(4).unwrap() {
            given.push((run.extent.offset, run.extent.len));
        }
        assert_eq!(given, [(0, 4), (4, 4), (8, 2), (10, 4), (100, 4), (104, 4), (108, 1)]);
    }
}
