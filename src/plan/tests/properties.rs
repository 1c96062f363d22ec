//! Properties of every plan, for any options and facts.
use super::*;
use crate::core::{Cache, Direction, EngineKind, Existing, HashKind, InUse, Order, WriteOrder, Zeros};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

/// Numbers that provoke errors: small, round, odd, extreme, and arbitrary ones.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        5 => 0u64..10_000,
        5 => (0u64..1 << 22).prop_map(|n| n * 512),
        9 => (0u64..1 << 20).prop_map(|n| n * 4096),
        1 => (0u64..=16).prop_map(|n| u64::MAX - n),
        1 => (0u64..=16).prop_map(|n| i64::MAX as u64 - n),
        1 => any::<u64>(),
    ]
}

fn id() -> impl Strategy<Value = FileId> {
    prop_oneof![(0u64..4).prop_map(FileId::Device), (0u64..3, 0u64..3).prop_map(|(dev, ino)| FileId::File(dev, ino))]
}

fn ground() -> impl Strategy<Value = Ground> {
    (id(), of(number()), of(any::<bool>())).prop_map(|(id, offset, rotational)| Ground {
        id,
        name: "/dev/below".to_owned(),
        offset,
        rotational,
    })
}

fn kind() -> impl Strategy<Value = EndpointKind> {
    use EndpointKind::{Block, Endless, File, Memory, Null, Pipe};
    // Files and block devices matter most, so they are drawn most often.
    select(vec![File, File, File, Block, Block, Block, Pipe, Endless, Null, Memory])
}

fn queue() -> impl Strategy<Value = crate::core::QueueLimits> {
    let bytes = || select(vec![0u32, 1, 512, 4096, 65536, 196_608, 1 << 20, 33_553_920, u32::MAX]);
    (bytes(), bytes(), select(vec![0u32, 1, 2, 64, 1024, u32::MAX]), of(any::<bool>()), any::<bool>()).prop_map(
        |(optimal_io_bytes, max_request_bytes, requests_max, rotational, zeroes)| crate::core::QueueLimits {
            optimal_io_bytes,
            max_request_bytes,
            requests_max,
            rotational,
            write_zeroes_max_bytes: if zeroes { 1 << 30 } else { 0 },
            copy_max_bytes: 0,
            copy_unit_bytes: 0,
        },
    )
}

/// The size of an endpoint: usually large enough for a range within it.
fn size() -> impl Strategy<Value = Option<u64>> {
    of(prop_oneof![2 => number(), 3 => (1u64 << 20..1 << 26).prop_map(|n| n * 4096)])
}

fn facts() -> impl Strategy<Value = Facts> {
    let nature = (kind(), size(), any::<bool>(), of(id()), proptest::collection::vec(ground(), 0..3), queue());
    let align = || select(vec![1u32, 512, 4096, 65536, 3000, 1 << 30, 0]);
    let way = (of(align()), select(vec![1u32, 512, 4096, 0]), any::<bool>(), any::<bool>(), any::<bool>());
    let system = select(vec!["ext4", "xfs", "btrfs", "tmpfs", "vfat", "proc", "overlay"]);
    let around = (of(system), of(number()), of(number()), 0u8..20, 0u8..20);
    (nature, way, around).prop_map(|(nature, way, around)| {
        let (kind, size, exists, id, ground, queue) = nature;
        let (direct, logical_block_bytes, dontcache, sparse, reflinks) = way;
        let (filesystem, free_bytes, cached_bytes, writable, in_use) = around;
        let mut facts = Facts::new("/some/where", kind);
        facts.size = size;
        facts.exists = exists || kind != EndpointKind::File;
        facts.id = id;
        facts.ground = ground;
        facts.queue = queue;
        facts.direct = direct.map(|offset_bytes| DirectAlignment { memory_bytes: 512, offset_bytes });
        facts.logical_block_bytes = logical_block_bytes;
        facts.dontcache = dontcache;
        facts.sparse = sparse;
        facts.reflinks = reflinks;
        facts.filesystem = filesystem.map(str::to_owned);
        facts.free_bytes = free_bytes;
        facts.cached_bytes = cached_bytes;
        facts.writable = writable > 0;
        facts.in_use = if in_use == 0 { vec![InUse::Exclusive] } else { vec![] };
        facts.order = if kind == EndpointKind::Pipe { Order::Ascending } else { Order::Any };
        facts
    })
}

