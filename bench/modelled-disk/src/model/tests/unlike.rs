//! Behaviour that differs from the presets: an elevator that never waits, split transfers, distance, channels.
use super::*;
use crate::limit::{Job, least_seconds};
use crate::model::counters::seconds;

const TURNING: &str = "size=1GiB rate=100MB rpm=7200 overhead_us=50 grace_us=300 seek_us=1000 seek_full_us=15000";

/// A stream, then a command elsewhere, and 150 us later the next one of the stream. Whether the stream completes
/// first.
fn stream_is_first(words: &str) -> bool {
    let mut disk = disk(&format!("{TURNING} queue_depth=31 {words}"));
    let now_ns = one(&mut disk, MS, Kind::Read, extent(0, 64 * KIB));
    disk.submit(now_ns, Kind::Read, extent(512 * MIB, 64 * KIB));
    let mut answers = disk.advance(now_ns);
    let next = disk.submit(now_ns + 150_000, Kind::Read, extent(64 * KIB, 64 * KIB));
    answers.extend(disk.advance(now_ns + 150_000));
    answers.extend(disk.advance(now_ns + 1000 * MS));
    assert_eq!(answers.len(), 2);
    answers[0].ticket == next
}

#[test]
fn a_one_way_elevator_does_not_wait_for_a_stream() {
    assert!(stream_is_first(""));
    assert!(!stream_is_first("one_way=true"));
}

#[test]
fn a_command_behind_a_one_way_elevator_waits_for_the_next_sweep() {
    let place = |words: &str| {
        let mut disk = disk(&format!("{TURNING} queue_depth=4 {words}"));
        let mut commands = in_order(Kind::Read, 512 * MIB, 64 * MIB, 64 * KIB);
        commands.insert(8, (Kind::Read, extent(0, 4 * KIB)));
        let (_, order) = Client { depth: 4, gap_ns: 0 }.run(&mut disk, &commands);
        (order.iter().position(|index| *index == 8).unwrap(), commands.len() - 1)
    };
    let (patient, last) = place("");
    assert!(patient < 40, "{patient}");
    assert_eq!(place("one_way=true"), (last, last));
}

#[test]
fn reordered_neighbours_cost_a_one_way_disk_revolutions() {
    let ends_ns = |words: &str| {
        let mut disk = disk(&format!("{TURNING} queue_depth=31 {words}"));
        let mut now_ns = one(&mut disk, MS, Kind::Write, extent(0, 64 * KIB));
        for index in (1..64).step_by(2) {
            disk.submit(now_ns, Kind::Write, extent((index + 1) * 64 * KIB, 64 * KIB));
            let mut answers = disk.advance(now_ns);
            disk.submit(now_ns + 150_000, Kind::Write, extent(index * 64 * KIB, 64 * KIB));
            answers.extend(disk.advance(now_ns + 150_000));
            answers.extend(disk.advance(now_ns + 100 * MS));
            now_ns = answers.iter().map(|answer| answer.at_ns).max().unwrap();
        }
        now_ns
    };
    assert!(ends_ns("one_way=true") > 5 * ends_ns(""));
}

#[test]
fn a_split_command_costs_overhead_per_piece_and_completes_once() {
    let words = "size=64M rate=100MB overhead_us=200 interface_rate=1GB";
    let took_ns = |words: &str| {
        let mut disk = disk(words);
        let end_ns = one(&mut disk, 0, Kind::Read, extent(MIB, MIB));
        (end_ns, disk.counters().read.commands, disk.counters().read.bytes)
    };
    assert_eq!(took_ns(words), (10_485_760 + 200_000, 1, MIB));
    assert_eq!(took_ns(&format!("{words} transfer_max=120K")), (10_485_760 + 9 * 200_000, 9, MIB));
    assert_eq!(took_ns(&format!("{words} transfer_max=1M")), (10_485_760 + 200_000, 1, MIB));
    let limit = least_seconds(&parameters(&format!("{words} transfer_max=128K")), Job::Read, extent(0, MIB), MIB);
    assert!((limit - seconds(10_485_760 + 8 * 200_000)).abs() < 1e-9, "{limit}");
}

#[test]
fn a_split_command_fails_if_one_piece_fails() {
    for (bad, fails) in [("1900K:4096", true), ("2M:4096", false)] {
        let mut disk = disk(&format!("size=64M transfer_max=120K bad_read={bad}"));
        assert_eq!(answer(&mut disk, 0, Kind::Read, extent(MIB, MIB)).1, fails, "{bad}");
    }
}

#[test]
fn a_reordering_disk_serves_pieces_of_several_commands_as_one_stream() {
    let mut disk = disk(&format!("{TURNING} queue_depth=31 transfer_max=120K"));
    let (end_ns, order) = Client { depth: 4, gap_ns: 0 }.run(&mut disk, &in_order(Kind::Write, 0, 16 * MIB, MIB));
    assert_eq!(order, (0..16).collect::<Vec<_>>());
    assert_eq!((disk.counters().write.commands, disk.counters().write.missed_turns), (16 * 9, 0));
    let own_ns = 16 * (10_485_760 + 9 * 50_000);
    assert!((own_ns..own_ns + 9 * MS).contains(&end_ns), "{end_ns}");
}

