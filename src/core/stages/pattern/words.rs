//! The content of a block after its mark.
use super::mark::{CELL_BYTES, MARK_WORDS, Mark};

/// Number of 64-bit words in a cell.
pub(super) const CELL_WORDS: usize = CELL_BYTES / 8;

/// Constants of wyrand (Wang Yi, public domain). It needs one multiplication per word, and each word depends only on
/// its index, so that the processor can compute several in parallel.
const STEP: u64 = 0xa076_1d64_78bd_642f;
const FACTOR: u64 = 0xe703_7ed1_a0b4_28db;

/// Iterates over the words of a block after its mark.
#[derive(Clone, Copy)]
pub(super) struct Words {
    state: u64,
}

impl Words {
    pub(super) fn after_mark(mark: &Mark) -> Self {
        Words { state: mark.seed() }
    }

    #[inline]
    pub(super) fn next_word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let product = u128::from(self.state) * u128::from(self.state ^ FACTOR);
        product as u64 ^ (product >> 64) as u64
    }
}

/// Iterates over the cells of the block that a mark generates.
pub(super) struct Cells {
    mark: Option<[u64; MARK_WORDS]>,
    words: Words,
}

impl Cells {
    pub(super) fn of(mark: &Mark) -> Self {
        Cells { mark: Some(mark.words()), words: Words::after_mark(mark) }
    }

    #[inline]
    pub(super) fn next_cell(&mut self) -> [u64; CELL_WORDS] {
        let mut cell = [0; CELL_WORDS];
        let mut from = 0;
        if let Some(mark) = self.mark.take() {
            cell[..MARK_WORDS].copy_from_slice(&mark);
            from = MARK_WORDS;
        }
        cell[from..].iter_mut().for_each(|word| *word = self.words.next_word());
        cell
    }
}
