//! Trimming: the edges of failed clusters, sector by sector, up to the first bad one from each side. Where the device
//! reports the bad sector, whole clusters: what lies before that sector is readable.
use super::located::Divided;
use super::now::Now;
use super::sectors::{first_sector, in_cluster, last_sector};
use crate::core::Extent;
use crate::core::rescue::{RescueMap, Status};

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
    /// Whether sectors are read from its start, otherwise from its end.
    leading: bool,
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
            if edge.left.is_empty() {
                self.edge = None;
                continue;
            }
            if !edge.leading && map.status_at(edge.left.end()) == Some(Status::Bad) {
                map.set(edge.left, Status::Unscraped);
                self.edge = None;
                continue;
            }
            let next = if edge.leading { first_sector(edge.left, sector) } else { last_sector(edge.left, sector) };
            now.state.pos = next.offset;
            return Some(next);
        }
    }

    pub(super) fn on_read(&mut self, extent: Extent) {
        // The first part of a sector that failed was removed with it.
        if let Some(edge) = self.edge.as_mut().filter(|edge| edge.left.overlaps(&extent)) {
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
        if edge.leading {
            edge.leading = false;
        } else {
            now.state.map.set(edge.left, Status::Unscraped);
            self.edge = None;
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
        Edge { left, leading: before != Some(Status::Bad) }
    }

    /// Removes a sector that was tried.
    fn remove(&mut self, extent: Extent) {
        self.left = match self.leading {
            true => Extent::new(extent.end(), self.left.end() - extent.end()),
            false => Extent::new(self.left.offset, extent.offset - self.left.offset),
        };
    }
}
