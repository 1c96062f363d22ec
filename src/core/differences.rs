//! Differences between two sides.
use super::{Extent, ExtentSet, Side};

/// Maximum number of runs that are listed. Further differences are only counted, so that two unrelated disks do not
/// exhaust memory.
pub const DIFFERING_RUNS_MAX: usize = 1 << 16;

/// Differences between two sides. Offsets count from the first byte that was compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Offset of the first differing byte.
    pub first: Option<u64>,
    /// Number of differing bytes.
    pub bytes: u64,
    /// Runs of sectors that contain differing bytes.
    pub runs: ExtentSet,
    /// More runs were found than are listed.
    pub unlisted: bool,
    /// The shorter side, and by how many bytes it is shorter, if known.
    pub shorter: Option<(Side, Option<u64>)>,
}

impl Differences {
    /// Whether all compared bytes are equal and both sides have the expected length.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0 && self.shorter.is_none()
    }

    /// Adds `bytes` differing bytes within `run`, the first of them at `first`. Runs may be added in any order; two may
    /// share a sector if a block boundary divides it.
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
    fn the_number_of_kept_runs_is_bounded() {
        let mut differences = Differences::default();
        for number in 0..DIFFERING_RUNS_MAX as u64 + 10 {
            differences.add(Extent::new(number * 1024, 512), number * 1024, 1);
        }
        assert!(differences.unlisted);
        assert_eq!(differences.runs.count(), DIFFERING_RUNS_MAX);
        assert_eq!(differences.bytes, DIFFERING_RUNS_MAX as u64 + 10);
    }
}
