//! A set of bytes, stored as extents.
use super::Extent;
use rangemap::RangeSet;
use std::ops::Range;

/// A set of bytes, stored as ascending extents that neither overlap nor touch.
///
/// Extents are always merged, so two sets with the same bytes are equal. An insertion or removal takes time logarithmic
/// in the number of extents, for each extent that it absorbs. The byte `u64::MAX` cannot be in the set, because no
/// [`Extent`] contains it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtentSet {
    ranges: RangeSet<u64>,
    /// Sum of the lengths, cached because the progress display reads it often.
    total_bytes: u64,
}

fn range(extent: Extent) -> Range<u64> {
    extent.offset..extent.end()
}

fn extent(range: &Range<u64>) -> Extent {
    Extent { offset: range.start, len: range.end - range.start }
}

impl ExtentSet {
    /// The empty set.
    pub fn new() -> Self {
        ExtentSet::default()
    }

    /// Adds the bytes of `extent`.
    pub fn insert(&mut self, extent: Extent) {
        if !extent.is_empty() {
            self.total_bytes += extent.len - self.covered_bytes(extent);
            self.ranges.insert(range(extent));
        }
    }

    /// Removes the bytes of `extent`.
    pub fn remove(&mut self, extent: Extent) {
        if !extent.is_empty() {
            self.total_bytes -= self.covered_bytes(extent);
            self.ranges.remove(range(extent));
        }
    }

    /// Adds the bytes of `other`.
    pub fn insert_all(&mut self, other: &ExtentSet) {
        other.iter().for_each(|extent| self.insert(extent));
    }

    /// Removes the bytes of `other`.
    pub fn remove_all(&mut self, other: &ExtentSet) {
        other.iter().for_each(|extent| self.remove(extent));
    }

    /// Whether all bytes of `extent` are in the set; true for an empty extent.
    pub fn contains(&self, extent: Extent) -> bool {
        // Extents are merged, so a contained extent is within a single one.
        extent.is_empty() || self.within(extent).next() == Some(extent)
    }

    /// Whether at least one byte of `extent` is in the set.
    pub fn overlaps(&self, extent: Extent) -> bool {
        self.within(extent).next().is_some()
    }

    /// The parts of `within` that are in the set, ascending.
    pub fn within(&self, within: Extent) -> impl Iterator<Item = Extent> + '_ {
        // `overlapping` panics on an empty range, so a one-byte range replaces it; the intersection is empty then.
        let queried = if within.is_empty() { 0..1 } else { range(within) };
        self.ranges.overlapping(queried).filter_map(move |part| extent(part).intersection(&within))
    }

    /// The parts of `within` that are not in the set, ascending.
    pub fn gaps(&self, within: Extent) -> impl Iterator<Item = Extent> + '_ {
        let mut at = within.offset;
        let end = Extent { offset: within.end(), len: 0 };
        let before = move |part: Extent| {
            let gap = Extent { offset: at, len: part.offset - at };
            at = part.end();
            (!gap.is_empty()).then_some(gap)
        };
        self.within(within).chain([end]).filter_map(before)
    }

    /// The bytes that are in both sets.
    pub fn intersection(&self, other: &ExtentSet) -> ExtentSet {
        // Look up each extent of the smaller set in the larger one.
        let (few, many) = if self.count() <= other.count() { (self, other) } else { (other, self) };
        few.iter().flat_map(|extent| many.within(extent)).collect()
    }

    /// Number of bytes of `extent` that are in the set.
    pub fn covered_bytes(&self, extent: Extent) -> u64 {
        self.within(extent).map(|part| part.len).sum()
    }

    /// Number of bytes in the set.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// The extents, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Extent> + '_ {
        self.ranges.iter().map(extent)
    }

    /// Number of extents, which determines memory use.
    pub fn count(&self) -> usize {
        self.ranges.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// End of the last extent; 0 for an empty set.
    pub fn end(&self) -> u64 {
        self.ranges.last().map_or(0, |last| last.end)
    }
}

impl Extend<Extent> for ExtentSet {
    fn extend<I: IntoIterator<Item = Extent>>(&mut self, extents: I) {
        extents.into_iter().for_each(|extent| self.insert(extent));
    }
}

