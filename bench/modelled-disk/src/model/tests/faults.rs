//! Disks that slow down, choke, stall and fail.
use super::*;
use crate::limit::{Job, least_seconds};
use crate::model::counters::seconds;

const FLAT: &str = "size=1GiB rate=100MB interface_rate=1GB";

/// 1 MiB at 100 MB/s, rounded as the model rounds.
const MIB_NS: u64 = 10_485_760;

fn write_all(words: &str, offset: u64, len: u64) -> (u64, crate::model::Counters) {
    let mut disk = disk(words);
    let (end_ns, _) = Client { depth: 1, gap_ns: 0 }.run(&mut disk, &in_order(Kind::Write, offset, len, MIB));
    (end_ns, disk.counters())
}

#[test]
fn writes_slow_down_after_the_configured_bytes_and_reads_do_not() {
    let words = &format!("{FLAT} slow_after_bytes=16M slow_rate=20MB");
    let (end_ns, _) = write_all(words, 0, 24 * MIB);
    assert_eq!(end_ns, 16 * MIB_NS + 8 * 5 * MIB_NS);
    let limit = least_seconds(&parameters(words), Job::Write, extent(0, 24 * MIB), MIB);
    assert!((limit - seconds(end_ns)).abs() < 1e-9, "{limit}");
    let mut disk = disk(words);
    let (end_ns, _) = Client { depth: 1, gap_ns: 0 }.run(&mut disk, &in_order(Kind::Read, 0, 24 * MIB, MIB));
    assert_eq!(end_ns, 24 * MIB_NS);
}

#[test]
fn a_disk_is_fast_again_after_enough_idle_time() {
    for (idle_ms, rate_ns) in [(999, 5 * MIB_NS), (1001, MIB_NS)] {
        let mut disk = disk(&format!("{FLAT} slow_after_bytes=1M slow_rate=20MB recover_ms=1000"));
        let first_ns = one(&mut disk, 0, Kind::Write, extent(0, 2 * MIB));
        let begin_ns = first_ns + idle_ms * MS;
        assert_eq!(one(&mut disk, begin_ns, Kind::Write, extent(2 * MIB, MIB)) - begin_ns, rate_ns, "{idle_ms} ms");
    }
}

#[test]
fn sequential_writes_of_a_stick_are_free_and_random_writes_cost_an_erase_each() {
    let words = &format!("{FLAT} erase_block_bytes=4M erase_blocks_open=1");
    let (end_ns, counters) = write_all(words, 0, 64 * MIB);
    assert_eq!((end_ns, counters.rewrites), (64 * MIB_NS, 0));

    let mut disk = disk(words);
    let mut now_ns = 0;
    for index in 0..8 {
        now_ns = one(&mut disk, now_ns, Kind::Write, extent(index * 100 * MIB, MIB));
    }
    // Each leaves a block of which 3 MiB are missing, which are read and written; the last one is still open.
    assert_eq!(disk.counters().rewrites, 7);
    assert_eq!(now_ns, 8 * MIB_NS + 7 * 2 * 3 * MIB_NS);
}

#[test]
fn one_stream_more_than_open_erase_blocks_slows_the_stick_down() {
    let rewrites = |streams: u64| {
        let mut disk = disk(&format!("{FLAT} erase_block_bytes=4M erase_blocks_open=2"));
        let commands: Vec<_> = (0..16 * streams)
            .map(|i| (Kind::Write, extent(i % streams * 256 * MIB + i / streams * MIB, MIB)))
            .collect();
        Client { depth: 1, gap_ns: 0 }.run(&mut disk, &commands);
        disk.counters().rewrites
    };
    assert_eq!(rewrites(2), 0);
    assert_eq!(rewrites(3), 3 * 16 - 2);
}

#[test]
fn within_an_erase_block_the_order_does_not_matter() {
    let mut disk = disk(&format!("{FLAT} erase_block_bytes=4M erase_blocks_open=1"));
    let mut now_ns = 0;
    for index in [1, 0, 3, 2, 6, 7, 4, 5, 8] {
        now_ns = one(&mut disk, now_ns, Kind::Write, extent(index * MIB, MIB));
    }
    assert_eq!((now_ns, disk.counters().rewrites), (9 * MIB_NS, 0));
}

