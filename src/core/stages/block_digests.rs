//! Digests of the blocks of a stream that arrives in pieces of any length.
use crate::core::zero_bytes::zero_bytes;
use crate::core::{BlockDigest, BlockDigests, DigestedBlock, Extent, HashKind};
use sha2::{Digest as _, Sha256};

/// Divides a stream into blocks and digests each. Pieces are ascending and of any length. After a gap, a new block
/// begins, and the incomplete block before it is digested separately.
///
/// Blocks of zeros that were not read are not digested. Blocks that were read and contain only zeros are reported as
/// zeros, so that the result does not depend on whether they were read.
pub(super) struct BlockMaker {
    block_bytes: u64,
    hasher: Hasher,
    /// The digest of a whole block of zeros.
    zeros: BlockDigest,
    /// The part of the current block that was added so far.
    block: Extent,
    /// Whether the current block is all zeros so far; the hasher has not processed them.
    all_zero: bool,
    /// Zeros before the current block that were not reported yet.
    zero_run: Extent,
    kind: HashKind,
}

enum Hasher {
    Blake3(Box<blake3::Hasher>),
    Sha256(Sha256),
}

impl Hasher {
    fn update(&mut self, bytes: &[u8]) {
        match self {
            Hasher::Blake3(hasher) => drop(hasher.update(bytes)),
            Hasher::Sha256(hasher) => hasher.update(bytes),
        }
    }

    /// Returns the digest of the bytes since the last call.
    fn take(&mut self) -> BlockDigest {
        match self {
            Hasher::Blake3(hasher) => {
                let digest = *hasher.finalize().as_bytes();
                hasher.reset();
                digest.into()
            }
            Hasher::Sha256(hasher) => <[u8; 32]>::from(hasher.finalize_reset()).into(),
        }
    }
}

impl BlockMaker {
    /// An empty stream. Panics if [`BlockDigest::is_made_by`] is false for `kind`.
    pub(super) fn new(BlockDigests { kind, block_bytes }: BlockDigests) -> Self {
        let hasher = match kind {
            HashKind::Blake3 => Hasher::Blake3(Box::default()),
            HashKind::Sha256 => Hasher::Sha256(Sha256::new()),
            HashKind::Sha512 | HashKind::Sha1 | HashKind::Md5 | HashKind::Xxh3 => {
                panic!("{} cannot identify blocks", kind.name())
            }
        };
        let nothing = Extent::new(0, 0);
        let zeros = BlockDigest::of_zeros(kind, block_bytes);
        BlockMaker { block_bytes, hasher, zeros, block: nothing, all_zero: true, zero_run: nothing, kind }
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
                None if self.all_zero => {}
                None => zero_bytes(now).for_each(|zeros| self.hasher.update(zeros)),
            }
            self.block.len += now;
            done += now;
            if now == to_border {
                self.end_block(&mut found);
            }
        }
    }

    fn data(&mut self, bytes: &[u8]) {
        if std::mem::take(&mut self.all_zero) {
            zero_bytes(self.block.len).for_each(|zeros| self.hasher.update(zeros));
        }
        self.hasher.update(bytes);
    }

    fn end_block(&mut self, found: &mut impl FnMut(DigestedBlock)) {
        let extent = self.block;
        self.block = Extent::new(extent.end(), 0);
        if extent.is_empty() {
            return;
        }
        let digest = (!std::mem::replace(&mut self.all_zero, true)).then(|| self.hasher.take());
        let digest = digest.filter(|digest| *digest != self.zeros_of(extent.len));
        match digest {
            None if self.zero_run.end() == extent.offset && !self.zero_run.is_empty() => {
                self.zero_run.len += extent.len;
            }
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

    fn zeros_of(&self, len: u64) -> BlockDigest {
        if len == self.block_bytes { self.zeros } else { BlockDigest::of_zeros(self.kind, len) }
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

    const BLOCK: u64 = 64;

    fn made(kind: HashKind, pieces: &[(u64, Vec<u8>, bool)]) -> Vec<DigestedBlock> {
        let mut maker = BlockMaker::new(BlockDigests { kind, block_bytes: BLOCK });
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
            kind in prop::sample::select(vec![HashKind::Blake3, HashKind::Sha256]), start in 0u64..3,
            runs in prop::collection::vec((any::<bool>(), 1usize..200, any::<bool>()), 1..12),
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
                        let digest = (!zero).then(|| BlockDigest::of(kind, block));
                        expected.push(DigestedBlock { extent, digest });
                    }
                }
            }
            prop_assert_eq!(made(kind, &pieces), expected);
        }
    }

    #[test]
    fn a_stream_that_continues_elsewhere_begins_a_new_block() {
        let found =
            made(HashKind::Blake3, &[(0, vec![1; 70], false), (256, vec![2; 64], false), (400, vec![0; 8], true)]);
        let digest = |byte, len| Some(BlockDigest::of(HashKind::Blake3, &vec![byte; len]));
        let expected = [
            (Extent::new(0, 64), digest(1, 64)),
            (Extent::new(64, 6), digest(1, 6)),
            (Extent::new(256, 64), digest(2, 64)),
            (Extent::new(400, 8), None),
        ];
        assert_eq!(found, expected.map(|(extent, digest)| DigestedBlock { extent, digest }));
    }
}
