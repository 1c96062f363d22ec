//! Zeros to write where neither device nor file system can create them.
use std::io::IoSlice;

/// Zeros in the program's read-only memory, aligned for direct I/O.
#[repr(align(4096))]
struct Zeros([u8; ZEROS_BYTES]);

const ZEROS_BYTES: usize = 64 << 10;

static ZEROS: Zeros = Zeros([0; ZEROS_BYTES]);

/// Most slices of one write: 1 MiB a call is enough to hide the cost of the call.
const SLICES_MAX: usize = 16;

/// Runs `write` on slices of zeros, `len` bytes altogether or as many as go in one call.
pub(super) fn with_zeros<T>(len: u64, write: impl FnOnce(&[IoSlice<'_>]) -> T) -> T {
    let len = len.min((ZEROS_BYTES * SLICES_MAX) as u64) as usize;
    let piece = |index: usize| IoSlice::new(&ZEROS.0[..ZEROS_BYTES.min(len - index * ZEROS_BYTES)]);
    let slices: Vec<IoSlice<'_>> = (0..len.div_ceil(ZEROS_BYTES)).map(piece).collect();
    write(&slices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slices_have_the_length_that_was_asked_up_to_one_mebibyte() {
        for (asked, given) in [(1, 1), (65_536, 65_536), (65_537, 65_537), (1 << 20, 1 << 20), (u64::MAX, 1 << 20)] {
            let total = with_zeros(asked, |slices| slices.iter().map(|slice| slice.len()).sum::<usize>());
            assert_eq!(total, given, "asked for {asked}");
        }
    }
}
