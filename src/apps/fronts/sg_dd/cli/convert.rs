//! Combines the operands into a plan.
use super::operands::{Flags, Words};
use crate::apps::fronts::record_plan::{
    AddressCheck, Amount, DestWords, Durable, ErrorPolicy, OpenWords, Pattern, RecordPlan, RecordSide,
};
use crate::apps::fronts::sg_dd::plan::SgUsage;
use crate::apps::fronts::sg_plan::{ScsiFlags, ScsiOptions, SgFront, SgPlan};
use std::ffi::OsString;

/// Default block size, in bytes.
const BLOCK_BYTES: u64 = 512;
/// Default transfer size, in bytes: larger ones are not faster, and take longer to narrow down after an error.
const TRANSFER_BYTES: u64 = 256 << 10;
/// Default number of blocks that are examined for zeros as one: as in sg_dd, for any block size.
const LOOKED_AT_BLOCKS: u64 = 128;
/// Limit of the memory for transfers in flight, the same as in `haul copy`.
const IN_FLIGHT_BYTES_MAX: u64 = 1 << 30;
/// Limit of transfers in flight.
const IN_FLIGHT_MAX: u64 = 1024;

/// Combines the operands into a plan.
pub(super) fn into_options(front: SgFront, words: Words) -> Result<SgPlan, SgUsage> {
    let block_size_assumed = words.bs == 0;
    let block_bytes = if block_size_assumed { BLOCK_BYTES } else { words.bs };
    check(&words, block_bytes)?;
    let source_flags = words.flags[0];
    let pattern = pattern(&source_flags, words.source.as_ref())?;
    let progress_s = match words.progress {
        0 => None,
        1 => Some(120),
        2 => Some(60),
        _ => Some(30),
    };
    let scsi_flags = words.flags.map(|flags| ScsiFlags {
        dio: flags.dio,
        dpo: flags.dpo,
        fua: flags.fua,
        fua_nv: flags.fua_nv,
        mmap: flags.mmap,
        passthrough: flags.passthrough,
    });
    let scsi = ScsiOptions {
        command_bytes: words.cdbsz,
        duration_limits: words.cdl,
        groups: words.groups,
        read_long: source_flags.coe.saturating_sub(1).min(2),
        timeout_s: words.timeout_s,
    };
    Ok(SgPlan {
        front,
        scsi_flags,
        scsi,
        transfer_blocks: words.bpt,
        in_flight: words.thr.map(|thr| thr as u32),
        direct_devices: words.odir,
        overwrites_in_use: words.flags[1].force,
        writes_nothing: words.writes_nothing,
        block_size_assumed,
        timing: words.timing || words.progress > 0,
        progress_s,
        verbose: words.verbose,
        dry_run: words.dry_run,
        records: records(words, block_bytes, pattern),
    })
}

fn records(words: Words, block_bytes: u64, pattern: SourceSubstitute) -> RecordPlan {
    let [source_flags, dest_flags] = words.flags;
    let side = |path, flags: &Flags, blocks| RecordSide {
        path,
        words: open_words(flags),
        record_bytes: block_bytes,
        skip: Amount { records: blocks, bytes: 0 },
    };
    let source = match pattern {
        SourceSubstitute::Zeros => Some("/dev/zero".into()),
        _ => words.source.filter(|path| path != "-"),
    };
    let dest = words.dest.filter(|path| path != "-").map(|path| if path == "." { "/dev/null".into() } else { path });
    let transfer = match (words.bpt, dest_flags.sparse) {
        (Some(blocks), _) => blocks,
        // The unit that is examined for zeros determines what is skipped, so it has the size that sg_dd uses.
        (None, true) => LOOKED_AT_BLOCKS,
        (None, false) => (TRANSFER_BYTES / block_bytes).max(1),
    };
    RecordPlan {
        source: side(source, &source_flags, words.skip),
        dest: side(dest, &dest_flags, words.seek),
        dest_words: DestWords { excl: false, nocreat: dest_flags.nocreat, notrunc: true },
        count: words.count.map(|records| Amount { records, bytes: 0 }),
        reblock: false,
        full_reads: true,
        // Comparing uses only existing data, without padding.
        pad: (!words.verify).then_some(0),
        sparse: dest_flags.sparse,
        write_last: dest_flags.sparse,
        durable: words.sync.then_some(Durable::All),
        transfer_records: Some(transfer),
        buffers: words.thr.map(|thr| thr as usize),
        pattern: match pattern {
            SourceSubstitute::Pattern(pattern) => Some(pattern),
            SourceSubstitute::Zeros | SourceSubstitute::Nothing => None,
        },
        addresses: match words.addresses {
            0 => None,
            1 => Some(AddressCheck::First),
            _ => Some(AddressCheck::All),
        },
        second: words.second.filter(|path| path != "."),
        compare: words.verify,
        care: ErrorPolicy {
            retries: words.retries,
            zero_unreadable: source_flags.coe > 0,
            pass_unwritable: dest_flags.coe > 0,
            fetch_corrected: (source_flags.coe > 1).then_some(source_flags.coe > 2),
            bad_in_a_row_max: words.coe_limit,
        },
        ..RecordPlan::default()
    }
}

