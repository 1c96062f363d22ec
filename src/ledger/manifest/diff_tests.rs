//! Compares the differences with those of a model that has the bytes.
use super::*;
use crate::core::{BlockHash, Extent};
use crate::ledger::SideIdentity;
use crate::ledger::manifest::head::BLOCK_BYTES_MIN;
use proptest::prelude::*;

const BLOCK: u64 = BLOCK_BYTES_MIN;

fn head(algorithm: BlockHash, block_bytes: u64, len_bytes: u64) -> Head {
    let nobody = SideIdentity {
        path: "x".into(),
        kind: "file".into(),
        offset_bytes: 0,
        size_bytes: None,
        logical_block_bytes: 1,
        model: None,
        serial: None,
        wwn: None,
        version: None,
    };
    let len_bytes = Some(len_bytes);
    Head {
        version: "".into(),
        created: "".into(),
        algorithm,
        block_bytes,
        len_bytes,
        source: nobody.clone(),
        dest: nobody,
        also: Vec::new(),
        range: false,
    }
}

/// A manifest of `bytes` with a whole digest. Blocks of zeros are recorded as runs if `runs`, else by digest.
fn manifest(bytes: &[u8], algorithm: BlockHash, block_bytes: u64, runs: bool, whole: bool) -> Manifest {
    let mut writer = Writer::create(Vec::new(), &head(algorithm, block_bytes, bytes.len() as u64)).unwrap();
    let mut run: Option<Extent> = None;
    for (number, block) in bytes.chunks(block_bytes as usize).enumerate() {
        let extent = Extent::new(number as u64 * block_bytes, block.len() as u64);
        if runs && block.iter().all(|byte| *byte == 0) {
            run = Some(run.map_or(extent, |run| Extent::new(run.offset, run.len + extent.len)));
            continue;
        }
        run.take().into_iter().for_each(|run| writer.add(Entry::Zeros(run)).unwrap());
        writer.add(Entry::Block { extent, digest: algorithm.digest(extent.offset, block) }).unwrap();
    }
    run.into_iter().for_each(|run| writer.add(Entry::Zeros(run)).unwrap());
    let of_all = || if algorithm == BlockHash::Sha256 { algorithm } else { BlockHash::Blake3 }.digest(0, bytes);
    let out = writer.close(whole.then(of_all)).unwrap();
    Manifest::load(&out[..]).unwrap()
}

/// A few blocks, each filled with one of three bytes, and a tail.
fn image(fills: &[u8], tail: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = fills.iter().flat_map(|&fill| vec![fill; BLOCK as usize]).collect();
    bytes.extend(vec![fills.last().copied().unwrap_or(0); tail]);
    bytes
}

