//! Fingerprints of blocks.
use twox_hash::XxHash3_128;

/// The fingerprint of `bytes` at `offset`; it depends on both. It detects accidental changes, not deliberate ones.
pub fn fingerprint(offset: u64, bytes: &[u8]) -> u128 {
    XxHash3_128::oneshot_with_seed(offset, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_or_another_offset_changes_the_fingerprint() {
        let bytes = vec![7u8; 70_000];
        let taken = fingerprint(4096, &bytes);
        assert_eq!(taken, fingerprint(4096, &bytes));
        assert_ne!(taken, fingerprint(8192, &bytes));
        for at in [0, 1, 35_000, 69_999] {
            let mut other = bytes.clone();
            other[at] ^= 16;
            assert_ne!(taken, fingerprint(4096, &other), "byte {at}");
        }
    }
}
