//! Trimming: the edges of failed clusters, sector by sector, up to the first bad one from each side. Where the device
//! reports the bad sector, whole clusters: what lies before that sector is readable.
use super::located::Divided;
use super::now::Now;
use super::sectors::{first_sector, in_cluster, last_sector};
use crate::core::Extent;
use crate::core::rescue::{RescueMap, Status};

/// The far edge is approached in pieces of this size, each read ascending: sector by sector backward, a rotational disk
/// takes a revolution for each. Only the piece with the bad sector is read from both sides.
const PIECE_BYTES: u64 = 8 << 10;

/// One pass over the failed clusters.
#[derive(Default)]
pub(super) struct Trimming {
    cursor: u64,
    edge: Option<Edge>,
}

/// The area that is being trimmed.
struct Edge {
    /// What is left between the edges.
    left: Extent,
    side: EdgeSide,
}

/// Where an area is being trimmed.
enum EdgeSide {
    /// At the start of what is left.
    Near,
    /// At its last sector.
    End,
    /// In this piece after what is left: ascending, or from its end if one of its sectors was bad.
    Far { piece: Extent, failed: bool },
}

impl Trimming {
    /// The next sector; a cluster if failures are `located`. An edge beside a bad sector was trimmed before.
    pub(super) fn next(&mut self, now: &mut Now<'_>, located: bool) -> Option<Extent> {
        let (sector, domain) = (now.plan.sector_bytes, now.plan.domain.as_ref());
        loop {
            let map = &mut now.state.map;
            let Some(edge) = &mut self.edge else {
                let left = map.next(Status::Untrimmed, self.cursor, domain)?;
                if located {
                    let part = in_cluster(left, now.plan.cluster_bytes);
                    (self.cursor, now.state.pos) = (part.end(), part.offset);
                    return Some(part);
                }
                self.cursor = left.end();
                self.edge = Some(Edge::of(left, map));
                continue;
            };
            let Some((part, backward)) = edge.part(sector, map) else {
                self.edge = None;
                continue;
            };
            let next = if backward { last_sector(part, sector) } else { first_sector(part, sector) };
            now.state.pos = next.offset;
            return Some(next);
        }
    }

    pub(super) fn on_read(&mut self, extent: Extent) {
        if let Some(edge) = &mut self.edge {
            edge.remove(extent);
        }
    }

    pub(super) fn on_failed(&mut self, extent: Extent, now: &mut Now<'_>) {
        if extent.len > now.plan.sector_bytes {
            // A cluster of which the device reports no bad sector.
            now.state.map.set(extent, Status::Untrimmed);
            self.edge = Some(Edge::of(extent, &now.state.map));
            return;
        }
        now.state.map.set(extent, Status::Bad);
        let Some(edge) = &mut self.edge else { return };
        edge.remove(extent);
        match edge.side {
            EdgeSide::Near => edge.side = EdgeSide::End,
            // The other bad sectors of this piece, which are rarely few, are approached from its end.
            EdgeSide::Far { piece, failed: false } => edge.side = EdgeSide::Far { piece, failed: true },
            EdgeSide::Far { piece, .. } => {
                now.state.map.set(piece, Status::Unscraped);
                now.state.map.set(edge.left, Status::Unscraped);
                self.edge = None;
            }
            EdgeSide::End => {}
        }
    }
}

/// Called when a cluster failed at a known sector.
pub(super) fn on_divided(divided: Divided, now: &mut Now<'_>) {
    now.state.map.set(divided.after, Status::Unscraped);
}

impl Edge {
    fn of(left: Extent, map: &RescueMap) -> Self {
        let before = left.offset.checked_sub(1).and_then(|before| map.status_at(before));
        Edge { left, side: if before == Some(Status::Bad) { EdgeSide::End } else { EdgeSide::Near } }
    }

    /// What is read next, and whether from its end; `None`: the area is trimmed.
    fn part(&mut self, sector: u64, map: &mut RescueMap) -> Option<(Extent, bool)> {
        let piece_bytes = match self.side {
            EdgeSide::Near => return Some((self.left, false)).filter(|_| !self.left.is_empty()),
            EdgeSide::Far { piece, failed } if !piece.is_empty() => return Some((piece, failed)),
            EdgeSide::End if map.status_at(self.left.end()) != Some(Status::Bad) => sector,
            EdgeSide::Far { failed: false, .. } => PIECE_BYTES.next_multiple_of(sector),
            EdgeSide::End | EdgeSide::Far { .. } => {
                map.set(self.left, Status::Unscraped);
                return None;
            }
        };
        let piece = take_last(&mut self.left, piece_bytes);
        self.side = EdgeSide::Far { piece, failed: false };
        Some((piece, false)).filter(|_| !piece.is_empty())
    }

    /// Removes a sector that was tried.
    fn remove(&mut self, extent: Extent) {
        let part = match &mut self.side {
            EdgeSide::Near | EdgeSide::End => &mut self.left,
            EdgeSide::Far { piece, .. } => piece,
        };
        // The first part of a sector that failed was removed with it.
        if part.overlaps(&extent) {
            *part = match extent.offset <= part.offset {
                true => Extent::new(extent.end(), part.end() - extent.end()),
                false => Extent::new(part.offset, extent.offset - part.offset),
            };
        }
    }
}

/// Takes the last piece of `left`, up to a multiple of `bytes`, from it.
fn take_last(left: &mut Extent, bytes: u64) -> Extent {
    let end = left.end();
    let start = (end.saturating_sub(1) / bytes * bytes).clamp(left.offset, end);
    *left = Extent::new(left.offset, start - left.offset);
    Extent::new(start, end - start)
}
