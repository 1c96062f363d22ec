//! Every choice, and its reason.
use super::*;
use crate::core::{Cache, Direction, EngineKind, Existing, HashKind, Reason, WriteOrder, Zeros};

pub(super) fn options() -> Options {
    Options::default()
}

pub(super) fn range(skip: u64, seek: u64, count: u64) -> Options {
    Options { skip_bytes: Some(skip), seek_bytes: Some(seek), count_bytes: Some(count), ..options() }
}

fn caches(plan: &Decision) -> [Cache; 2] {
    [plan.source.access.cache, plan.dest.access.cache]
}

#[test]
fn disk_to_disk_is_copied_direct_on_a_ring_and_flushed() {
    let plan = made(&options(), &disk(1, GIB), &disk(2, 2 * GIB));
    assert_eq!((plan.engine, plan.engine_instead), (EngineKind::Ring, None));
    assert_eq!(caches(&plan), [Cache::Direct; 2]);
    assert_eq!([plan.source.access.offset_align_bytes, plan.dest.access.offset_align_bytes], [512; 2]);
    assert_eq!([plan.source.access.exclusive, plan.dest.access.exclusive], [false, true]);
    assert_eq!((plan.len, plan.head_bytes, plan.tail_align_bytes), (Some(GIB), 0, 4096));
    let Tuning { limits, adaptive, pool_bytes, bursts, .. } = plan.tuning;
    assert_eq!((limits.block_bytes, limits.in_flight, adaptive, pool_bytes), (1 << 20, [2, 2], true, 32 << 20));
    assert_eq!((limits.bursts, bursts), (false, Bursts::Never));
    assert_eq!((plan.write_order, plan.zeros), (WriteOrder::Any, Zeros::Write));
    assert!(plan.durable && !plan.set_end && !plan.preallocate && !plan.ask_holes);
    assert!(needs_confirmation(&plan, &disk(2, 2 * GIB)));
    let topics: Vec<_> = plan.notes.why.iter().map(|reason| reason.topic).collect();
    let wanted =
        ["engine", "source", "destination", "block size", "queue depth", "auto-tune", "order", "flush", "journal"];
    assert_eq!(topics, wanted);
    assert_eq!(plan.notes.range.as_ref().map(|range| range.because.as_str()), Some("the whole source"));
}

#[test]
fn every_reason_is_a_full_sentence() {
    let plan = made(&range(100, 100, GIB), &file("a", 1, 2 * GIB), &new_file("b"));
    for Reason { topic, choice, because, .. } in &plan.notes.why {
        assert!(!topic.is_empty() && !choice.is_empty() && !because.is_empty(), "{topic}: {choice}: {because}");
        assert!(!because.ends_with('.'), "{because} is a clause");
    }
}

#[test]
fn threads_replace_a_forbidden_io_uring_with_a_reason() {
    let host = Host { ring_refused: Some("seccomp".to_owned()) };
    let plan = make(&options(), &disk(1, GIB), &disk(2, GIB), &host).unwrap();
    assert_eq!(plan.engine, EngineKind::Threads);
    assert_eq!(why(&plan, "engine"), "threads: io_uring cannot be used here: seccomp");
}

#[test]
fn the_plain_loop_has_one_block_in_flight() {
    let plan = made(&Options { engine: Some(EngineKind::Sync), ..options() }, &disk(1, GIB), &disk(2, GIB));
    assert_eq!((plan.engine, plan.tuning), (EngineKind::Sync, Tuning::fixed(1 << 20, 1)));
    assert!(!plan.tuning.adaptive && plan.notes.warnings.is_empty(), "{:?}", plan.notes.warnings);
}

