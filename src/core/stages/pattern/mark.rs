//! The mark at the start of each block of the test pattern.

/// Minimum block size, in bytes.
pub const PATTERN_BLOCK_BYTES_MIN: u32 = 512;

const MAGIC: u64 = u64::from_le_bytes(*b"haulpat1");

/// Number of 64-bit words in a mark.
pub(super) const MARK_WORDS: usize = 6;

/// The mark of a block. It was validated by its check word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark {
    /// Offset where the block belongs, in bytes.
    pub address: u64,
    /// Number of the run that wrote it; later runs have larger numbers.
    pub run: u64,
    /// Number of earlier writes of this block in the same run.
    pub sequence: u64,
    /// Size of the block, in bytes.
    pub block_bytes: u32,
}

impl Mark {
    /// Reads the mark at the start of `block`; `None` if there is none, or its check word is wrong. Used to detect the
    /// run and block size of a disk.
    pub fn read(block: &[u8]) -> Option<Mark> {
        let (words, _) = block.as_chunks::<8>();
        let word = |at: usize| words.get(at).map(|bytes| u64::from_le_bytes(*bytes));
        let block_bytes = u32::try_from(word(4)?).ok()?;
        let mark = Mark { address: word(1)?, run: word(2)?, sequence: word(3)?, block_bytes };
        let holds = word(0)? == MAGIC && word(5)? == mark.check() && mark.is_possible();
        holds.then_some(mark)
    }

    /// Whether the block size is valid.
    pub(super) fn is_possible(&self) -> bool {
        self.block_bytes >= PATTERN_BLOCK_BYTES_MIN && self.block_bytes.is_multiple_of(CELL_BYTES as u32)
    }

    /// Seed of the words of the block. Every step is invertible, so that marks that differ in one field have different
    /// seeds.
    pub(super) fn seed(&self) -> u64 {
        let fields = [self.address, self.run, self.sequence, u64::from(self.block_bytes)];
        fields.iter().fold(MAGIC, |seed, field| mixed(seed ^ field))
    }

    fn check(&self) -> u64 {
        mixed(!self.seed())
    }

    pub(super) fn words(&self) -> [u64; MARK_WORDS] {
        [MAGIC, self.address, self.run, self.sequence, u64::from(self.block_bytes), self.check()]
    }
}

/// Unit of checking: a tear inside a cell cannot be distinguished from flipped bits.
pub(super) const CELL_BYTES: usize = 64;

/// Mixes all bits of `word`. Invertible, so different words stay different (the finalizer of splitmix64).
pub(super) fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
