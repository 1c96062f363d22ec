use super::*;
use crate::contract::{Amount, ScsiOptions, ScsiWishes, SgFront, SgPlan, Side};
use crate::plan::dd::{DdFacts, DdKind};

fn side(kind: DdKind, size: Option<u64>) -> DdFacts {
    let logical_block_bytes = (kind == DdKind::Block).then_some(512);
    DdFacts { kind, size, offset: Some(0), odd_flags: false, direct: false, logical_block_bytes, in_memory: false }
}

fn count(source: DdFacts, dest: DdFacts, skip: u64, seek: u64) -> Result<u64, CountRefusal> {
    let mut plan = SgPlan::default();
    plan.records.source.skip = Amount { records: skip, bytes: 0 };
    plan.records.dest.skip = Amount { records: seek, bytes: 0 };
    blocks_to_copy(&plan, &source, &dest)
}

#[test]
fn the_count_is_what_the_source_has_and_a_device_takes() {
    let (disk, file) = (|blocks: u64| side(DdKind::Block, Some(blocks * 512)), |size| side(DdKind::File, Some(size)));
    let (pipe, zeros) = (side(DdKind::Pipe, None), side(DdKind::Zeros, None));
    assert_eq!(count(disk(100), disk(80), 0, 0), Ok(80));
    assert_eq!(count(disk(100), disk(80), 30, 0), Ok(70));
    assert_eq!(count(disk(100), disk(80), 0, 75), Ok(5));
    assert_eq!(count(disk(100), file(0), 120, 0), Ok(0));
    assert_eq!(count(file(1000), file(9), 0, 0), Ok(2), "a short block is one, and the old dest does not matter");
    assert_eq!(count(pipe, disk(80), 0, 1), Ok(79));
    assert_eq!(count(zeros, disk(80), 0, 0), Ok(80));
    assert_eq!(count(pipe, file(5), 0, 0), Err(CountRefusal::Endless));
}

#[test]
fn a_device_with_blocks_of_another_size_is_refused() {
    let coarse = DdFacts { logical_block_bytes: Some(4096), ..side(DdKind::Block, Some(1 << 20)) };
    let fine = side(DdKind::Block, Some(1 << 20));
    assert_eq!(count(coarse, fine, 0, 0), Err(CountRefusal::BlockSize(Side::Source, 4096)));
    assert_eq!(count(fine, coarse, 0, 0), Err(CountRefusal::BlockSize(Side::Dest, 4096)));
}

#[test]
fn each_wish_about_scsi_is_refused_where_no_commands_are_sent() {
    let kinds = [DdKind::File, DdKind::Block];
    assert_eq!(refused_wish(&SgPlan::default(), kinds), None);
    let wish = |change: fn(&mut ScsiWishes)| {
        let mut wishes = ScsiWishes::default();
        change(&mut wishes);
        wishes
    };
    let all = [
        wish(|wishes| wishes.dio = true),
        wish(|wishes| wishes.dpo = true),
        wish(|wishes| wishes.fua = true),
        wish(|wishes| wishes.mmap = true),
        wish(|wishes| wishes.passthrough = true),
    ];
    for side in [Side::Source, Side::Dest] {
        for wishes in all {
            let mut plan = SgPlan::default();
            plan.wishes[side.index()] = wishes;
            let refusal = refused_wish(&plan, kinds).expect("no command is sent");
            assert_eq!(refusal.side, Some(side), "{wishes:?}");
            assert_eq!(refused_wish(&plan, [DdKind::Null; 2]), None, "nothing is sent to a null device");
        }
    }
    let settings = [
        ScsiOptions { command_bytes: Some(10), ..ScsiOptions::default() },
        ScsiOptions { duration_limits: [0, 1], ..ScsiOptions::default() },
        ScsiOptions { read_long: 1, ..ScsiOptions::default() },
        ScsiOptions { timeout_s: Some(60), ..ScsiOptions::default() },
    ];
    for scsi in settings {
        assert!(refused_wish(&SgPlan { scsi, ..SgPlan::default() }, kinds).is_some(), "{scsi:?}");
    }
}

#[test]
fn a_scsi_generic_node_is_refused_by_either_side() {
    for kinds in [[DdKind::ScsiGeneric, DdKind::File], [DdKind::File, DdKind::ScsiGeneric]] {
        assert!(refused_wish(&SgPlan::default(), kinds).is_some());
    }
}

#[test]
fn failures_end_with_the_status_of_the_program() {
    let table = [
        (Failure::OpenSource(Some(2)), [15, 15, 15]),
        (Failure::OpenSource(Some(13)), [15, 63, 63]),
        (Failure::OpenDest(Some(2)), [15, 52, 52]),
        (Failure::Seek(Some(22)), [15, 72, 72]),
        (Failure::Seek(Some(75)), [15, 50, 50]),
        (Failure::Locked, [90; 3]),
        (Failure::Count, [99, 99, 1]),
        (Failure::Wish, [31; 3]),
        (Failure::Differs, [14; 3]),
        (Failure::TooManyBad, [3; 3]),
        (Failure::Io, [99; 3]),
    ];
    for (failure, statuses) in table {
        assert_eq!(SgFront::ALL.map(|front| status(front, &failure)), statuses, "{failure:?}");
    }
}
