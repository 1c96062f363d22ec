//! Zeros for digests of runs that were not read.

static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Whether `bytes` are all zeros.
pub(in crate::core) fn are_zeros(bytes: &[u8]) -> bool {
    bytes.chunks(ZEROS.len()).all(|piece| piece == &ZEROS[..piece.len()])
}

/// `len` zeros in pieces, without allocating them.
pub(in crate::core) fn zero_bytes(len: u64) -> impl Iterator<Item = &'static [u8]> {
    let piece = ZEROS.len() as u64;
    (0..len.div_ceil(piece)).map(move |at| &ZEROS[..(len - at * piece).min(piece) as usize])
}
