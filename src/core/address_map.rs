//! Maps offsets of a copy to offsets of one side.
use super::Extent;
use std::sync::Arc;

/// Maps offsets of a copy to offsets of one side: one contiguous run, or the ranges of a list in list order. Offsets of
/// the copy start at 0 and have no gaps between ranges.
///
/// The map is immutable and cheap to clone. Each byte of the copy maps to one offset of the side; where ranges of a
/// source overlap, several bytes of the copy map to the same offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressMap {
    /// Path of the list, as the user gave it; `None` for one contiguous run.
    file: Option<Arc<str>>,
    /// Ascending by offset in the copy. Never empty.
    parts: Arc<[Part]>,
    /// Indexes of `parts`, sorted by offset on the side, each with the largest end offset so far.
    by_place: Arc<[(usize, u64)]>,
}

/// A run of bytes that is contiguous in the copy and on the side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// Offset of its first byte in the copy.
    first: u64,
    /// Its extent on the side.
    place: Extent,
}

impl AddressMap {
    /// Maps to all bytes from `offset` onwards.
    pub fn from(offset: u64) -> Self {
        AddressMap::of(None, vec![Extent::new(offset, u64::MAX - offset)])
    }

    /// Maps to the ranges of the list `file`, in list order. Drops empty ranges and merges adjacent ones.
    ///
    /// # Errors
    /// The first two ranges that overlap, unless `may_overlap`; `None` if the list has no bytes, or more than fit into
    /// a `u64`.
    pub fn listed(file: &str, ranges: Vec<Extent>, may_overlap: bool) -> Result<Self, Option<[Extent; 2]>> {
        let mut merged: Vec<Extent> = Vec::new();
        let mut total_bytes = 0u64;
        for range in ranges.into_iter().filter(|range| !range.is_empty()) {
            total_bytes = total_bytes.checked_add(range.len).filter(|&sum| sum <= i64::MAX as u64).ok_or(None)?;
            match merged.last_mut() {
                Some(last) if last.end() == range.offset => last.len += range.len,
                _ => merged.push(range),
            }
        }
        if merged.is_empty() {
            return Err(None);
        }
        let map = AddressMap::of(Some(file.into()), merged);
        let overlap = map.first_overlap().filter(|_| !may_overlap);
        overlap.map_or(Ok(map), |pair| Err(Some(pair)))
    }

