//! Digests of the blocks of a stream that arrives in pieces of any length.
use crate::core::zero_bytes::{are_zeros, zero_bytes};
use crate::core::{BlockDigest, BlockDigests, BlockHash, DigestedBlock, Extent};
use blake3::hazmat::HasherExt;
use sha2::{Digest as _, Sha256};

/// Zeros are reported at the latest after this many bytes, so that their digests are computed during the copy.
const ZERO_RUN_BYTES_MAX: u64 = 64 << 30;

/// Divides a stream into blocks and digests each. Pieces are ascending and of any length. After a gap, a new block
/// begins, and the incomplete block before it is digested separately.
///
/// Blocks of zeros are not digested, whether they were read or not, so that the result does not depend on that.
pub(super) struct BlockMaker {
    block_bytes: u64,
    /// Where the stream begins in the whole to whose tree the digests belong.
    from_bytes: u64,
    hasher: Hasher,
    /// The part of the current block that was added so far.
    block: Extent,
    /// Whether the current block is all zeros so far; the hasher has not processed them.
    all_zero: bool,
    /// Zeros before the current block that were not reported yet.
    zero_run: Extent,
    hash: BlockHash,
    /// The BLAKE3 of the first block alone, as long as the stream has no other.
    lone: Option<BlockDigest>,
    /// No block was before the current one, in the whole too.
    is_first: bool,
}

enum Hasher {
    Blake3(Box<blake3::Hasher>),
    Sha256(Sha256),
}

impl Hasher {
    fn update(&mut self, bytes: &[u8]) {
        match self {
            Hasher::Blake3(hasher) => {
                hasher.update(bytes);
            }
            Hasher::Sha256(hasher) => hasher.update(bytes),
        }
    }
}

impl BlockMaker {
    /// An empty stream.
    pub(super) fn new(BlockDigests { hash, block_bytes, from_bytes }: BlockDigests) -> Self {
        let hasher = match hash {
            BlockHash::Blake3Tree | BlockHash::Blake3 => Hasher::Blake3(Box::default()),
            BlockHash::Sha256 => Hasher::Sha256(Sha256::new()),
        };
        let nothing = Extent::new(0, 0);
        BlockMaker {
            block_bytes,
            from_bytes,
            hasher,
            block: nothing,
            all_zero: true,
            zero_run: nothing,
            hash,
            lone: None,
            is_first: from_bytes == 0,
        }
    }

    /// The BLAKE3 of the whole stream, if it is a single block from its first byte: chaining values do not give that.
    pub(super) fn lone(&self) -> Option<BlockDigest> {
        self.lone
    }

    /// Adds `len` bytes at `offset` of the stream, zeros if `bytes` is `None`, and reports completed blocks.
    pub(super) fn add(&mut self, offset: u64, len: u64, bytes: Option<&[u8]>, mut found: impl FnMut(DigestedBlock)) {
        if offset != self.block.end() {
            self.finish(&mut found);
            self.block = Extent::new(offset, 0);
        }
        let mut done = 0;
        while done < len {
            let at = self.block.end();
            let to_border = self.block_bytes - at % self.block_bytes;
            let now = to_border.min(len - done);
            match bytes {
                Some(bytes) => self.data(&bytes[done as usize..(done + now) as usize]),
                None => self.zeros(now),
            }
            self.block.len += now;
            done += now;
            if now == to_border {
                self.end_block(&mut found);
            }
        }
    }

    fn zeros(&mut self, len: u64) {
        if !self.all_zero {
            zero_bytes(len).for_each(|zeros| self.hasher.update(zeros));
        }
    }

    fn data(&mut self, bytes: &[u8]) {
        if self.all_zero {
            if are_zeros(bytes) {
                return;
            }
            self.all_zero = false;
            self.place();
            zero_bytes(self.block.len).for_each(|zeros| self.hasher.update(zeros));
        }
        self.hasher.update(bytes);
    }

    /// Sets the offset of the block in the tree. A block that does not begin at a multiple of the block size is not
    /// part of the tree, and its digest is not compared.
    fn place(&mut self) {
        if let (BlockHash::Blake3Tree, Hasher::Blake3(hasher)) = (self.hash, &mut self.hasher) {
            let is_part = self.block.offset.is_multiple_of(self.block_bytes);
            hasher.set_input_offset(if is_part { self.from_bytes + self.block.offset } else { 0 });
        }
    }