fn options() -> impl Strategy<Value = Options> {
    let when = || select(vec![When::Auto, When::Auto, When::Auto, When::Auto, When::Always, When::Never]);
    let engine = of(select(vec![EngineKind::Ring, EngineKind::Threads, EngineKind::Sync]));
    let block = of(select(vec![1u32, 512, 1000, 4096, 4096, 65536, 65536, 1 << 20, 64 << 20, u32::MAX]));
    let depth = of(select(vec![0u32, 1, 1, 2, 2, 7, 32, 32, 1024, 1025]));
    let hashes = select(vec![vec![], vec![], vec![HashKind::Blake3]]);
    let range = (of(number()), of(number()), of(number()));
    let pace = (engine, block, depth, of(number()));
    (range, pace, when(), when(), when(), hashes, any::<bool>()).prop_map(
        |(range, pace, direct, sparse, reflink, hashes, no_flush)| Options {
            skip_bytes: range.0,
            seek_bytes: range.1,
            count_bytes: range.2,
            engine: pace.0,
            block_bytes: pace.1,
            depth: pace.2,
            limit_bytes_per_s: pace.3,
            direct,
            sparse,
            reflink,
            hashes,
            no_flush,
            ..Options::default()
        },
    )
}

fn hosts() -> impl Strategy<Value = Host> {
    of(Just("forbidden".to_owned())).prop_map(|ring_refused| Host { ring_refused })
}

