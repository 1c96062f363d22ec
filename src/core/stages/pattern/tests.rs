//! All damage is detected with its kind and offset, and good blocks are never reported.
use super::*;
use proptest::prelude::*;

const ADDRESS: u64 = 7 << 20;

fn pattern(block_bytes: u32, run: u64, sequence: u64) -> Pattern {
    Pattern::new(block_bytes, run, sequence).unwrap()
}

/// The block of a run at an address.
fn block(block_bytes: u32, run: u64, address: u64) -> Vec<u8> {
    let mut block = vec![0; block_bytes as usize];
    pattern(block_bytes, run, 0).fill(&mut block, address);
    block
}

fn mark(block_bytes: u32, run: u64, address: u64) -> Mark {
    Mark { address, run, sequence: 0, block_bytes }
}

/// The verdict of run 5 on a block at `ADDRESS`.
fn judged(block: &[u8]) -> Verdict {
    pattern(block.len() as u32, 5, 0).judge_block(block, ADDRESS)
}

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; len];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

proptest! {
    #[test]
    fn a_filled_block_is_good_only_at_its_own_offset(
        cells in 8u32..200, run in any::<u64>(), sequence in any::<u64>(), address in any::<u64>(), blocks in 1usize..4,
    ) {
        let block_bytes = cells * 64;
        let pattern = pattern(block_bytes, run, sequence);
        let mut buffer = vec![0xee; block_bytes as usize * blocks];
        pattern.fill(&mut buffer, address);
        pattern.judge(&buffer, address, |at, verdict| panic!("{at}: {verdict:?}"));
        let first = &buffer[..block_bytes as usize];
        let found = Mark { address, run, sequence, block_bytes };
        prop_assert_eq!(Mark::read(first), Some(found));
        let at = |offset, run, sequence| Pattern { block_bytes, run, sequence }.judge_block(first, offset);
        prop_assert_eq!(at(address ^ 512, run, sequence), Verdict::Misplaced(found));
        prop_assert_eq!(at(address, run ^ 1, sequence), Verdict::Stale(found));
        prop_assert_eq!(at(address, run, sequence.wrapping_add(1)), Verdict::Stale(found));
    }

    #[test]
    fn flipped_bits_are_counted(bits in prop::collection::btree_set(0u32..4096 * 8, 1..30)) {
        let mut bytes = block(4096, 5, ADDRESS);
        bits.iter().for_each(|bit| bytes[*bit as usize / 8] ^= 1 << (bit % 8));
        let first = bits.iter().next().unwrap() / 8;
        prop_assert_eq!(judged(&bytes), Verdict::Flipped { first, bits: bits.len() as u32 });
    }

    #[test]
    fn exactly_the_damaged_blocks_of_a_disk_are_found(
        damage in prop::collection::vec((0usize..64, 0usize..5), 0..10),
        block_bytes in prop::sample::select(vec![512u32, 4096]),
    ) {
        let bytes = block_bytes as usize;
        let mut disk = vec![0; 64 * bytes];
        pattern(block_bytes, 5, 0).fill(&mut disk, ADDRESS);
        let mut expected = std::collections::BTreeMap::new();
        for (number, sort) in damage {
            let address = ADDRESS + (number * bytes) as u64;
            let (other, verdict) = match sort {
                0 => (vec![0; bytes], Verdict::Zero),
                1 => (noise(bytes, address), Verdict::Foreign),
                2 => (block(block_bytes, 4, address), Verdict::Stale(mark(block_bytes, 4, address))),
                3 => (block(block_bytes, 5, address + 1024), Verdict::Misplaced(mark(block_bytes, 5, address + 1024))),
                _ => {
                    let [new, old] = [5, 4].map(|run| block(block_bytes, run, address));
                    ([&new[..256], &old[256..]].concat(), Verdict::Torn { at: 256 })
                }
            };
            disk[number * bytes..][..bytes].copy_from_slice(&other);
            expected.insert(address, verdict);
        }
        let mut found = std::collections::BTreeMap::new();
        pattern(block_bytes, 5, 0).judge(&disk, ADDRESS, |at, verdict| { found.insert(at, verdict); });
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn each_single_bit_flip_is_found() {
    let good = block(512, 5, ADDRESS);
    for bit in 0..512 * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(judged(&bytes), Verdict::Flipped { first: bit as u32 / 8, bits: 1 }, "bit {bit}");
    }
}

#[test]
fn few_wrong_bits_are_flipped_and_an_eighth_of_all_is_torn() {
    let mut bytes = block(4096, 5, ADDRESS);
    bytes[640..647].iter_mut().for_each(|byte| *byte ^= 0xff);
    bytes[647] ^= 0x7f;
    assert_eq!(judged(&bytes), Verdict::Flipped { first: 640, bits: 63 });
    bytes[647] ^= 0x80;
    assert_eq!(judged(&bytes), Verdict::Torn { at: 640 });
}

#[test]
fn a_tear_is_located_with_any_content_on_either_side() {
    for len in [512u32, 4096] {
        let own = block(len, 5, ADDRESS);
        let (zeros, noise) = (vec![0; len as usize], noise(len as usize, 1));
        let (older, elsewhere) = (block(len, 4, ADDRESS), block(len, 5, ADDRESS + u64::from(len)));
        for at in (64..len as usize).step_by(64) {
            let torn = |head: &[u8], tail: &[u8]| judged(&[&head[..at], &tail[at..]].concat());
            let expected = Verdict::Torn { at: at as u32 };
            for other in [&older, &elsewhere, &zeros, &noise] {
                assert_eq!(torn(&own, other), expected, "own, then another");
                assert_eq!(torn(other, &own), expected, "another, then own");
            }
            assert_eq!(torn(&older, &zeros), expected, "two that are both not its own");
        }
    }
}

#[test]
fn blocks_without_pattern_are_foreign_or_zero() {
    assert_eq!(judged(&[0; 4096]), Verdict::Zero);
    assert_eq!(judged(&[0xff; 4096]), Verdict::Foreign);
    assert_eq!(judged(&noise(4096, 2)), Verdict::Foreign);
    assert_eq!(judged(&b"some text. ".repeat(400)[..4096]), Verdict::Foreign);
    // The mark has another block size.
    let large = block(8192, 5, ADDRESS);
    assert_eq!(judged(&large[..4096]), Verdict::Foreign);
    assert_eq!(Mark::read(&large), Some(mark(8192, 5, ADDRESS)));
    for bytes in [&[][..], &large[..40], &large[8..], &[0; 512]] {
        assert_eq!(Mark::read(bytes), None);
    }
}

#[test]
fn a_misplaced_block_with_flipped_bits_is_recognized() {
    let mut bytes = block(512, 5, ADDRESS + 512);
    bytes[300] ^= 3;
    assert_eq!(judged(&bytes), Verdict::Misplaced(mark(512, 5, ADDRESS + 512)));
    let mut bytes = block(512, 4, ADDRESS);
    bytes[511] ^= 0x80;
    assert_eq!(judged(&bytes), Verdict::Stale(mark(512, 4, ADDRESS)));
}

#[test]
fn a_false_capacity_shows_one_distance() {
    // 64 blocks fit and 100 are written: the last 36 overwrite the first.
    const LEN: u64 = 512;
    let mut disk = vec![0; 64 * LEN as usize];
    for number in 0..100u64 {
        let place = (number % 64 * LEN) as usize;
        pattern(512, 5, 0).fill(&mut disk[place..place + LEN as usize], number * LEN);
    }
    let mut distances = Vec::new();
    pattern(512, 5, 0).judge(&disk, 0, |at, verdict| match verdict {
        Verdict::Misplaced(mark) => distances.push(mark.address - at),
        other => panic!("{at}: {other:?}"),
    });
    assert_eq!(distances, vec![64 * LEN; 36]);
}

#[test]
fn the_pattern_has_no_repetition_and_balanced_bits() {
    let mut bytes = vec![0; 1 << 20];
    pattern(4096, 5, 0).fill(&mut bytes, 0);
    let mut words: Vec<u64> = Vec::new();
    for block in bytes.chunks(4096) {
        words.extend(block.as_chunks::<8>().0[6..].iter().map(|word| u64::from_le_bytes(*word)));
    }
    let ones: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
    let share = ones as f64 / (words.len() * 64) as f64;
    assert!((0.499..0.501).contains(&share), "{share}");
    let count = words.len();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), count, "the same word twice");
}

