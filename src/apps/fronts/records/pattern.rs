//! Bytes that are made up where there is no file to read.
use crate::apps::fronts::record_plan::Pattern;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Makes up one record after the other.
#[derive(Debug)]
pub(super) struct Maker {
    pattern: Pattern,
    record_bytes: usize,
    /// Number of the next record.
    record: u64,
    /// Independent sequences, one beside the other, so that the processor has more than one to work on.
    lanes: [u64; LANES],
}

const LANES: usize = 4;

impl Maker {
    /// From record number `first` on.
    pub(super) fn new(pattern: Pattern, record_bytes: u64, first: u64) -> Self {
        // The library's hash tables ask the kernel for their keys, so each run has others.
        let seed = |lane| {
            let mut hasher = RandomState::new().build_hasher();
            hasher.write_usize(lane);
            hasher.finish() | 1
        };
        let record_bytes = usize::try_from(record_bytes).unwrap_or(usize::MAX);
        Maker { pattern, record_bytes, record: first, lanes: std::array::from_fn(seed) }
    }

    /// Fills `bytes`, which are whole records.
    pub(super) fn fill(&mut self, bytes: &mut [u8]) {
        match self.pattern {
            Pattern::Ones => bytes.fill(0xff),
            Pattern::Addresses => {
                for record in bytes.chunks_mut(self.record_bytes) {
                    let word = (self.record as u32).to_be_bytes();
                    record.chunks_mut(word.len()).for_each(|piece| piece.copy_from_slice(&word[..piece.len()]));
                    self.record += 1;
                }
            }
            Pattern::Random => bytes.chunks_mut(8 * LANES).for_each(|piece| {
                let mut words = [0; 8 * LANES];
                for (lane, word) in self.lanes.iter_mut().zip(words.chunks_exact_mut(8)) {
                    word.copy_from_slice(&next(lane).to_ne_bytes());
                }
                piece.copy_from_slice(&words[..piece.len()]);
            }),
        }
    }
}

/// Marsaglia's xorshift with a multiplication behind it (xorshift64*): no tool that looks for patterns in a disk image
/// finds one, and it keeps up with memory.
fn next(lane: &mut u64) -> u64 {
    let mut x = *lane;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *lane = x;
    x.wrapping_mul(0x2545_f491_4f6c_dd1d)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(pattern: Pattern, first: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        Maker::new(pattern, 512, first).fill(&mut bytes);
        bytes
    }

    #[test]
    fn each_record_holds_its_own_number() {
        let bytes = made(Pattern::Addresses, 0x1_0203_0405, 1024);
        assert!(bytes[..512].chunks(4).all(|word| word == [2, 3, 4, 5]));
        assert!(bytes[512..].chunks(4).all(|word| word == [2, 3, 4, 6]));
    }

    #[test]
    fn random_bytes_have_all_values_about_equally_and_are_others_each_time() {
        let bytes = made(Pattern::Random, 0, 1 << 20);
        let mut seen = [0u32; 256];
        bytes.iter().for_each(|byte| seen[usize::from(*byte)] += 1);
        // 4096 of each are expected; seven standard deviations are 448.
        assert!(seen.iter().all(|count| (3648..=4544).contains(count)), "{seen:?}");
        assert_ne!(bytes, made(Pattern::Random, 0, 1 << 20));
    }
}
