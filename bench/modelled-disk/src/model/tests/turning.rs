//! Rates, zones, seeks and rotation.
use super::*;
use crate::limit::{Job, least_seconds};
use crate::model::counters::seconds;

/// A revolution at 7200 rpm.
const TURN_NS: u64 = 60_000_000_000 / 7200;

const PLATTER: &str = "size=1GiB rate=10MB rpm=7200 grace_us=1000 interface_rate=40MB";

fn near(left_ns: u64, right_ns: u64) -> bool {
    left_ns.abs_diff(right_ns) < 1000
}

#[test]
fn sequential_reads_run_at_the_zone_rate_at_every_depth() {
    let words = "size=64M rates=0:10MB,16M:8MB,32M:5MB rpm=7200 grace_us=1000 overhead_us=100 queue_depth=8";
    let commands = in_order(Kind::Read, 0, 64 * MIB, 64 * KIB);
    let medium_ns = 16 * MIB * 100 + 16 * MIB * 125 + 32 * MIB * 200;
    let expected_ns = medium_ns + 1024 * 100_000;
    // Byte 0 is under the head at time 0, and the disk needs it only after the first command's overhead.
    let first_wait_ns = TURN_NS - 100_000;
    for (depth, gap_ns) in [(1, 0), (1, 900_000), (4, 300_000), (32, 300_000)] {
        let mut disk = disk(words);
        let (end_ns, _) = Client { depth, gap_ns }.run(&mut disk, &commands);
        let waited_ns = end_ns - first_wait_ns;
        assert!(near(waited_ns, expected_ns), "depth {depth}, gap {gap_ns}: {waited_ns} instead of {expected_ns}");
        assert_eq!(disk.counters().read.missed_turns, 0);
    }
    let limit = least_seconds(&parameters(words), Job::Read, extent(0, 64 * MIB), 64 * KIB);
    assert!((limit - seconds(expected_ns)).abs() < 1e-6, "{limit}");
}

#[test]
fn a_late_command_waits_for_the_rest_of_a_revolution() {
    for (gap_ns, turns) in [(999_999, 0), (1_000_001, 1), (8 * MS, 1), (9 * MS, 2), (99 * MS, 12)] {
        let mut disk = disk(PLATTER);
        let first_ns = one(&mut disk, 0, Kind::Read, extent(0, 64 * KIB));
        let second_ns = one(&mut disk, first_ns + gap_ns, Kind::Read, extent(64 * KIB, 64 * KIB));
        let expected_ns = first_ns + turns * TURN_NS + 6_553_600;
        assert!(near(second_ns, expected_ns), "gap {gap_ns}: {second_ns} instead of {expected_ns}");
        assert_eq!(disk.counters().read.missed_turns, u64::from(turns > 0), "gap {gap_ns}");
    }
}

/// Alternately reads from one disk and writes to another, one command at a time, as dd and sg_dd do; returns the
/// end.
fn copy_in_turn(source: &mut Disk, dest: &mut Disk, len: u64, bytes: u64) -> u64 {
    let mut now_ns = 0;
    for offset in (0..len).step_by(bytes as usize) {
        let piece = extent(offset, bytes.min(len - offset));
        now_ns = one(source, now_ns, Kind::Read, piece);
        now_ns = one(dest, now_ns, Kind::Write, piece);
    }
    now_ns
}

#[test]
fn alternating_reads_and_writes_cost_a_revolution_on_each_side() {
    // A command that continues at the end of the previous one starts a whole number of revolutions later. A pair
    // therefore takes one transfer and whole revolutions: one or two, depending on the angle between the platters.
    // One disk alone takes only the transfer.
    let transfer_ns = 6_553_600;
    let mut seen = Vec::new();
    for angle in (0..100).step_by(5) {
        let (mut source, mut dest) = (disk(PLATTER), disk(&format!("{PLATTER} angle_percent={angle}")));
        let first_ns = copy_in_turn(&mut source, &mut dest, 64 * KIB, 64 * KIB);
        let (mut source, mut dest) = (disk(PLATTER), disk(&format!("{PLATTER} angle_percent={angle}")));
        let pairs = 100;
        let end_ns = copy_in_turn(&mut source, &mut dest, (pairs + 1) * 64 * KIB, 64 * KIB);
        let turns = (end_ns - first_ns - pairs * transfer_ns) as f64 / (pairs * TURN_NS) as f64;
        assert!((turns - turns.round()).abs() < 0.01, "angle {angle}: {turns} turns for each pair");
        assert_eq!(source.counters().read.missed_turns, pairs);
        assert_eq!(dest.counters().write.missed_turns, pairs);
        seen.push(turns.round() as u64);
    }
    assert!(seen.contains(&1) && seen.contains(&2) && seen.iter().all(|turns| (1..=2).contains(turns)), "{seen:?}");
}

