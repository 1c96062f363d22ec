//! The status of every byte of a source during a rescue.
use super::super::{Extent, ExtentSet};
use super::{Status, StatusBlock};
use std::collections::BTreeMap;

/// The status of each byte from the first to the last, as maximal runs of one status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RescueMap {
    /// Start of each run: its end and status.
    runs: BTreeMap<u64, (u64, Status)>,
    len: u64,
    /// Bytes of each status, by [`Status::index`].
    bytes: [u64; 5],
}

impl RescueMap {
    /// A source of `len` bytes that was not tried.
    pub fn untried(len: u64) -> Self {
        let runs = (len > 0).then_some((0, (len, Status::Untried))).into_iter().collect();
        RescueMap { runs, len, bytes: [len, 0, 0, 0, 0] }
    }

    /// The same, with the status of `blocks`. Their parts past the end are ignored.
    pub fn of_blocks(len: u64, blocks: impl IntoIterator<Item = StatusBlock>) -> Self {
        let mut map = RescueMap::untried(len);
        let whole = Extent::new(0, len);
        for StatusBlock { extent, status } in blocks {
            if let Some(extent) = extent.intersection(&whole) {
                map.set(extent, status);
            }
        }
        map
    }

    /// Length of the source in bytes.
    pub fn len_bytes(&self) -> u64 {
        self.len
    }

    /// Changes the status of `extent`, which must lie within the source.
    pub fn set(&mut self, extent: Extent, status: Status) {
        debug_assert!(extent.end() <= self.len, "past the end");
        if extent.is_empty() {
            return;
        }
        let (mut start, mut end) = (extent.offset, extent.end());
        self.split(start);
        self.split(end);
        let inner: Vec<u64> = self.runs.range(start..end).map(|(&offset, _)| offset).collect();
        for offset in inner {
            if let Some((until, was)) = self.runs.remove(&offset) {
                self.bytes[was.index()] -= until - offset;
            }
        }
        self.bytes[status.index()] += end - start;
        if let Some((&offset, &(_, before))) = self.runs.range(..start).next_back()
            && before == status
        {
            self.runs.remove(&offset);
            start = offset;
        }
        if let Some(&(until, after)) = self.runs.get(&end)
            && after == status
        {
            self.runs.remove(&end);
            end = until;
        }
        self.runs.insert(start, (end, status));
    }

    /// Gives the unfinished bytes of each sector one status, that of those which were tried least: a sector is read as
    /// a whole. Maps of rescues with smaller sectors have borders within them.
    pub fn join_sectors(&mut self, sector_bytes: u64) {
        let borders: Vec<u64> = self.runs.keys().copied().filter(|at| !at.is_multiple_of(sector_bytes)).collect();
        for border in borders {
            let start = border / sector_bytes * sector_bytes;
            let sector = Extent::new(start, sector_bytes.min(self.len - start));
            let runs = self.runs.range(..sector.end()).rev().take_while(|(_, (end, _))| *end > start);
            let of_run =
                |(&offset, &(end, status)): (&u64, &(u64, Status))| (Extent::new(offset, end - offset), status);
            let unfinished: Vec<(Extent, Status)> =
                runs.map(of_run).filter(|(_, status)| *status != Status::Finished).collect();
            let Some(least) = unfinished.iter().map(|(_, status)| *status).min_by_key(|status| status.index()) else {
                continue;
            };
            for part in unfinished.iter().filter_map(|(run, _)| run.intersection(&sector)) {
                self.set(part, least);
            }
        }
    }

    /// Begins a run at `at`, unless one begins there.
    fn split(&mut self, at: u64) {
        if let Some((_, run)) = self.runs.range_mut(..at).next_back()
            && run.0 > at
        {
            let (end, status) = *run;
            run.0 = at;
            self.runs.insert(at, (end, status));
        }
    }

    /// The status of the byte at `offset`; `None` past the end.
    pub fn status_at(&self, offset: u64) -> Option<Status> {
        let (_, (end, status)) = self.runs.range(..=offset).next_back()?;
        (*end > offset).then_some(*status)
    }

    /// Number of bytes of this status.
    pub fn bytes(&self, status: Status) -> u64 {
        self.bytes[status.index()]
    }

    /// The bytes of this status.
    pub fn set_of(&self, status: Status) -> ExtentSet {
        self.blocks().filter(|block| block.status == status).map(|block| block.extent).collect()
    }

