//! Sides that are reached by passthrough commands.
use super::*;
use crate::core::{Cache, CommandSet, CopyName, EngineKind, Passthrough};
use std::time::Duration;

/// A disk with a node, with blocks of 4096 bytes, that accepts commands of at most 192 KiB.
fn node(number: u64, named: bool) -> Facts {
    let mut facts = disk(number, GIB);
    facts.logical_block_bytes = 4096;
    facts.queue.max_request_bytes = 192 << 10;
    let (commands, block) = (CommandSet::Scsi, Some(facts.path.clone()));
    facts.passthrough =
        Some(Passthrough { commands, node: format!("/dev/sg{number}").into(), number: 99, named, start: 0, block });
    facts
}

fn options(passthrough: PassthroughMode) -> Options {
    Options { passthrough, yes: true, ..Options::default() }
}

#[test]
fn passthrough_is_used_only_by_option_or_for_a_node() {
    let (plain, named) = (node(1, false), node(2, true));
    let table = [
        (PassthroughMode::AsNamed, [false, true]),
        (PassthroughMode::WherePossible, [true, true]),
        (PassthroughMode::Source, [true, true]),
        (PassthroughMode::Dest, [false, true]),
        (PassthroughMode::Both, [true, true]),
    ];
    for (passes, wanted) in table {
        let plan = made(&options(passes), &plain, &named);
        let through = [&plan.source, &plan.dest].map(|side| side.through.is_some());
        assert_eq!(through, wanted, "{passes:?}");
    }
    let plan = made(&options(PassthroughMode::AsNamed), &plain, &named);
    assert_eq!(why(&plan, "destination"), "SCSI commands: via /dev/sg2: named by the user");
    let plan = made(&options(PassthroughMode::WherePossible), &plain, &file("f", 3, MIB));
    assert_eq!(why(&plan, "source"), "SCSI commands: via /dev/sg1: --passthrough");
}

#[test]
fn passthrough_bypasses_the_cache_in_whole_blocks_and_claims_the_block_device() {
    let options = Options { command_timeout_s: Some(7), ..options(PassthroughMode::Dest) };
    let plan = made(&options, &file("f", 3, GIB), &node(1, false));
    assert_eq!((plan.dest.access.cache, plan.dest.access.offset_align_bytes), (Cache::Direct, 4096));
    assert!(plan.dest.access.exclusive, "the block device is claimed meanwhile");
    assert_eq!(plan.plan.dest.through.unwrap().options.timeout, Duration::from_secs(7));
}

#[test]
fn blocks_never_exceed_a_command() {
    let plan = made(&options(PassthroughMode::WherePossible), &node(1, false), &disk(2, GIB));
    assert_eq!((plan.tuning.limits.block_bytes, plan.tuning.block_bytes_max), (192 << 10, 192 << 10));
    assert!(plan.tuning.adaptive);
    assert!(
        made(&options(PassthroughMode::AsNamed), &node(1, false), &disk(2, GIB)).tuning.limits.block_bytes > 192 << 10
    );
}

#[test]
fn endpoints_without_passthrough_are_refused_by_name() {
    let (plain, other) = (disk(1, GIB), file("f", 3, MIB));
    let error = refused(&options(PassthroughMode::Dest), &other, &plain);
    expect(&error, Kind::Unsupported, &["destination /dev/sdb", "no passthrough node", "modprobe sg"]);
    expect(
        &refused(&options(PassthroughMode::Both), &other, &node(1, false)),
        Kind::Unsupported,
        &["source f is a file"],
    );
    expect(
        &refused(&options(PassthroughMode::WherePossible), &other, &plain),
        Kind::Unsupported,
        &["destination /dev/sdb"],
    );
}