#[test]
fn disks_of_2001_take_the_documented_time() {
    let within = |ns: u64, page_s: f64| (seconds(ns) / page_s - 1.0).abs() < 0.02;
    let preset = "preset=scsi-2001";
    let len = parameters(preset).size_bytes;
    for (block, page_s) in [(0, 10.42), (4_000_000, 10.88), (7_000_000, 13.12), (8_000_000, 14.56), (8_600_000, 16.02)]
    {
        let commands = in_order(Kind::Write, block * 512, 100 * MIB, 64 * KIB);
        let (end_ns, _) = Client { depth: 1, gap_ns: 100_000 }.run(&mut disk(preset), &commands);
        assert!(within(end_ns, page_s), "100 MB from block {block}: {} s, not {page_s}", seconds(end_ns));
    }
    let (alone_ns, _) =
        Client { depth: 1, gap_ns: 100_000 }.run(&mut disk(preset), &in_order(Kind::Read, 0, len, 64 * KIB));
    assert!(within(alone_ns, 506.0), "the whole disk: {} s", seconds(alone_ns));
    // The angle between the platters in 2001 is unknown, so this explains the 1342 s of sg_dd. At other angles it is
    // 1225 to 1750 s.
    let in_turn_ns = copy_in_turn(&mut disk(preset), &mut disk(&format!("{preset} angle_percent=15")), len, 64 * KIB);
    assert!(within(in_turn_ns, 1342.0), "sg_dd: {} s", seconds(in_turn_ns));
}

#[test]
fn seek_time_grows_with_distance_and_includes_rotational_latency() {
    let words = "size=1GiB rate=10MB rpm=7200 seek_us=1000 seek_full_us=11000 interface_rate=40MB";
    let mut last_seek_s = 0.0;
    // Parts of the disk with square roots of 1/8, 1/4 and 1/2 of the whole distance.
    for (part, seek_ms) in [(64, 2.25), (16, 3.5), (4, 6.0)] {
        let mut disk = disk(words);
        let offset = (1 << 30) / part;
        let end_ns = one(&mut disk, 0, Kind::Read, extent(offset, 64 * KIB));
        let counters = disk.counters();
        assert_eq!((counters.read.seeks, counters.read.missed_turns), (1, 0));
        assert!((counters.read.seek_s * 1e3 - seek_ms).abs() < 0.001, "{} ms", counters.read.seek_s * 1e3);
        assert!(counters.read.seek_s > last_seek_s);
        last_seek_s = counters.read.seek_s;
        // Byte 0 passed at time 0, so this one passes at its media time, 100 ns per byte, plus whole revolutions.
        let start_ns = end_ns - 6_553_600;
        assert!(start_ns >= (seek_ms * 1e6) as u64);
        assert_eq!((start_ns + 1) % TURN_NS / 2, (offset * 100 + 1) % TURN_NS / 2);
    }
}

#[test]
fn time_scale_makes_the_same_disk_faster_by_a_factor() {
    let words = "preset=scsi-2001 size=64M overhead_us=160 time_scale=";
    let commands = in_order(Kind::Write, 0, 16 * MIB, 64 * KIB);
    let slow = Client { depth: 1, gap_ns: 8 * MS }.run(&mut disk(&format!("{words}1")), &commands);
    let fast = Client { depth: 1, gap_ns: MS }.run(&mut disk(&format!("{words}8")), &commands);
    let ratio = slow.0 as f64 / fast.0 as f64;
    assert!((ratio - 8.0).abs() < 0.001, "{ratio}");
}

#[test]
fn a_disk_without_rotation_has_no_rotational_latency() {
    let mut disk = disk("size=1GiB rate=100MB overhead_us=50 interface_rate=1GB");
    let mut now_ns = 0;
    for offset in [0, 900 * MIB, 64 * KIB, 500 * MIB] {
        now_ns = one(&mut disk, now_ns, Kind::Read, extent(offset, 64 * KIB)) + MS;
    }
    assert_eq!(now_ns, 4 * (50_000 + 655_360 + MS));
    assert_eq!(disk.counters().read.seeks, 0);
}

#[test]
fn write_percent_slows_only_writes() {
    let words = "size=64M rate=100MB write_percent=25 interface_rate=1GB";
    let took_ns = |kind| one(&mut disk(words), 0, kind, extent(0, MIB));
    assert_eq!((took_ns(Kind::Read), took_ns(Kind::Write)), (10_485_760, 4 * 10_485_760));
    let limit = least_seconds(&parameters(words), Job::Write, extent(0, MIB), MIB);
    assert!((limit - seconds(4 * 10_485_760)).abs() < 1e-9, "{limit}");
}
