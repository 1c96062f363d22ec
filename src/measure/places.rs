//! Offsets of runs: spread over the disk, without using bytes twice if it is large enough.

use crate::core::Extent;

/// `count` offsets for runs of `span` bytes, multiples of `align`: the first at 0, the last one such that its run ends
/// at `size`, the others evenly between; a single one in the middle.
pub fn spread(size: u64, count: u32, span: u64, align: u64) -> Vec<u64> {
    let room = size.saturating_sub(span);
    let place = |index: u32| match count {
        0 | 1 => room / 2,
        _ => (u128::from(room) * u128::from(index) / u128::from(count - 1)) as u64,
    };
    (0..count).map(|index| place(index) / align * align).collect()
}

/// Distance between two runs, so that the second does not read what the drive read ahead for the first.
const GAP_BYTES: u64 = 32 << 20;

/// The offsets of a sweep: each round in another part of the disk, with consecutive runs.
#[derive(Clone, Debug)]
pub struct Walk {
    /// Where runs may be, ascending; each begins at a multiple of `align`.
    extents: Vec<Extent>,
    align: u64,
    gap: u64,
    /// Position of the next run in the concatenated extents.
    at: u64,
    /// Number of bytes that runs have covered.
    covered_bytes: u64,
}

impl Walk {
    /// Uses these extents in multiples of `align`, for about `runs` runs.
    pub fn new(extents: Vec<Extent>, align: u64, runs: u64) -> Walk {
        let size: u64 = extents.iter().map(|extent| extent.len).sum();
        // On a small disk, gaps take at most half of it.
        let gap = GAP_BYTES.min(size / 2 / runs.max(1));
        Walk { extents, align, gap: gap / align * align, at: 0, covered_bytes: 0 }
    }

    fn size(&self) -> u64 {
        self.extents.iter().map(|extent| extent.len).sum()
    }

    /// Starts round `round`, from 0: at 0, 1/2, 1/4, 3/4, 1/8, … of the disk, so that any number of rounds is spread.
    pub fn begin(&mut self, round: u32) {
        let share = round.reverse_bits();
        self.at = ((u128::from(self.size()) * u128::from(share)) >> 32) as u64 / self.align * self.align;
    }

    /// The extent available for a run of at least `least` bytes; `None` if no extent is long enough. Continues with the
    /// next extent at the end of one.
    pub fn place(&mut self, least: u64) -> Option<Extent> {
        for _ in 0..=self.extents.len() {
            let mut start = 0;
            for extent in &self.extents {
                let end = start + extent.len;
                if self.at < end {
                    let used = self.at - start;
                    if extent.len - used >= least {
                        return Some(Extent::new(extent.offset + used, extent.len - used));
                    }
                    self.at = end;
                }
                start = end;
            }
            self.at = 0;
        }
        None
    }

    /// Records that a run covered this many bytes.
    pub fn advance(&mut self, bytes: u64) {
        self.covered_bytes = self.covered_bytes.saturating_add(bytes);
        self.skip(bytes);
    }

    /// Advances by this many bytes and a gap.
    pub fn skip(&mut self, bytes: u64) {
        let next = self.at.saturating_add(bytes).saturating_add(self.gap).next_multiple_of(self.align);
        self.at = if next < self.size() { next } else { 0 };
    }

    /// Whether runs covered more bytes than the extents have: some were accessed twice, and a cache may have had them.
    pub fn has_wrapped(&self) -> bool {
        self.covered_bytes > self.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_span_the_first_to_the_last_byte() {
        assert_eq!(spread(1000, 5, 200, 1), [0, 200, 400, 600, 800]);
        assert_eq!(spread(1 << 20, 3, 4096, 4096), [0, 520_192, 1_044_480]);
        assert_eq!(spread(100, 1, 20, 1), [40]);
        assert_eq!(spread(10, 2, 20, 1), [0, 0]);
    }

    #[test]
    fn rounds_are_spread_and_runs_do_not_overlap() {
        let size = 1 << 40;
        let mut walk = Walk::new(vec![Extent::new(0, size)], 4096, 1000);
        let mut starts = Vec::new();
        for round in 0..4 {
            walk.begin(round);
            let first = walk.place(1 << 20).unwrap();
            starts.push(first.offset / (size / 4));
            walk.advance(1 << 20);
            let second = walk.place(1 << 20).unwrap();
            assert_eq!(second.offset, first.offset + (1 << 20) + GAP_BYTES);
            assert_eq!(second.end(), size);
        }
        assert_eq!(starts, [0, 2, 1, 3]);
        assert!(!walk.has_wrapped());
    }

    #[test]
    fn a_run_stays_within_its_allowed_extents() {
        let extents = vec![Extent::new(4096, 1 << 20), Extent::new(8 << 20, 512 << 10)];
        let mut walk = Walk::new(extents.clone(), 512, 4);
        assert_eq!(walk.place((1 << 20) + 1), None);
        let mut met = [false; 2];
        for round in 0..20 {
            walk.begin(round);
            for _ in 0..3 {
                let place = walk.place(300_000).unwrap();
                let within =
                    extents.iter().position(|whole| whole.offset <= place.offset && place.end() == whole.end());
                met[within.expect("it begins in one of them and ends with it")] = true;
                assert!(place.len >= 300_000 && place.offset.is_multiple_of(512));
                walk.advance(300_000);
            }
        }
        assert!(walk.has_wrapped() && met == [true; 2]);
    }
}
