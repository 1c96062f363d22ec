//! Copying: what was not tried, in clusters, in up to five passes.
use super::heads::Heads;
use super::located::Divided;
use super::now::Now;
use super::piece::Piece;
use super::sectors::in_cluster;
use crate::core::rescue::{FailingHead, RescueStatus, Status};
use crate::core::{Extent, ExtentSet};

/// The last pass, which skips nothing.
const SWEEP: u32 = 5;

/// Reads in a stretch of a head, at least.
const HEAD_READS_MIN: u64 = 8;

/// A pass.
///
/// The first skips ahead at each failed or slow read, farther each time in a row. The second, in the other direction,
/// delimits what was skipped: it leaves the rest of an area at the first failed or slow read. The third and fourth do
/// the same at failed reads only, if there were slow ones. The fifth reads what is left.
///
/// Where the second and the fourth go back over readable blocks, they read them in ascending pieces: block by block
/// backward, a rotational disk takes a revolution for each.
pub(super) struct Copying {
    pass: u32,
    /// Where it continues: everything before, in its direction, was given out or skipped.
    cursor: u64,
    /// The cursor at the last skip: reads before it were in flight then.
    skipped_at: Option<u64>,
    skip_bytes: u64,
    /// Whether a pass left something of which no failed read is the start: a slow area, or that of a failing head.
    has_left: bool,
    /// The piece that is being read, in a pass that goes back.
    piece: Piece,
    /// The heads that fail, which the first pass goes around.
    heads: Heads,
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
        let (heads, skip_bytes) = (Heads::new(now.plan.cluster_bytes), now.plan.skip_bytes[0]);
        let mut begun =
            Copying { pass, cursor: 0, skipped_at: None, skip_bytes, has_left: false, piece: Piece::new(), heads };
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
        let pass = if self.pass == 2 && !self.has_left { SWEEP } else { (self.pass + 1).min(SWEEP) };
        Some(Copying { has_left: self.has_left, ..Copying::begin(pass, now) })
    }

    /// The next cluster. The first pass leaves what a failing head cannot read.
    pub(super) fn next(&mut self, now: &mut Now<'_>) -> Option<Extent> {
        loop {
            let before = self.cursor;
            let extent = self.next_untried(now)?;
            let Some(cursor) = self.around(extent, now) else { return Some(extent) };
            debug_assert_ne!(cursor, before, "it makes progress");
            self.has_left = true;
            self.cursor = cursor;
        }
    }

    /// Where the pass continues instead of reading `extent`, if a failing head is predicted there.
    fn around(&mut self, extent: Extent, now: &Now<'_>) -> Option<u64> {
        if !self.skips_heads(now) {
            return None;
        }
        let (cluster, len) = (now.plan.cluster_bytes, now.state.map.len_bytes());
        let from = self.place(extent, now).0;
        let to = self.heads.around(from) / cluster * cluster;
        let to = if self.is_backward(now) { len.saturating_sub(to) } else { to };
        let is_behind = if self.is_backward(now) { to < extent.offset } else { to >= extent.end() };
        is_behind.then_some(to)
    }

    fn skips_heads(&self, now: &Now<'_>) -> bool {
        self.pass == 1 && now.plan.skip_bytes[0] > 0
    }

    /// Start and end of `extent` in the direction of the pass.
    fn place(&self, extent: Extent, now: &Now<'_>) -> (u64, u64) {
        let len = now.state.map.len_bytes();
        if self.is_backward(now) { (len - extent.end(), len - extent.offset) } else { (extent.offset, extent.end()) }
    }

    /// Called with each result of a read while copying.
    fn heed(&mut self, extent: Extent, good: bool, now: &mut Now<'_>) {
        if !self.skips_heads(now) {
            return;
        }
        let (from, to) = self.place(extent, now);
        if good {
            self.heads.on_good(from, to);
            return;
        }
        self.heads.on_bad(from);
        // Shorter ones are those of a scratch, which crosses each track.
        let least = HEAD_READS_MIN * now.plan.cluster_bytes;
        for head in self.heads.found().filter(|head| head.stretch_bytes >= least) {
            let is_known =
                |known: &FailingHead| known.period_bytes.abs_diff(head.period_bytes) < known.period_bytes / 2;
            match now.state.heads.iter_mut().find(|known| is_known(known)) {
                Some(known) => *known = head,
                None => now.state.heads.push(head),
            }
        }
    }

    fn next_untried(&mut self, now: &mut Now<'_>) -> Option<Extent> {
        let (cluster, map) = (now.plan.cluster_bytes, &now.state.map);
        if let Some(extent) = self.piece.next(cluster) {
            return Some(extent);
        }
        let delimits = (2..SWEEP).contains(&self.pass);
        // The side of an area that a failed read delimits is left to the sweep: what follows is likely bad, too.
        let is_delimited = |at: Option<u64>| delimits && at.and_then(|at| map.status_at(at)).is_some_and(has_failed);
        if self.is_backward(now) {
            let mut part = map.previous(Status::Untried, self.cursor, domain(now))?;
            while is_delimited(Some(part.end())) {
                part = map.previous(Status::Untried, part.offset, domain(now))?;
            }
            let extent = self.piece.begin(part, cluster, delimits);
            self.cursor = self.piece.start();
            // None of the piece may be left out if the pass is continued there.
            now.state.pos = part.end();
            return Some(extent);
        }
        let mut part = map.next(Status::Untried, self.cursor, domain(now))?;
        while is_delimited(part.offset.checked_sub(1)) {
            part = map.next(Status::Untried, part.end(), domain(now))?;
        }
        let extent = in_cluster(part, cluster);
        (self.cursor, now.state.pos) = (extent.end(), extent.offset);
        Some(extent)
    }

    pub(super) fn on_read(&mut self, extent: Extent, slow: bool, now: &mut Now<'_>) {
        self.heed(extent, !slow, now);
        if !slow {
            self.skip_bytes = now.plan.skip_bytes[0];
            return;
        }
        if self.pass <= 2 {
            self.piece.failed(extent);
            self.has_left = true;
            self.skip(extent, now);
        }
    }

    pub(super) fn on_failed(&mut self, extent: Extent, now: &mut Now<'_>) {
        self.heed(extent, false, now);
        let sector = now.plan.sector_bytes;
        // A single sector needs no search.
        now.state.map.set(extent, if extent.len <= sector { Status::Bad } else { Status::Untrimmed });
        self.piece.failed(extent);
        if self.pass < SWEEP {
            self.skip(extent, now);
        }
    }

    /// Called when the read of `extent` failed at a known sector.
    pub(super) fn on_divided(&mut self, extent: Extent, divided: Divided, now: &mut Now<'_>) {
        self.heed(extent, false, now);
        now.state.map.set(divided.after, Status::Untrimmed);
        self.piece.failed(extent);
        if self.pass < SWEEP {
            self.skip(extent, now);
        }
    }

    /// Skips ahead in the first pass, and the rest of the area in later ones.
    fn skip(&mut self, extent: Extent, now: &Now<'_>) {
        let ([first, most], backward) = (now.plan.skip_bytes, self.is_backward(now));
        // Reads that fail together are one failure, as if they had not been in flight.
        let was_in_flight = |at| if backward { extent.offset >= at } else { extent.end() <= at };
        if first == 0 || self.skipped_at.is_some_and(was_in_flight) {
            return;
        }
        self.skipped_at = Some(self.cursor);
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

/// Whether a read of a block with this status has failed.
fn has_failed(status: Status) -> bool {
    !matches!(status, Status::Untried | Status::Finished)
}

fn domain<'a>(now: &'a Now<'_>) -> Option<&'a ExtentSet> {
    now.plan.domain.as_ref()
}
