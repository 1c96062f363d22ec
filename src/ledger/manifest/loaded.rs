//! A manifest in memory.
use super::{Entry, Head, LastLine, Reader};
use crate::core::{BlockDigest, Extent, ExtentSet};
use crate::ledger::Fault;
use std::io::BufRead;

/// A complete manifest in memory, sorted by offset: about 56 bytes for each block of data, or 140 MB for 10 TB
/// in blocks of 4 MiB.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The first line.
    pub head: Head,
    /// The last line.
    pub closing: LastLine,
    /// Bytes that could not be read.
    pub unread: ExtentSet,
    /// The ranges of each side in order, for a copy of ranges, by [`crate::core::Side::index`].
    pub ranges: [Vec<Extent>; 2],
    /// Every byte once, ascending; `None`: zeros.
    pieces: Vec<(Extent, Option<BlockDigest>)>,
}

impl Manifest {
    /// Reads the complete manifest.
    ///
    /// # Errors
    /// Those of [`Reader`]; a manifest with a fault is not loaded in part.
    pub fn load(input: impl BufRead) -> Result<Self, Fault> {
        let mut reader = Reader::open(input)?;
        let (mut pieces, mut unread) = (Vec::new(), ExtentSet::new());
        let mut ranges = [Vec::new(), Vec::new()];
        for entry in reader.by_ref() {
            match entry? {
                Entry::Block { extent, digest } => pieces.push((extent, Some(digest))),
                Entry::Zeros(extent) => pieces.push((extent, None)),
                Entry::Unread(extent) => unread.insert(extent),
                Entry::Range(side, extent) => ranges[side.index()].push(extent),
            }
        }
        pieces.sort_unstable_by_key(|(extent, _)| extent.offset);
        let closing = *reader.closing().expect("a manifest without a fault has its last line");
        Ok(Manifest { head: reader.head().clone(), closing, unread, ranges, pieces })
    }

    /// Whether it is of a copy of ranges.
    pub fn is_listed(&self) -> bool {
        self.ranges.iter().any(|ranges| !ranges.is_empty())
    }

    /// Every byte of the copy once, in ascending pieces: a block with its digest, or zeros.
    pub fn pieces(&self) -> &[(Extent, Option<BlockDigest>)] {
        &self.pieces
    }

    #[cfg(test)]
    /// The piece that contains byte `offset` of the copy, with which verifying a part begins.
    pub fn piece_at(&self, offset: u64) -> Option<&(Extent, Option<BlockDigest>)> {
        let next = self.pieces.partition_point(|(extent, _)| extent.offset <= offset);
        self.pieces[..next].last().filter(|(extent, _)| offset < extent.end())
    }
}