/// A generated source, instead of a file.
#[derive(Clone, Copy)]
enum SourceSubstitute {
    Nothing,
    Zeros,
    Pattern(Pattern),
}

fn pattern(flags: &Flags, source: Option<&OsString>) -> Result<SourceSubstitute, SgUsage> {
    let (word, made) = match (flags.zeros, flags.ones, flags.random) {
        (true, true, _) => ("00,ff", SourceSubstitute::Pattern(Pattern::Addresses)),
        (true, false, _) => ("00", SourceSubstitute::Zeros),
        (false, true, _) => ("ff", SourceSubstitute::Pattern(Pattern::Ones)),
        (false, false, true) => ("random", SourceSubstitute::Pattern(Pattern::Random)),
        (false, false, false) => return Ok(SourceSubstitute::Nothing),
    };
    match source {
        Some(path) => Err(SgUsage::PatternAndFile(word, path.clone())),
        None => Ok(made),
    }
}

fn open_words(flags: &Flags) -> OpenWords {
    OpenWords {
        append: flags.append,
        direct: flags.direct,
        sync: flags.dsync,
        excl: flags.excl,
        flock: flags.flock,
        nocache: flags.nocache,
        ..OpenWords::default()
    }
}

fn check(words: &Words, block_bytes: u64) -> Result<(), SgUsage> {
    let [source, dest] = &words.flags;
    let other = |size| size != 0 && size != block_bytes;
    let made_up = source.zeros || source.ones || source.random;
    let no_source = !made_up && words.source.as_ref().is_none_or(|path| path == "-");
    let no_dest = words.dest.as_ref().is_none_or(|path| path == "-");
    let in_flight_bytes = words.thr.zip(words.bpt).map_or(0, |(thr, bpt)| {
        let blocks = thr.min(IN_FLIGHT_MAX) * bpt;
        blocks.saturating_mul(block_bytes)
    });
    let table = [
        (words.bpt == Some(0), SgUsage::NoTransfer),
        (words.thr.is_some_and(|thr| !(1..=IN_FLIGHT_MAX).contains(&thr)), SgUsage::Threads),
        (in_flight_bytes > IN_FLIGHT_BYTES_MAX, SgUsage::TooMuchInFlight(in_flight_bytes)),
        (other(words.ibs) || other(words.obs), SgUsage::BlockSizes),
        (no_source && no_dest, SgUsage::NoSides),
        (dest.append && words.seek > 0, SgUsage::AppendSeek),
        (dest.append && dest.sparse, SgUsage::AppendSparse),
        (source.mmap && dest.mmap, SgUsage::MmapTwice),
        (words.cdl != [0, 0] && words.cdbsz.is_some_and(|bytes| bytes < 16), SgUsage::LimitsOfShortCommands),
        (words.verify && dest.sparse, SgUsage::VerifyWith("oflag=sparse")),
        (words.verify && dest.append, SgUsage::VerifyWith("oflag=append")),
        (words.verify && words.second.is_some(), SgUsage::VerifyWith("of2=")),
        (words.verify && no_dest, SgUsage::VerifyWhat),
    ];
    match table.into_iter().find(|(wrong, _)| *wrong) {
        Some((_, usage)) => Err(usage),
        None => Ok(()),
    }
}
