use super::classify::may_share_bytes;
use super::*;
use crate::apps::fronts::record_plan::{Amount, RecordPlan};
use crate::core::{EndpointKind, Facts, FileId, Ground};
use crate::plan::PassthroughMode;

const MIB: u64 = 1 << 20;

fn side(kind: DdKind, size: Option<u64>) -> DdFacts {
    DdFacts {
        kind,
        size,
        offset: Some(0),
        odd_flags: false,
        direct: false,
        logical_block_bytes: None,
        in_memory: false,
    }
}

fn disk(size: u64) -> DdFacts {
    side(DdKind::Block, Some(size))
}

fn new_file() -> DdFacts {
    side(DdKind::File, Some(0))
}

fn len_of(way: &CopyMethod) -> Option<u64> {
    match way {
        CopyMethod::Blocks(blocks) => Some(blocks.len),
        CopyMethod::Records(_) => None,
    }
}

#[test]
fn disk_to_disk_with_records_of_512_bytes_is_copied_as_blocks() {
    let way = classify(&RecordPlan::default(), &disk(64 * MIB), &disk(64 * MIB));
    let (len, passes, block_bytes, depth) = (64 * MIB, PassthroughMode::AsNamed, None, None);
    let blocks = Blocks { skip_bytes: 0, seek_bytes: 0, len, direct: false, passes, block_bytes, depth };
    assert_eq!(way, CopyMethod::Blocks(blocks));
}

#[test]
fn record_operands_make_dd_copy_records() {
    let plain = RecordPlan::default;
    let mut odd = vec![
        RecordPlan { swab: true, ..plain() },
        RecordPlan { sparse: true, ..plain() },
        RecordPlan { table: Some(Box::new([0; 256])), ..plain() },
    ];
    for flag in 0..6 {
        let mut plan = plain();
        let words = &mut plan.dest.words;
        let all = [
            &mut words.append,
            &mut words.dsync,
            &mut words.sync,
            &mut words.nonblock,
            &mut words.noatime,
            &mut words.nocache,
        ];
        all.into_iter().enumerate().for_each(|(at, word)| *word = at == flag);
        odd.push(plan);
    }
    for plan in odd {
        assert_eq!(len_of(&classify(&plan, &disk(64 * MIB), &disk(64 * MIB))), None, "{plan:?}");
    }
}

#[test]
fn sync_pads_the_last_record_after_a_block_copy() {
    let filled = RecordPlan { pad: Some(0), keep_going: true, ..RecordPlan::default() };
    let odd = disk(64 * MIB + 77);
    assert_eq!(len_of(&classify(&filled, &odd, &new_file())), Some(64 * MIB));
    assert_eq!(len_of(&classify(&filled, &side(DdKind::File, Some(64 * MIB + 77)), &disk(99 * MIB))), Some(64 * MIB));
    assert_eq!(len_of(&classify(&filled, &side(DdKind::Other, Some(64 * MIB)), &new_file())), None);
    assert_eq!(len_of(&classify(&filled, &side(DdKind::Pipe, None), &new_file())), None);
}

#[test]
fn files_in_memory_are_copied_as_records_and_others_as_blocks() {
    let plan = RecordPlan::default();
    let file = |in_memory| DdFacts { in_memory, ..side(DdKind::File, Some(64 * MIB)) };
    assert_eq!(len_of(&classify(&plan, &file(true), &file(true))), None);
    let mut large = RecordPlan::default();
    large.source.record_bytes = 16 * MIB;
    assert_eq!(len_of(&classify(&large, &file(true), &file(true))), Some(64 * MIB), "no cache holds its records");
    assert_eq!(len_of(&classify(&plan, &file(false), &file(true))), Some(64 * MIB), "the source has to be read");
    assert_eq!(len_of(&classify(&plan, &file(true), &DdFacts { in_memory: true, ..disk(64 * MIB) })), Some(64 * MIB));
}

#[test]
fn pipes_other_devices_and_unusual_flags_are_copied_as_records() {
    let (plan, fine) = (RecordPlan::default(), disk(64 * MIB));
    let strange = [
        side(DdKind::Pipe, None),
        side(DdKind::Other, None),
        DdFacts { odd_flags: true, ..fine },
        DdFacts { offset: None, ..fine },
        DdFacts { direct: true, ..fine },
    ];
    for facts in strange {
        assert_eq!(len_of(&classify(&plan, &facts, &fine)), None, "{facts:?} as the source");
        assert_eq!(len_of(&classify(&plan, &fine, &facts)), None, "{facts:?} as the dest");
    }
}

#[test]
fn the_count_and_the_end_of_the_source_end_the_blocks() {
    let count = |records, bytes| RecordPlan { count: Some(Amount { records, bytes }), ..RecordPlan::default() };
    let source = DdFacts { offset: Some(1000), ..disk(64 * MIB) };
    let len = |plan: &RecordPlan| len_of(&classify(plan, &source, &new_file()));
    assert_eq!(len(&RecordPlan::default()), Some(64 * MIB - 1000));
    assert_eq!(len(&count(32 * 2048, 7)), Some(32 * MIB + 7));
    assert_eq!(len(&count(u64::MAX / 4, 0)), Some(64 * MIB - 1000));
    assert_eq!(len(&count(1, 0)), None, "one record is over at once");
}

