//! The BLAKE3 of a whole copy, from the digests of its blocks.
use crate::core::hash_tree::{HashTree, Subtree};
use crate::core::{BlockDigest, DigestedBlock, Error, Extent, Kind, Result};

/// Zeros that are digested in any case, in bytes: half a minute of work.
const ZEROS_MIN: u64 = 64 << 30;

/// More zeros are digested if they are at most this many times the other data.
const ZEROS_PER_DATA: u64 = 8;

/// Collects the values of blocks, in any order. Zeros have none in the copy, so they are digested here: their values
/// depend on their places.
pub(super) struct WholeDigest {
    tree: HashTree,
    block_bytes: u64,
    /// Whether the user requested it, however many zeros there are.
    is_requested: bool,
    zero_bytes: u64,
    data_bytes: u64,
    /// There were too many zeros.
    is_abandoned: bool,
    /// A block was reported twice.
    is_wrong: bool,
}

impl WholeDigest {
    pub(super) fn new(block_bytes: u64, is_requested: bool) -> Self {
        WholeDigest {
            tree: HashTree::default(),
            block_bytes,
            is_requested,
            zero_bytes: 0,
            data_bytes: 0,
            is_abandoned: false,
            is_wrong: false,
        }
    }

    /// Adds a block, or a run of blocks of zeros.
    pub(super) fn add(&mut self, DigestedBlock { extent, digest }: DigestedBlock) {
        match digest {
            Some(digest) => {
                self.data_bytes += extent.len;
                self.part(Subtree::at(extent, digest));
            }
            None => {
                self.zero_bytes += extent.len;
                let is_much = self.zero_bytes >= ZEROS_MIN && self.zero_bytes / ZEROS_PER_DATA > self.data_bytes;
                self.is_abandoned |= is_much && !self.is_requested;
                let mut at = extent.offset;
                while at < extent.end() && !self.is_abandoned {
                    let block = Extent::new(at, self.block_bytes.min(extent.end() - at));
                    self.part(Subtree::of_zeros(block));
                    at = block.end();
                }
            }
        }
    }

    fn part(&mut self, part: Subtree) {
        if !self.is_abandoned {
            self.is_wrong |= self.tree.add(part).is_err();
        }
    }

    /// The digest of `len` bytes; `None` if there were too many zeros. `lone`: that of a copy of one block, which
    /// follows from no value of a part. An updated manifest of one block has none.
    ///
    /// # Errors
    /// A block is missing, or was reported twice.
    pub(super) fn finish(&self, len: u64, lone: Option<BlockDigest>) -> Result<Option<BlockDigest>> {
        let is_lone = len > 0 && len <= self.block_bytes;
        if self.is_abandoned || is_lone && lone.is_none() && !self.is_requested {
            return Ok(None);
        }
        let digest = if is_lone { lone } else { self.tree.whole(len).filter(|_| !self.is_wrong) };
        digest.map(Some).ok_or_else(|| {
            Error::new(Kind::Io, "the digest of all data is unknown: not every block was digested exactly once")
        })
    }

    /// The note about zeros for which there is no digest of all data.
    pub(super) fn note(&self) -> Option<String> {
        self.is_abandoned.then(|| {
            format!(
                "no digest of all data: with at least {} bytes of zeros it would take longer than the copy; --hash \
                 blake3 computes it",
                self.zero_bytes
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: u64 = 64 << 10;

    fn add(whole: &mut WholeDigest, bytes: &[u8], block: u64, len: u64) {
        let extent = Extent::new(block * BLOCK, len);
        let bytes = &bytes[extent.offset as usize..extent.end() as usize];
        let digest = bytes.iter().any(|&byte| byte > 0).then(|| Subtree::of(extent, [bytes]).value);
        whole.add(DigestedBlock { extent, digest });
    }

    #[test]
    fn blocks_and_runs_of_zeros_give_the_digest_of_the_whole() {
        let mut bytes = vec![0; 9 * BLOCK as usize + 5000];
        bytes[4 * BLOCK as usize + 7] = 1;
        bytes[8 * BLOCK as usize] = 2;
        let mut whole = WholeDigest::new(BLOCK, false);
        for (block, len) in [(5, 3 * BLOCK), (9, 5000), (4, BLOCK), (0, 4 * BLOCK), (8, BLOCK)] {
            assert!(whole.finish(bytes.len() as u64, None).is_err(), "block {block} is missing");
            add(&mut whole, &bytes, block, len);
        }
        assert_eq!(whole.finish(bytes.len() as u64, None).unwrap(), Some(BlockDigest::blake3(&bytes)));
        add(&mut whole, &bytes, 4, BLOCK);
        assert!(whole.finish(bytes.len() as u64, None).is_err(), "reported twice");
        let empty = WholeDigest::new(BLOCK, false).finish(0, None).unwrap();
        assert_eq!(empty, Some(BlockDigest::blake3(b"")));
    }

    #[test]
    fn a_mostly_empty_copy_has_no_digest_unless_requested() {
        let zeros = |whole: &mut WholeDigest, offset, len| {
            whole.add(DigestedBlock { extent: Extent::new(offset, len), digest: None });
        };
        let mut whole = WholeDigest::new(BLOCK, false);
        zeros(&mut whole, 0, ZEROS_MIN);
        assert_eq!((whole.finish(ZEROS_MIN, None).unwrap(), whole.note().is_some()), (None, true));
        let mut whole = WholeDigest::new(BLOCK, false);
        let data = ZEROS_MIN / ZEROS_PER_DATA;
        whole.data_bytes = data;
        whole.zero_bytes = ZEROS_MIN - BLOCK;
        zeros(&mut whole, 0, BLOCK);
        assert!(!whole.is_abandoned, "as much other data");
        let mut whole = WholeDigest::new(BLOCK, true);
        whole.zero_bytes = 100 * ZEROS_MIN;
        zeros(&mut whole, 0, 2 * BLOCK);
        let expected = BlockDigest::blake3(&[0; 2 * BLOCK as usize]);
        assert_eq!((whole.finish(2 * BLOCK, None).unwrap(), whole.note()), (Some(expected), None));
    }
}