    /// Every run, ascending.
    pub fn blocks(&self) -> impl Iterator<Item = StatusBlock> + '_ {
        let block = |(&start, &(end, status)): (&u64, &(u64, Status))| StatusBlock {
            extent: Extent::new(start, end - start),
            status,
        };
        self.runs.iter().map(block)
    }

    /// The first bytes of this status at `from` or after it, within `domain` if there is one.
    pub fn next(&self, status: Status, from: u64, domain: Option<&ExtentSet>) -> Option<Extent> {
        let begun = self.runs.range(..from).next_back().filter(|(_, (end, _))| *end > from);
        let runs = begun.into_iter().chain(self.runs.range(from..)).filter(|(_, (_, found))| *found == status);
        let parts = runs.map(|(&start, &(end, _))| Extent::new(start.max(from), end - start.max(from)));
        let Some(domain) = domain else { return parts.into_iter().next() };
        parts.into_iter().find_map(|part| domain.within(part).next())
    }

    /// The last bytes of this status before `before`, within `domain` if there is one.
    pub fn previous(&self, status: Status, before: u64, domain: Option<&ExtentSet>) -> Option<Extent> {
        let runs = self.runs.range(..before).rev().filter(|(_, (_, found))| *found == status);
        let parts = runs.map(|(&start, &(end, _))| Extent::new(start, end.min(before) - start));
        let Some(domain) = domain else { return parts.into_iter().next() };
        parts.into_iter().find_map(|part| domain.within(part).last())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_unfinished_bytes_of_a_sector_get_the_status_of_those_that_were_tried_least(
            changes in prop::collection::vec((0u64..61, 0u64..61, 0usize..5), 0..30), sector in 1u64..20,
        ) {
            let mut map = RescueMap::untried(61);
            for (start, end, status) in changes {
                let (start, end, status) = (start.min(end), start.max(end), Status::ALL[status].0);
                map.set(Extent::new(start, end - start), status);
            }
            let before: Vec<Status> = (0..61).map(|at| map.status_at(at).unwrap()).collect();
            map.join_sectors(sector);
            for (at, status) in before.iter().enumerate() {
                let first = at / sector as usize * sector as usize;
                let of_sector = &before[first..(first + sector as usize).min(61)];
                let least = Status::ALL.iter().map(|(status, _)| *status).find(|status| of_sector.contains(status));
                let expected = if *status == Status::Finished { Some(Status::Finished) } else { least };
                prop_assert_eq!(map.status_at(at as u64), expected, "byte {}", at);
            }
        }

        #[test]
        fn a_map_equals_an_array_of_bytes(
            changes in prop::collection::vec((0u64..60, 0u64..60, 0usize..5), 0..30),
            domain in prop::collection::vec((0u64..60, 1u64..20), 0..4), from in 0u64..62, bounded: bool,
        ) {
            let (mut map, mut bytes) = (RescueMap::untried(60), vec![Status::Untried; 60]);
            for (start, end, status) in changes {
                let (start, end, status) = (start.min(end), start.max(end), Status::ALL[status].0);
                map.set(Extent::new(start, end - start), status);
                bytes[start as usize..end as usize].fill(status);
            }
            let domain: ExtentSet = domain.into_iter().map(|(offset, len)| Extent::new(offset, len)).collect();
            let within = bounded.then_some(&domain);
            for (status, _) in Status::ALL {
                let is = |at: u64| bytes[at as usize] == status
                    && within.is_none_or(|domain| domain.contains(Extent::new(at, 1)));
                prop_assert_eq!(map.bytes(status), bytes.iter().filter(|found| **found == status).count() as u64);
                let next = (from..60).find(|&at| is(at));
                prop_assert_eq!(map.next(status, from, within).map(|extent| extent.offset), next);
                let last = (0..from.min(60)).rev().find(|&at| is(at));
                prop_assert_eq!(map.previous(status, from, within).map(|extent| extent.end() - 1), last);
                if let Some(part) = map.next(status, from, within) {
                    prop_assert!((part.offset..part.end()).all(is) && (part.end() == 60 || !is(part.end())));
                }
            }
            (0..60).for_each(|at| assert_eq!(map.status_at(at), Some(bytes[at as usize])));
            prop_assert_eq!(map.status_at(60), None);
            let blocks: Vec<StatusBlock> = map.blocks().collect();
            let is_whole = |pair: &[StatusBlock]| {
                pair[0].extent.end() == pair[1].extent.offset && pair[0].status != pair[1].status
            };
            prop_assert!(blocks.windows(2).all(is_whole), "neighbours: {:?}", blocks);
            prop_assert_eq!(&RescueMap::of_blocks(60, blocks), &map);
        }
    }
}
