//! The order of commands, and the effect of deep queues.
use super::*;

const TURNING: &str = "size=1GiB rate=100MB rpm=7200 overhead_us=50 grace_us=300 seek_us=1000 seek_full_us=15000";

/// Two sequential readers, one in each half of the disk, whose commands alternate.
fn two_streams() -> Vec<(Kind, Extent)> {
    let upper = in_order(Kind::Read, 512 * MIB, 16 * MIB, 64 * KIB);
    in_order(Kind::Read, 0, 16 * MIB, 64 * KIB).into_iter().zip(upper).flat_map(|(left, right)| [left, right]).collect()
}

#[test]
fn a_deep_queue_keeps_two_streams_apart() {
    let seeks = |depth: usize| {
        let mut disk = disk(&format!("{TURNING} queue_depth={depth}"));
        let (end_ns, _) = Client { depth, gap_ns: 100_000 }.run(&mut disk, &two_streams());
        (disk.counters().read.seeks, end_ns)
    };
    let (one_seeks, one_ns) = seeks(1);
    let (deep_seeks, deep_ns) = seeks(31);
    assert_eq!(one_seeks, 511, "one at a time it goes to and fro");
    assert!(deep_seeks < 80, "{deep_seeks} seeks");
    assert!(deep_ns * 3 < one_ns, "{deep_ns} against {one_ns}");
}

#[test]
fn commands_submitted_out_of_order_are_served_as_one_stream() {
    let mut commands = in_order(Kind::Write, 0, 8 * MIB, 64 * KIB);
    commands.chunks_mut(4).for_each(|four| four.reverse());
    let mut disk = disk(&format!("{TURNING} queue_depth=31"));
    let (_, order) = Client { depth: 8, gap_ns: 100_000 }.run(&mut disk, &commands);
    let counters = disk.counters();
    assert_eq!((counters.write.seeks, counters.write.missed_turns), (0, 0));
    assert_eq!(order[..8], [3, 2, 1, 0, 7, 6, 5, 4], "by place on the disk");
    assert_eq!(counters.queue_max, 8);
}

#[test]
fn an_idle_disk_reorders_commands_received_during_its_overhead() {
    let mut disk = disk(&format!("{TURNING} queue_depth=31"));
    let late = disk.submit(MS, Kind::Read, extent(64 * KIB, 64 * KIB));
    assert_eq!((disk.advance(MS), disk.alarm()), (vec![], Some(MS + 50_000)));
    let early = disk.submit(MS + 10_000, Kind::Read, extent(0, 64 * KIB));
    let answers = disk.advance(MS + 50_000);
    assert_eq!(answers.iter().map(|answer| answer.ticket).collect::<Vec<_>>(), [early]);
    assert_eq!(disk.advance(answers[0].at_ns)[0].ticket, late);
    assert_eq!(disk.counters().read.missed_turns, 0);
}

#[test]
fn at_depth_one_commands_run_in_submission_order() {
    let mut disk = disk(TURNING);
    for offset in [900, 100, 500, 300] {
        disk.submit(0, Kind::Read, extent(offset * MIB, 4 * KIB));
    }
    // Decided at once: no later command can change it.
    let answers = disk.advance(0);
    assert_eq!(answers.iter().map(|answer| answer.ticket).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert!(answers.windows(2).all(|pair| pair[0].at_ns < pair[1].at_ns));
}

#[test]
fn an_endless_stream_starves_no_other_command() {
    let mut disk = disk(&format!("{TURNING} queue_depth=4"));
    let mut commands = in_order(Kind::Read, 512 * MIB, 64 * MIB, 64 * KIB);
    commands.insert(8, (Kind::Read, extent(0, 4 * KIB)));
    let (_, order) = Client { depth: 4, gap_ns: 0 }.run(&mut disk, &commands);
    let place = order.iter().position(|index| *index == 8).unwrap();
    assert!((20..=30).contains(&place), "answered as number {place} of {}", order.len());
}

#[test]
fn only_as_many_commands_as_fit_the_disk_are_reordered() {
    let mut disk = disk(&format!("{TURNING} queue_depth=2"));
    for offset in [900, 500, 100] {
        disk.submit(0, Kind::Read, extent(offset * MIB, 4 * KIB));
    }
    let first = disk.advance(50_000);
    assert_eq!(first[0].ticket, 2, "the third is not in the disk yet");
}

#[test]
fn a_late_scheduling_decision_equals_the_timely_one() {
    let run = |lateness_ns: u64| {
        let mut disk = disk(&format!("{TURNING} queue_depth=31"));
        let mut answers = Vec::new();
        for (at_ns, offset) in [(0, 0), (10_000, 800), (20_000, 400), (30_000, 200)] {
            disk.submit(at_ns, Kind::Read, extent(offset * MIB, 64 * KIB));
            answers.extend(disk.advance(at_ns));
        }
        disk.submit(1_000_000, Kind::Read, extent(100 * MIB, 64 * KIB));
        answers.extend(disk.advance(1_000_000 + lateness_ns));
        answers.extend(disk.advance(1_000_000_000));
        answers
    };
    assert_eq!(run(0).len(), 5);
    assert_eq!(run(0), run(200_000_000));
}

#[test]
fn latency_is_hidden_by_depth_and_overhead_is_not() {
    let words = "size=64M rate=100MB overhead_us=20 latency_us=500 interface_rate=1GB";
    let commands = in_order(Kind::Read, 0, 10 * MIB, 64 * KIB);
    let end_ns = |depth| Client { depth, gap_ns: 0 }.run(&mut disk(words), &commands).0;
    assert_eq!(end_ns(1), 160 * (655_360 + 20_000 + 500_000));
    assert_eq!(end_ns(8), 160 * (655_360 + 20_000) + 500_000);
}

#[test]
fn commands_reordered_in_transit_cost_no_revolution() {
    // The commands of each pair are reversed, the second half delayed by the grace time; the disk is idle in
    // between.
    for (kind, ahead) in [(Kind::Write, 0), (Kind::Read, 0), (Kind::Read, 2)] {
        let mut disk = disk(&format!("{TURNING} queue_depth=31 read_ahead_bytes={ahead}M"));
        let mut now_ns = one(&mut disk, MS, kind, extent(0, 64 * KIB));
        let free_ns = now_ns;
        for index in (1..64).step_by(2) {
            disk.submit(now_ns, kind, extent((index + 1) * 64 * KIB, 64 * KIB));
            let mut answers = disk.advance(now_ns);
            disk.submit(now_ns + 150_000, kind, extent(index * 64 * KIB, 64 * KIB));
            answers.extend(disk.advance(now_ns + 150_000));
            answers.extend(disk.advance(now_ns + 100 * MS));
            now_ns = answers.iter().map(|answer| answer.at_ns).max().unwrap();
        }
        let counters = disk.counters();
        assert_eq!((counters.read.missed_turns, counters.write.missed_turns), (0, 0), "{kind:?}, {ahead} MiB ahead");
        assert!(now_ns - free_ns < 64 * 720_000, "{kind:?}, {ahead} MiB ahead: {}", now_ns - free_ns);
    }
}
