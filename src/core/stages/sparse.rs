//! Zero detection in data.
use crate::core::RunKind;

/// Whether all bytes are zero. Combines words with OR, 4 KiB at a time, which runs at memory speed without
/// processor-specific code and still stops at the first page with data.
pub(super) fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(4096).all(|page| {
        let (words, rest) = page.as_chunks::<8>();
        let folded = words.iter().fold(0, |all, word| all | u64::from_ne_bytes(*word));
        folded == 0 && rest.iter().all(|&byte| byte == 0)
    })
}

/// The kind of the first `piece_bytes` of `bytes`, and the number of bytes from the start that have this kind, in whole
/// pieces except for the last one. `bytes` must not be empty.
pub fn zero_prefix(bytes: &[u8], piece_bytes: usize) -> (RunKind, usize) {
    let mut pieces = bytes.chunks(piece_bytes.max(1)).map(|piece| (is_zero(piece), piece.len()));
    let Some((zero, first_len)) = pieces.next() else { return (RunKind::Data, 0) };
    let more: usize = pieces.take_while(|(also, _)| *also == zero).map(|(_, len)| len).sum();
    (if zero { RunKind::Zero } else { RunKind::Data }, first_len + more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_of_one_kind_are_merged(
            pages in prop::collection::vec(any::<bool>(), 1..20), odd in 0usize..4096,
        ) {
            let mut bytes: Vec<u8> = pages.iter().flat_map(|&zero| {
                let mut page = vec![0u8; 4096];
                if !zero { page[odd] = 1; }
                page
            }).collect();
            bytes.truncate(bytes.len() - (4095 - odd));
            let (mut at, mut kinds) = (0, vec![]);
            while at < bytes.len() {
                let (kind, len) = zero_prefix(&bytes[at..], 4096);
                prop_assert_eq!(kind == RunKind::Zero, bytes[at..at + len].iter().all(|&byte| byte == 0));
                prop_assert!(len > 0 && kinds.last() != Some(&kind), "two runs of one kind in a row");
                kinds.push(kind);
                at += len;
            }
            prop_assert_eq!(at, bytes.len());
        }
    }

    #[test]
    fn one_byte_in_the_last_word_is_detected() {
        for at in [0, 7, 8, 4095, 4096, 9998] {
            let mut bytes = vec![0; 9999];
            assert!(is_zero(&bytes));
            bytes[at] = 1;
            assert!(!is_zero(&bytes), "byte {at}");
        }
    }
}
