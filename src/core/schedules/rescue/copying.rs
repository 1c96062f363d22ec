//! Copying: what was not tried, in clusters, in up to five passes.
use super::located::Divided;
use super::now::Now;
use super::sectors::in_cluster;
use crate::core::rescue::{RescueStatus, Status};
use crate::core::{Extent, ExtentSet};

/// The last pass, which skips nothing.
const SWEEP: u32 = 5;

/// A pass.
///
/// The first skips ahead at each failed or slow read, farther each time in a row. The second, in the other direction,
/// delimits what was skipped: it leaves the rest of an area at the first failed or slow read. The third and fourth do
/// the same at failed reads only, if there were slow ones. The fifth reads what is left.
pub(super) struct Copying {
    pass: u32,
    /// Where it continues: everything before, in its direction, was given out or skipped.
    cursor: u64,
    skip_bytes: u64,
    /// Whether a pass skipped something because a read was slow.
    was_slow: bool,
}

impl Copying {
    /// Continues the pass of the state, or begins the first one.
    pub(super) fn resume(now: &mut Now<'_>) -> Self {
        let continues = now.state.phase == RescueStatus::Copying && (1..=SWEEP).contains(&now.state.pass);
        // A position of 0 at the start of a backward pass is that of a map that was never worked on.
        let pass = if continues { now.state.pass } else { 1 };
        let begun = Copying::begin(pass, now);
        let at = now.state.pos;
        let cursor = match begun.is_backward(now) {
            true if at > 0 => at.min(begun.cursor),
            true => begun.cursor,
            false => at,
        };
        if continues { Copying { cursor, ..begun } } else { begun }
    }

    fn begin(pass: u32, now: &Now<'_>) -> Self {
        let mut begun = Copying { pass, cursor: 0, skip_bytes: now.plan.skip_bytes[0], was_slow: false };
        if begun.is_backward(now) {
            begun.cursor = now.state.map.len_bytes();
        }
        begun
    }

    pub(super) fn pass(&self) -> u32 {
        self.pass
    }

    fn is_backward(&self, now: &Now<'_>) -> bool {
        self.pass.is_multiple_of(2) != now.plan.reverse
    }

    /// The pass after this one; `None` if everything was tried.
    pub(super) fn next_pass(&self, now: &Now<'_>) -> Option<Self> {
        now.state.map.next(Status::Untried, 0, domain(now))?;
        // A sweep that continued one of an earlier run may have left something before its first place. Each one tries
        // all that it finds, so they come to an end.
        let pass = if self.pass == 2 && !self.was_slow { SWEEP } else { (self.pass + 1).min(SWEEP) };
        Some(Copying { was_slow: self.was_slow, ..Copying::begin(pass, now) })
    }

    /// The next cluster.
    pub(super) fn next(&mut self, now: &mut Now<'_>) -> Option<Extent> {
        let (cluster, map) = (now.plan.cluster_bytes, &now.state.map);
        let (extent, cursor) = if self.is_backward(now) {
            let part = map.previous(Status::Untried, self.cursor, domain(now))?;
            let start = part.offset.max((part.end() - 1) / cluster * cluster);
            (Extent::new(start, part.end() - start), start)
        } else {
            let part = in_cluster(map.next(Status::Untried, self.cursor, domain(now))?, cluster);
            (part, part.end())
        };
        self.cursor = cursor;
        now.state.pos = if self.is_backward(now) { extent.end() } else { extent.offset };
        Some(extent)
    }

    pub(super) fn on_read(&mut self, extent: Extent, slow: bool, now: &mut Now<'_>) {
        if !slow {
            self.skip_bytes = now.plan.skip_bytes[0];
            return;
        }
        if self.pass <= 2 {
            self.was_slow = true;
            self.skip(extent, now);
        }
    }

    pub(super) fn on_failed(&mut self, extent: Extent, now: &mut Now<'_>) {
        let sector = now.plan.sector_bytes;
        // A single sector needs no search.
        now.state.map.set(extent, if extent.len <= sector { Status::Bad } else { Status::Untrimmed });
        if self.pass < SWEEP {
            self.skip(extent, now);
        }
    }

    /// Called when the read of `extent` failed at a known sector.
    pub(super) fn on_divided(&mut self, extent: Extent, divided: Divided, now: &mut Now<'_>) {
        now.state.map.set(divided.after, Status::Untrimmed);
        if self.pass < SWEEP {
            self.skip(extent, now);
        }
    }

    /// Skips ahead in the first pass, and the rest of the area in later ones.
    fn skip(&mut self, extent: Extent, now: &Now<'_>) {
        let ([first, most], backward) = (now.plan.skip_bytes, self.is_backward(now));
        if first == 0 {
            return;
        }
        let to = if self.pass == 1 {
            let skip = self.skip_bytes;
            self.skip_bytes = skip.saturating_mul(2).min(most.max(first));
            if backward { extent.offset.saturating_sub(skip) } else { extent.end().saturating_add(skip) }
        } else if backward {
            let rest = now.state.map.previous(Status::Untried, extent.offset, None);
            rest.filter(|rest| rest.end() == extent.offset).map_or(extent.offset, |rest| rest.offset)
        } else {
            let rest = now.state.map.next(Status::Untried, extent.end(), None);
            rest.filter(|rest| rest.offset == extent.end()).map_or(extent.end(), |rest| rest.end())
        };
        self.cursor = if backward { self.cursor.min(to) } else { self.cursor.max(to) };
    }
}

fn domain<'a>(now: &'a Now<'_>) -> Option<&'a ExtentSet> {
    now.plan.domain.as_ref()
}
