//! Combines and compares mapfiles. The results are those of ddrescuelog 1.27, but comments are kept: they name the
//! source.
use super::{Block, Mapfile, Status};
use crate::core::Extent;
use crate::core::rescue::RescueStatus;

/// How two mapfiles are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combination {
    /// Finished in both.
    And,
    /// Finished in one of them or in both.
    Or,
    /// Finished in one of them, but not in both.
    Xor,
}

/// Bytes with different statuses in two mapfiles. Bytes that a mapfile does not list are not tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusDifference {
    /// The bytes.
    pub extent: Extent,
    /// Their status in the first mapfile.
    pub first: Status,
    /// Their status in the second.
    pub second: Status,
}

impl Mapfile {
    /// The first byte after the last block; 0 if there is none.
    pub fn end(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block.extent.end())
    }

    /// Whether a rescue has nothing left to do: all blocks are finished.
    pub fn is_finished(&self) -> bool {
        self.blocks.iter().all(|block| block.status == Status::Finished)
    }

    /// The blocks of this mapfile, finished where the combination with `other` is; bytes that are finished here and not
    /// in the combination become bad, the others keep their status, and so do bytes that `other` does not list.
    pub fn combined(&self, how: Combination, other: &Mapfile) -> Mapfile {
        let finished = other.sets().finished;
        let start = other.blocks.first().map_or(0, |block| block.extent.offset);
        let listed = Extent::new(start, other.end() - start);
        let changed = |block: &Block| {
            let inside: Vec<Extent> = finished.within(block.extent).collect();
            let is_finished = block.status == Status::Finished;
            let not_finished = if is_finished { Status::Bad } else { block.status };
            let status = |result: bool| if result { Status::Finished } else { not_finished };
            let (both, only_here) = match how {
                Combination::And => (is_finished, false),
                Combination::Or => (true, is_finished),
                Combination::Xor => (!is_finished, is_finished),
            };
            let in_list = block.extent.intersection(&listed).unwrap_or(Extent::new(start, 0));
            let gaps = finished.gaps(in_list).map(|extent| Block { extent, status: status(only_here) });
            let inside = inside.into_iter().map(|extent| Block { extent, status: status(both) });
            let Extent { offset, .. } = block.extent;
            let before = (offset, block.extent.end().min(start));
            let after = (offset.max(listed.end()), block.extent.end());
            let outside = [before, after].into_iter().filter(|(from, to)| from < to);
            let outside = outside.map(|(from, to)| Block { extent: Extent::new(from, to - from), ..*block });
            let mut blocks: Vec<Block> = inside.chain(gaps).chain(outside).collect();
            blocks.sort_unstable_by_key(|block| block.extent.offset);
            blocks
        };
        self.with_blocks(self.blocks.iter().flat_map(changed))
    }

    /// Finished blocks become bad, all others finished: for the options of ddrescue that process finished blocks.
    pub fn inverted(&self) -> Mapfile {
        let status = |status| if status == Status::Finished { Status::Bad } else { Status::Finished };
        self.with_blocks(self.blocks.iter().map(|block| Block { status: status(block.status), ..*block }))
    }

    /// The same from byte 0 to `end`: what was not listed is not tried. `end` must not be before the last block's.
    pub fn completed(&self, end: u64) -> Mapfile {
        let first = self.blocks.first().map_or(end, |block| block.extent.offset);
        let untried = |from: u64, to: u64| Block { extent: Extent::new(from, to - from), status: Status::Untried };
        let tail = (!self.blocks.is_empty()).then(|| untried(self.end(), end));
        self.with_blocks([untried(0, first)].into_iter().chain(self.blocks.iter().copied()).chain(tail))
    }

    /// The bytes with different statuses, ascending.
    pub fn differences(&self, other: &Mapfile) -> Vec<StatusDifference> {
        let end = self.end().max(other.end());
        let (first, second) = (self.completed(end), other.completed(end));
        let mut found = Vec::new();
        let mut of_second = second.blocks.iter().peekable();
        for block in &first.blocks {
            while let Some(with) = of_second.peek() {
                if let Some(extent) = with.extent.intersection(&block.extent)
                    && with.status != block.status
                {
                    found.push(StatusDifference { extent, first: block.status, second: with.status });
                }
                if with.extent.end() > block.extent.end() {
                    break;
                }
                of_second.next();
            }
        }
        found
    }

    /// The same mapfile with these blocks. Neighbours of the same status become one. A rescue that was finished and has
    /// something left to do begins to copy again.
    fn with_blocks(&self, blocks: impl IntoIterator<Item = Block>) -> Mapfile {
        let mut merged: Vec<Block> = Vec::new();
        for block in blocks.into_iter().filter(|block| !block.extent.is_empty()) {
            match merged.last_mut() {
                Some(last) if last.status == block.status => last.extent.len += block.extent.len,
                _ => merged.push(block),
            }
        }
        let mut map = Mapfile { blocks: merged, ..self.clone() };
        if map.doing == RescueStatus::Finished && !map.is_finished() {
            (map.doing, map.current_pass, map.current_pos) = (RescueStatus::Copying, 1, 0);
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BYTES: u64 = 40;

    fn maps() -> impl Strategy<Value = (u64, Vec<Status>)> {
        let statuses = prop::collection::vec((0usize..5).prop_map(|at| Status::ALL[at].0), 0..BYTES as usize);
        (0u64..4, statuses)
    }

    /// One block for each byte from `start`.
    fn map((start, statuses): &(u64, Vec<Status>)) -> Mapfile {
        let block = |(at, &status): (usize, &Status)| Block { extent: Extent::new(start + at as u64, 1), status };
        let blocks = statuses.iter().enumerate().map(block).collect();
        let (comments, doing) = (vec!["# kept".to_owned()], RescueStatus::Scraping);
        Mapfile { comments, current_pos: 7, doing, current_pass: 2, blocks }
    }

    fn at(map: &Mapfile, byte: u64) -> Option<Status> {
        map.blocks.iter().find(|block| block.extent.overlaps(&Extent::new(byte, 1))).map(|block| block.status)
    }

    proptest! {
        #[test]
        fn operations_equal_those_on_single_bytes(first in maps(), second in maps(), more in 0u64..5) {
            let (one, other) = (map(&first), map(&second));
            let is_finished = |map: &Mapfile, byte| at(map, byte) == Some(Status::Finished);
            for how in [Combination::And, Combination::Or, Combination::Xor] {
                let result = one.combined(how, &other);
                prop_assert_eq!(&result.comments, &one.comments);
                prop_assert!(result.blocks.windows(2).all(|pair| pair[0].status != pair[1].status));
                for byte in 0..BYTES + 8 {
                    let (here, there) = (is_finished(&one, byte), is_finished(&other, byte));
                    let is_listed = at(&other, byte).is_some();
                    let expected = match how {
                        Combination::And => here && (there || !is_listed),
                        Combination::Or => here || there,
                        Combination::Xor => here != there,
                    };
                    let status = at(&one, byte).map(|status| match (expected, here) {
                        (true, _) => Status::Finished,
                        (false, true) => Status::Bad,
                        (false, false) => status,
                    });
                    prop_assert_eq!(at(&result, byte), status, "{:?} at {}", how, byte);
                }
            }
            let (inverted, end) = (one.inverted(), one.end() + more);
            let completed = one.completed(end);
            prop_assert_eq!(completed.end(), end);
            let differences = one.differences(&other);
            for byte in 0..BYTES + 8 {
                let status = at(&one, byte);
                prop_assert_eq!(at(&inverted, byte), status.map(|status| match status {
                    Status::Finished => Status::Bad,
                    _ => Status::Finished,
                }));
                prop_assert_eq!(at(&completed, byte), status.or((byte < end).then_some(Status::Untried)));
                let [here, there] = [&one, &other].map(|map| at(map, byte).unwrap_or(Status::Untried));
                let this = Extent::new(byte, 1);
                let of_byte: Vec<_> = differences.iter().filter(|found| found.extent.overlaps(&this)).collect();
                let expected = if here == there { vec![] } else { vec![(here, there)] };
                prop_assert_eq!(of_byte.iter().map(|found| (found.first, found.second)).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn a_finished_rescue_with_new_work_begins_to_copy() {
        let finished = Mapfile { doing: RescueStatus::Finished, ..map(&(0, vec![Status::Finished; 4])) };
        assert!(finished.is_finished());
        assert_eq!(finished.inverted().doing, RescueStatus::Copying);
        assert_eq!(finished.completed(4).doing, RescueStatus::Finished);
        assert_eq!(finished.completed(8).doing, RescueStatus::Copying);
    }
}
