//! A run of bytes, and operations on it.

/// A run of bytes: `offset..offset + len`, both in bytes. `offset + len` never overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extent {
    /// First byte.
    pub offset: u64,
    /// Number of bytes; 0 is allowed.
    pub len: u64,
}

impl Extent {
    /// The extent `offset..offset + len`. Panics if the end exceeds `u64::MAX`; callers check sizes before.
    pub fn new(offset: u64, len: u64) -> Self {
        assert!(offset.checked_add(len).is_some(), "extent {offset}+{len} exceeds the largest possible offset");
        Extent { offset, len }
    }

    /// The first byte after the extent.
    pub fn end(&self) -> u64 {
        self.offset + self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the two have at least one byte in common.
    pub fn overlaps(&self, other: &Extent) -> bool {
        self.intersection(other).is_some()
    }

    /// The bytes in both; `None` if there are none.
    pub fn intersection(&self, other: &Extent) -> Option<Extent> {
        let offset = self.offset.max(other.offset);
        let end = self.end().min(other.end());
        (offset < end).then(|| Extent { offset, len: end - offset })
    }
}

/// What is known about the bytes of a run before they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunKind {
    /// They have to be read.
    Data,
    /// They read as zeros: a hole of a sparse file.
    Zero,
}

/// An extent that is all data or all zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// The bytes.
    pub extent: Extent,
    /// Data or zeros.
    pub kind: RunKind,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_intersection_has_exactly_the_bytes_in_both(a in 0u64..64, b in 0u64..64, c in 0u64..64, d in 0u64..64) {
            let (left, right) = (Extent::new(a, b), Extent::new(c, d));
            let both: Vec<u64> = (0..256).filter(|at| (a..a + b).contains(at) && (c..c + d).contains(at)).collect();
            let found = left.intersection(&right).map_or(vec![], |common| (common.offset..common.end()).collect());
            prop_assert_eq!(found, both);
            prop_assert_eq!(left.overlaps(&right), right.overlaps(&left));
        }
    }

    #[test]
    #[should_panic(expected = "exceeds the largest possible offset")]
    fn an_extent_cannot_wrap_around() {
        Extent::new(u64::MAX, 2);
    }
}
