//! The digest of each block of a stream that comes in pieces of any length.
use crate::core::{BlockDigest, BlockDigests, DigestedBlock, Extent, HashKind};
use sha2::{Digest as _, Sha256};

/// Zeros for runs that were never read.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Cuts a stream into blocks and digests each. Ascending pieces of any length; where one does not begin at the end of
/// the one before, what was there of a block is a block of its own.
///
/// Whole blocks of zeros that were never read cost nothing. Blocks that turn out to be zeros are reported as such: so
/// it is the same whether they were read or not.
pub(super) struct BlockMaker {
    block_bytes: u64,
    hasher: Hasher,
    /// The digest of a whole block of zeros.
    zeros: BlockDigest,
    /// The present block, as far as it goes.
    block: Extent,
    /// All of the present block is zeros, and the hasher has none of it.
    all_zero: bool,
    /// Zeros before the present block, not reported yet.
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

    /// The digest of what came since the last one.
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
    /// Before the first byte. Panics on a kind that [`BlockDigest::is_made_by`] is not true of.
    pub(super) fn new(BlockDigests { kind, block_bytes }: BlockDigests) -> Self {
        let hasher = match kind {
            HashKind::Blake3 => Hasher::Blake3(Box::default()),
            HashKind::Sha256 => Hasher::Sha256(Sha256::new()),
            HashKind::Md5 | HashKind::Xxh3 => panic!("{} cannot identify blocks", kind.name()),
        };
        let nothing = Extent::new(0, 0);
        let zeros = BlockDigest::of_zeros(kind, block_bytes);
        BlockMaker { block_bytes, hasher, zeros, block: nothing, all_zero: true, zero_run: nothing, kind }
    }

    /// Takes `len` bytes at `offset` of the stream in, zeros where `bytes` is `None`, and reports what is finished.
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
                None => feed_zeros(&mut self.hasher, now),
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
            feed_zeros(&mut self.hasher, self.block.len);
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

    /// Tells what is left: the stream ends here, or continues elsewhere.
    pub(super) fn finish(&mut self, mut found: impl FnMut(DigestedBlock)) {
        self.end_block(&mut found);
        self.emit_zero_run(&mut found);
    }
}

fn feed_zeros(hasher: &mut Hasher, mut len: u64) {
    while len > 0 {
        let now = len.min(ZEROS.len() as u64);
        hasher.update(&ZEROS[..now as usize]);
        len -= now;
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
        fn blocks_are_the_same_however_the_stream_is_cut(
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
    fn a_stream_that_goes_on_elsewhere_begins_a_new_block() {
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
