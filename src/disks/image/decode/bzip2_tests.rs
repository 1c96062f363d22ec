use super::*;
use bzip2::Compression;
use bzip2::write::BzEncoder;
use std::io::Write;

fn packed(content: &[u8], level: u32) -> Vec<u8> {
    let mut encoder = BzEncoder::new(Vec::new(), Compression::new(level));
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Three blocks of level 1.
fn text() -> Vec<u8> {
    (0..35_000u32).flat_map(|number| format!("{} ", number.wrapping_mul(2_654_435_761) >> 15).into_bytes()).collect()
}

/// The content of a file that is read in pieces, the bytes that were used, or decoded before the error, and that.
fn unpacked(mut blocks: Blocks, file: &[u8], piece: usize) -> (Vec<u8>, usize, Option<Fault>) {
    let (mut all, mut out, mut at) = (Vec::new(), vec![0; 50_000], 0);
    loop {
        let some = blocks.needed().max(piece).min(file.len() - at);
        let step = match blocks.step(&file[at..at + some], &mut out, some == 0) {
            Ok(step) => step,
            Err(fault) => return (all, at - blocks.undecoded() as usize, Some(fault)),
        };
        at += step.used;
        all.extend_from_slice(&out[..step.made]);
        if step.is_end {
            return (all, at, None);
        }
    }
}

#[test]
fn blocks_of_any_size_of_several_streams_are_decoded_in_their_order() {
    let (text, zeros) = (text(), vec![0; 9 << 20]);
    let file = [packed(&text, 1), packed(&[], 9), packed(&zeros, 5), packed(&text[..7], 9)].concat();
    let content = [&text[..], &zeros, &text[..7]].concat();
    for piece in [3, 4096, 1 << 20] {
        for behind in [&b""[..], b"B", b"BZh9 is no stream", b"other bytes"] {
            let (found, used, fault) = unpacked(Blocks::new(), &[&file[..], behind].concat(), piece);
            assert!(found == content && fault.is_none(), "{piece} {behind:?}: {fault:?}");
            assert_eq!(used, file.len(), "what comes after the streams is not used");
        }
    }
}

#[test]
fn a_mark_within_the_data_of_a_block_does_not_end_it() {
    let text = text();
    let file = [packed(&text, 1), packed(&text[..1000], 2)].concat();
    let content = [&text[..], &text[..1000]].concat();
    let bits_at = |at: usize| {
        let bit = |at: usize| u64::from(file[at / 8] >> (7 - at % 8) & 1);
        (at..at + 48).fold(0, |value, at| value << 1 | bit(at))
    };
    for number in 1..10 {
        let at = [number * file.len() / 5, number * file.len() / 5 + file.len() / 10].map(|at| at % (file.len() - 9));
        let marks = [bits_at(at[0] * 8 + number % 8), bits_at(at[1] * 8 + 3)];
        for [block, end] in [[marks[0], marks[1]], [marks[1], marks[0]], [marks[0], 1]] {
            for piece in [100, 1 << 20] {
                let (found, used, fault) = unpacked(Blocks::with(Splitter::with_false_marks(block, end)), &file, piece);
                assert!(found == content && used == file.len(), "{number} {piece}: {fault:?}");
            }
        }
    }
}

#[test]
fn damage_is_reported_at_its_block_and_never_changes_the_content() {
    let text = text();
    let file = packed(&text, 1);
    for number in 0..20 {
        let (at, len) = (4 + number * (file.len() - 5) / 20, 4 + number * (file.len() - 4) / 20);
        let mut damaged = file.clone();
        damaged[at] ^= 1 << (number % 8);
        let (found, place, fault) = unpacked(Blocks::new(), &damaged, 4096);
        assert!(text.starts_with(&found) && place <= at, "{number}: {place} {fault:?}");
        assert!(fault.is_some(), "{number}");
        let (found, _, fault) = unpacked(Blocks::new(), &file[..len], 4096);
        assert!(text.starts_with(&found) && matches!(fault, Some(Fault::Truncated)), "{number}: {fault:?}");
    }
    // The checksum of the stream.
    let mut damaged = file.clone();
    damaged[file.len() - 3] ^= 1;
    let (found, _, fault) = unpacked(Blocks::new(), &damaged, 4096);
    assert!(found == text && fault.is_some_and(|fault| format!("{fault:?}").contains("checksum of a stream")));
}