#[test]
fn options_that_exclude_passthrough_are_refused() {
    let never = Options { direct: When::Never, ..options(PassthroughMode::Dest) };
    expect(&refused(&never, &file("f", 3, MIB), &node(1, false)), Kind::Usage, &["--direct never", "no page cache"]);
    let timeout = Options { command_timeout_s: Some(1), ..options(PassthroughMode::AsNamed) };
    expect(&refused(&timeout, &disk(1, GIB), &disk(2, GIB)), Kind::Usage, &["--command-timeout", "--passthrough"]);
}

#[test]
fn an_unaligned_offset_is_refused_if_no_first_block_can_align_it() {
    let odd = |skip, seek| Options {
        skip_bytes: skip,
        seek_bytes: seek,
        count_bytes: Some(MIB),
        ..options(PassthroughMode::WherePossible)
    };
    let (disk, other) = (node(1, false), file("f", 3, 10 * MIB));
    // The file is buffered: unaligned data goes through its page cache.
    let plan = made(&odd(Some(100), None), &other, &disk);
    assert_eq!((plan.head_bytes, plan.source.access.cache), (0, Cache::DroppedByKernel));
    assert_eq!(made(&odd(None, Some(100)), &other, &disk).head_bytes, 3996);
    let error = refused(&odd(Some(100), Some(512)), &disk, &node(2, false));
    expect(&error, Kind::Usage, &["passthrough", "--seek 512", "without --passthrough"]);
}

#[test]
fn a_node_and_its_block_device_are_the_same_bytes() {
    let (mut source, dest) = (disk(1, GIB), node(1, true));
    source.address = "/dev/other-name".to_owned();
    expect(&refused(&options(PassthroughMode::AsNamed), &source, &dest), Kind::Refused, &["the same data"]);
}

#[test]
fn a_disk_in_use_is_refused_under_its_node() {
    let mut dest = node(1, true);
    let device = "sdb1".to_owned();
    dest.in_use = vec![crate::core::InUse::Mounted { device, at: "/mnt".into() }];
    expect(
        &refused(&options(PassthroughMode::AsNamed), &disk(2, GIB), &dest),
        Kind::Refused,
        &["sdb1 is mounted at /mnt"],
    );
}

/// Two partitions of one drive that can copy internally, the second at 512 MiB.
fn partitions() -> (Facts, Facts) {
    let (mut source, mut dest) = (node(1, false), node(2, false));
    for facts in [&mut source, &mut dest] {
        facts.size = Some(256 * MIB);
        facts.queue.copy_max_bytes = 1 << 20;
        facts.passthrough.as_mut().unwrap().commands = CommandSet::Nvme;
    }
    source.passthrough.as_mut().unwrap().start = 512 * MIB;
    (source, dest)
}

fn offload(more: Options) -> Options {
    Options { offload: true, passthrough: PassthroughMode::Both, yes: true, ..more }
}

#[test]
fn offload_is_used_within_one_drive_on_request() {
    let (source, dest) = partitions();
    let range = Options { skip_bytes: Some(4096), count_bytes: Some(MIB), ..Options::default() };
    let plan = made(&offload(range.clone()), &source, &dest);
    assert_eq!((plan.engine, plan.engine_instead), (EngineKind::Offload, Some(EngineKind::Ring)));
    let copy = plan.device_copy.unwrap();
    assert_eq!((copy.from_offset, copy.command_bytes, copy.from), (512 * MIB + 4096, 1 << 20, None));
    assert!(why(&plan, "engine").starts_with("offload: --offload: the device copies the data; if it refuses: ring"));
    let plan = made(&Options { offload: false, ..offload(range) }, &source, &dest);
    assert_eq!((plan.engine, plan.device_copy), (EngineKind::Ring, None));
}

