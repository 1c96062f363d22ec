//! The tree of BLAKE3: the values of parts, made in any order by anyone, give the digest of the whole.
use super::zero_bytes::zero_bytes;
use super::{BlockDigest, Extent};
use blake3::hazmat::{self, HasherExt, Mode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bytes of a leaf of the tree: parts begin at multiples of it.
pub const LEAF_BYTES: u64 = blake3::CHUNK_LEN as u64;

/// A part of the whole that is one node of its tree, with the value of that node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subtree {
    /// The first byte, counted from the start of the whole.
    pub offset_bytes: u64,
    /// Number of bytes: a power of two of leaves, at a multiple of itself; the last part of the whole may be shorter.
    pub len_bytes: u64,
    /// The chaining value. Of a part that is the whole: the digest itself, which no chaining value gives.
    pub value: BlockDigest,
}

impl Subtree {
    /// The part at `extent`, whose bytes are the concatenation of `pieces`; it is not the whole. Panics if `extent` is
    /// not a node of a tree, or has another length.
    pub fn of<'a>(extent: Extent, pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.set_input_offset(extent.offset);
        pieces.into_iter().for_each(|piece| {
            hasher.update(piece);
        });
        assert_eq!(hasher.count(), extent.len, "a part has its length");
        Subtree::at(extent, hasher.finalize_non_root().into())
    }

    /// The part at `extent`, if it is all zeros. Panics as [`Subtree::of`].
    pub fn of_zeros(extent: Extent) -> Self {
        Subtree::of(extent, zero_bytes(extent.len))
    }

    /// The part at `extent` with this value.
    pub fn at(extent: Extent, value: BlockDigest) -> Self {
        Subtree { offset_bytes: extent.offset, len_bytes: extent.len, value }
    }

    fn end(&self) -> u64 {
        self.offset_bytes + self.len_bytes
    }

    /// Whether a part can begin and end there, as a full one or the last of a whole.
    fn is_possible(&self) -> bool {
        let Subtree { offset_bytes, len_bytes, .. } = *self;
        let aligned = offset_bytes.is_multiple_of(LEAF_BYTES) && len_bytes > 0;
        let fits = || hazmat::max_subtree_len(offset_bytes).is_none_or(|max| len_bytes <= max);
        aligned && offset_bytes.checked_add(len_bytes).is_some() && fits()
    }

    /// Whether the two are the full halves of a larger part that cannot be the whole, because something is before it.
    fn is_left_of(&self, right: &Subtree) -> bool {
        let Subtree { offset_bytes, len_bytes, .. } = *self;
        let is_full = len_bytes.is_power_of_two() && len_bytes >= LEAF_BYTES && right.len_bytes == len_bytes;
        let is_left = offset_bytes > 0 && offset_bytes & len_bytes == 0;
        is_full && is_left && right.offset_bytes == self.end()
    }
}

/// Why a part was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAdded {
    /// It is no node of a tree: its place or length is impossible.
    Impossible,
    /// It overlaps a part that was added before.
    Overlaps,
}

/// Parts of a whole, added in any order. Parts that form a larger one are merged at once, so that a run of n parts
/// needs at most 2 log₂ n values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HashTree {
    /// By their offsets.
    parts: BTreeMap<u64, Subtree>,
}

impl HashTree {
    /// Adds a part.
    ///
    /// # Errors
    /// It cannot be one, or overlaps another; nothing is added then.
    pub fn add(&mut self, part: Subtree) -> Result<(), NotAdded> {
        if !part.is_possible() {
            return Err(NotAdded::Impossible);
        }
        let before = self.parts.range(..part.end()).next_back();
        if before.is_some_and(|(_, before)| before.end() > part.offset_bytes) {
            return Err(NotAdded::Overlaps);
        }
        let mut part = part;
        loop {
            let before = self.parts.range(..part.offset_bytes).next_back().map(|(_, before)| *before);
            let after = self.parts.get(&part.end()).copied();
            let (left, right) = match (before, after) {
                (Some(before), _) if before.is_left_of(&part) => (before, part),
                (_, Some(after)) if part.is_left_of(&after) => (part, after),
                _ => break,
            };
            self.parts.remove(&left.offset_bytes);
            self.parts.remove(&right.offset_bytes);
            let extent = Extent::new(left.offset_bytes, left.len_bytes + right.len_bytes);
            part = Subtree::at(extent, parent(&left.value, &right.value));
        }
        self.parts.insert(part.offset_bytes, part);
        Ok(())
    }

    /// The parts, merged and ascending: what one of several machines hands over for its range of the whole.
    pub fn parts(&self) -> impl Iterator<Item = Subtree> + '_ {
        self.parts.values().copied()
    }

    /// The BLAKE3 of all `len` bytes, as b3sum prints it; `None` if a part is missing, or one is beyond the end.
    pub fn whole(&self, len: u64) -> Option<BlockDigest> {
        let end = self.parts.last_key_value().map_or(0, |(_, last)| last.end());
        if end != len {
            return None;
        }
        if len == 0 {
            return Some((*blake3::hash(b"").as_bytes()).into());
        }
        if let Some(part) = self.parts.get(&0).filter(|part| part.len_bytes == len) {
            return Some(part.value);
        }
        let [left, right] = self.halves(Extent::new(0, len))?;
        let root = hazmat::merge_subtrees_root(left.as_bytes(), right.as_bytes(), Mode::Hash);
        Some((*root.as_bytes()).into())
    }

    /// The value of the node at `extent`, which is not the whole.
    fn value(&self, extent: Extent) -> Option<BlockDigest> {
        if let Some(part) = self.parts.get(&extent.offset).filter(|part| part.len_bytes == extent.len) {
            return Some(part.value);
        }
        let [left, right] = self.halves(extent)?;
        Some(parent(&left, &right))
    }

    fn halves(&self, extent: Extent) -> Option<[BlockDigest; 2]> {
        if extent.len <= LEAF_BYTES {
            return None;
        }
        // As `hazmat::left_subtree_len`, whose sum overflows for the longest lengths.
        let left = extent.len.div_ceil(2).next_power_of_two();
        let right = Extent::new(extent.offset + left, extent.len - left);
        Some([self.value(Extent::new(extent.offset, left))?, self.value(right)?])
    }
}

/// The digest of `len_bytes` from the parts that machines handed over, in any order; `None` if one is missing, given
/// twice, or no part of a whole of that length.
pub fn merge(parts: impl IntoIterator<Item = Subtree>, len_bytes: u64) -> Option<BlockDigest> {
    let mut tree = HashTree::default();
    parts.into_iter().try_for_each(|part| tree.add(part)).ok()?;
    tree.whole(len_bytes)
}

fn parent(left: &BlockDigest, right: &BlockDigest) -> BlockDigest {
    hazmat::merge_subtrees_non_root(left.as_bytes(), right.as_bytes(), Mode::Hash).into()
}

#[cfg(test)]
#[path = "hash_tree_tests.rs"]
mod tests;
