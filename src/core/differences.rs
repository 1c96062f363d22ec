//! Where two sides are not the same.
use super::{Extent, ExtentSet, Side};

/// Runs that are kept apart. Beyond this, differences are counted and no longer listed: two disks that have nothing to
/// do with each other must not fill the memory.
pub const DIFFERING_RUNS_MAX: usize = 1 << 16;

/// Where two sides are not the same. Offsets count from the first byte of what was compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The first byte that differs.
    pub first: Option<u64>,
    /// Bytes that differ.
    pub bytes: u64,
    /// Runs of sectors in which bytes differ.
    pub runs: ExtentSet,
    /// There were more runs than are kept.
    pub unlisted: bool,
    /// The side that ended before the other, and what it lacks in bytes, where that is known.
    pub shorter: Option<(Side, Option<u64>)>,
}

impl Differences {
    /// Everything that was compared was the same, and both sides ended where they should.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0 && self.shorter.is_none()
    }

    /// Adds `bytes` differing bytes that lie in `run`, the first of them at `first`. Runs may come in any order, and
    /// two may share a sector whose bytes came in two blocks.
    pub fn add(&mut self, run: Extent, first: u64, bytes: u64) {
        self.first = Some(self.first.map_or(first, |known| known.min(first)));
        self.bytes += bytes;
        if self.runs.count() < DIFFERING_RUNS_MAX {
            self.runs.insert(run);
        } else {
            self.unlisted |= !self.runs.contains(run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_in_any_order_are_the_same_runs(mut sectors in prop::collection::vec(any::<bool>(), 1..64), seed: u64) {
            sectors.push(false);
            let mut order: Vec<usize> = (0..sectors.len()).filter(|&sector| sectors[sector]).collect();
            let mut state = seed | 1;
            for place in (1..order.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                order.swap(place, (state >> 33) as usize % (place + 1));
            }
            let mut differences = Differences::default();
            for sector in &order {
                let at = *sector as u64 * 512;
                differences.add(Extent::new(at, 512), at + 7, 3);
            }
            let mut expected: Vec<Extent> = Vec::new();
            for (sector, differs) in sectors.iter().enumerate() {
                let at = sector as u64 * 512;
                match expected.last_mut().filter(|run| run.end() == at) {
                    _ if !differs => {}
                    Some(run) => run.len += 512,
                    None => expected.push(Extent::new(at, 512)),
                }
            }
            prop_assert_eq!(differences.runs.iter().collect::<Vec<_>>(), expected);
            prop_assert_eq!(differences.bytes, order.len() as u64 * 3);
            prop_assert_eq!(differences.first, order.iter().min().map(|sector| *sector as u64 * 512 + 7));
        }
    }

    #[test]
    fn no_more_runs_are_kept_than_memory_is_meant_for() {
        let mut differences = Differences::default();
        for number in 0..DIFFERING_RUNS_MAX as u64 + 10 {
            differences.add(Extent::new(number * 1024, 512), number * 1024, 1);
        }
        assert!(differences.unlisted);
        assert_eq!(differences.runs.count(), DIFFERING_RUNS_MAX);
        assert_eq!(differences.bytes, DIFFERING_RUNS_MAX as u64 + 10);
    }
}
