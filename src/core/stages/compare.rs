//! Comparing two buffers.
use crate::core::Extent;

/// Bytes compared at a time. Both parts stay in the L1 cache for a second pass.
const PAGE_BYTES: usize = 4096;

/// Index of the first byte at which `a` and `b` differ; `None` if they are equal. Equal bytes are compared at memory
/// speed.
///
/// Panics if the lengths differ.
pub fn first_difference(a: &[u8], b: &[u8]) -> Option<usize> {
    assert_eq!(a.len(), b.len(), "only equal lengths are compared");
    let pages = a.chunks(PAGE_BYTES).zip(b.chunks(PAGE_BYTES)).enumerate();
    let (number, (a, b)) = pages.into_iter().find(|(_, (a, b))| a != b)?;
    let within = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    Some(number * PAGE_BYTES + within)
}

/// Whether the first `piece_bytes` of `a` and `b` are equal, and the number of bytes from the start for which that
/// stays the same, in whole pieces except for the last one. The buffers must not be empty.
///
/// Panics if the lengths differ.
pub fn same_prefix(a: &[u8], b: &[u8], piece_bytes: usize) -> (bool, usize) {
    assert_eq!(a.len(), b.len(), "only equal lengths are compared");
    let piece_bytes = piece_bytes.max(1);
    let mut pieces = a.chunks(piece_bytes).zip(b.chunks(piece_bytes)).map(|(a, b)| (a == b, a.len()));
    let Some((same, first_len)) = pieces.next() else { return (true, 0) };
    let more: usize = pieces.take_while(|(also, _)| *also == same).map(|(_, len)| len).sum();
    (same, first_len + more)
}

/// Reports the extents in which `a` and `b`, read at byte `offset`, differ, ascending. They are multiples of
/// `piece_bytes`, limited to the buffers; adjacent ones are merged. With the logical block size as `piece_bytes`, it
/// reports differing blocks. Allocates nothing.
///
/// Panics if the lengths differ, if `piece_bytes` is 0, or if the end exceeds `u64::MAX`.
pub fn differences(a: &[u8], b: &[u8], offset: u64, piece_bytes: u64, mut found: impl FnMut(Extent)) {
    let whole = Extent::new(offset, a.len() as u64);
    assert!(piece_bytes > 0, "pieces have bytes");
    let mut run: Option<Extent> = None;
    let mut at = 0;
    while let Some(first) = first_difference(&a[at..], &b[at..]) {
        let byte = offset + (at + first) as u64;
        let start = byte - byte % piece_bytes;
        let piece = Extent::new(start, piece_bytes.min(u64::MAX - start)).intersection(&whole);
        let piece = piece.expect("the byte is in both");
        at = (piece.end() - offset) as usize;
        run = Some(match run {
            Some(run) if run.end() == piece.offset => Extent::new(run.offset, run.len + piece.len),
            other => {
                other.into_iter().for_each(&mut found);
                piece
            }
        });
    }
    // Checks the lengths even if no byte was compared.
    assert_eq!(a.len(), b.len(), "only equal lengths are compared");
    run.into_iter().for_each(found);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::ExtentSet;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn exactly_the_pieces_that_differ_are_reported(
            len in 0usize..20_000, changes in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
            offset in prop_oneof![0u64..10_000, Just(1u64 << 40)],
            piece in prop::sample::select(vec![1u64, 7, 512, 4096, 1 << 30]),
        ) {
            let a: Vec<u8> = (0..len).map(|at| (at * 7 % 251) as u8).collect();
            let mut b = a.clone();
            changes.iter().filter(|_| len > 0).for_each(|at| b[at.index(len)] ^= 0x10);
            let mut reported = Vec::new();
            differences(&a, &b, offset, piece, |extent| reported.push(extent));
            prop_assert!(reported.windows(2).all(|pair| pair[0].end() < pair[1].offset), "{:?}", reported);
            let whole = Extent::new(offset, len as u64);
            let wrong = (0..len).filter(|&at| a[at] != b[at]).map(|at| offset + at as u64);
            let pieces = wrong.map(|byte| Extent::new(byte - byte % piece, piece).intersection(&whole).unwrap());
            let expected: ExtentSet = pieces.collect();
            prop_assert_eq!(reported.into_iter().collect::<ExtentSet>(), expected);
            prop_assert_eq!(first_difference(&a, &b), (0..len).find(|&at| a[at] != b[at]));
        }
    }

    #[test]
    fn one_differing_byte_is_found_at_every_offset() {
        let a = vec![0xa5; 3 * PAGE_BYTES + 5];
        for at in 0..a.len() {
            let mut b = a.clone();
            b[at] ^= 1;
            assert_eq!(first_difference(&a, &b), Some(at));
        }
        assert_eq!(first_difference(&a, &a), None);
    }

    #[test]
    #[should_panic(expected = "only equal lengths")]
    fn other_lengths_are_not_compared() {
        differences(b"ab", b"abc", 0, 512, |_| {});
    }
}
