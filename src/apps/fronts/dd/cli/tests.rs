use super::*;
use crate::apps::fronts::dd::plan::Conflict;
use crate::apps::fronts::record_plan::{Amount, Durable, FramingKind, StatusOutput};

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

fn plan(line: &str) -> RecordPlan {
    match parse(&words(line)).command {
        Ok(DdCommand::Copy { plan, .. }) => *plan,
        other => panic!("{line}: {other:?}"),
    }
}

fn refusal(line: &str) -> DdUsage {
    parse(&words(line)).command.expect_err(line)
}

#[test]
fn without_operands_dd_copies_records_of_512_bytes() {
    assert_eq!(plan(""), RecordPlan::default());
}

#[test]
fn bs_overrides_both_sizes_in_any_order() {
    for line in ["bs=100 ibs=3 obs=4", "ibs=3 obs=4 bs=100"] {
        let plan = plan(line);
        assert_eq!((plan.source.record_bytes, plan.dest.record_bytes, plan.reblock), (100, 100, false), "{line}");
    }
}

#[test]
fn a_conversion_refills_records_even_with_bs() {
    for word in ["swab", "lcase", "ucase", "ascii", "ebcdic", "ibm", "block", "unblock"] {
        assert!(plan(&format!("bs=100 conv={word}")).reblock, "{word}");
    }
    for word in ["sync", "sparse", "notrunc", "noerror", "fsync"] {
        assert!(!plan(&format!("bs=100 conv={word}")).reblock, "{word}");
    }
}

#[test]
fn a_suffix_or_a_flag_makes_counts_bytes() {
    let amount = |records, bytes| Amount { records, bytes };
    assert_eq!(plan("bs=300 count=700B").count, Some(amount(2, 100)));
    assert_eq!(plan("bs=300 count=700 iflag=count_bytes").count, Some(amount(2, 100)));
    assert_eq!(plan("bs=300 count=7 oflag=count_bytes").count, Some(amount(7, 0)));
    assert_eq!(plan("obs=300 oseek=301 oflag=seek_bytes").dest.skip, amount(1, 1));
    assert_eq!(plan("obs=300 seek=301 iflag=seek_bytes").dest.skip, amount(301, 0));
    assert_eq!(plan("ibs=300 iseek=301 iflag=skip_bytes").source.skip, amount(1, 1));
    assert_eq!(plan("count=1B count=2").count, Some(amount(2, 0)));
}

#[test]
fn character_sets_imply_a_framing_and_need_cbs_for_it() {
    let kind = |line: &str| plan(line).framing.map(|framing| framing.kind);
    assert_eq!(kind("conv=ascii cbs=8"), Some(FramingKind::Unblock));
    assert_eq!(kind("conv=ibm cbs=8"), Some(FramingKind::Block));
    assert_eq!(kind("conv=ebcdic"), None);
    assert_eq!(plan("conv=ebcdic cbs=8").framing.map(|framing| (framing.newline, framing.space)), Some((0x25, 0x40)));
    assert_eq!(plan("conv=block,sync cbs=8").pad, Some(b' '));
    assert_eq!(plan("conv=block,sync").pad, Some(0));
}

#[test]
fn exclusive_operands_are_refused() {
    let table = [
        ("conv=lcase,ucase", Conflict::Cases),
        ("conv=lcase conv=ucase", Conflict::Cases),
        ("conv=ascii,ebcdic", Conflict::Charsets),
        ("conv=ibm,ebcdic", Conflict::Charsets),
        ("conv=block,unblock cbs=1", Conflict::Framings),
        ("conv=ascii,block cbs=1", Conflict::Framings),
        ("conv=excl,nocreat", Conflict::Creation),
        ("iflag=direct,nocache", Conflict::Caches),
        ("oflag=nocache oflag=direct", Conflict::Caches),
    ];
    for (line, conflict) in table {
        assert_eq!(refusal(line), DdUsage::Conflict(conflict), "{line}");
    }
    assert!(parse(&words("conv=block,unblock")).command.is_ok(), "without cbs= neither does anything");
}

#[test]
fn unknown_operands_are_refused_by_name() {
    assert_eq!(refusal("files=1"), DdUsage::Operand("files=1".into()));
    assert_eq!(refusal("conv=sync,"), DdUsage::Conversion("".into()));
    assert_eq!(refusal("iflag=cio"), DdUsage::InputFlag("cio".into()));
    assert_eq!(refusal("oflag=fullblock"), DdUsage::OutputFlag("fullblock".into()));
    assert_eq!(refusal("status=no"), DdUsage::StatusLevel("no".into()));
    assert_eq!(refusal("bs=0"), DdUsage::Number("0".into()));
    assert_eq!(refusal("bs=9223372036854775807"), DdUsage::Overflow("9223372036854775807".into()));
    assert_eq!(refusal("--foo"), DdUsage::LongOption("--foo".into()));
    assert_eq!(refusal("--he=x"), DdUsage::NoArgument("--help"));
    assert_eq!(refusal("-nq"), DdUsage::ShortOption(b'n'));
    assert_eq!(refusal("-- --help"), DdUsage::Operand("--help".into()));
}

#[test]
fn help_and_version_override_invalid_operands() {
    assert_eq!(parse(&words("count=x --he")).command, Ok(DdCommand::Help));
    assert_eq!(parse(&words("--version --help")).command, Ok(DdCommand::Version));
}

#[test]
fn explain_is_accepted_only_before_the_operands() {
    assert!(matches!(parse(&words("--explain bs=1M")).command, Ok(DdCommand::Copy { explain: true, .. })));
    assert_eq!(refusal("bs=1M --explain"), DdUsage::LongOption("--explain".into()));
}

#[test]
fn the_last_status_and_the_stronger_sync_win() {
    assert_eq!(plan("status=none status=noxfer").status_output, StatusOutput::NoTransfer);
    assert_eq!(plan("conv=fdatasync,fsync").durable, Some(Durable::All));
}

#[test]
fn doubtful_operands_are_warned_of() {
    assert_eq!(parse(&words("count=0x1")).warnings, [DdWarning::ZeroMultiplier]);
    assert_eq!(parse(&words("oflag=append")).warnings, [DdWarning::AppendTruncates]);
    assert!(parse(&words("oflag=append conv=notrunc")).warnings.is_empty());
}
