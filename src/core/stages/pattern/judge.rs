//! What a block that was read back says about the disk.
use super::Mark;
use super::mark::CELL_BYTES;
use super::words::Cells;
use crate::core::stages::sparse::is_zero;

/// What a block is, compared with what belongs at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// What belongs there.
    Good,
    /// Another block of the pattern, whole: it was written to the wrong place or read from it. Two that carry each
    /// other's address were swapped; one and the same distance everywhere is a disk that reports a false capacity. Bits
    /// of it may be flipped besides.
    Misplaced(Mark),
    /// The right place, but another writing of it: this one was lost. The mark tells which it is, and so whether it is
    /// older. Bits of it may be flipped besides.
    Stale(Mark),
    /// Up to `at` bytes one block and from there another: a write that was cut in two. Exact to 64 bytes.
    Torn {
        /// Where the second begins, in bytes from the start of the block.
        at: u32,
    },
    /// Nothing but zeros: discarded, or never written.
    Zero,
    /// Nothing of this pattern at all.
    Foreign,
    /// What belongs there but for some bits.
    Flipped {
        /// The first byte that is not right, counted from the start of the block.
        first: u32,
        /// Bits that are not right.
        bits: u32,
    },
}

/// From this many wrong bits of the 512 of a cell on it counts as another's: what has nothing to do with it differs in
/// 256, and 64 is 17 standard deviations away from that.
const OTHER_BITS_MIN: u32 = 64;

/// How the cells of a block compare with those that a mark makes.
#[derive(Default)]
struct Comparison {
    /// The first cell that is another's.
    first_other: Option<u32>,
    /// The first that is not another's.
    first_own: Option<u32>,
    /// Wrong bits in the cells that are not another's.
    bits: u32,
    /// The first wrong byte.
    first_byte: Option<u32>,
}

/// The words of one cell of a block.
fn words(cell: &[u8]) -> impl Iterator<Item = u64> + '_ {
    cell.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Whether the block is what the mark makes, to the last bit. Wrong bits are gathered over 4 KiB before anything is
/// decided, so that a good block is read at the speed of memory.
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

/// What `block` is, where the block of `own` belongs.
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

/// The verdict on a block that begins with the mark of another.
fn of_another(block: &[u8], mark: &Mark, own: &Mark) -> Verdict {
    match compared(block, mark).first_other {
        Some(cell) => torn_before(cell),
        None if mark.address != own.address => Verdict::Misplaced(*mark),
        None => Verdict::Stale(*mark),
    }
}

/// The verdict on a block that begins with its own mark, or with none that can be read.
fn of_own(block: &[u8], own: &Mark) -> Verdict {
    let comparison = compared(block, own);
    match (comparison.first_own, comparison.first_other) {
        (None, _) => Verdict::Foreign,
        (_, None) => {
            let first = comparison.first_byte.expect("it is not good, so a byte is wrong");
            Verdict::Flipped { first, bits: comparison.bits }
        }
        // Its beginning is lost.
        (Some(own), Some(0)) => torn_before(own),
        (_, Some(other)) => torn_before(other),
    }
}
