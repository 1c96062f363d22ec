//! Tests the initial pace of a copy, and its bounds.
use super::choices::{options, range};
use super::*;
use crate::core::{HashKind, Portion, WriteOrder};

#[test]
fn a_rotational_disk_gets_few_large_requests_and_ascending_writes() {
    let spinning = |mut facts: Facts| {
        facts.queue.rotational = Some(true);
        facts
    };
    let plan = made(&options(), &spinning(disk(1, GIB)), &disk(2, GIB));
    assert_eq!((plan.tuning.limits.in_flight, plan.write_order), ([2, 2], WriteOrder::Any));
    let plan = made(&options(), &disk(1, GIB), &spinning(disk(2, GIB)));
    assert_eq!((plan.tuning.limits.block_bytes, plan.write_order), (1 << 20, WriteOrder::Submitted));
    assert_eq!(plan.tuning.bursts, Bursts::Never);
}

#[test]
fn bursts_are_used_on_one_rotational_disk_and_tried_on_one_ssd() {
    let mut whole = disk(1, 4 * GIB);
    whole.queue.rotational = Some(true);
    let (one, two) = (partition(&whole, 1, MIB, GIB), partition(&whole, 2, 2 * GIB, GIB));
    let far = 3 * GIB;
    for (source, dest, seek) in [(&one, &two, 0), (&one, &whole, far), (&whole, &two, 0), (&whole, &whole, far)] {
        let plan = made(&range(0, seek, 64 * MIB), source, dest);
        let Tuning { limits, bursts, pool_bytes, .. } = plan.tuning;
        assert_eq!((limits.bursts, bursts, pool_bytes), (true, Bursts::Try, 32 << 20), "{}", dest.address);
        assert_eq!(plan.write_order, WriteOrder::Submitted);
        assert!(why(&plan, "bursts").contains("/dev/sdb"), "{}", why(&plan, "bursts"));
    }
    let fixed = Options { depth: Some(8), ..range(0, far, 64 * MIB) };
    let Tuning { limits, bursts, .. } = made(&fixed, &whole, &whole).tuning;
    assert_eq!((limits.bursts, bursts, limits.in_flight), (true, Bursts::Always, [2, 2]));
    whole.queue.rotational = Some(false);
    let (one, two) = (partition(&whole, 1, MIB, GIB), partition(&whole, 2, 2 * GIB, GIB));
    let Tuning { limits, bursts, .. } = made(&options(), &one, &two).tuning;
    assert_eq!((limits.bursts, bursts), (false, Bursts::Try));
    assert_eq!(made(&fixed, &whole, &whole).tuning.bursts, Bursts::Never);
}

#[test]
fn block_size_and_depth_fit_the_queues_of_the_devices() {
    let limited = |optimal_io_bytes: u32, max_request_bytes: u32, requests_max: u32| {
        let mut facts = disk(1, GIB);
        facts.queue.optimal_io_bytes = optimal_io_bytes;
        facts.queue.max_request_bytes = max_request_bytes;
        facts.queue.requests_max = requests_max;
        facts
    };
    let with_head = |mut facts: Facts| {
        facts.queue.rotational = Some(true);
        facts
    };
    let table = [
        (limited(0, 0, 0), 1 << 20, 2),
        (limited(0, 0, 1), 1 << 20, 1),
        (limited(0, 32 << 10, 64), 128 << 10, 2),
        (limited(0, 120 << 10, 64), 480 << 10, 2),
        (limited(0, 512, 64), 128 << 10, 2),
        // A rotational disk gets no request that the queue would split.
        (with_head(limited(0, 512 << 10, 64)), 512 << 10, 2),
        (with_head(limited(0, 120 << 10, 64)), 480 << 10, 2),
        (limited(192 << 10, 0, 64), 1152 << 10, 2),
        (limited(4 << 20, 0, 64), 4 << 20, 2),
        // The value that USB bridges report, and one that is not a multiple of a page.
        (limited(33_553_920, 0, 64), 1 << 20, 2),
        (limited(5_000, 0, 64), 1 << 20, 2),
    ];
    for (source, block, depth) in table {
        let plan = made(&options(), &source, &disk(2, GIB));
        let limits = plan.tuning.limits;
        assert_eq!((limits.block_bytes, limits.in_flight), (block, [depth; 2]), "{:?}", source.queue);
    }
}