#[test]
fn reflink_is_used_where_supported_with_a_fallback_engine() {
    let on_xfs = |facts: Facts| Facts { reflinks: true, filesystem: Some("xfs".to_owned()), ..facts };
    let (from, to) = (on_xfs(file("a", 1, GIB + 1)), on_xfs(new_file("b")));
    let plan = made(&options(), &from, &to);
    assert_eq!((plan.engine, plan.engine_instead), (EngineKind::Reflink, Some(EngineKind::Ring)));
    assert!(!plan.preallocate);
    let always = Options { reflink: When::Always, ..options() };
    assert_eq!(made(&always, &from, &to).engine_instead, None);

    let copied = [
        (Options { reflink: When::Never, ..options() }, from.clone(), to.clone()),
        (Options { hashes: vec![HashKind::Md5], ..options() }, from.clone(), to.clone()),
        (Options { engine: Some(EngineKind::Ring), ..options() }, from.clone(), to.clone()),
        (Options { sparse: When::Never, ..options() }, from.clone(), to.clone()),
        (Options { skip_bytes: Some(512), ..options() }, from.clone(), to.clone()),
        (Options { count_bytes: Some(4095), ..options() }, from.clone(), to.clone()),
        (options(), from.clone(), Facts { reflinks: false, ..to.clone() }),
        (options(), from.clone(), Facts { id: Some(FileId::File(8, 1)), ..on_xfs(file("b", 2, 0)) }),
        (options(), Facts { size: Some(0), ..from.clone() }, to.clone()),
        // The unaligned end of the source would be within the dest.
        (Options { seek_bytes: Some(0), ..options() }, from.clone(), on_xfs(file("b", 2, 2 * GIB))),
    ];
    for (options, from, to) in copied {
        assert_eq!(made(&options, &from, &to).engine, EngineKind::Ring, "{options:?}");
    }
    // Subvolumes have different device numbers.
    let on_btrfs = |facts: Facts| Facts { reflinks: true, filesystem: Some("btrfs".to_owned()), ..facts };
    let other = Facts { id: Some(FileId::File(8, 1)), ..on_btrfs(file("b", 2, 0)) };
    assert_eq!(made(&options(), &on_btrfs(file("a", 1, GIB)), &other).engine, EngineKind::Reflink);
}

#[test]
fn a_file_uses_direct_io_where_it_is_faster() {
    let table = [
        (file("a", 1, GIB), Cache::Direct, "which is faster"),
        (file("a", 1, MIB - 1), Cache::DroppedByKernel, "too short"),
        (
            Facts { cached_bytes: Some(GIB / 2), ..file("a", 1, GIB) },
            Cache::DroppedByKernel,
            "already in the page cache",
        ),
        (Facts { cached_bytes: Some(GIB / 2 - 1), ..file("a", 1, GIB) }, Cache::Direct, "which is faster"),
        (Facts { direct: None, ..file("a", 1, GIB) }, Cache::DroppedByKernel, "not supported"),
        (Facts { direct: None, dontcache: false, ..file("a", 1, GIB) }, Cache::Drop, "not supported"),
        (Facts { filesystem: Some("tmpfs".to_owned()), ..file("a", 1, GIB) }, Cache::Keep, "in memory"),
    ];
    for (source, cache, because) in table {
        let plan = made(&options(), &source, &disk(2, GIB));
        assert_eq!(plan.source.access.cache, cache, "{source:?}");
        assert!(why(&plan, "source").contains(because), "{}", why(&plan, "source"));
    }
    let plan = made(&Options { direct: When::Never, ..options() }, &disk(1, GIB), &file("b", 1, 0));
    assert_eq!(caches(&plan), [Cache::Drop, Cache::DroppedByKernel]);
    assert_eq!((plan.source.access.offset_align_bytes, plan.tail_align_bytes), (1, 1));
    let always = Options { direct: When::Always, ..options() };
    let cached = Facts { cached_bytes: Some(MIB), ..file("a", 1, 1000) };
    assert_eq!(caches(&made(&always, &cached, &pipe())), [Cache::Direct, Cache::Keep]);
}

#[test]
fn a_short_first_block_aligns_both_sides_if_possible() {
    let (source, dest) = (disk(1, 2 * GIB), disk(2, 2 * GIB));
    // Source offset, dest offset, head, which sides use direct I/O.
    let table = [
        (0, 0, 0, [true, true]),
        (512, 1024, 0, [true, true]),
        (100, 100, 3996, [true, true]),
        // The head ends with a page of the dest, so that no page is written with both kinds of I/O.
        (100, 612, 3484, [true, true]),
        (0, 100, 3996, [false, true]),
        (100, 0, 0, [false, true]),
    ];
    for (skip, seek, head, direct) in table {
        let plan = made(&range(skip, seek, GIB), &source, &dest);
        assert_eq!(caches(&plan).map(|cache| cache == Cache::Direct), direct, "{skip} {seek}");
        assert_eq!(plan.head_bytes, head, "{skip} {seek}");
    }
    // If the dest begins on a sector, a head of whole sectors can use direct I/O, regardless of the source.
    let coarse = Facts { logical_block_bytes: 4096, ..disk(1, 2 * GIB) };
    let plan = made(&range(512, 1024, GIB), &coarse, &dest);
    assert_eq!((plan.head_bytes, caches(&plan)), (3584, [Cache::Direct; 2]));
    // A head that is the whole copy would leave nothing for direct I/O.
    let plan = made(&range(100, 100, 3996), &source, &dest);
    assert_eq!((plan.head_bytes, caches(&plan)), (412, [Cache::Direct, Cache::Drop]));
    let plan = made(&range(100, 100, 412), &source, &dest);
    assert_eq!((plan.head_bytes, caches(&plan)), (0, [Cache::Drop; 2]));
}

