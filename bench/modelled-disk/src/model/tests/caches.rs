//! The disk's caches: writes completed early, reads fetched ahead.
use super::*;

const CACHED: &str = "size=1GiB rate=10MB interface_rate=100MB rpm=7200 grace_us=300 seek_us=1000 \
    seek_full_us=9000 write_cache_bytes=1M";

/// Time for 64 KiB over the interface, and on the medium.
const CABLE_NS: u64 = 655_360;
const MEDIUM_NS: u64 = 6_553_600;

#[test]
fn writes_run_at_the_interface_rate_until_the_cache_is_full_then_at_the_media_rate() {
    let mut disk = disk(CACHED);
    let commands = in_order(Kind::Write, 0, 16 * MIB, 64 * KIB);
    let mut answers = Vec::new();
    let mut now_ns = 0;
    for (kind, extent) in commands {
        now_ns = one(&mut disk, now_ns, kind, extent);
        answers.push(now_ns);
    }
    assert_eq!(answers[14], 15 * CABLE_NS);
    let rate_of_the_rest = (answers[255] - answers[63]) as f64 / 192.0;
    assert!((rate_of_the_rest / MEDIUM_NS as f64 - 1.0).abs() < 0.03, "{rate_of_the_rest}");
    assert_eq!(disk.counters().write.from_memory, 256);
}

#[test]
fn a_flush_waits_until_the_cache_is_empty() {
    let mut disk = disk(CACHED);
    let written_ns = one(&mut disk, 0, Kind::Write, extent(0, 512 * KIB));
    assert_eq!(written_ns, 8 * CABLE_NS);
    let flushed_ns = one(&mut disk, written_ns, Kind::Flush, extent(0, 0));
    let medium_ns = flushed_ns - written_ns;
    assert!((8 * MEDIUM_NS..8 * MEDIUM_NS + 9 * MS).contains(&medium_ns), "{medium_ns}");
    assert_eq!(one(&mut disk, flushed_ns, Kind::Flush, extent(0, 0)), flushed_ns, "nothing is left to flush");
    assert_eq!(disk.counters().flushes, 2);
}

#[test]
fn an_idle_disk_empties_its_write_cache() {
    let mut disk = disk(CACHED);
    let written_ns = one(&mut disk, 0, Kind::Write, extent(0, 512 * KIB));
    let later_ns = written_ns + 1000 * MS;
    // A read in between shows that it was emptied at that time instead of later.
    let read_ns = one(&mut disk, later_ns, Kind::Read, extent(64 * MIB, 64 * KIB));
    assert_eq!(one(&mut disk, read_ns, Kind::Flush, extent(0, 0)), read_ns);
}

#[test]
fn scattered_writes_reach_the_medium_in_offset_order() {
    let mut disk = disk(CACHED);
    let mut now_ns = 0;
    for offset in [8, 2, 12, 4, 10, 6, 0, 14] {
        now_ns = one(&mut disk, now_ns, Kind::Write, extent(offset * 64 * MIB, 64 * KIB));
    }
    let before = disk.counters().write.seeks;
    one(&mut disk, now_ns, Kind::Flush, extent(0, 0));
    assert!(disk.counters().write.seeks - before <= 8, "one way up and back, not to and fro");
    let there_and_back: f64 = disk.counters().write.seek_s * 1e3;
    assert!(there_and_back < 8.0 * 4.5, "{there_and_back} ms of seeking");
}

#[test]
fn a_read_of_bytes_in_the_write_cache_needs_no_medium_access() {
    let mut disk = disk(CACHED);
    let written_ns = one(&mut disk, 0, Kind::Write, extent(64 * MIB, 512 * KIB));
    let read_ns = one(&mut disk, written_ns, Kind::Read, extent(64 * MIB + 448 * KIB, 64 * KIB));
    assert_eq!(read_ns - written_ns, CABLE_NS);
    assert_eq!(disk.counters().read.from_memory, 1);
}

#[test]
fn a_write_larger_than_the_cache_reaches_the_medium() {
    let mut disk = disk(CACHED);
    let end_ns = one(&mut disk, 0, Kind::Write, extent(0, 2 * MIB));
    assert_eq!(end_ns, 32 * MEDIUM_NS);
    assert_eq!(disk.counters().write.from_memory, 0);
}

const AHEAD: &str = "size=64M rate=10MB interface_rate=100MB rpm=7200 read_ahead_bytes=1M";

#[test]
fn read_ahead_hides_a_gap_that_would_cost_a_revolution() {
    let commands = in_order(Kind::Read, 0, 16 * MIB, 64 * KIB);
    let run = |words: &str| {
        let mut disk = disk(words);
        let end_ns = Client { depth: 1, gap_ns: 5 * MS }.run(&mut disk, &commands).0;
        (end_ns, disk.counters().read.missed_turns)
    };
    assert_eq!(run(AHEAD), (256 * MEDIUM_NS, 0), "the medium never stops");
    let without = run(&AHEAD.replace("read_ahead_bytes=1M", "read_ahead_bytes=0"));
    assert_eq!(without.1, 255);
    assert!(without.0 > 500 * MEDIUM_NS);
}

#[test]
fn read_ahead_is_served_at_the_interface_rate_up_to_the_size_of_the_cache() {
    let mut disk = disk(AHEAD);
    let mut now_ns = one(&mut disk, 0, Kind::Read, extent(0, 64 * KIB)) + 1000 * MS;
    // Long enough for 1 MiB to be cached and for the head to stop.
    let begin_ns = now_ns;
    for index in 1..=16 {
        now_ns = one(&mut disk, now_ns, Kind::Read, extent(index * 64 * KIB, 64 * KIB));
    }
    assert_eq!(now_ns - begin_ns, 16 * CABLE_NS);
    assert_eq!(disk.counters().read.from_memory, 16);
    for index in 17..=48 {
        now_ns = one(&mut disk, now_ns, Kind::Read, extent(index * 64 * KIB, 64 * KIB));
    }
    // The head continued with block 17 as soon as there was space, after at most one revolution.
    let since_begin_ns = now_ns - begin_ns;
    assert!((32 * MEDIUM_NS..32 * MEDIUM_NS + 9 * MS).contains(&since_begin_ns), "{since_begin_ns}");
}

#[test]
fn a_read_elsewhere_ends_the_read_ahead() {
    let mut disk = disk(AHEAD);
    let first_ns = one(&mut disk, 0, Kind::Read, extent(0, 64 * KIB));
    let away_ns = one(&mut disk, first_ns + 100 * MS, Kind::Read, extent(32 * MIB, 64 * KIB));
    one(&mut disk, away_ns, Kind::Read, extent(64 * KIB, 64 * KIB));
    assert_eq!(disk.counters().read.from_memory, 0);
}