    /// Returns the digest of the current block, which is not empty and has other bytes than zeros.
    fn take(&mut self) -> BlockDigest {
        let digest = match &mut self.hasher {
            Hasher::Blake3(hasher) if self.hash == BlockHash::Blake3Tree => {
                self.lone = self.is_first.then(|| (*hasher.finalize().as_bytes()).into());
                hasher.finalize_non_root().into()
            }
            Hasher::Blake3(hasher) => (*hasher.finalize().as_bytes()).into(),
            Hasher::Sha256(hasher) => return <[u8; 32]>::from(hasher.finalize_reset()).into(),
        };
        // A reset hasher would remember its place.
        self.hasher = Hasher::Blake3(Box::default());
        digest
    }

    fn end_block(&mut self, found: &mut impl FnMut(DigestedBlock)) {
        let extent = self.block;
        if extent.is_empty() {
            return;
        }
        self.lone = None;
        self.is_first &= extent.offset == 0;
        let digest = match self.all_zero {
            false => Some(self.take()),
            true => {
                let is_lone = self.is_first && self.hash == BlockHash::Blake3Tree;
                self.lone = is_lone.then(|| BlockDigest::blake3_of(zero_bytes(extent.len)));
                None
            }
        };
        self.is_first = false;
        self.all_zero = true;
        self.block = Extent::new(extent.end(), 0);
        match digest {
            None if self.continues_zeros(extent) => self.zero_run.len += extent.len,
            None => {
                self.emit_zero_run(found);
                self.zero_run = extent;
            }
            Some(_) => {
                self.emit_zero_run(found);
                found(DigestedBlock { extent, digest });
            }
        }
    }

    fn continues_zeros(&self, extent: Extent) -> bool {
        let run = self.zero_run;
        !run.is_empty() && run.end() == extent.offset && !run.end().is_multiple_of(ZERO_RUN_BYTES_MAX)
    }

    fn emit_zero_run(&mut self, found: &mut impl FnMut(DigestedBlock)) {
        let extent = std::mem::replace(&mut self.zero_run, Extent::new(0, 0));
        if !extent.is_empty() {
            found(DigestedBlock { extent, digest: None });
        }
    }