#[test]
fn overlapping_ranges_are_copied_in_the_direction_that_reads_first() {
    let both = disk(1, GIB);
    for (skip, seek, direction) in [(0, MIB, Direction::Backward), (MIB, 0, Direction::Forward)] {
        let plan = made(&range(skip, seek, 10 * MIB), &both, &both);
        assert_eq!((plan.direction, plan.write_order), (direction, WriteOrder::Submitted));
        assert_eq!((plan.zeros, plan.ask_holes, plan.detect_zeros_bytes), (Zeros::Write, false, None));
    }
    // Unaligned: both through the one page cache, never only one.
    let plan = made(&range(0, 100, 10 * MIB), &both, &both);
    assert_eq!(caches(&plan), [Cache::Drop; 2]);
    let sparse = Facts { sparse: true, ..file("a", 1, GIB) };
    let plan = made(&range(0, 4096, 10 * MIB), &sparse, &sparse);
    assert_eq!((plan.dest.access.existing, plan.ask_holes, plan.engine), (Existing::Keep, false, EngineKind::Ring));
    // Disjoint ranges in one file are an ordinary copy, through one cache anyway.
    let plan = made(&range(100, GIB / 2, 10 * MIB), &sparse, &sparse);
    assert_eq!((plan.direction, plan.write_order), (Direction::Forward, WriteOrder::Any));
    assert_eq!(caches(&plan), [Cache::DroppedByKernel; 2]);
}

#[test]
fn zeros_are_written_as_the_dest_supports() {
    let sparse = Facts { sparse: true, ..file("a", 1, GIB) };
    let mut zeroing = disk(2, GIB);
    zeroing.queue.write_zeroes_max_bytes = 1 << 30;
    let always = Options { sparse: When::Always, ..options() };
    let never = Options { sparse: When::Never, ..options() };
    let part = Options { seek_bytes: Some(4096), ..options() };
    let odd = Options { seek_bytes: Some(100), count_bytes: Some(MIB), ..always.clone() };
    let stream = Options { sparse: When::Always, ..part.clone() };
    let fat = Facts { filesystem: Some("exfat".to_owned()), ..file("b", 2, 9) };
    // Options, source, dest; zeros, whether holes are queried, whether zeros are detected.
    let table = [
        (&options(), &sparse, new_file("b"), Zeros::Leave, true, None),
        (&options(), &sparse, file("b", 2, 9), Zeros::Leave, true, None),
        (&part, &sparse, file("b", 2, 9), Zeros::Device, true, None),
        (&part, &sparse, new_file("b"), Zeros::Leave, true, None),
        (&part, &sparse, fat, Zeros::Write, true, None),
        (&options(), &sparse, zeroing.clone(), Zeros::Device, true, None),
        (&options(), &sparse, disk(2, GIB), Zeros::Write, true, None),
        (&options(), &sparse, pipe(), Zeros::Write, true, None),
        (&options(), &file("a", 1, GIB), new_file("b"), Zeros::Leave, false, None),
        (&options(), &disk(1, GIB), zeroing.clone(), Zeros::Device, false, None),
        (&always, &disk(1, GIB), new_file("b"), Zeros::Leave, false, Some(4096)),
        (&always, &disk(1, GIB), zeroing.clone(), Zeros::Device, false, Some(65536)),
        (&always, &disk(1, GIB), disk(2, GIB), Zeros::Write, false, None),
        (&odd, &disk(1, GIB), zeroing, Zeros::Write, false, None),
        (&stream, &pipe(), file("b", 2, 9), Zeros::Write, false, None),
        (&never, &sparse, new_file("b"), Zeros::Write, false, None),
    ];
    for (options, source, dest, zeros, ask, detect) in table {
        let plan = made(options, source, &dest);
        let found = (plan.zeros, plan.ask_holes, plan.detect_zeros_bytes);
        assert_eq!(found, (zeros, ask, detect), "{options:?} {} {}", source.address, dest.address);
    }
}