/// Asserts the properties on which every engine and endpoint relies.
fn holds(plan: &Decision, asked: &Options, source: &Facts, dest: &Facts) {
    let Tuning { limits, block_bytes_min, block_bytes_max, in_flight_max, pool_bytes, adaptive, .. } = plan.tuning;
    let block_bytes = limits.block_bytes;
    for side in [&plan.source, &plan.dest] {
        let align = side.access.offset_align_bytes;
        assert!(align.is_power_of_two());
        assert_eq!(block_bytes % align, 0, "block size");
        assert_eq!((block_bytes_min % align, block_bytes_max % align), (0, 0), "bounds of the search");
        let direct = side.access.cache == Cache::Direct;
        assert!(direct || align == 1);
        let first = side.map.start() + u64::from(plan.head_bytes);
        assert!(!direct || first.is_multiple_of(align.into()), "direct only where it is aligned");
        assert!(!direct || asked.direct != When::Never);
        let end = side.map.start().checked_add(plan.len.unwrap_or(0)).unwrap();
        assert!(end <= i64::MAX as u64);
    }
    assert!(limits.in_flight.iter().all(|most| (1..=in_flight_max).contains(most)) && in_flight_max <= 1024);
    assert!(block_bytes >= 1 && block_bytes_min <= block_bytes && block_bytes <= block_bytes_max);
    // Each block begins at a page, and its memory is a multiple of the smallest one by a power of two.
    let unit = block_bytes_min.next_multiple_of(4096);
    assert!(pool_bytes >= unit * block_bytes_max.div_ceil(unit).next_power_of_two(), "{:?}", plan.tuning);
    assert!(block_bytes_max.div_ceil(unit).next_power_of_two() <= 64);
    let own = asked.block_bytes.is_none() && asked.depth.is_none();
    assert!(!own || pool_bytes <= 32 << 20);
    assert!(!adaptive || asked.depth.is_none() && asked.limit_bytes_per_s.is_none());
    assert!(plan.tail_align_bytes.is_power_of_two());
    assert!(plan.head_bytes == 0 || plan.len.is_none_or(|len| u64::from(plan.head_bytes) < len));
    if let Some(piece) = plan.detect_zeros_bytes {
        assert!(piece % plan.dest.access.offset_align_bytes == 0 && piece <= block_bytes && plan.zeros != Zeros::Write);
    }
    if plan.direction == Direction::Backward {
        assert!(plan.head_bytes == 0 && plan.len.is_some() && plan.hashes.is_empty());
        assert_eq!((plan.write_order, plan.zeros), (WriteOrder::Submitted, Zeros::Write));
    }
    assert!(dest.order == Order::Any || plan.write_order == WriteOrder::OneAtATime);
    assert!(
        source.id.is_none()
            || source.id != dest.id
            || plan.source.access.cache == plan.dest.access.cache
            || plan.source.kind != plan.dest.kind,
        "one file, one cache"
    );
    let reserve =
        (plan.engine == EngineKind::Reflink) == (asked.reflink != When::Always && plan.engine_instead.is_some());
    assert!(reserve || asked.reflink == When::Always && plan.engine_instead.is_none());
    assert!(plan.engine != EngineKind::Reflink || plan.len.is_some_and(|len| len > 0), "length 0 would clone it all");
    // Only an existing file is truncated, and only if it becomes a copy of its source; zeros may be omitted
    // only if the dest reads as zeros there.
    let emptied = plan.dest.access.existing == Existing::Truncate;
    let range = asked.skip_bytes.or(asked.seek_bytes).or(asked.count_bytes).is_some();
    assert!(!emptied || dest.kind == EndpointKind::File && dest.exists && !range && plan.set_end);
    assert!(plan.zeros != Zeros::Leave || emptied || plan.dest.access.existing == Existing::Create);
    assert!(
        dest.kind != EndpointKind::Block
            || dest.size.is_none_or(|size| plan.dest.map.start() + plan.len.unwrap_or(0) <= size)
    );
    assert!(dest.writable && (dest.in_use.is_empty() || !needs_confirmation(plan, dest)));
    assert_eq!(plan.dest.access.exclusive, dest.kind == EndpointKind::Block);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_plan_is_consistent_or_refused_with_advice(
        options in options(), source in facts(), dest in facts(), host in hosts(),
    ) {
        match make(&options, &source, &dest, &host) {
            Ok(plan) => holds(&plan, &options, &source, &dest),
            Err(error) => prop_assert!(!error.what.is_empty() && !error.advice.is_empty(), "{:?}", error),
        }
    }

    #[test]
    fn a_plain_copy_between_healthy_disks_and_files_is_never_refused(
        size in 0u64..1 << 40, more in 0u64..1 << 20, files in any::<(bool, bool)>(), new in any::<bool>(),
        queues in (queue(), queue()), host in hosts(),
    ) {
        let source = if files.0 { file("a", 1, size) } else { disk(1, size) };
        let dest = match files.1 {
            false => disk(2, size + more),
            true if new => new_file("b"),
            true => file("b", 2, more),
        };
        let (source, dest) = (Facts { queue: queues.0, ..source }, Facts { queue: queues.1, ..dest });
        let plan = make(&Options::default(), &source, &dest, &host).unwrap();
        prop_assert_eq!(plan.len, Some(size));
        holds(&plan, &Options::default(), &source, &dest);
    }

    #[test]
    fn overlapping_ranges_of_one_file_are_never_overwritten_before_they_are_read(
        skip in 0u64..1 << 24, seek in 0u64..1 << 24, len in 1u64..1 << 24,
    ) {
        let one = file("a", 1, 1 << 26);
        let (skip_bytes, seek_bytes, count_bytes) = (Some(skip), Some(seek), Some(len));
        let options = Options { skip_bytes, seek_bytes, count_bytes, ..Options::default() };
        match make(&options, &one, &one, &host()) {
            Err(error) => prop_assert!(skip == seek && error.kind == Kind::Refused, "{}", error),
            Ok(plan) => {
                let overlap = skip.abs_diff(seek) < len;
                let backward = overlap && seek > skip;
                prop_assert_eq!(plan.direction == Direction::Backward, backward);
                prop_assert_eq!(plan.write_order == WriteOrder::Submitted, overlap);
                holds(&plan, &options, &one, &one);
            }
        }
    }
}
