use super::*;
use proptest::prelude::*;

/// The input of BLAKE3's published test vectors.
fn input(len: u64) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8).collect()
}

/// The parts of `bytes` in blocks of `block_bytes`.
fn parts(bytes: &[u8], block_bytes: u64) -> Vec<Subtree> {
    if bytes.len() as u64 <= block_bytes {
        let value = (*blake3::hash(bytes).as_bytes()).into();
        return if bytes.is_empty() { vec![] } else { vec![Subtree::at(Extent::new(0, bytes.len() as u64), value)] };
    }
    let part = |(number, block): (usize, &[u8])| {
        Subtree::of(Extent::new(number as u64 * block_bytes, block.len() as u64), [block])
    };
    bytes.chunks(block_bytes as usize).enumerate().map(part).collect()
}

#[test]
fn parts_give_the_published_digests() {
    // From BLAKE3's test_vectors.json.
    let vectors = [
        (0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
        (1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"),
        (1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"),
        (1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"),
        (1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"),
        (2048, "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a"),
        (2049, "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030"),
        (3073, "7124b49501012f81cc7f11ca069ec9226cecb8a2c850cfe644e327d22d3e1cd3"),
        (4097, "9b4052b38f1c5fc8b1f9ff7ac7b27cd242487b3d890d15c96a1c25b8aa0fb995"),
        (8193, "bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b"),
        (16384, "f875d6646de28985646f34ee13be9a576fd515f76b5b0a26bb324735041ddde4"),
        (31744, "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47"),
        (102400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"),
    ];
    for (len, hex) in vectors {
        for block_bytes in [1024, 2048, 4096, 65536] {
            let mut parts = parts(&input(len), block_bytes);
            parts.reverse();
            assert_eq!(merge(parts, len).unwrap().to_string(), hex, "{len} bytes in blocks of {block_bytes}");
        }
    }
}

#[test]
fn an_incomplete_or_impossible_set_of_parts_has_no_digest() {
    let all = parts(&input(10_000), 2048);
    for lost in 0..all.len() {
        let rest = all.iter().enumerate().filter(|(number, _)| *number != lost).map(|(_, part)| *part);
        assert_eq!(merge(rest, 10_000), None, "part {lost} is missing");
    }
    assert_eq!(merge(all.iter().copied().chain([all[2]]), 10_000), None, "one is given twice");
    assert_eq!((merge(all.clone(), 9_999), merge(all, 10_001)), (None, None));
    let value = (*blake3::hash(b"").as_bytes()).into();
    let add = |offset, len| HashTree::default().add(Subtree { offset_bytes: offset, len_bytes: len, value });
    let impossible = Err(NotAdded::Impossible);
    assert_eq!([add(512, 1024), add(1024, 2048), add(2048, 0), add(u64::MAX - 1023, 1024)], [impossible; 4]);
    assert_eq!([add(0, u64::MAX), add(1024, 1024), add(2048, 7)], [Ok(()); 3]);
    assert_eq!(merge([Subtree { offset_bytes: 0, len_bytes: 1024, value }], u64::MAX), None);
}

proptest! {
    #[test]
    fn parts_in_any_order_and_split_among_machines_give_the_digest_of_the_whole(
        len in 0u64..200_000, shift in 0u32..7, order: u64, shards in 1u64..9,
    ) {
        let (bytes, block_bytes) = (input(len), 1024u64 << shift);
        let expected = BlockDigest::from(*blake3::hash(&bytes).as_bytes());
        let mut all = parts(&bytes, block_bytes);
        all.sort_by_key(|part| (part.offset_bytes / block_bytes).wrapping_mul(order | 1).rotate_left(7));
        let mut machines = vec![HashTree::default(); shards as usize];
        let shard_bytes = len.div_ceil(shards).next_multiple_of(block_bytes).max(block_bytes);
        for part in all {
            machines[(part.offset_bytes / shard_bytes) as usize].add(part).unwrap();
        }
        let blocks = shard_bytes / block_bytes;
        let most = 2 * (u64::BITS - blocks.leading_zeros()) as usize;
        prop_assert!(machines.iter().all(|tree| tree.parts().count() <= most), "more than {most} values");
        let handed_over = machines.iter().rev().flat_map(HashTree::parts);
        prop_assert_eq!(merge(handed_over, len), Some(expected));
    }
}