#[test]
fn queue_depth_hides_transport_latency_half_of_which_precedes_the_disk() {
    let words = "size=64M rate=100MB interface_rate=1GB distance_us=10000";
    let commands = in_order(Kind::Read, 0, 32 * MIB, MIB);
    let end_ns = |depth| Client { depth, gap_ns: 0 }.run(&mut disk(words), &commands).0;
    let own_ns = 32 * 10_485_760;
    assert_eq!(end_ns(1), own_ns + 32 * 10 * MS);
    assert_eq!(end_ns(2), own_ns + 10 * MS);
    let limit = least_seconds(&parameters(words), Job::Read, extent(0, 32 * MIB), MIB);
    assert!((limit - seconds(own_ns + 10 * MS)).abs() < 1e-9, "{limit}");
    // A disk that handles its commands only after their distance chooses the later of two, if that is where its head
    // is.
    let mut disk = disk(&format!("{TURNING} queue_depth=31 distance_us=10000"));
    let far = disk.submit(0, Kind::Read, extent(64 * KIB, 64 * KIB));
    assert_eq!(disk.advance(0), []);
    let near = disk.submit(20_000, Kind::Read, extent(0, 64 * KIB));
    let answers = disk.advance(100 * MS);
    assert_eq!(answers.iter().map(|answer| answer.ticket).collect::<Vec<_>>(), [near, far]);
}

#[test]
fn a_remote_stream_costs_revolutions_unless_its_depth_is_high_enough() {
    let missed = |depth| {
        let mut disk = disk(&format!("{TURNING} queue_depth=31 distance_us=5000"));
        Client { depth, gap_ns: 0 }.run(&mut disk, &in_order(Kind::Read, 0, 16 * MIB, MIB));
        disk.counters().read.missed_turns
    };
    assert_eq!((missed(1), missed(2)), (15, 0));
}

const CHANNELS: &str = "size=64M rate=160MB channels=4 channel_rate=50MB interface_rate=1GB";

#[test]
fn channels_work_in_parallel_up_to_the_media_rate() {
    // One MiB takes 20 ns per byte on a channel, and 6.25 on the medium.
    let (own_ns, medium_ns) = (20 * MIB, 25 * MIB / 4);
    for kind in [Kind::Read, Kind::Write] {
        let end_ns = |depth| Client { depth, gap_ns: 0 }.run(&mut disk(CHANNELS), &in_order(kind, 0, 32 * MIB, MIB)).0;
        assert_eq!(end_ns(1), 32 * own_ns, "{kind:?}");
        // Both start at once, and one of them must wait for the transfer of the other.
        assert_eq!(end_ns(2), 16 * own_ns + medium_ns, "{kind:?}");
        assert_eq!(end_ns(4), own_ns + 31 * medium_ns, "{kind:?}");
        assert_eq!(end_ns(8), own_ns + 31 * medium_ns, "{kind:?}");
    }
    let limit = |words: &str| least_seconds(&parameters(words), Job::Read, extent(0, 32 * MIB), MIB);
    assert!((limit(CHANNELS) - 32.0 * MIB as f64 / 160e6).abs() < 1e-6);
    let slow = CHANNELS.replace("channels=4", "channels=2 overhead_us=100");
    assert!((limit(&slow) - 32.0 * MIB as f64 / 100e6 - 32.0 * 50e-6).abs() < 1e-6, "{}", limit(&slow));
}

#[test]
fn several_channels_serve_a_split_command() {
    let took_ns = |words: &str| one(&mut disk(words), 0, Kind::Read, extent(0, MIB));
    assert_eq!(took_ns(CHANNELS), 20 * MIB);
    // An eighth of it on one channel; then the medium limits it.
    assert_eq!(took_ns(&format!("{CHANNELS} transfer_max=128K")), MIB / 8 * 20 + 7 * MIB / 8 * 25 / 4);
}

#[test]
fn a_flush_occupies_all_channels_once() {
    let mut disk = disk(CHANNELS);
    for (kind, piece) in in_order(Kind::Write, 0, 4 * MIB, MIB) {
        disk.submit(0, kind, piece);
    }
    let written_ns = disk.advance(0).iter().map(|answer| answer.at_ns).max().unwrap();
    assert_eq!(one(&mut disk, 1000, Kind::Flush, extent(0, 0)), written_ns);
    assert!((disk.counters().busy_s - seconds(written_ns)).abs() < 1e-9, "{}", disk.counters().busy_s);
}

#[test]
fn a_disk_can_report_a_false_rotational_flag() {
    for (words, expected) in
        [("rpm=7200", true), ("", false), ("rpm=7200 rotational=false", false), ("rotational=true", true)]
    {
        assert_eq!(parameters(words).rotational(), expected, "{words}");
    }
}
