//! Parsing of GET LBA STATUS data: which blocks of a disk are mapped (SBC-4, 5.10).
//!
//! The input comes from a disk: whatever its length and content, these functions do not panic.

/// Length of the requested data, in bytes: 256 descriptors.
pub const ANSWER_BYTES: usize = HEAD_BYTES + 256 * DESCRIPTOR_BYTES;

const HEAD_BYTES: usize = 8;
const DESCRIPTOR_BYTES: usize = 16;

/// A run of blocks that are all mapped or all unmapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedRun {
    /// Number of blocks from the requested one on; at least 1.
    pub blocks: u64,
    /// Whether they are not mapped: deallocated or anchored.
    pub unmapped: bool,
}

/// The run that begins at `lba`; `None` if the data does not cover that block.
pub fn run_at(answer: &[u8], lba: u64) -> Option<MappedRun> {
    let messages = u32::from_be_bytes(answer.get(..4)?.try_into().ok()?) as usize;
    let end = answer.len().min(messages.saturating_add(4));
    let (mut at, mut run) = (lba, None);
    for descriptor in answer.get(HEAD_BYTES..end)?.chunks_exact(DESCRIPTOR_BYTES) {
        let first = u64::from_be_bytes(descriptor[..8].try_into().ok()?);
        let blocks = u64::from(u32::from_be_bytes(descriptor[8..12].try_into().ok()?));
        // 1: deallocated; 2: anchored, which has reserved space but reads the same. Anything else may have data.
        let unmapped = matches!(descriptor[12] & 0x0f, 1 | 2);
        let Some(behind) = first.checked_add(blocks).filter(|behind| (first..*behind).contains(&at)) else { break };
        if run.is_some_and(|known| known != unmapped) {
            break;
        }
        (at, run) = (behind, Some(unmapped));
    }
    run.map(|unmapped| MappedRun { blocks: at - lba, unmapped })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answer(descriptors: &[(u64, u32, u8)]) -> Vec<u8> {
        let mut bytes = (4 + 16 * descriptors.len() as u32).to_be_bytes().to_vec();
        bytes.extend([0; 4]);
        for (lba, blocks, status) in descriptors {
            bytes.extend(lba.to_be_bytes());
            bytes.extend(blocks.to_be_bytes());
            bytes.extend([*status, 0, 0, 0]);
        }
        bytes
    }

    fn run(blocks: u64, unmapped: bool) -> Option<MappedRun> {
        Some(MappedRun { blocks, unmapped })
    }

    #[test]
    fn a_run_spans_descriptors_of_one_kind() {
        let bytes = answer(&[(100, 50, 1), (150, 10, 2), (160, 8, 0), (168, 8, 1)]);
        assert_eq!(run_at(&bytes, 120), run(40, true), "deallocated and anchored read alike");
        let bytes = answer(&[(100, 50, 0), (150, 10, 4)]);
        assert_eq!(run_at(&bytes, 100), run(60, false), "of what is unknown, bytes are read");
    }

    #[test]
    fn blocks_missing_from_the_response_have_unknown_state() {
        let bytes = answer(&[(100, 50, 1), (160, 10, 1)]);
        assert_eq!(run_at(&bytes, 100), run(50, true), "a gap ends it");
        for lba in [99, 150, 160, u64::MAX] {
            assert_eq!(run_at(&bytes, lba), None, "{lba}");
        }
        assert_eq!(run_at(&answer(&[(5, 0, 1)]), 5), None, "a run of none");
        assert_eq!(run_at(&answer(&[(u64::MAX, 2, 1)]), u64::MAX), None);
    }

    #[test]
    fn truncated_and_uncounted_descriptors_are_ignored() {
        let mut bytes = answer(&[(0, 8, 1), (8, 8, 1)]);
        assert_eq!(run_at(&bytes[..39], 0), run(8, true), "cut short");
        bytes[3] = 20;
        assert_eq!(run_at(&bytes, 0), run(8, true), "counted short");
        assert_eq!(run_at(&bytes[..7], 0), None);
    }

    proptest! {
        #[test]
        fn no_response_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), lba: u64) {
            if let Some(run) = run_at(&bytes, lba) {
                prop_assert!(run.blocks > 0 && lba.checked_add(run.blocks).is_some());
            }
        }
    }
}
