//! Tests whether a journal still fits, where samples are taken, and the equivalent mapfile.
use super::tests::{LEN, digest, extents, head};
use super::*;
use crate::core::{BlockDigest, Extent, ExtentSet, Side};
use crate::ledger::{Mismatch, SideIdentity};
use proptest::prelude::*;

proptest! {
    #[test]
    fn samples_are_spread_over_the_copied_bytes(
        pairs in prop::collection::vec((0u64..5000, 1u64..700), 1..6), count in 1u64..20, len in 1u64..200,
    ) {
        let set: ExtentSet = extents(&pairs).into_iter().collect();
        let places = sample_places(&set, count, len);
        prop_assert!(!places.is_empty() && places.len() as u64 <= count);
        prop_assert!(places.iter().all(|place| set.contains(*place) && place.len <= len && !place.is_empty()));
        prop_assert!(places.windows(2).all(|pair| pair[0].end() <= pair[1].offset), "{:?}", places);
        prop_assert_eq!(places[0].offset, set.iter().next().unwrap().offset);
        prop_assert!(count == 1 || places.last().unwrap().end() == set.end());
        // No gap between two samples is much larger than an even share.
        let share = set.total_bytes() / count.max(2).saturating_sub(1) + 1;
        let between = |pair: &[Extent]| Extent::new(pair[0].end(), pair[1].offset - pair[0].end());
        let spread = places.windows(2).all(|pair| set.covered_bytes(between(pair)) <= share + len);
        prop_assert!(count == 1 || spread, "{:?}", places);
    }
}

#[test]
fn a_copy_is_resumed_only_if_everything_matches() {
    let head = head();
    let state = State { durable: [Extent::new(0, 600)].into_iter().collect(), ..State::default() };
    let samples: Vec<_> = head.samples.iter().map(|sample| Some(sample.digest)).collect();
    // The device has another name now, and the file is as long as its durable part.
    let source = SideIdentity { path: "/dev/sdb".into(), ..head.source.clone() };
    let dest = SideIdentity { size_bytes: Some(700), ..head.dest.clone() };
    let (len_bytes, ranges) = (Some(LEN), None);
    let maps = [head.source.offset_bytes, head.dest.offset_bytes].map(crate::core::AddressMap::from);
    let maps = maps.each_ref();
    let fits = Now { len_bytes, ranges, maps, source: &source, dest: &dest, samples: &samples, dest_differs: &[] };
    assert_eq!(head.mismatches(&state, &fits), []);

    let one = |now: Now<'_>| match &head.mismatches(&state, &now)[..] {
        [mismatch] => mismatch.clone(),
        other => panic!("{other:?}"),
    };
    let others = Some(BlockDigest::blake3(b"0 10"));
    assert_eq!(one(Now { ranges: others, ..fits }), Mismatch::Ranges);
    let text = |words: &str| words.to_owned();
    let (on_source, on_dest) = (Side::Source, Side::Dest);
    let moved = SideIdentity { path: "/srv/other".into(), ..dest.clone() };
    let mismatch = Mismatch::Path { side: on_dest, then: text("/srv/image"), now: text("/srv/other") };
    assert_eq!(one(Now { dest: &moved, ..fits }), mismatch);
    let short = SideIdentity { size_bytes: Some(699), ..dest.clone() };
    assert_eq!(one(Now { dest: &short, ..fits }), Mismatch::Size { side: on_dest, then: None, now: Some(699) });
    let another = SideIdentity { serial: Some(text("S2")), ..source.clone() };
    let mismatch = Mismatch::Serial { side: on_source, then: Some(text("S1")), now: Some(text("S2")) };
    assert_eq!(one(Now { source: &another, ..fits }), mismatch);
    let grown = SideIdentity { size_bytes: Some(5001), ..source.clone() };
    assert_eq!(
        one(Now { source: &grown, ..fits }),
        Mismatch::Size { side: on_source, then: Some(5000), now: Some(5001) }
    );
    let silent = SideIdentity { model: None, ..source.clone() };
    assert!(matches!(one(Now { source: &silent, ..fits }), Mismatch::Model { now: None, .. }));
    let named = SideIdentity { wwn: Some(text("w")), ..source.clone() };
    assert!(matches!(one(Now { source: &named, ..fits }), Mismatch::Wwn { then: None, .. }));
    let coarse = SideIdentity { logical_block_bytes: 4096, ..source.clone() };
    assert_eq!(one(Now { source: &coarse, ..fits }), Mismatch::LogicalBlock { side: on_source, then: 512, now: 4096 });
    let device = SideIdentity { kind: text("block device"), ..dest.clone() };
    assert!(matches!(one(Now { dest: &device, ..fits }), Mismatch::Kind { side: Side::Dest, .. }));
    let elsewhere = SideIdentity { offset_bytes: 0, ..dest.clone() };
    assert_eq!(one(Now { dest: &elsewhere, ..fits }), Mismatch::Offset { side: on_dest, then: 100, now: 0 });
    assert_eq!(one(Now { len_bytes: None, ..fits }), Mismatch::Len { then: Some(LEN), now: None });

    let content = |side, offset, len| Mismatch::Content { side, extent: Extent::new(offset, len) };
    assert_eq!(one(Now { samples: &[samples[0], Some(digest(1))], ..fits }), content(on_source, 800, 64));
    let unreadable = Mismatch::Unreadable { side: on_source, extent: Extent::new(100, 64) };
    assert_eq!(one(Now { samples: &[None, samples[1]], ..fits }), unreadable);
    assert_eq!(one(Now { dest_differs: &[Extent::new(5, 6)], ..fits }), content(on_dest, 105, 6));
}

#[test]
fn a_mapfile_checks_the_source_likewise() {
    let state = State {
        durable: extents(&[(0, 64), (128, 64)]).into_iter().collect(),
        unread: extents(&[(64, 8), (900, 100)]).into_iter().collect(),
        ..State::default()
    };
    let mapfile = state.to_mapfile(&head());
    assert_eq!(mapfile.blocks.first().unwrap().extent.offset, 100);
    assert_eq!(mapfile.blocks.last().unwrap().extent.end(), 100 + LEN);
    assert_eq!(State::of_mapfile(&mapfile, Extent::new(100, LEN)), state);
    // Only the part within the copy is used.
    let part = State::of_mapfile(&mapfile, Extent::new(110, 60));
    assert!(part.durable.iter().eq([Extent::new(0, 54)]) && part.unread.iter().eq([Extent::new(54, 6)]));
}
