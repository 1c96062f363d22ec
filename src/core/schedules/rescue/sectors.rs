//! Scraping and retrying: every sector of one status, once. Where the device reports the bad sector, scraping reads
//! whole clusters, from one bad sector to the next.
use super::located::Divided;
use super::now::Now;
use crate::core::Extent;
use crate::core::rescue::Status;

/// One pass.
pub(super) struct Sectors {
    /// Number of the pass over bad sectors, from 1; 0: scraping.
    retry: u64,
    backward: bool,
    /// Everything before, in this direction, was tried.
    cursor: u64,
    /// Up to here sectors are read one by one, because a larger read failed at an unknown sector.
    alone_until: u64,
}

impl Sectors {
    /// The pass over what is left of failed clusters.
    pub(super) fn scraping() -> Self {
        Sectors { retry: 0, backward: false, cursor: 0, alone_until: 0 }
    }

    /// A pass over bad sectors, in the other direction than the one before.
    pub(super) fn retrying(retry: u64, now: &Now<'_>) -> Self {
        let backward = retry.is_multiple_of(2) != now.plan.reverse;
        let cursor = if backward { now.state.map.len_bytes() } else { 0 };
        Sectors { retry, backward, cursor, alone_until: 0 }
    }

    /// Number of the pass over bad sectors; 0: scraping.
    pub(super) fn retries(&self) -> u64 {
        self.retry
    }

    /// The next sector; while scraping a cluster if failures are `located`.
    pub(super) fn next(&mut self, now: &mut Now<'_>, located: bool) -> Option<Extent> {
        let (sector, domain, map) = (now.plan.sector_bytes, now.plan.domain.as_ref(), &now.state.map);
        let status = if self.retry == 0 { Status::Unscraped } else { Status::Bad };
        let next = if self.backward {
            let next = last_sector(map.previous(status, self.cursor, domain)?, sector);
            self.cursor = next.offset;
            next
        } else {
            let area = map.next(status, self.cursor, domain)?;
            let is_whole = located && self.retry == 0 && area.offset >= self.alone_until;
            let next = if is_whole { in_cluster(area, now.plan.cluster_bytes) } else { first_sector(area, sector) };
            self.cursor = next.end();
            next
        };
        now.state.pos = next.offset;
        Some(next)
    }

    pub(super) fn on_failed(&mut self, extent: Extent, now: &mut Now<'_>) {
        if extent.len <= now.plan.sector_bytes {
            now.state.map.set(extent, Status::Bad);
            return;
        }
        now.state.map.set(extent, Status::Unscraped);
        (self.cursor, self.alone_until) = (extent.offset, extent.end());
    }

    /// Called when a cluster failed at a known sector.
    pub(super) fn on_divided(&mut self, divided: Divided, now: &mut Now<'_>) {
        now.state.map.set(divided.after, Status::Unscraped);
        self.cursor = divided.bad.end();
    }
}

/// The part of `of` up to the next border of a cluster.
pub(super) fn in_cluster(of: Extent, cluster: u64) -> Extent {
    let end = of.end().min((of.offset / cluster + 1) * cluster);
    Extent::new(of.offset, end - of.offset)
}

/// The bytes of the first sector in `of`.
pub(super) fn first_sector(of: Extent, sector: u64) -> Extent {
    in_cluster(of, sector)
}

/// The bytes of the last sector in `of`, which is not empty.
pub(super) fn last_sector(of: Extent, sector: u64) -> Extent {
    let start = of.offset.max((of.end() - 1) / sector * sector);
    Extent::new(start, of.end() - start)
}
