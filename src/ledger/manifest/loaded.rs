//! A manifest in memory.
use super::{Entry, Head, LastLine, Reader};
use crate::core::{BlockDigest, Extent, ExtentSet};
use crate::ledger::Fault;
use std::io::BufRead;

/// A whole manifest in memory, its lines in the order of their bytes: about 56 bytes for each block of data, which is
/// 140 MB for 10 TB in blocks of 4 MiB.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// What it is about.
    pub head: Head,
    /// Its last line.
    pub closing: LastLine,
    /// Bytes that could not be read.
    pub unread: ExtentSet,
    /// Every byte once, ascending; `None`: zeros.
    pieces: Vec<(Extent, Option<BlockDigest>)>,
}

impl Manifest {
    /// Reads all of it.
    ///
    /// # Errors
    /// Those of [`Reader`]; a manifest that has one is not loaded in part.
    pub fn load(input: impl BufRead) -> Result<Self, Fault> {
        let mut reader = Reader::open(input)?;
        let (mut pieces, mut unread) = (Vec::new(), ExtentSet::new());
        for entry in reader.by_ref() {
            match entry? {
                Entry::Block { extent, digest } => pieces.push((extent, Some(digest))),
                Entry::Zeros(extent) => pieces.push((extent, None)),
                Entry::Unread(extent) => unread.insert(extent),
            }
        }
        pieces.sort_unstable_by_key(|(extent, _)| extent.offset);
        let closing = *reader.closing().expect("a manifest without a fault has its last line");
        Ok(Manifest { head: reader.head().clone(), closing, unread, pieces })
    }

    /// Every byte of the copy once, in ascending pieces: a block with its digest, or zeros.
    pub fn pieces(&self) -> &[(Extent, Option<BlockDigest>)] {
        &self.pieces
    }

    #[cfg(test)]
    /// The piece that byte `offset` of the copy is in, which a verify of a part begins with.
    pub fn piece_at(&self, offset: u64) -> Option<&(Extent, Option<BlockDigest>)> {
        let next = self.pieces.partition_point(|(extent, _)| extent.offset <= offset);
        self.pieces[..next].last().filter(|(extent, _)| offset < extent.end())
    }
}