    /// `ranges` must not be empty.
    fn of(file: Option<Arc<str>>, ranges: Vec<Extent>) -> Self {
        let mut next = 0;
        let begin = |place: Extent| {
            let first = next;
            next += place.len;
            Part { first, place }
        };
        let parts: Arc<[Part]> = ranges.into_iter().map(begin).collect();
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|&index| parts[index].place.offset);
        let mut end = 0;
        let with_end = |index: usize| {
            end = parts[index].place.end().max(end);
            (index, end)
        };
        let by_place = order.into_iter().map(with_end).collect();
        AddressMap { file, parts, by_place }
    }

    /// The first two ranges that overlap.
    fn first_overlap(&self) -> Option<[Extent; 2]> {
        let places = || self.by_place.iter().map(|&(index, _)| self.parts[index].place);
        places().zip(places().skip(1)).find(|(one, other)| one.overlaps(other)).map(|(one, other)| [one, other])
    }

    /// The ranges of the list, in list order; `None` for one contiguous run.
    pub fn ranges(&self) -> Option<impl ExactSizeIterator<Item = Extent> + '_> {
        self.file.as_ref().map(|_| self.parts.iter().map(|part| part.place))
    }

    /// Path of the list, as the user gave it.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Description for messages, such as `3 ranges of list`; `None` for one contiguous run.
    pub fn name(&self) -> Option<String> {
        let ranges = super::count(self.parts.len(), "range", "ranges");
        self.file.as_ref().map(|file| format!("{ranges} of {file}"))
    }

    /// Total bytes in the ranges of the list; `None` for one contiguous run.
    pub fn listed_bytes(&self) -> Option<u64> {
        self.ranges().map(|ranges| ranges.map(|range| range.len).sum())
    }

    /// The part that contains byte `at` of the copy, or the last part if `at` is past the end.
    fn part(&self, at: u64) -> Part {
        self.parts[self.parts.partition_point(|part| part.first <= at).saturating_sub(1)]
    }

    /// Offset on the side of byte `at` of the copy.
    pub fn at(&self, at: u64) -> u64 {
        let part = self.part(at);
        part.place.offset.saturating_add(at - part.first)
    }

    /// Offset on the side of the first byte of the copy.
    pub fn start(&self) -> u64 {
        self.parts[0].place.offset
    }

    /// Number of bytes from byte `at` of the copy that are contiguous on the side.
    pub fn run_bytes(&self, at: u64) -> u64 {
        let part = self.part(at);
        (part.first + part.place.len).saturating_sub(at)
    }

    /// Extent on the side of a block of the copy, which must be contiguous there.
    pub fn place(&self, block: Extent) -> Extent {
        debug_assert!(block.is_empty() || block.len <= self.run_bytes(block.offset), "{block:?} is cut by a range");
        Extent::new(self.at(block.offset), block.len)
    }

    /// Extents on the side of the part `of` of the copy, in copy order.
    pub fn places(&self, of: Extent) -> impl Iterator<Item = Extent> + '_ {
        let from = self.parts.partition_point(|part| part.first + part.place.len <= of.offset);
        self.parts[from..].iter().map_while(move |part| {
            let common = Extent::new(part.first, part.place.len).intersection(&of)?;
            Some(Extent::new(part.place.offset + (common.offset - part.first), common.len))
        })
    }

    /// Extents of the copy that map to `place` on the side, in no particular order.
    pub fn copied_from(&self, place: Extent) -> impl Iterator<Item = Extent> + '_ {
        let until = self.by_place.partition_point(|&(index, _)| self.parts[index].place.offset < place.end());
        let near = self.by_place[..until].iter().rev().take_while(move |&&(_, end)| end > place.offset);
        near.filter_map(move |&(index, _)| {
            let part = self.parts[index];
            let common = part.place.intersection(&place)?;
            Some(Extent::new(part.first + (common.offset - part.place.offset), common.len))
        })
    }

    /// The extent of the copy around byte `at` that is contiguous on the side.
    pub fn run_around(&self, at: u64) -> Extent {
        let part = self.part(at);
        Extent::new(part.first, part.place.len)
    }

    /// The smallest extent on the side that contains the first `len` bytes of the copy.
    pub fn hull(&self, len: u64) -> Extent {
        let places = || self.places(Extent::new(0, len));
        let start = places().map(|place| place.offset).min().unwrap_or_else(|| self.start());
        let end = places().map(|place| place.end()).max().unwrap_or(start);
        Extent::new(start, end - start)
    }

    /// End of the highest extent on the side that the first `len` bytes of the copy map to.
    pub fn end(&self, len: u64) -> u64 {
        self.hull(len).end()
    }

    /// The map without the first `bytes` of the copy.
    #[must_use]
    pub fn without_first(&self, bytes: u64) -> Self {
        let rest = Extent::new(bytes, u64::MAX - bytes);
        let places: Vec<Extent> = self.places(rest).collect();
        let nothing = || vec![Extent::new(self.at(bytes), 0)];
        AddressMap::of(self.file.clone(), if places.is_empty() { nothing() } else { places })
    }
}

/// A run of bytes that is contiguous on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Extent in the copy.
    pub copy: Extent,
    /// Offset of its first byte on each side, by [`super::Side::index`].
    pub at: [u64; 2],
}

