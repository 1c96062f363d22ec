use super::*;
use crate::apps::fronts::dd::plan::{DdFacts, DdKind};
use crate::apps::fronts::record_plan::Amount;
use crate::apps::fronts::sg_plan::{ScsiFlags, ScsiOptions, SgFront, SgPlan};
use crate::core::{CommandOptions, CommandSet, EndpointKind, Facts, Passthrough, Side};

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
fn the_default_count_is_the_smaller_of_source_and_device() {
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
fn each_scsi_operand_is_refused_without_passthrough() {
    let kinds = [DdKind::File, DdKind::Block];
    assert_eq!(refused_flag(&SgPlan::default(), kinds), None);
    let flag = |change: fn(&mut ScsiFlags)| {
        let mut flags = ScsiFlags::default();
        change(&mut flags);
        flags
    };
    let all = [
        flag(|flags| flags.dio = true),
        flag(|flags| flags.dpo = true),
        flag(|flags| flags.fua = true),
        flag(|flags| flags.fua_nv = true),
        flag(|flags| flags.mmap = true),
        flag(|flags| flags.passthrough = true),
    ];
    for side in [Side::Source, Side::Dest] {
        for flags in all {
            let mut plan = SgPlan::default();
            plan.scsi_flags[side.index()] = flags;
            let refusal = refused_flag(&plan, kinds).expect("no command is sent");
            assert_eq!(refusal.side, Some(side), "{flags:?}");
            assert_eq!(refused_flag(&plan, [DdKind::Null; 2]), None, "nothing is sent to a null device");
        }
    }
    let settings = [
        ScsiOptions { command_bytes: Some(10), ..ScsiOptions::default() },
        ScsiOptions { duration_limits: [0, 1], ..ScsiOptions::default() },
        ScsiOptions { groups: [0, 1], ..ScsiOptions::default() },
        ScsiOptions { read_long: 1, ..ScsiOptions::default() },
        ScsiOptions { timeout_s: Some(60), ..ScsiOptions::default() },
    ];
    for scsi in settings {
        assert!(refused_flag(&SgPlan { scsi, ..SgPlan::default() }, kinds).is_some(), "{scsi:?}");
    }
}

#[test]
fn dio_and_blk_sgio_apply_to_the_passthrough_side() {
    let both = |change: fn(&mut ScsiFlags)| {
        let mut plan = SgPlan::default();
        plan.scsi_flags.iter_mut().for_each(change);
        plan
    };
    let kinds = [DdKind::Commands, DdKind::File];
    assert_eq!(refused_flag(&both(|flags| (flags.dio, flags.passthrough) = (true, true)), kinds), None);
    let fua = refused_flag(&both(|flags| flags.fua = true), kinds).expect("a file has no FUA");
    assert_eq!((fua.side, fua.word), (Some(Side::Dest), "fua"));
    let mut one = SgPlan::default();
    one.scsi_flags[1].dio = true;
    assert!(refused_flag(&one, kinds).is_some(), "it was asked of the file");
    let long = SgPlan { scsi: ScsiOptions { read_long: 1, ..ScsiOptions::default() }, ..SgPlan::default() };
    assert_eq!(refused_flag(&long, kinds), None);
    assert!(refused_flag(&long, [DdKind::File, DdKind::Commands]).is_some(), "IFILE is read without commands");
}

#[test]
fn a_passthrough_side_refuses_unsupported_operands() {
    let refused = |change: fn(&mut SgPlan)| {
        let mut plan = SgPlan::default();
        change(&mut plan);
        refused_flag(&plan, [DdKind::Commands; 2]).map(|refusal| refusal.word)
    };
    let all = |plan: &mut SgPlan| {
        plan.scsi_flags[0] =
            ScsiFlags { dio: true, dpo: true, fua: true, fua_nv: true, mmap: false, passthrough: true };
        plan.records.source.words.direct = true;
        plan.records.dest.words.excl = true;
    };
    assert_eq!(refused(all), None);
    assert_eq!(refused(|plan| plan.records.dest.words.append = true), Some("append"));
    assert_eq!(refused(|plan| plan.records.source.words.sync = true), Some("dsync"));
    assert_eq!(refused(|plan| (plan.scsi_flags[0].mmap, plan.records.source.words.excl) = (true, true)), Some("mmap"));
    assert_eq!(refused(|plan| (plan.scsi_flags[1].mmap, plan.scsi_flags[1].dio) = (true, true)), Some("mmap"));
}

/// A disk of 1000 blocks that accepts SCSI commands, starting at block `start` of its node.
fn disk_by_commands(start: u64) -> Facts {
    let mut facts = Facts::new("/dev/sg9", EndpointKind::Block);
    (facts.size, facts.logical_block_bytes) = (Some(512_000), 512);
    let (node, commands) = ("/dev/sg9".into(), CommandSet::Scsi);
    facts.passthrough = Some(Passthrough { commands, node, number: 1, named: true, start: start * 512, block: None });
    facts
}

#[test]
fn operands_impossible_with_commands_are_refused_before_the_first_block() {
    let check = |change: fn(&mut SgPlan), side, start, total| {
        let mut plan = SgPlan::default();
        change(&mut plan);
        check_commands(&plan, side, &disk_by_commands(start), total)
    };
    let nothing = |_: &mut SgPlan| {};
    assert_eq!(check(nothing, Side::Source, 0, 1000), Ok(()));
    let skipped = |plan: &mut SgPlan| plan.records.source.skip.records = 1;
    assert_eq!(check(skipped, Side::Source, 0, 1000), Err(CommandRefusal::Beyond(Side::Source, 1000, 1001)));
    assert_eq!(check(skipped, Side::Dest, 0, 1000), Ok(()));
    let short = |plan: &mut SgPlan| plan.scsi.command_bytes = Some(6);
    assert_eq!(check(short, Side::Source, (1 << 21) - 1000, 1000), Ok(()));
    let lba = 1 << 21;
    let unnameable = Err(CommandRefusal::Unnameable(Side::Source, 6, lba));
    assert_eq!(check(short, Side::Source, lba - 999, 1000), unnameable);
    let with_fua = |plan: &mut SgPlan| (plan.scsi.command_bytes, plan.scsi_flags[1].fua) = (Some(6), true);
    assert_eq!(check(with_fua, Side::Dest, 0, 9), Err(CommandRefusal::NoPlace(Side::Dest, "fua")));
    let grouped = |plan: &mut SgPlan| (plan.scsi.command_bytes, plan.scsi.groups) = (Some(10), [0, 32]);
    assert_eq!(check(grouped, Side::Dest, 0, 9), Err(CommandRefusal::NoPlace(Side::Dest, "grpnum")));
    assert_eq!(check(grouped, Side::Source, 0, 9), Ok(()), "its own group is 0");
    assert_eq!(check(|plan| plan.scsi.groups = [32; 2], Side::Dest, 0, 9), Ok(()), "a longer command is taken");
    let protected = Facts { writable: false, ..disk_by_commands(0) };
    let plan = SgPlan::default();
    assert_eq!(check_commands(&plan, Side::Dest, &protected, 9), Err(CommandRefusal::WriteProtected));
    assert_eq!(check_commands(&plan, Side::Source, &protected, 9), Ok(()));
    let coarse = Facts { logical_block_bytes: 4096, ..disk_by_commands(0) };
    assert_eq!(check_blocks(&plan, Side::Dest, &coarse), Err(CommandRefusal::BlockSize(Side::Dest, 4096)));
}

#[test]
fn sgm_dd_shares_memory_with_one_side_unless_an_operand_excludes_it() {
    let shared = |front, by_commands, change: fn(&mut SgPlan)| {
        let mut plan = SgPlan { front, ..SgPlan::default() };
        change(&mut plan);
        shared_side(&plan, by_commands)
    };
    let nothing = |_: &mut SgPlan| {};
    assert_eq!(shared(SgFront::Sgm, [true, true], nothing), Some(Side::Source));
    assert_eq!(shared(SgFront::Sgm, [false, true], nothing), Some(Side::Dest));
    assert_eq!(shared(SgFront::Sgm, [false, true], |plan| plan.scsi_flags[1].dio = true), None);
    assert_eq!(shared(SgFront::Sgm, [true, true], |plan| plan.scsi_flags[0].dio = true), Some(Side::Source));
    assert_eq!(shared(SgFront::Sgm, [true, true], |plan| plan.records.source.words.excl = true), None);
    assert_eq!(shared(SgFront::Sgp, [true, true], nothing), None);
    assert_eq!(shared(SgFront::Sgp, [true, true], |plan| plan.scsi_flags[1].mmap = true), Some(Side::Dest));
}

#[test]
fn a_side_is_opened_with_its_operands() {
    let scsi = ScsiOptions {
        command_bytes: Some(16),
        duration_limits: [3, 5],
        groups: [8, 9],
        read_long: 0,
        timeout_s: Some(7),
    };
    let mut plan = SgPlan { scsi, ..SgPlan::default() };
    plan.scsi_flags[1] = ScsiFlags { dio: true, fua: true, fua_nv: true, ..ScsiFlags::default() };
    (plan.records.dest.words.excl, plan.records.dest.words.flock) = (true, true);
    let side = command_side(&plan, Side::Dest, &disk_by_commands(0), false).expect("it has a node");
    assert!(side.access.exclusive);
    let options = side.through.expect("by commands").options;
    let wanted = CommandOptions {
        timeout: std::time::Duration::from_secs(7),
        fua: true,
        fua_nv: true,
        group: 9,
        cdb_bytes: Some(16),
        duration_limit: 5,
        direct: true,
        shared: false,
        exclusive: true,
        locked: true,
        ..CommandOptions::default()
    };
    assert_eq!(options, wanted);
    let shared = command_side(&plan, Side::Dest, &disk_by_commands(0), true).expect("it has a node");
    assert!(shared.through.is_some_and(|way| way.options.shared && !way.options.direct), "there is nothing to copy");
    let source = command_side(&plan, Side::Source, &disk_by_commands(0), false).expect("it has a node");
    assert!(
        !source.access.exclusive
            && source.through.is_some_and(|way| way.options.duration_limit == 3 && way.options.group == 8)
    );
    plan.records.compare = true;
    assert!(!command_side(&plan, Side::Dest, &disk_by_commands(0), false).expect("it has a node").access.exclusive);
}

#[test]
fn failures_exit_with_the_status_of_the_program() {
    let table = [
        (SgFailure::OpenSource(Some(2)), [15, 15, 15]),
        (SgFailure::OpenSource(Some(13)), [15, 63, 63]),
        (SgFailure::OpenDest(Some(2)), [15, 52, 52]),
        (SgFailure::Seek(Some(22)), [15, 72, 72]),
        (SgFailure::Seek(Some(75)), [15, 50, 50]),
        (SgFailure::Locked, [90; 3]),
        (SgFailure::Count, [99, 99, 1]),
        (SgFailure::UnsupportedFlag, [31; 3]),
        (SgFailure::Differs, [14; 3]),
        (SgFailure::TooManyBad, [3; 3]),
        (SgFailure::CommandLength, [1; 3]),
        (SgFailure::Beyond, [22; 3]),
        (SgFailure::WriteProtected, [7; 3]),
        (SgFailure::Reserved, [24; 3]),
        (SgFailure::Sense([3, 0x11, 0]), [3; 3]),
        (SgFailure::Sense([4, 0x44, 0]), [3; 3]),
        (SgFailure::Sense([5, 0x20, 0]), [9; 3]),
        (SgFailure::Sense([5, 0x24, 0]), [5; 3]),
        (SgFailure::Sense([9, 0, 0]), [99; 3]),
        (SgFailure::Io, [99; 3]),
    ];
    for (failure, statuses) in table {
        assert_eq!(SgFront::ALL.map(|front| status(front, &failure)), statuses, "{failure:?}");
    }
}
