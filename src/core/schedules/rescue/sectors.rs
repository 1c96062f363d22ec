//! Scraping and retrying: every sector of one status, once.
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
}

impl Sectors {
    /// The pass over what is left of failed clusters.
    pub(super) fn scraping() -> Self {
        Sectors { retry: 0, backward: false, cursor: 0 }
    }

    /// A pass over bad sectors, in the other direction than the one before.
    pub(super) fn retrying(retry: u64, now: &Now<'_>) -> Self {
        let backward = retry.is_multiple_of(2) != now.plan.reverse;
        Sectors { retry, backward, cursor: if backward { now.state.map.len_bytes() } else { 0 } }
    }

    /// Number of the pass over bad sectors; 0: scraping.
    pub(super) fn retries(&self) -> u64 {
        self.retry
    }

    /// The next sector.
    pub(super) fn next(&mut self, now: &mut Now<'_>) -> Option<Extent> {
        let (sector, domain, map) = (now.plan.sector_bytes, now.plan.domain.as_ref(), &now.state.map);
        let status = if self.retry == 0 { Status::Unscraped } else { Status::Bad };
        let next = if self.backward {
            let next = last_sector(map.previous(status, self.cursor, domain)?, sector);
            self.cursor = next.offset;
            next
        } else {
            let next = first_sector(map.next(status, self.cursor, domain)?, sector);
            self.cursor = next.end();
            next
        };
        now.state.pos = next.offset;
        Some(next)
    }
}

/// The bytes of the first sector in `of`.
pub(super) fn first_sector(of: Extent, sector: u64) -> Extent {
    let end = of.end().min((of.offset / sector + 1) * sector);
    Extent::new(of.offset, end - of.offset)
}

/// The bytes of the last sector in `of`, which is not empty.
pub(super) fn last_sector(of: Extent, sector: u64) -> Extent {
    let start = of.offset.max((of.end() - 1) / sector * sector);
    Extent::new(start, of.end() - start)
}
