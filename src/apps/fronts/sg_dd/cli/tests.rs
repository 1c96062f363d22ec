use super::*;
use crate::apps::fronts::record_plan::{AddressCheck, Pattern};
use crate::apps::fronts::sg_dd::plan::Operand;
use crate::core::Side;
use SgFront::{Sg, Sgm, Sgp};

fn parsed(front: SgFront, line: &str) -> Result<SgCommand, SgUsage> {
    let words: Vec<OsString> = line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect();
    parse(front, &words)
}

#[track_caller]
fn plan(front: SgFront, line: &str) -> SgPlan {
    match parsed(front, line) {
        Ok(SgCommand::Copy(plan)) => *plan,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn without_operands_sizes_are_automatic_and_the_dest_is_not_truncated() {
    let plan = plan(Sg, "if=a of=b");
    assert!(plan.block_size_assumed && plan.records.dest_words.notrunc);
    assert_eq!((plan.block_bytes(), plan.transfer_blocks, plan.in_flight), (512, None, None));
    assert_eq!(plan.records.transfer_records, Some(512));
    assert_eq!(plan.records.count, None);
}

#[test]
fn a_period_means_the_null_device_and_a_hyphen_a_standard_stream() {
    assert_eq!(plan(Sg, "if=a of=.").records.dest.path, Some("/dev/null".into()));
    assert_eq!(plan(Sg, "if=- of=b").records.source.path, None);
    assert_eq!(plan(Sg, "if=a of=-").records.dest.path, None);
}

#[test]
fn options_may_be_combined_and_mixed_with_operands() {
    let plan = plan(Sg, "if=a -dvv of=b -pp --verify");
    assert!(plan.dry_run && plan.timing && plan.records.compare);
    assert_eq!((plan.verbose, plan.progress_s), (2, Some(60)));
    assert_eq!(parsed(Sg, "if=a -vh"), Ok(SgCommand::Help));
    assert_eq!(parsed(Sgm, "-V"), Ok(SgCommand::Version));
}

#[test]
fn patterns_replace_the_source() {
    assert_eq!(plan(Sg, "iflag=random of=b").records.pattern, Some(Pattern::Random));
    assert_eq!(plan(Sg, "iflag=ff of=b").records.pattern, Some(Pattern::Ones));
    assert_eq!(plan(Sg, "iflag=00,ff of=b").records.pattern, Some(Pattern::Addresses));
    let zeros = plan(Sg, "iflag=00 of=b").records;
    assert_eq!((zeros.pattern, zeros.source.path), (None, Some("/dev/zero".into())));
}

#[test]
fn scsi_operands_are_stored_by_side() {
    let flags = |line| plan(Sg, line).scsi_flags;
    let [source, dest] = flags("if=a of=b iflag=dio,fua oflag=dpo,fua_nv,pt");
    assert!(source.dio && source.fua && !source.dpo && !source.passthrough);
    assert!(dest.dpo && dest.passthrough && dest.fua_nv && !dest.dio && !dest.fua);
    assert!(!source.fua_nv);
    assert!(flags("if=a of=b fua=2")[Side::Source.index()].fua);
    assert!(!flags("if=a of=b fua=2")[Side::Dest.index()].fua);
    assert!(flags("if=a of=b blk_sgio=1").iter().all(|side| side.passthrough));
    let scsi = plan(Sg, "if=a of=b cdbsz=16 cdl=3 coe=3 group=41 time=1,60").scsi;
    assert_eq!((scsi.command_bytes, scsi.duration_limits), (Some(16), [3, 3]));
    assert_eq!(scsi.groups, [41, 41]);
    assert_eq!(plan(Sg, "if=a of=b grpnum=5,0x3f").scsi.groups, [5, 63]);
    for value in ["64", "1,64", "1,", ",1", "1,2,3", "x"] {
        let wrong = |name| parsed(Sg, &format!("if=a of=b {name}={value}"));
        assert!(wrong("grpnum").is_err() && wrong("group").is_err(), "{value}");
    }
    assert_eq!((scsi.read_long, scsi.timeout_s), (2, Some(60)));
}

#[test]
fn each_program_has_its_own_operands() {
    let known = [
        (Sg, "retries=1 of2=x iflag=flock,fua_nv conv=sparse -x append=1 odir=1 cdl=0 grpnum=1 coe_limit=1 blk_sgio=0"),
        (Sgp, "thr=8 deb=1 iflag=mmap oflag=append,coe -c --chkaddr --nocopy"),
        (Sgm, "oflag=dio iflag=dio dio=1 cdbsz=10 -v -n"),
    ];
    for (front, line) in known {
        for word in line.split(' ').filter(|word| *word != "of2=x" && *word != "-x") {
            plan(front, &format!("if=a of=b {word}"));
        }
    }
    for (front, line) in
        [(Sg, "thr=4 deb=1 --chkaddr"), (Sgp, "retries=1 conv=null -x grpnum=1 --compare"), (Sgm, "thr=1 iflag=coe -c")]
    {
        for word in line.split(' ') {
            assert!(parsed(front, &format!("if=a of=b {word}")).is_err(), "{word} is no word of {}", front.name());
        }
    }
}

#[test]
fn the_options_of_sg3_utils_1_49_are_accepted() {
    for word in ["-c", "--compare", "-x"] {
        assert!(plan(Sg, &format!("if=a of=b {word}")).records.compare, "{word}");
    }
    for (front, word) in [(Sg, "-n"), (Sgp, "--nocopy"), (Sgm, "--nc")] {
        assert!(plan(front, &format!("if=a of=b {word}")).writes_nothing, "{word}");
    }
    let checked = |words| plan(Sgp, &format!("if=a of=b {words}")).records.addresses;
    assert_eq!(checked(""), None);
    assert_eq!(checked("-c"), Some(AddressCheck::First));
    assert_eq!((checked("-cc"), checked("-c --chkaddr")), (Some(AddressCheck::All), Some(AddressCheck::All)));
}

#[test]
fn invalid_operands_exit_with_the_status_of_sg3_utils() {
    let table = [
        ("if=a of=b if=c", SgUsage::Twice(Operand::If), [1, 1, 31]),
        ("if=a of=b of=c", SgUsage::Twice(Operand::Of), [31, 1, 31]),
        ("if=a of=b ibs=1024", SgUsage::BlockSizes, [31, 1, 31]),
        ("", SgUsage::NoSides, [31, 1, 31]),
        ("if=- of=-", SgUsage::NoSides, [31, 1, 31]),
        ("if=a of=b oflag=append seek=1", SgUsage::AppendSeek, [31, 1, 31]),
        ("if=a of=b bpt=0", SgUsage::NoTransfer, [1, 1, 1]),
        ("if=a of=b foo=1", SgUsage::Unrecognized("foo".into()), [1, 1, 1]),
        ("if=a of=b iflag=foo", SgUsage::Flag("foo".into(), "iflag"), [1, 1, 1]),
        ("if=a of=b -Q", SgUsage::ShortOption("-Q".into()), [1, 1, 1]),
    ];
    for (line, usage, statuses) in table {
        for (front, status) in SgFront::ALL.into_iter().zip(statuses) {
            let error = parsed(front, line).expect_err(line);
            assert_eq!((&error, error.status(front)), (&usage, status), "{} {line}", front.name());
        }
    }
    for line in ["iflag=00 if=a of=b", "if=a of=b -x oflag=sparse", "if=a -x"] {
        assert_eq!(parsed(Sg, line).expect_err(line).status(Sg), 31, "{line}");
    }
    assert_eq!(parsed(Sgp, "if=a of=b thr=1025"), Err(SgUsage::Threads));
    assert!(parsed(Sgp, "if=a of=b thr=1024 bpt=2048").is_ok());
    assert_eq!(parsed(Sgp, "if=a of=b thr=1024 bpt=2049"), Err(SgUsage::TooMuchInFlight((1 << 30) + (1 << 19))));
    assert_eq!(parsed(Sgp, "if=a of=b iflag=mmap oflag=mmap"), Err(SgUsage::MmapTwice));
}