    /// Reports the remaining blocks, at the end of the stream or before a gap.
    pub(super) fn finish(&mut self, mut found: impl FnMut(DigestedBlock)) {
        self.end_block(&mut found);
        self.emit_zero_run(&mut found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BLOCK: u64 = 1024;
    const HASHES: [BlockHash; 3] = [BlockHash::Blake3Tree, BlockHash::Blake3, BlockHash::Sha256];

    fn made(hash: BlockHash, pieces: &[(u64, Vec<u8>, bool)]) -> Vec<DigestedBlock> {
        let mut maker = BlockMaker::new(BlockDigests { hash, block_bytes: BLOCK, from_bytes: 0 });
        let mut found = Vec::new();
        for (offset, bytes, unread) in pieces {
            let given = (!unread).then_some(&bytes[..]);
            maker.add(*offset, bytes.len() as u64, given, |block| found.push(block));
        }
        maker.finish(|block| found.push(block));
        found
    }

    proptest! {
        #[test]
        fn block_digests_do_not_depend_on_piece_sizes(
            hash in prop::sample::select(HASHES.to_vec()), start in 0u64..3,
            runs in prop::collection::vec((any::<bool>(), 1usize..3000, any::<bool>()), 1..12),
        ) {
            let start = start * BLOCK;
            let mut stream: Vec<u8> = Vec::new();
            let mut pieces = Vec::new();
            for (zero, len, unread) in runs {
                let bytes: Vec<u8> = (0..len).map(|at| if zero { 0 } else { (stream.len() + at) as u8 | 1 }).collect();
                pieces.push((start + stream.len() as u64, bytes.clone(), zero && unread));
                stream.extend(bytes);
            }
            let mut expected: Vec<DigestedBlock> = Vec::new();
            for (number, block) in stream.chunks(BLOCK as usize).enumerate() {
                let extent = Extent::new(start + number as u64 * BLOCK, block.len() as u64);
                let zero = block.iter().all(|&byte| byte == 0);
                match expected.last_mut() {
                    Some(DigestedBlock { extent: run, digest: None }) if zero => run.len += extent.len,
                    _ => {
                        let digest = (!zero).then(|| hash.digest(extent.offset, block));
                        expected.push(DigestedBlock { extent, digest });
                    }
                }
            }
            prop_assert_eq!(made(hash, &pieces), expected);
        }
    }

    #[test]
    fn a_stream_that_continues_elsewhere_begins_a_new_block() {
        for hash in HASHES {
            let pieces = [(0, vec![1; 1030], false), (4096, vec![2; 1024], false), (6400, vec![0; 8], true)];
            let digest = |offset, byte, len| Some(hash.digest(offset, &vec![byte; len]));
            let expected = [
                (Extent::new(0, 1024), digest(0, 1, 1024)),
                (Extent::new(1024, 6), digest(1024, 1, 6)),
                (Extent::new(4096, 1024), digest(4096, 2, 1024)),
                (Extent::new(6400, 8), None),
            ];
            assert_eq!(made(hash, &pieces), expected.map(|(extent, digest)| DigestedBlock { extent, digest }));
        }
    }

    #[test]
    fn a_stream_of_one_block_has_the_digest_of_the_whole() {
        let lone = |pieces: &[(u64, &[u8])]| {
            let mut maker =
                BlockMaker::new(BlockDigests { hash: BlockHash::Blake3Tree, block_bytes: BLOCK, from_bytes: 0 });
            pieces.iter().for_each(|(offset, bytes)| maker.add(*offset, bytes.len() as u64, Some(bytes), |_| {}));
            maker.finish(|_| {});
            maker.lone()
        };
        for bytes in [&[7; 1024][..], &[7; 5], &[0; 1024], &[0; 3]] {
            assert_eq!(lone(&[(0, bytes)]), Some(BlockDigest::blake3(bytes)), "{} bytes", bytes.len());
        }
        assert_eq!(lone(&[(0, &[7; 1000]), (1000, &[7; 25])]), None, "two blocks");
        assert_eq!((lone(&[(1024, &[7; 10])]), lone(&[(0, &[0; 1024]), (1024, &[0; 1])])), (None, None));
        assert_eq!(lone(&[(0, &[7; 10]), (1024, &[7; 10])]), None, "a gap");
    }

    #[test]
    fn a_stream_that_begins_within_a_whole_has_the_values_of_its_tree() {
        let from_bytes = 6 * BLOCK;
        let digests = BlockDigests { hash: BlockHash::Blake3Tree, block_bytes: BLOCK, from_bytes };
        let (mut maker, mut found) = (BlockMaker::new(digests), Vec::new());
        maker.add(0, 1500, Some(&[7; 1500]), |block| found.push(block));
        maker.finish(|block| found.push(block));
        let value = |offset, len| BlockHash::Blake3Tree.digest(from_bytes + offset, &vec![7; len]);
        let expected = [(Extent::new(0, 1024), value(0, 1024)), (Extent::new(1024, 476), value(1024, 476))];
        assert_eq!(found, expected.map(|(extent, digest)| DigestedBlock { extent, digest: Some(digest) }));
    }

    #[test]
    fn zeros_are_reported_in_runs_of_limited_length() {
        let mut maker =
            BlockMaker::new(BlockDigests { hash: BlockHash::Blake3Tree, block_bytes: 1 << 30, from_bytes: 0 });
        let (mut found, len) = (Vec::new(), 3 * ZERO_RUN_BYTES_MAX / 2);
        maker.add(0, len, None, |block| found.push(block.extent));
        maker.add(len, 5, Some(&[1; 5]), |block| found.push(block.extent));
        maker.finish(|block| found.push(block.extent));
        let half = ZERO_RUN_BYTES_MAX;
        assert_eq!(found, [Extent::new(0, half), Extent::new(half, len - half), Extent::new(len, 5)]);
    }
}