/// The expected state of each block of the longer image: 0 equal, 1 differs, 2 only in first, 3 only in second;
/// byte by byte in the block in which one of them ends.
fn model(a: &[u8], b: &[u8]) -> Vec<Difference> {
    let common = a.len().min(b.len());
    let mut found = Vec::new();
    let mut push = |difference: Difference| match (found.last_mut(), difference) {
        (Some(Difference::Differs(last)), Difference::Differs(next)) if last.end() == next.offset => {
            last.len += next.len
        }
        _ => found.push(difference),
    };
    for start in (0..common).step_by(BLOCK as usize) {
        let end = (start + BLOCK as usize).min(common);
        let whole_in_both = [a, b].iter().all(|image| end == (start + BLOCK as usize).min(image.len()));
        let zeros = [a, b].iter().all(|image| image[start..end].iter().all(|byte| *byte == 0));
        let known_same = a[start..end] == b[start..end] && (whole_in_both || zeros);
        if !known_same {
            push(Difference::Differs(Extent::new(start as u64, (end - start) as u64)));
        }
    }
    let rest = Extent::new(common as u64, (a.len().max(b.len()) - common) as u64);
    match a.len().cmp(&b.len()) {
        std::cmp::Ordering::Greater => push(Difference::OnlyInFirst(rest)),
        std::cmp::Ordering::Less => push(Difference::OnlyInSecond(rest)),
        std::cmp::Ordering::Equal => {}
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_diff_lists_the_blocks_that_differ(
        fills_a in prop::collection::vec(0u8..3, 0..6), changes in prop::collection::vec((0usize..6, 0u8..3), 0..3),
        cut in 0usize..7, tail in prop::sample::select(vec![0usize, 1000, 2000]),
        tail_b in prop::sample::select(vec![0usize, 1000, 2000]), runs in any::<bool>(), whole in any::<bool>(),
        algorithm in prop::sample::select(vec![BlockHash::Blake3Tree, BlockHash::Blake3, BlockHash::Sha256]),
    ) {
        let mut fills_b = fills_a.clone();
        changes.iter().for_each(|&(at, fill)| if let Some(old) = fills_b.get_mut(at) { *old = fill });
        fills_b.truncate(cut.max(1));
        let (a, b) = (image(&fills_a, tail), image(&fills_b, tail_b));
        let runs = runs || algorithm == BlockHash::Blake3Tree;
        // Zeros as runs on the first side; a run applies to every part of it, a digest only to its full block.
        let of = |bytes: &[u8], runs| manifest(bytes, algorithm, BLOCK, runs, whole);
        let (first, second) = (of(&a, true), of(&b, runs));
        let found: Vec<Difference> = diff(&first, &second).unwrap().collect();
        let expected = model(&a, &b);
        if runs || a.len() == b.len() {
            prop_assert_eq!(found, expected);
        } else {
            // If one ends within a block of zeros that has a digest, the other side has less information.
            let bytes = |found: &[Difference]| found.iter().map(|one| one.extent().len).sum::<u64>();
            prop_assert!(bytes(&found) >= bytes(&expected) && bytes(&found) - bytes(&expected) <= BLOCK);
        }
    }
}

#[test]
fn other_block_lengths_compare_only_by_the_total_digest() {
    let (a, b) = (image(&[1, 2], 5), image(&[1, 1], 5));
    let of = |bytes: &[u8], blocks: u64, whole| manifest(bytes, BlockHash::Blake3, blocks, true, whole);
    assert_eq!(diff(&of(&a, BLOCK, true), &of(&a, 2 * BLOCK, true)).unwrap().count(), 0);
    let error = |first: Manifest, second: Manifest| diff(&first, &second).err().unwrap();
    let lengths = |differ| Incomparable::BlockLengths { first: BLOCK, second: 2 * BLOCK, differ };
    assert_eq!(error(of(&a, BLOCK, true), of(&b, 2 * BLOCK, true)), lengths(true));
    assert_eq!(error(of(&a, BLOCK, true), of(&a[..9], 2 * BLOCK, false)), lengths(true));
    assert_eq!(error(of(&a, BLOCK, true), of(&a, 2 * BLOCK, false)), lengths(false));
}

#[test]
fn other_algorithms_compare_only_by_the_total_digest() {
    let (a, b) = (image(&[1, 2], 5), image(&[1, 1], 5));
    let of = |bytes: &[u8], algorithm, whole| manifest(bytes, algorithm, BLOCK, true, whole);
    let (tree, alone, sha) = (BlockHash::Blake3Tree, BlockHash::Blake3, BlockHash::Sha256);
    assert_eq!(diff(&of(&a, tree, true), &of(&a, alone, true)).unwrap().count(), 0);
    let error = |first: Manifest, second: Manifest| diff(&first, &second).err().unwrap();
    let algorithms = |first, second, differ| Incomparable::Algorithms { first, second, differ };
    assert_eq!(error(of(&a, tree, true), of(&b, alone, true)), algorithms(tree, alone, true));
    assert_eq!(error(of(&a, tree, true), of(&a, alone, false)), algorithms(tree, alone, false));
    assert_eq!(error(of(&a, tree, true), of(&a, sha, true)), algorithms(tree, sha, false));
}