#[test]
fn stalls_follow_each_configured_number_of_written_bytes() {
    let words = &format!("{FLAT} stall_every_bytes=4M stall_ms=300");
    let (end_ns, counters) = write_all(words, 0, 17 * MIB);
    assert_eq!((end_ns, counters.stalls), (17 * MIB_NS + 4 * 300 * MS, 4));
    let limit = least_seconds(&parameters(words), Job::Write, extent(0, 17 * MIB), MIB);
    assert!((limit - seconds(end_ns)).abs() < 1e-9, "{limit}");
}

#[test]
fn a_stall_at_an_offset_happens_once() {
    let mut disk = disk(&format!("{FLAT} stall_at=1572864:250"));
    let first_ns = one(&mut disk, 0, Kind::Read, extent(0, MIB));
    let second_ns = one(&mut disk, first_ns, Kind::Read, extent(MIB, MIB));
    let third_ns = one(&mut disk, second_ns, Kind::Read, extent(MIB, MIB));
    assert_eq!([first_ns, second_ns - first_ns, third_ns - second_ns], [MIB_NS, MIB_NS + 250 * MS, MIB_NS]);
}

#[test]
fn a_bad_range_fails_requests_that_touch_it_after_its_delay() {
    let mut disk = disk(&format!("{FLAT} bad_read=1048576:4096 bad_write=8388608:512 bad_ms=40"));
    let cases = [
        (Kind::Read, 0, MIB, false),
        (Kind::Read, MIB - 512, 1024, true),
        (Kind::Read, MIB + 4096, MIB, false),
        (Kind::Write, MIB, 4096, false),
        (Kind::Write, 8 * MIB, MIB, true),
        (Kind::Read, 8 * MIB, MIB, false),
    ];
    for (kind, offset, len, fails) in cases {
        let begin_ns = 1000 * MS * (disk.counters().read.commands + disk.counters().write.commands + 1);
        let (end_ns, failed) = answer(&mut disk, begin_ns, kind, extent(offset, len));
        assert_eq!(failed, fails, "{kind:?} at {offset}");
        assert_eq!(end_ns - begin_ns >= 40 * MS, fails, "{kind:?} at {offset}");
    }
    let counters = disk.counters();
    assert_eq!((counters.read.errors, counters.write.errors), (1, 1));
    assert_eq!(counters.write.bytes, 4096);
}

#[test]
fn a_stick_beyond_its_queue_depth_pays_for_each_command() {
    let words = &format!("{FLAT} choke_depth=4 choke_us=1000");
    let end_ns = |depth| {
        let mut disk = disk(words);
        let (end_ns, _) = Client { depth, gap_ns: 0 }.run(&mut disk, &in_order(Kind::Write, 0, 32 * MIB, MIB));
        (end_ns, disk.counters().chokes)
    };
    assert_eq!(end_ns(4), (32 * MIB_NS, 0));
    let (choked_ns, chokes) = end_ns(16);
    assert!(chokes > 16, "{chokes}");
    assert_eq!(choked_ns, 32 * MIB_NS + chokes * MS);
}

#[test]
fn a_flaky_sector_is_read_after_some_attempts_and_a_slow_area_takes_its_time() {
    let mut disk = disk(&format!("{FLAT} flaky_read=1048576:512 flaky_one_in=4 slow_read=4M:1M slow_read_rate=1MB"));
    let tries: Vec<bool> =
        (1..=64).map(|index| answer(&mut disk, 1000 * MS * index, Kind::Read, extent(MIB - 4096, 8192)).1).collect();
    let lucky = tries.iter().filter(|failed| !**failed).count();
    assert!((4..40).contains(&lucky), "{lucky} of 64");
    assert_eq!(one(&mut disk, 100_000 * MS, Kind::Read, extent(4 * MIB, MIB)), 100_000 * MS + 100 * MIB_NS + MIB_NS);
    assert_eq!(one(&mut disk, 200_000 * MS, Kind::Write, extent(4 * MIB, MIB)), 200_000 * MS + MIB_NS);
}

#[test]
fn a_disk_dies_after_its_time_or_its_reads_and_fails_at_once() {
    for words in ["dies_after_ms=1500", "dies_after_reads=2"] {
        let mut disk = disk(&format!("{FLAT} bad_ms=500 {words}"));
        let read = |disk: &mut Disk, at_ms: u64| answer(disk, at_ms * MS, Kind::Read, extent(at_ms * 4096, MIB));
        let ended = [1000, 2000, 3000].map(|at_ms| read(&mut disk, at_ms));
        assert_eq!(ended, [(1000 * MS + MIB_NS, false), (2000 * MS + MIB_NS, false), (3000 * MS, true)], "{words}");
    }
}