#[test]
fn a_dest_that_is_too_small_ends_the_blocks_with_full_records() {
    let mut plan = RecordPlan::default();
    (plan.source.record_bytes, plan.dest.record_bytes) = (3000, 4000);
    let room = 16 * MIB;
    assert_eq!(len_of(&classify(&plan, &disk(64 * MIB), &disk(room))), Some(room - room % 12_000));
    let zeros = side(DdKind::Zeros, None);
    assert_eq!(len_of(&classify(&plan, &zeros, &disk(room))), Some(room - room % 12_000));
    assert_eq!(len_of(&classify(&plan, &zeros, &new_file())), None, "endless zeros");
}

#[test]
fn full_records_are_full_on_both_sides() {
    let mut plan = RecordPlan::default();
    for (ibs, obs, bytes, whole) in [(512, 512, 1000, 512), (6, 4, 35, 24), (1 << 62, 3, 99, 0), (5, 10, 9, 0)] {
        (plan.source.record_bytes, plan.dest.record_bytes) = (ibs, obs);
        assert_eq!(whole_records(&plan, bytes), whole, "{ibs} and {obs}");
    }
}

/// An endpoint stored on these grounds, from the top down, with the offset of its first byte on each.
fn on_grounds(kind: EndpointKind, grounds: &[(FileId, Option<u64>)]) -> Facts {
    let mut facts = Facts::new("x", kind);
    facts.id = grounds.first().map(|(id, _)| *id);
    let ground = |&(id, offset)| Ground { id, name: String::new(), offset, rotational: None };
    facts.ground = grounds.iter().map(ground).collect();
    facts
}

#[test]
fn overlap_is_assumed_only_where_it_is_possible() {
    let (disk, one, two) = (FileId::Device(8), FileId::Device(9), FileId::Device(10));
    let whole = on_grounds(EndpointKind::Block, &[(disk, Some(0))]);
    let first = on_grounds(EndpointKind::Block, &[(one, Some(0)), (disk, Some(MIB))]);
    let second = on_grounds(EndpointKind::Block, &[(two, Some(0)), (disk, Some(9 * MIB))]);
    let file = |number| on_grounds(EndpointKind::File, &[(FileId::File(8, number), Some(0)), (disk, None)]);
    let over = |device, number| {
        let levels = [(FileId::Device(device), Some(0)), (FileId::File(8, number), Some(0)), (disk, None)];
        on_grounds(EndpointKind::Block, &levels)
    };
    let new_file = on_grounds(EndpointKind::File, &[]);
    let blocks = |skip_bytes, seek_bytes, len| Blocks {
        skip_bytes,
        seek_bytes,
        len,
        direct: false,
        passes: PassthroughMode::AsNamed,
        block_bytes: None,
        depth: None,
    };
    let may = |skip, seek, len, source: &Facts, dest: &Facts| {
        let pair = [source, dest];
        assert_eq!(
            may_share_bytes(&blocks(skip, seek, len), pair),
            may_share_bytes(&blocks(seek, skip, len), [dest, source]),
            "either way round"
        );
        may_share_bytes(&blocks(skip, seek, len), pair)
    };
    assert!(!may(0, 0, 8 * MIB, &first, &second), "partitions side by side");
    assert!(may(0, 0, 8 * MIB + 1, &first, &second), "one that ends in the next");
    assert!(!may(MIB, 0, MIB, &whole, &second) && may(9 * MIB, 0, MIB, &whole, &second), "a disk and its partition");
    assert!(!may(0, 64 * MIB, 64 * MIB, &whole, &whole), "one half of a disk and the other");
    assert!(may(0, 64 * MIB, 64 * MIB + 1, &whole, &whole), "parts of a disk that meet");
    assert!(!may(0, 0, MIB, &file(1), &file(2)) && may(0, 0, MIB, &file(1), &file(1)), "two files and one");
    assert!(may(0, 0, MIB, &whole, &file(1)), "a file and the disk beneath, wherever it lies");
    assert!(may(0, 0, MIB, &over(20, 1), &file(1)), "a file and the loop device over it");
    assert!(!may(0, 0, MIB, &over(20, 1), &over(21, 2)), "loop devices over two files of one disk");
    assert!(may(0, 0, MIB, &over(20, 1), &over(21, 1)), "loop devices over one file");
    assert!(!may(0, 4 * MIB, MIB, &over(20, 1), &over(21, 1)), "in places that do not meet");
    assert!(may(0, 0, MIB, &over(20, 1), &whole), "a loop device and the disk under its file");
    assert!(!may(0, 0, MIB, &whole, &new_file), "on no disk that is known");
}
