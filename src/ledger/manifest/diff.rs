//! Where two manifests differ.
use super::Manifest;
use crate::core::{BlockDigest, Extent, HashKind};
use std::iter::Peekable;

/// Bytes that are not the same in both copies. Offsets count from the first byte of each copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// In both, and at least one byte is another; or the last blocks of copies of different lengths, which nothing is
    /// known about where the shorter ends within a block.
    Differs(Extent),
    /// The first copy is longer.
    OnlyInFirst(Extent),
    /// The second copy is longer.
    OnlyInSecond(Extent),
}

impl Difference {
    /// The bytes.
    pub fn extent(&self) -> Extent {
        match *self {
            Difference::Differs(extent) | Difference::OnlyInFirst(extent) | Difference::OnlyInSecond(extent) => extent,
        }
    }

    /// Both in one, if they are of one sort and `next` follows at once.
    fn joined(self, next: Difference) -> Option<Difference> {
        let join = |a: Extent, b: Extent| (a.end() == b.offset).then(|| Extent::new(a.offset, a.len + b.len));
        match (self, next) {
            (Difference::Differs(a), Difference::Differs(b)) => join(a, b).map(Difference::Differs),
            (Difference::OnlyInFirst(a), Difference::OnlyInFirst(b)) => join(a, b).map(Difference::OnlyInFirst),
            (Difference::OnlyInSecond(a), Difference::OnlyInSecond(b)) => join(a, b).map(Difference::OnlyInSecond),
            _ => None,
        }
    }
}

/// Why it cannot be said where two manifests differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomparable {
    /// Their digests are of different kinds.
    Algorithms {
        /// The first one's.
        first: HashKind,
        /// The second one's.
        second: HashKind,
    },
    /// Their blocks have different lengths, and the digests of the whole do not show that the copies are equal.
    BlockLengths {
        /// The first one's, in bytes.
        first: u64,
        /// The second one's, in bytes.
        second: u64,
        /// The copies do differ; else that is not known either.
        differ: bool,
    },
}

/// Says where two copies differ, by their manifests alone.
///
/// Digests of different block lengths say nothing about each other; such manifests are compared only as far as their
/// lengths and the digests of the whole show that nothing differs.
///
/// # Errors
/// They cannot be compared.
pub fn diff<'a>(first: &'a Manifest, second: &'a Manifest) -> Result<Differences<'a>, Incomparable> {
    let (a, b) = (&first.head, &second.head);
    if a.algorithm != b.algorithm {
        return Err(Incomparable::Algorithms { first: a.algorithm, second: b.algorithm });
    }
    let pieces = |manifest: &'a Manifest| manifest.pieces().iter();
    let same_len = first.closing.len_bytes == second.closing.len_bytes;
    let same_whole = first.closing.whole.zip(second.closing.whole).map(|(a, b)| a == b);
    let equal = same_len && same_whole == Some(true);
    if a.block_bytes != b.block_bytes && !equal {
        let differ = !same_len || same_whole == Some(false);
        return Err(Incomparable::BlockLengths { first: a.block_bytes, second: b.block_bytes, differ });
    }
    // Nothing is left to compare where the whole is the same.
    let [first, second] = [first, second].map(|manifest| if equal { [].iter() } else { pieces(manifest) });
    let whole_block = BlockDigest::of_zeros(a.algorithm, a.block_bytes);
    let pieces =
        Pieces { algorithm: a.algorithm, block_bytes: a.block_bytes, whole_block, first, second, rest: [None; 2] };
    Ok(Differences { pieces: pieces.peekable() })
}

/// The differences of two manifests, ascending, neighbours in one.
pub struct Differences<'a> {
    pieces: Peekable<Pieces<'a>>,
}

impl Iterator for Differences<'_> {
    type Item = Difference;

    fn next(&mut self) -> Option<Difference> {
        // What is the same was left out, so that neighbours in the list may be apart on the disk.
        let mut found = self.pieces.next()?;
        while let Some(joined) = self.pieces.peek().and_then(|next| found.joined(*next)) {
            found = joined;
            self.pieces.next();
        }
        Some(found)
    }
}

type Piece = (Extent, Option<BlockDigest>);

/// Walks over both manifests at once, one block or one run of zeros in both at a time.
struct Pieces<'a> {
    algorithm: HashKind,
    block_bytes: u64,
    /// The digest of a whole block of zeros.
    whole_block: BlockDigest,
    first: std::slice::Iter<'a, Piece>,
    second: std::slice::Iter<'a, Piece>,
    /// What is left of the pieces that the walk is in.
    rest: [Option<Piece>; 2],
}

impl Pieces<'_> {
    /// Whether two pieces at one offset have the same bytes, as far as the shorter one goes.
    fn same(&self, a: Piece, b: Piece) -> bool {
        let zeros = |len| {
            if len == self.block_bytes { self.whole_block } else { BlockDigest::of_zeros(self.algorithm, len) }
        };
        match (a, b) {
            ((_, None), (_, None)) => true,
            // Blocks of other lengths have other digests.
            ((_, Some(left)), (_, Some(right))) => left == right,
            // A digest says that all of its block is zero, so every part is; or nothing about any part.
            ((block, Some(digest)), (_, None)) | ((_, None), (block, Some(digest))) => digest == zeros(block.len),
        }
    }
}

/// What is left of a piece behind its first `len` bytes.
fn behind((extent, digest): Piece, len: u64) -> Option<Piece> {
    (extent.len > len).then(|| (Extent::new(extent.offset + len, extent.len - len), digest))
}

impl Iterator for Pieces<'_> {
    type Item = Difference;

    fn next(&mut self) -> Option<Difference> {
        loop {
            let a = self.rest[0].take().or_else(|| self.first.next().copied());
            let b = self.rest[1].take().or_else(|| self.second.next().copied());
            let (a, b) = match (a, b) {
                (Some(a), Some(b)) => (a, b),
                (Some((extent, _)), None) => return Some(Difference::OnlyInFirst(extent)),
                (None, Some((extent, _))) => return Some(Difference::OnlyInSecond(extent)),
                (None, None) => return None,
            };
            let common = Extent::new(a.0.offset, a.0.len.min(b.0.len));
            debug_assert_eq!(a.0.offset, b.0.offset, "both manifests cover every byte");
            let same = self.same(a, b);
            self.rest = [behind(a, common.len), behind(b, common.len)];
            if !same {
                return Some(Difference::Differs(common));
            }
        }
    }
}
