//! Writing zeros to files and devices that cannot zero extents themselves.
use std::io::IoSlice;

/// Zeros in read-only memory, aligned for direct I/O.
#[repr(align(4096))]
struct Zeros([u8; ZEROS_BYTES]);

const ZEROS_BYTES: usize = 64 << 10;

static ZEROS: Zeros = Zeros([0; ZEROS_BYTES]);

/// Maximum number of slices per write: with 1 MiB per call the overhead of the call is negligible.
const SLICES_MAX: usize = 16;

/// Calls `write` with slices of zeros, of `len` bytes in total or as many as fit into one call.
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
    fn zero_slices_have_the_requested_length_up_to_one_mebibyte() {
        for (requested, given) in [(1, 1), (65_536, 65_536), (65_537, 65_537), (1 << 20, 1 << 20), (u64::MAX, 1 << 20)]
        {
            let total = with_zeros(requested, |slices| slices.iter().map(|slice| slice.len()).sum::<usize>());
            assert_eq!(total, given, "asked for {requested}");
        }
    }
}