#[test]
fn an_nvme_drive_without_offload_is_reported() {
    let (source, dest) = partitions();
    let (mut elsewhere, mut unable) = (dest.clone(), dest.clone());
    elsewhere.passthrough.as_mut().unwrap().number = 98;
    unable.queue.copy_max_bytes = 0;
    let some = || Options { count_bytes: Some(MIB), ..Options::default() };
    let table = [
        (offload(some()), &elsewhere, "different devices"),
        (offload(some()), &unable, "does not support offloaded copies"),
        (offload(Options { count_bytes: Some(MIB + 512), ..some() }), &dest, "device block size"),
        (offload(Options { limit_bytes_per_s: Some(MIB), ..some() }), &dest, "--limit"),
        (offload(Options { hashes: vec![crate::core::HashKind::Xxh3], ..some() }), &dest, "digests"),
        (Options { passthrough: PassthroughMode::Source, ..offload(some()) }, &dest, "--passthrough"),
    ];
    for (options, dest, word) in table {
        let plan = made(&options, &source, dest);
        assert_eq!((plan.engine, plan.device_copy), (EngineKind::Ring, None), "{word}");
        let warned =
            plan.notes.warnings.iter().any(|warning| warning.starts_with("--offload:") && warning.contains(word));
        assert!(warned, "{word}: {:?}", plan.notes.warnings);
    }
}

/// Two SCSI disks, of which the second can copy from the first, in pieces of 64 KiB.
fn units() -> (Facts, Facts) {
    let (mut source, mut dest) = (node(1, false), node(2, false));
    source.copy_name = CopyName::new(3, &[6; 16]);
    dest.passthrough.as_mut().unwrap().number = 98;
    (dest.queue.copy_max_bytes, dest.queue.copy_unit_bytes) = (1 << 20, 64 << 10);
    (source, dest)
}

#[test]
fn offload_is_used_between_scsi_disks_with_known_designators() {
    let (source, dest) = units();
    let plan = made(&offload(Options { skip_bytes: Some(MIB), ..Options::default() }), &source, &dest);
    assert_eq!(plan.engine, EngineKind::Offload);
    let copy = plan.device_copy.unwrap();
    assert_eq!((copy.from_offset, copy.command_bytes, copy.from), (MIB, 1 << 20, source.copy_name));
    assert!(plan.notes.why.iter().all(|reason| reason.topic != "zeros"), "{:?}", plan.notes.why);
}

#[test]
fn a_scsi_disk_without_offload_is_reported() {
    let (source, dest) = units();
    let mut nameless = source.clone();
    nameless.copy_name = None;
    let mut other_blocks = source.clone();
    other_blocks.logical_block_bytes = 512;
    let mut other_commands = source.clone();
    other_commands.passthrough.as_mut().unwrap().commands = CommandSet::Nvme;
    let mut namesake = dest.clone();
    namesake.copy_name = source.copy_name;
    let unable = Facts { queue: crate::core::QueueLimits { copy_max_bytes: 0, ..dest.queue }, ..dest.clone() };
    let odd = Options { count_bytes: Some(MIB + 4096), ..Options::default() };
    let table = [
        (&nameless, &dest, offload(Options::default()), "no identifier"),
        (&other_blocks, &dest, offload(Options::default()), "block sizes differ"),
        (&other_commands, &dest, offload(Options::default()), "different devices"),
        (&source, &namesake, offload(Options::default()), "the same identifier"),
        (&source, &unable, offload(Options::default()), "destination does not support offloaded copies"),
        (&source, &dest, offload(odd), "device block size"),
    ];
    for (source, dest, options, word) in table {
        let plan = made(&options, source, dest);
        assert_eq!((plan.engine, plan.device_copy), (EngineKind::Ring, None), "{word}");
        assert!(plan.notes.warnings.iter().any(|warning| warning.contains(word)), "{word}: {:?}", plan.notes.warnings);
    }
}

#[test]
fn a_disk_that_reports_unmapped_blocks_is_read_like_a_sparse_file() {
    let (mut source, dest) = units();
    let holes = |source: &Facts| made(&options(PassthroughMode::WherePossible), source, &dest).ask_holes;
    assert!(!holes(&source));
    source.sparse = true;
    assert!(holes(&source));
    let never = Options { sparse: When::Never, ..options(PassthroughMode::WherePossible) };
    assert!(!made(&never, &source, &dest).ask_holes);
}