#[test]
fn the_pattern_is_stable_across_versions() {
    // A disk written today must be checkable in ten years. The digest was computed by a few lines of Python from the
    // format description in `mod.rs`.
    let mut bytes = vec![0; 8192];
    pattern(4096, 0x0102_0304_0506_0708, 9).fill(&mut bytes, 0x1122_3344_5566_7000);
    assert_eq!(&bytes[..16], b"haulpat1\x00\x70\x66\x55\x44\x33\x22\x11");
    assert_eq!(&bytes[4096..4112], b"haulpat1\x00\x80\x66\x55\x44\x33\x22\x11");
    assert_eq!(&bytes[16..40], b"\x08\x07\x06\x05\x04\x03\x02\x01\x09\0\0\0\0\0\0\0\x00\x10\0\0\0\0\0\0");
    assert_eq!(
        blake3::hash(&bytes).to_hex().as_str(),
        "9a1aab7a6a62025efb97a2b52c0c9e548e7933ed2f619deebea0195d2c1559ac"
    );
}

#[test]
fn odd_lengths_have_no_pattern() {
    for (len, possible) in [(512, true), (520, false), (576, true), (4096, true), (448, false), (0, false), (64, false)]
    {
        assert_eq!(Pattern::new(len, 1, 0).is_some(), possible, "{len}");
    }
}