/// Splits the part `of` of the copy wherever a range of either side ends.
pub fn pieces<'a>(maps: [&'a AddressMap; 2], of: Extent) -> impl Iterator<Item = Piece> + 'a {
    let mut offset = of.offset;
    std::iter::from_fn(move || {
        let left = of.end().checked_sub(offset).filter(|&left| left > 0)?;
        // Offsets past the last range belong to no range, so nothing splits there.
        let len = maps.iter().map(|map| map.run_bytes(offset)).filter(|&len| len > 0).fold(left, u64::min);
        let piece = Piece { copy: Extent::new(offset, len), at: maps.map(|map| map.at(offset)) };
        offset += len;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn extents(pairs: &[(u64, u64)]) -> Vec<Extent> {
        pairs.iter().map(|&(offset, len)| Extent::new(offset, len)).collect()
    }

    /// Reference model: the offset on the side of every byte of the copy.
    fn model(ranges: &[Extent]) -> Vec<u64> {
        ranges.iter().flat_map(|range| range.offset..range.end()).collect()
    }

    fn bytes(extents: impl Iterator<Item = Extent>) -> Vec<u64> {
        extents.flat_map(|extent| extent.offset..extent.end()).collect()
    }

    prop_compose! {
        /// Ranges in any order, possibly overlapping, with at least one byte in total.
        fn any_ranges()(pairs in prop::collection::vec((0u64..60, 0u64..9), 0..7), last in (0u64..60, 1u64..9))
            -> Vec<Extent>
        {
            extents(&[&pairs[..], &[last]].concat())
        }
    }

    proptest! {
        #[test]
        fn each_byte_has_the_place_that_its_list_gives_it(ranges in any_ranges(), from in 0u64..70, len in 0u64..70) {
            let (map, model) = (AddressMap::listed("list", ranges.clone(), true).unwrap(), model(&ranges));
            let total = model.len() as u64;
            prop_assert_eq!(map.listed_bytes(), Some(total));
            for (at, place) in model.iter().enumerate() {
                prop_assert_eq!(map.at(at as u64), *place);
                let run = map.run_bytes(at as u64) as usize;
                let contiguous = model[at..].iter().enumerate().take_while(|(more, at)| **at == place + *more as u64);
                prop_assert_eq!(run, contiguous.count());
                prop_assert!(map.run_around(at as u64).intersection(&Extent::new(at as u64, 1)).is_some());
                prop_assert_eq!(map.run_around(at as u64).end(), (at + run) as u64);
            }
            let (start, end) = (from.min(total), (from + len).min(total));
            let of = &model[start as usize..end as usize];
            prop_assert_eq!(bytes(map.places(Extent::new(start, end - start))), of);
            prop_assert_eq!(map.end(end), model[..end as usize].iter().map(|at| at + 1).max().unwrap_or(map.start()));
            prop_assert_eq!(map.hull(end).offset, model[..end as usize].iter().min().copied().unwrap_or(map.start()));
            let mut from_place = bytes(map.copied_from(Extent::new(from, len)));
            from_place.sort_unstable();
            let is_within = |at: &usize| (from..from + len).contains(&model[*at]);
            let expected: Vec<u64> = (0..model.len()).filter(is_within).map(|at| at as u64).collect();
            prop_assert_eq!(from_place, expected);
            let rest = map.without_first(start);
            prop_assert_eq!(bytes(rest.places(Extent::new(0, total))), &model[start as usize..]);
        }

        #[test]
        fn pieces_are_contiguous_on_both_sides_and_as_long_as_can_be(
            one in any_ranges(), other in any_ranges(), from in 0u64..40, len in 0u64..40,
        ) {
            let models = [model(&one), model(&other)];
            let total = models.iter().map(Vec::len).min().unwrap() as u64;
            let of = Extent::new(from.min(total), (from + len).min(total) - from.min(total));
            let maps = [one, other].map(|ranges| AddressMap::listed("list", ranges, true).unwrap());
            let found: Vec<Piece> = pieces(maps.each_ref(), of).collect();
            prop_assert_eq!(bytes(found.iter().map(|piece| piece.copy)), bytes([of].into_iter()));
            for (index, model) in models.iter().enumerate() {
                let places = found.iter().map(|piece| Extent::new(piece.at[index], piece.copy.len));
                prop_assert_eq!(bytes(places), &model[of.offset as usize..of.end() as usize]);
            }
            for pair in found.windows(2) {
                let continues = |side: usize| pair[0].at[side] + pair[0].copy.len == pair[1].at[side];
                prop_assert!(!(continues(0) && continues(1)), "{:?} is cut for nothing", pair);
            }
        }

        #[test]
        fn ranges_that_overlap_are_found_in_any_order(ranges in any_ranges()) {
            let mut places = model(&ranges);
            places.sort_unstable();
            let overlap = places.windows(2).any(|pair| pair[0] == pair[1]);
            let found = AddressMap::listed("list", ranges, false);
            prop_assert_eq!(found.is_err(), overlap);
            if let Err(pair) = found {
                let [one, other] = pair.unwrap();
                prop_assert!(one.overlaps(&other), "{:?} {:?}", one, other);
            }
        }
    }

    #[test]
    fn one_run_of_bytes_begins_at_its_offset_and_does_not_end() {
        let map = AddressMap::from(512);
        assert_eq!((map.at(0), map.at(100), map.start(), map.end(88)), (512, 612, 512, 600));
        assert_eq!((map.name(), map.file(), map.listed_bytes()), (None, None, None));
        assert_eq!(map.without_first(88), AddressMap::from(600));
        assert!(map.copied_from(Extent::new(0, 513)).eq([Extent::new(0, 1)]));
        let whole = Extent::new(0, u64::MAX - 512);
        assert!(pieces([&map, &map], whole).eq([Piece { copy: whole, at: [512, 512] }]));
    }

    #[test]
    fn a_list_has_ranges_in_its_order_without_the_empty_ones() {
        let listed = |pairs: &[(u64, u64)]| AddressMap::listed("list", extents(pairs), true);
        let map = listed(&[(100, 10), (7, 0), (110, 5), (40, 1)]).unwrap();
        assert!(map.ranges().unwrap().eq(extents(&[(100, 15), (40, 1)])));
        assert_eq!(map.name().unwrap(), "2 ranges of list");
        assert_eq!(listed(&[(3, 0)]), Err(None));
        let half = i64::MAX as u64 / 2 + 1;
        assert_eq!(listed(&[(0, half), (5, half)]), Err(None), "more bytes than offsets can count");
    }
}