#[test]
fn given_settings_are_used_and_the_others_fit_into_memory() {
    let (from, to) = (disk(1, GIB), disk(2, GIB));
    let asked = |block_bytes, depth| Options { block_bytes, depth, ..options() };
    let table = [
        (asked(None, Some(2)), 1 << 20, 2),
        (asked(None, Some(1024)), 32 << 10, 1024),
        (asked(Some(1 << 20), Some(3)), 1 << 20, 3),
    ];
    for (options, block, depth) in table {
        let plan = made(&options, &from, &to);
        assert_eq!(plan.tuning, Tuning::fixed(block, depth));
        assert!(plan.notes.warnings.is_empty(), "{:?}", plan.notes.warnings);
    }
    // The queue depth is still auto-tuned.
    for (block, in_flight) in [(4 << 20, 2), (4096, 32)] {
        let Tuning { limits, adaptive, block_bytes_min, block_bytes_max, .. } =
            made(&asked(Some(block), None), &from, &to).tuning;
        assert_eq!((limits.block_bytes, limits.in_flight, adaptive), (block, [in_flight; 2], true));
        assert_eq!((block_bytes_min, block_bytes_max), (block, block));
    }
    let plan = made(&asked(Some(16 << 20), Some(4)), &from, &to);
    assert!(plan.notes.warnings[0].contains("64 MiB of memory"), "{:?}", plan.notes.warnings);
    let plan = made(&asked(Some(32 << 20), Some(1)), &from, &to);
    assert!(plan.notes.warnings[0].contains("do not overlap"), "{:?}", plan.notes.warnings);
}

#[test]
fn auto_tune_requires_free_settings() {
    let dest = disk(2, 2 * GIB);
    assert!(made(&options(), &disk(1, 256 * MIB), &dest).tuning.adaptive);
    assert!(made(&options(), &pipe(), &dest).tuning.adaptive);
    assert!(made(&options(), &disk(1, MIB), &dest).tuning.adaptive);
    let deep = Options { depth: Some(2), ..options() };
    assert!(!made(&deep, &disk(1, GIB), &dest).tuning.adaptive);
    let limited = Options { limit_bytes_per_s: Some(MIB), ..options() };
    let plan = made(&limited, &disk(1, GIB), &dest);
    assert!(!plan.tuning.adaptive);
    assert_eq!((plan.limit_bytes_per_s, plan.tuning.limits.block_bytes), (Some(MIB), 128 << 10));
}

#[test]
fn a_short_copy_takes_no_more_memory_than_it_has_bytes() {
    let plan = made(&options(), &disk(1, 1300 << 10), &disk(2, GIB));
    assert_eq!(plan.tuning.pool_bytes, 4 << 20, "one of the largest blocks");
    let empty = made(&options(), &file("a", 1, 0), &new_file("b"));
    assert_eq!((empty.len, empty.set_end), (Some(0), true));
}

#[test]
fn digests_change_nothing_about_the_pace() {
    let hash = Options { hashes: vec![HashKind::Xxh3], ..options() };
    let verify = Options { verify: Some(Portion::All), ..options() };
    let manifest = Options { manifest: Some("m".to_owned()), ..options() };
    let mut turning = disk(2, GIB);
    turning.queue.rotational = Some(true);
    for options in [hash, verify, manifest] {
        let plan = made(&options, &disk(1, GIB), &disk(2, GIB));
        assert_eq!(plan.tuning, made(&Options::default(), &disk(1, GIB), &disk(2, GIB)).tuning);
        assert!(plan.notes.warnings.is_empty(), "within the promised memory: {:?}", plan.notes.warnings);
        assert_eq!(made(&options, &disk(1, GIB), &turning).tuning.limits.in_flight, [2, 2]);
    }
}

#[test]
fn a_cached_source_is_not_rotational() {
    let ground = Ground { id: FileId::Device(9), name: "/dev/sdb".to_owned(), offset: None, rotational: Some(true) };
    let on_disk = |facts: Facts| Facts { ground: vec![ground.clone()], ..facts };
    let (source, dest) = (on_disk(file("a", 1, GIB)), on_disk(new_file("b")));
    assert!(made(&options(), &source, &dest).tuning.limits.bursts);
    let cached = Facts { cached_bytes: Some(GIB), ..source };
    let Tuning { limits, bursts, .. } = made(&options(), &cached, &dest).tuning;
    assert_eq!((limits.bursts, bursts), (false, Bursts::Never));
}

#[test]
fn an_nbd_server_gets_more_requests_at_the_start_than_other_network_storage() {
    let over = |transport: &str, number| {
        let mut facts = disk(number, GIB);
        facts.identity.transport = Some(transport.to_owned());
        facts
    };
    let in_flight = |from, to| made(&options(), &over(from, 1), &over(to, 2)).tuning.limits.in_flight;
    assert_eq!((in_flight("nbd", "nbd"), in_flight("nbd", "iscsi")), ([64, 64], [16, 8]));
    let block = |from, to| made(&options(), &over(from, 1), &over(to, 2)).tuning.limits.block_bytes;
    assert_eq!((block("nbd", "nbd"), block("nbd", "sata")), (256 << 10, 1 << 20));
    assert_eq!((in_flight("sata", "nbd"), in_flight("fc", "usb")), ([2, 16], [8, 2]));
}
