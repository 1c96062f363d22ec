//! Parts of two sides that are copied, and nothing between them.
use super::Extent;

/// The parts of both sides that a copy is made of, each at the same offset on either side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges {
    /// The file that lists them, as the user named it.
    pub file: String,
    /// Ascending, neither overlapping nor touching, none empty.
    extents: Vec<Extent>,
}

impl Ranges {
    /// Those of `file`, in any order. Ranges that touch become one.
    ///
    /// # Errors
    /// Two that overlap.
    pub fn new(file: &str, mut extents: Vec<Extent>) -> Result<Self, [Extent; 2]> {
        extents.retain(|extent| !extent.is_empty());
        extents.sort_unstable_by_key(|extent| extent.offset);
        let mut merged: Vec<Extent> = Vec::new();
        for extent in extents {
            match merged.last_mut() {
                Some(last) if last.overlaps(&extent) => return Err([*last, extent]),
                Some(last) if last.end() == extent.offset => last.len += extent.len,
                _ => merged.push(extent),
            }
        }
        Ok(Ranges { file: file.to_owned(), extents: merged })
    }

    /// The ranges; positions on either side.
    pub fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// From the first byte of the first range to the last byte of the last; empty where there is none.
    pub fn hull(&self) -> Extent {
        let (Some(first), Some(last)) = (self.extents.first(), self.extents.last()) else { return Extent::new(0, 0) };
        Extent::new(first.offset, last.end() - first.offset)
    }

    /// Bytes in all of them.
    pub fn total_bytes(&self) -> u64 {
        self.extents.iter().map(|extent| extent.len).sum()
    }

    /// The parts of `within`, a position on either side, that are in a range, ascending.
    pub fn within(&self, within: Extent) -> impl Iterator<Item = Extent> + '_ {
        self.extents.iter().filter_map(move |extent| extent.intersection(&within))
    }

    /// The words for messages: `3 ranges of list`.
    pub fn name(&self) -> String {
        let count = self.extents.len();
        format!("{count} {} of {}", if count == 1 { "range" } else { "ranges" }, self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(extents: &[(u64, u64)]) -> Result<Ranges, [Extent; 2]> {
        Ranges::new("list", extents.iter().map(|&(offset, len)| Extent::new(offset, len)).collect())
    }

    #[test]
    fn ranges_in_any_order_ascend_and_those_that_touch_are_one() {
        let ranges = ranges(&[(900, 100), (10, 5), (100, 50), (15, 5), (70, 0)]).unwrap();
        assert_eq!(ranges.extents(), [Extent::new(10, 10), Extent::new(100, 50), Extent::new(900, 100)]);
        assert_eq!((ranges.hull(), ranges.total_bytes()), (Extent::new(10, 990), 160));
        let within: Vec<Extent> = ranges.within(Extent::new(15, 100)).collect();
        assert_eq!(within, [Extent::new(15, 5), Extent::new(100, 15)]);
    }

    #[test]
    fn ranges_that_overlap_are_named() {
        assert_eq!(ranges(&[(10, 5), (14, 1)]).unwrap_err(), [Extent::new(10, 5), Extent::new(14, 1)]);
        assert!(ranges(&[]).unwrap().hull().is_empty());
    }
}
