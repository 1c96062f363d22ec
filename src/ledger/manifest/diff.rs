//! Finds the differences between two manifests.
use super::Manifest;
use crate::core::{BlockDigest, BlockHash, Extent};
use std::iter::Peekable;

/// Bytes that differ between both copies. Offsets count from the first byte of each copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// In both, with at least one different byte; or the last blocks of copies of different lengths, which
    /// cannot be compared if the shorter one ends within a block.
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

    /// Joins both, if they are of the same kind and `next` is adjacent.
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

/// Why the differences of two manifests cannot be determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomparable {
    /// Their digests are of different kinds, and the whole digests do not show that the copies are equal.
    Algorithms {
        /// That of the first.
        first: BlockHash,
        /// That of the second.
        second: BlockHash,
        /// The copies differ; false: that is unknown, too.
        differ: bool,
    },
    /// Their blocks have different lengths, and the whole digests do not show that the copies are equal.
    BlockLengths {
        /// That of the first, in bytes.
        first: u64,
        /// That of the second, in bytes.
        second: u64,
        /// The copies differ; false: that is unknown, too.
        differ: bool,
    },
}

/// Finds the differences between two copies from their manifests.
///
/// Digests of different block lengths or algorithms cannot be compared; such manifests are compared only by their
/// lengths and whole digests.
///
/// # Errors
/// They cannot be compared.
pub fn diff<'a>(first: &'a Manifest, second: &'a Manifest) -> Result<Differences<'a>, Incomparable> {
    let (a, b) = (&first.head, &second.head);
    let pieces = |manifest: &'a Manifest| manifest.pieces().iter();
    let same_len = first.closing.len_bytes == second.closing.len_bytes;
    let wholes = first.closing.whole.zip(second.closing.whole);
    let wholes = wholes.filter(|_| a.algorithm.of_whole() == b.algorithm.of_whole());
    let same_whole = wholes.map(|(a, b)| a == b);
    let equal = same_len && same_whole == Some(true);
    if a.algorithm != b.algorithm && !equal {
        let differ = !same_len || same_whole == Some(false);
        return Err(Incomparable::Algorithms { first: a.algorithm, second: b.algorithm, differ });
    }
    if a.block_bytes != b.block_bytes && !equal {
        let differ = !same_len || same_whole == Some(false);
        return Err(Incomparable::BlockLengths { first: a.block_bytes, second: b.block_bytes, differ });
    }
    // If the whole digests are equal, there is nothing to compare.
    let [first, second] = [first, second].map(|manifest| if equal { [].iter() } else { pieces(manifest) });
    let pieces = Pieces { algorithm: a.algorithm, first, second, rest: [None; 2] };
    Ok(Differences { pieces: pieces.peekable() })
}

/// The differences between two manifests, ascending, with adjacent ones merged.
pub struct Differences<'a> {
    pieces: Peekable<Pieces<'a>>,
}

impl Iterator for Differences<'_> {
    type Item = Difference;

    fn next(&mut self) -> Option<Difference> {
        // Equal pieces are omitted, so consecutive entries of the list need not be adjacent.
        let mut found = self.pieces.next()?;
        while let Some(joined) = self.pieces.peek().and_then(|next| found.joined(*next)) {
            found = joined;
            self.pieces.next();
        }
        Some(found)
    }
}

type Piece = (Extent, Option<BlockDigest>);

/// Iterates over both manifests in parallel, by pieces that are one block or one run of zeros in both.
struct Pieces<'a> {
    algorithm: BlockHash,
    first: std::slice::Iter<'a, Piece>,
    second: std::slice::Iter<'a, Piece>,
    /// The remainders of the current pieces.
    rest: [Option<Piece>; 2],
}

impl Pieces<'_> {
    /// Whether two pieces at one offset are equal, up to the end of the shorter one.
    fn same(&self, a: Piece, b: Piece) -> bool {
        match (a, b) {
            ((_, None), (_, None)) => true,
            // Blocks of different lengths have different digests.
            ((_, Some(left)), (_, Some(right))) => left == right,
            // The digest of a block of zeros applies to every part of it; any other digest applies only to the
            // full block.
            ((block, Some(digest)), (_, None)) | ((_, None), (block, Some(digest))) => {
                self.algorithm.is_of_zeros(digest, block.len)
            }
        }
    }
}

/// The part of a piece after its first `len` bytes.
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
