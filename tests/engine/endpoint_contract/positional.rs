//! Checks for everything with offsets, in every cache mode, by calls and by a ring.
use super::moving::{Door, pattern, request};
use super::places::{Place, everywhere, open_dest, open_source};
use haul::core::{Cache, Op};
use std::fs;

const BYTES: usize = (1 << 20) + 777;

/// Runs `check` for every place, cache mode and door.
fn each(check: impl Fn(&Place, Cache, &mut Door)) {
    for place in everywhere(&vec![0xee; BYTES]) {
        for cache in place.caches() {
            for mut door in Door::all() {
                eprintln!("{} {cache:?} {}", place.name, if matches!(door, Door::Calls) { "calls" } else { "ring" });
                fs::write(&place.path, vec![0xee; place.facts().size.unwrap() as usize]).unwrap();
                check(&place, cache, &mut door);
            }
        }
    }
}

/// Divides `len` into pieces of odd and even lengths, the last ones first.
fn pieces(len: usize) -> Vec<(usize, usize)> {
    let lengths = [4096, 5000, 65_536, 1, 511, 8192, 100_000, 4096, 131_072];
    let mut cuts = Vec::new();
    let (mut at, mut index) = (0, 0);
    while at < len {
        let piece = lengths[index % lengths.len()].min(len - at);
        cuts.push((at, piece));
        (at, index) = (at + piece, index + 1);
    }
    cuts.reverse();
    cuts
}

#[test]
fn bytes_written_in_any_pieces_are_read_in_any_others() {
    each(|place, cache, door| {
        let (facts, side) = (place.facts(), place.side(cache));
        let bytes = pattern(facts.size.unwrap() as usize);
        let dest = open_dest(&side, &facts).unwrap();
        for (at, len) in pieces(bytes.len()) {
            door.write(&*dest, at as u64, &bytes[at..at + len]);
        }
        dest.make_durable().unwrap();
        assert!(fs::read(&place.path).unwrap() == bytes, "the place holds something else");
        drop(dest);
        let source = open_source(&side, &facts).unwrap();
        for (at, len) in [(0, 65_536), (65_536, 300_000), (365_536, 1 << 20)] {
            let expected = &bytes[at..bytes.len().min(at + len)];
            assert!(door.read(&*source, at as u64, len as u32) == expected, "{len} bytes at {at}");
        }
    });
}

#[test]
fn aligned_requests_go_by_the_ring_unless_each_has_to_be_dropped_behind() {
    for place in everywhere(&vec![0xee; BYTES]) {
        for cache in place.caches() {
            let (facts, side) = (place.facts(), place.side(cache));
            let source = open_source(&side, &facts).unwrap();
            let on_ring = source.on_ring().unwrap();
            let even = on_ring.takes(&request(Op::Read, 65_536, 65_536));
            let odd = on_ring.takes(&request(Op::Read, 65_536, 777));
            assert_eq!(even, cache != Cache::Drop, "{} {cache:?}", place.name);
            assert_eq!(odd, matches!(cache, Cache::Keep | Cache::DroppedByKernel), "{} {cache:?}", place.name);
            assert!(!on_ring.takes(&request(Op::Zero, 65_536, 65_536)));
        }
    }
}

#[test]
fn a_write_changes_only_its_own_bytes() {
    each(|place, cache, door| {
        let (facts, side) = (place.facts(), place.side(cache));
        let dest = open_dest(&side, &facts).unwrap();
        let mut expected = vec![0xee; facts.size.unwrap() as usize];
        for (at, len) in [(4096, 8192), (100_001, 777), (200_704, 20_001), (300_003, 50_000)] {
            door.write(&*dest, at as u64, &pattern(len));
            expected[at..at + len].copy_from_slice(&pattern(len));
        }
        dest.make_durable().unwrap();
        assert!(fs::read(&place.path).unwrap() == expected);
    });
}

#[test]
fn zeroing_changes_only_its_own_run() {
    each(|place, cache, door| {
        let (facts, side) = (place.facts(), place.side(cache));
        let dest = open_dest(&side, &facts).unwrap();
        let mut expected = vec![0xee; facts.size.unwrap() as usize];
        for (at, len) in [(8192, 65_536), (100_001, 99), (200_700, 70_001), (512_000, 512), (600_000, 448_576)] {
            door.zero(&*dest, at as u64, len as u32);
            expected[at..at + len].fill(0);
        }
        dest.make_durable().unwrap();
        assert!(fs::read(&place.path).unwrap() == expected);
    });
}

#[test]
fn a_read_at_the_end_moves_nothing() {
    each(|place, cache, door| {
        let (facts, side) = (place.facts(), place.side(cache));
        let source = open_source(&side, &facts).unwrap();
        let size = facts.size.unwrap();
        assert_eq!(door.read(&*source, size, 4096), b"");
        assert_eq!(door.read(&*source, size - 7, 4096), [0xee; 7]);
    });
}

#[test]
fn another_file_under_the_same_name_is_refused() {
    for place in everywhere(&vec![0xee; BYTES]) {
        let mut facts = place.facts();
        facts.id = Some(haul::core::FileId::File(1, 1));
        let side = place.side(Cache::Keep);
        for opened in [open_source(&side, &facts), open_dest(&side, &facts)] {
            let error = opened.err().expect("it is not what was probed");
            assert_eq!(error.kind, haul::core::Kind::Refused);
            assert!(error.to_string().contains("changed after haul examined it"), "{error}");
        }
        assert!(fs::read(&place.path).unwrap().iter().all(|&byte| byte == 0xee));
    }
}

#[test]
fn an_untouched_endpoint_is_unchanged() {
    for place in everywhere(&vec![0xee; BYTES]) {
        let source = open_source(&place.side(Cache::Keep), &place.facts()).unwrap();
        Door::Calls.read(&*source, 0, 4096);
        assert_eq!(source.change(), None, "{}", place.name);
    }
}