#[test]
fn a_dest_file_is_truncated_to_its_source_unless_a_range_is_given() {
    let source = file("a", 1, GIB);
    let table = [
        (options(), new_file("b"), Existing::Create, true),
        (options(), file("b", 2, 2 * GIB), Existing::Truncate, true),
        (range(0, 0, MIB), new_file("b"), Existing::Create, true),
        (range(0, 0, MIB), file("b", 2, 2 * MIB), Existing::Keep, false),
        (range(0, MIB, MIB), file("b", 2, 2 * MIB), Existing::Keep, false),
        (range(0, MIB + 1, MIB), file("b", 2, 2 * MIB), Existing::Keep, true),
        (Options { skip_bytes: Some(9), ..options() }, file("b", 2, 2 * GIB), Existing::Keep, false),
        (options(), disk(2, GIB), Existing::Keep, false),
        (options(), pipe(), Existing::Keep, false),
    ];
    for (options, dest, existing, set_end) in table {
        let plan = made(&options, &source, &dest);
        assert_eq!((plan.dest.access.existing, plan.set_end), (existing, set_end), "{options:?} {}", dest.address);
        assert_eq!(plan.source.access.existing, Existing::Keep);
    }
}

#[test]
fn a_dest_file_is_preallocated_if_every_byte_is_written() {
    let source = file("a", 1, GIB);
    let on = |filesystem: &str| Facts { filesystem: Some(filesystem.to_owned()), ..new_file("b") };
    assert!(made(&options(), &source, &new_file("b")).preallocate);
    assert!(made(&options(), &source, &file("b", 2, 9)).preallocate);
    let table = [
        (options(), Facts { sparse: true, ..source.clone() }, new_file("b")),
        (Options { sparse: When::Always, ..options() }, source.clone(), new_file("b")),
        (options(), file("a", 1, MIB - 1), new_file("b")),
        (options(), source.clone(), on("btrfs")),
        (options(), source.clone(), on("tmpfs")),
        (options(), pipe(), new_file("b")),
        (range(0, 0, MIB), source.clone(), file("b", 2, GIB)),
        (options(), source.clone(), disk(2, GIB)),
    ];
    for (options, source, dest) in table {
        assert!(!made(&options, &source, &dest).preallocate, "{options:?} {source:?} {dest:?}");
    }
    let dense = Facts { sparse: true, ..source };
    assert!(made(&Options { sparse: When::Never, ..options() }, &dense, &new_file("b")).preallocate);
}

#[test]
fn only_endpoints_with_a_medium_are_flushed() {
    let source = file("a", 1, GIB);
    let null = Facts::new("/dev/null", EndpointKind::Null);
    for (dest, durable) in [(new_file("b"), true), (disk(2, GIB), true), (pipe(), false), (null, false)] {
        assert_eq!(made(&options(), &source, &dest).durable, durable, "{}", dest.address);
        assert!(!made(&Options { no_flush: true, ..options() }, &source, &dest).durable);
    }
}

#[test]
fn a_pipe_is_written_in_order_at_depth_one_without_confirmation() {
    let plan = made(&options(), &file("a", 1, GIB), &pipe());
    assert_eq!((plan.write_order, plan.tuning.limits.block_bytes), (WriteOrder::OneAtATime, 1 << 20));
    assert!(!needs_confirmation(&plan, &pipe()));
    assert!(!needs_confirmation(&made(&options(), &disk(1, 9), &file("b", 1, 2)), &file("b", 1, 2)));
}

#[test]
fn files_of_proc_are_read_to_their_end_regardless_of_size() {
    let proc = Facts { filesystem: Some("proc".to_owned()), direct: None, ..file("/proc/cpuinfo", 1, 0) };
    assert_eq!(made(&options(), &proc, &new_file("b")).len, None);
    assert_eq!(made(&options(), &Facts::new("/dev/null", EndpointKind::Null), &new_file("b")).len, Some(0));
}

#[test]
fn a_partition_table_beyond_the_end_is_warned_of() {
    let gpt = Facts { content: Some("GPT".to_owned()), ..disk(1, GIB) };
    let warnings = |dest: Facts| made(&options(), &gpt, &dest).notes.warnings;
    assert_eq!(warnings(disk(2, GIB)), [""; 0]);
    assert!(warnings(disk(2, 2 * GIB))[0].contains("sgdisk -e"));
    let coarse = Facts { logical_block_bytes: 4096, ..disk(2, GIB) };
    assert!(warnings(coarse)[0].contains("sectors of 512 bytes and the destination 4096"));
    assert_eq!(made(&range(0, 0, MIB), &gpt, &disk(2, 2 * GIB)).notes.warnings, [""; 0]);
}
