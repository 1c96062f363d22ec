//! Checks a block that was read back.
use super::Mark;
use super::mark::CELL_BYTES;
use super::words::Cells;
use crate::core::stages::sparse::is_zero;

/// The result of checking a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The expected block.
    Good,
    /// A whole block of another offset: it was written to or read from the wrong address. If two blocks carry each
    /// other's address, they were swapped; if the distance is the same everywhere, the disk reports a false capacity.
    /// Some bits may be flipped, too.
    Misplaced(Mark),
    /// The right address, but from another run or sequence: the last write was lost. The mark contains both numbers.
    /// Some bits may be flipped, too.
    Stale(Mark),
    /// One block up to byte `at` and another from there: an interrupted write. Exact to 64 bytes.
    Torn {
        /// Start of the second block, in bytes from the start of this one.
        at: u32,
    },
    /// Only zeros: discarded, or never written.
    Zero,
    /// Not a block of this pattern.
    Foreign,
    /// The expected block with some flipped bits.
    Flipped {
        /// Offset of the first wrong byte in the block.
        first: u32,
        /// Number of wrong bits.
        bits: u32,
    },
}

/// A cell with at least this many wrong bits of 512 belongs to another block. Unrelated data differs in 256 bits on
/// average; 64 is 17 standard deviations below that.
const OTHER_BITS_MIN: u32 = 64;

/// The result of comparing the cells of a block with those of a mark.
#[derive(Default)]
struct Comparison {
    /// The first cell that belongs to another block.
    first_other: Option<u32>,
    /// The first cell that belongs to this block.
    first_own: Option<u32>,
    /// Wrong bits in the cells that belong to this block.
    bits: u32,
    /// The first wrong byte.
    first_byte: Option<u32>,
}

/// The words of one cell of a block.
fn words(cell: &[u8]) -> impl Iterator<Item = u64> + '_ {
    cell.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Whether the block is exactly the one that the mark generates. Differences are accumulated over 4 KiB before they are
/// tested, so that a good block is checked at memory speed.
fn is_made_by(block: &[u8], mark: &Mark) -> bool {
    let mut cells = Cells::of(mark);
    block.chunks(4096).all(|page| {
        let wrong = page.chunks_exact(CELL_BYTES).fold(0, |wrong, cell| {
            let expected = cells.next_cell();
            words(cell).zip(expected).fold(wrong, |wrong, (found, word)| wrong | (found ^ word))
        });
        wrong == 0
    })
}

fn compared(block: &[u8], mark: &Mark) -> Comparison {
    let mut cells = Cells::of(mark);
    let mut comparison = Comparison::default();
    for (number, cell) in (0..).zip(block.chunks_exact(CELL_BYTES)) {
        let expected = cells.next_cell();
        let wrong_bits: u32 = words(cell).zip(expected).map(|(found, word)| (found ^ word).count_ones()).sum();
        if wrong_bits > 0 && comparison.first_byte.is_none() {
            let bytes = cell.iter().zip(expected.iter().flat_map(|word| word.to_le_bytes()));
            let within = bytes.take_while(|(found, byte)| *found == byte).count();
            comparison.first_byte = Some(number * CELL_BYTES as u32 + within as u32);
        }
        if wrong_bits >= OTHER_BITS_MIN {
            comparison.first_other.get_or_insert(number);
        } else {
            comparison.bits += wrong_bits;
            comparison.first_own.get_or_insert(number);
        }
    }
    comparison
}

fn torn_before(cell: u32) -> Verdict {
    Verdict::Torn { at: cell * CELL_BYTES as u32 }
}

/// Checks `block`, where the block with the mark `own` is expected.
pub(super) fn verdict(block: &[u8], own: &Mark) -> Verdict {
    if is_made_by(block, own) {
        return Verdict::Good;
    }
    if is_zero(block) {
        return Verdict::Zero;
    }
    match Mark::read(block).filter(|mark| mark != own && mark.block_bytes == own.block_bytes) {
        Some(mark) => of_another(block, &mark, own),
        None => of_own(block, own),
    }
}

/// The verdict on a block that begins with the mark of another block.
fn of_another(block: &[u8], mark: &Mark, own: &Mark) -> Verdict {
    match compared(block, mark).first_other {
        Some(cell) => torn_before(cell),
        None if mark.address != own.address => Verdict::Misplaced(*mark),
        None => Verdict::Stale(*mark),
    }
}

/// The verdict on a block that begins with its own mark, or without a valid mark.
fn of_own(block: &[u8], own: &Mark) -> Verdict {
    let comparison = compared(block, own);
    match (comparison.first_own, comparison.first_other) {
        (None, _) => Verdict::Foreign,
        (_, None) => {
            let first = comparison.first_byte.expect("it is not good, so a byte is wrong");
            Verdict::Flipped { first, bits: comparison.bits }
        }
        // The start of the block is lost.
        (Some(own), Some(0)) => torn_before(own),
        (_, Some(other)) => torn_before(other),
    }
}
