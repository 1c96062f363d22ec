//! What a block says about itself.

/// The least bytes of a block.
pub const PATTERN_BLOCK_BYTES_MIN: u32 = 512;

const MAGIC: u64 = u64::from_le_bytes(*b"haulpat1");

/// Words of a mark.
pub(super) const MARK_WORDS: usize = 6;

/// What a block says about itself. Its check held, so these words were written together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark {
    /// Where it was meant to go, in bytes.
    pub address: u64,
    /// The run that wrote it; a later one has a larger number.
    pub run: u64,
    /// Which writing of that address within the run, from 0.
    pub sequence: u64,
    /// Bytes of the block.
    pub block_bytes: u32,
}

impl Mark {
    /// The mark at the start of `block`; `None` if there is none, or one whose check does not hold. A checker of a disk
    /// without being told run and length reads them here.
    pub fn read(block: &[u8]) -> Option<Mark> {
        let (words, _) = block.as_chunks::<8>();
        let word = |at: usize| words.get(at).map(|bytes| u64::from_le_bytes(*bytes));
        let block_bytes = u32::try_from(word(4)?).ok()?;
        let mark = Mark { address: word(1)?, run: word(2)?, sequence: word(3)?, block_bytes };
        let holds = word(0)? == MAGIC && word(5)? == mark.check() && mark.is_possible();
        holds.then_some(mark)
    }

    /// A length that a pattern can have.
    pub(super) fn is_possible(&self) -> bool {
        self.block_bytes >= PATTERN_BLOCK_BYTES_MIN && self.block_bytes.is_multiple_of(CELL_BYTES as u32)
    }

    /// Where the words of the block begin. Each step can be turned back, so that two marks that differ in one field
    /// never have the same.
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

/// Bytes that are judged together; a tear within them is not distinguished from flipped bits.
pub(super) const CELL_BYTES: usize = 64;

/// Mixes all bits of `word` into all bits; can be turned back, so no two words become the same (splitmix64's steps).
pub(super) fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