impl FromIterator<Extent> for ExtentSet {
    fn from_iter<I: IntoIterator<Item = Extent>>(extents: I) -> Self {
        let mut set = ExtentSet::new();
        set.extend(extents);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BYTES: u64 = 64;

    /// Reference model: one flag per byte.
    type Bitmap = [bool; BYTES as usize];

    fn bitmap(extents: impl Iterator<Item = Extent>) -> Bitmap {
        let mut bitmap = [false; BYTES as usize];
        extents.for_each(|extent| bitmap[extent.offset as usize..extent.end() as usize].fill(true));
        bitmap
    }

    prop_compose! {
        fn any_extent()(a in 0..=BYTES, b in 0..=BYTES) -> Extent {
            Extent::new(a.min(b), a.abs_diff(b))
        }
    }

    prop_compose! {
        fn any_set()(steps in prop::collection::vec((any_extent(), prop::bool::weighted(0.7)), 0..12))
            -> (ExtentSet, Bitmap)
        {
            let (mut set, mut model) = (ExtentSet::new(), [false; BYTES as usize]);
            for (extent, add) in steps {
                if add { set.insert(extent) } else { set.remove(extent) }
                model[extent.offset as usize..extent.end() as usize].fill(add);
            }
            (set, model)
        }
    }

    proptest! {
        #[test]
        fn a_set_has_the_added_bytes_without_the_removed((set, model) in any_set()) {
            prop_assert_eq!(bitmap(set.iter()), model);
            prop_assert_eq!(set.total_bytes(), model.iter().filter(|&&bit| bit).count() as u64);
            prop_assert_eq!(set.is_empty(), set.total_bytes() == 0);
            prop_assert_eq!(set.end(), model.iter().rposition(|&bit| bit).map_or(0, |last| last as u64 + 1));
        }

        #[test]
        fn extents_ascend_and_never_touch((set, _) in any_set()) {
            let extents: Vec<Extent> = set.iter().collect();
            prop_assert_eq!(extents.len(), set.count());
            prop_assert!(extents.iter().all(|extent| !extent.is_empty()));
            prop_assert!(extents.windows(2).all(|pair| pair[0].end() < pair[1].offset), "{:?}", extents);
        }

        #[test]
        fn an_extent_is_split_into_contained_parts_and_gaps((set, model) in any_set(), queried in any_extent()) {
            let (within, gaps): (Vec<_>, Vec<_>) = (set.within(queried).collect(), set.gaps(queried).collect());
            let cells = queried.offset as usize..queried.end() as usize;
            let mut expected = [false; BYTES as usize];
            expected[cells.clone()].copy_from_slice(&model[cells.clone()]);
            prop_assert_eq!(bitmap(within.iter().copied()), expected);
            let mut expected = [false; BYTES as usize];
            cells.clone().for_each(|at| expected[at] = !model[at]);
            prop_assert_eq!(bitmap(gaps.iter().copied()), expected);
            prop_assert!(within.iter().chain(&gaps).all(|part| !part.is_empty()));
            prop_assert_eq!(set.contains(queried), cells.clone().all(|at| model[at]));
            prop_assert_eq!(set.overlaps(queried), cells.clone().any(|at| model[at]));
            prop_assert_eq!(set.covered_bytes(queried), cells.filter(|&at| model[at]).count() as u64);
        }

        #[test]
        fn intersection_and_union_match_the_bytes((a, model_a) in any_set(), (b, model_b) in any_set()) {
            let expect = |rule: fn(bool, bool) -> bool| -> Bitmap {
                std::array::from_fn(|at| rule(model_a[at], model_b[at]))
            };
            prop_assert_eq!(bitmap(a.intersection(&b).iter()), expect(|a, b| a && b));
            let (mut both, mut rest) = (a.clone(), a.clone());
            both.insert_all(&b);
            rest.remove_all(&b);
            prop_assert_eq!(bitmap(both.iter()), expect(|a, b| a || b));
            prop_assert_eq!(bitmap(rest.iter()), expect(|a, b| a && !b));
            prop_assert_eq!(a == b, model_a == model_b);
        }
    }

    #[test]
    fn the_largest_extent_fits() {
        let all = Extent::new(0, u64::MAX);
        let mut set: ExtentSet = [Extent::new(u64::MAX - 1, 1), Extent::new(5, 5), all].into_iter().collect();
        assert_eq!((set.total_bytes(), set.count(), set.end()), (u64::MAX, 1, u64::MAX));
        set.remove(Extent::new(1, u64::MAX - 2));
        let ends = [Extent::new(0, 1), Extent::new(u64::MAX - 1, 1)];
        assert!(set.iter().eq(ends), "{set:?}");
        assert!(set.gaps(all).eq([Extent::new(1, u64::MAX - 2)]));
    }
}
