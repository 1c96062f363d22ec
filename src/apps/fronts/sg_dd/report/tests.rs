use super::counts::{Lines, Progressed, records, time_left, timing};
use super::{Continuation, continue_command};
use crate::apps::fronts::record_counts::RecordCounts;
use crate::apps::fronts::record_plan::{Amount, Pattern};
use crate::apps::fronts::sg_plan::{SgFront, SgPlan};
use std::ffi::OsString;
use std::time::Duration;

fn plan(front: SgFront) -> SgPlan {
    SgPlan { front, ..SgPlan::default() }
}

fn words(line: &[&str]) -> Vec<OsString> {
    line.iter().map(OsString::from).collect()
}

fn at(line: &[&str]) -> Continuation {
    let program = words(&["haul", "sg_dd"]);
    Continuation { program, words: words(line), done: 10, total: 100, ..Continuation::default() }
}

fn command(plan: &SgPlan, at: &Continuation) -> String {
    String::from_utf8(continue_command(plan, at).expect("it can be continued")).unwrap()
}

#[test]
fn counts_are_printed_as_by_sg3_utils() {
    let counts = RecordCounts { read_full: 7, read_partial: 1, written_full: 8, passed_over: 3, ..Default::default() };
    let lines = Lines::default();
    assert_eq!(records(&counts, lines, ""), "7+1 records in\n5+0 records out\n");
    assert_eq!(
        records(&counts, Lines { sparse: true, ..lines }, "  ").lines().nth(2),
        Some("  3 bypassed records out")
    );
    let bad = RecordCounts { retried: 2, unrecovered: 1, differing: 4, ..counts };
    let text = records(&bad, Lines { compares: true, ..lines }, "");
    assert!(text.contains("records verified\n2 retries attempted\n1 unrecovered error(s)\n4 miscompare error(s)\n"));
}

#[test]
fn times_are_printed_in_the_format_of_1_46() {
    let moved = Progressed { bytes: 51_200, time: Duration::from_micros(1290) };
    let line = |front, so_far, before| timing(front, moved, so_far, before);
    assert_eq!(line(SgFront::Sg, false, None), "time to transfer data: 0.001290 secs at 39.69 MB/sec\n");
    assert_eq!(line(SgFront::Sgp, false, None), "time to transfer data was 0.001290 secs, 39.69 MB/sec\n");
    assert_eq!(line(SgFront::Sgp, true, None), "time to transfer data so far 0.001290 secs, 39.69 MB/sec\n");
    let before = Some(Progressed { bytes: 25_600, time: Duration::from_micros(290) });
    let delta = "time to transfer data so far: 0.001290 secs at 39.69 MB/sec (delta 25.60 MB/sec)\n";
    assert_eq!(line(SgFront::Sgm, true, before), delta);
    let nothing = Progressed { bytes: 0, time: Duration::from_micros(5) };
    assert_eq!(timing(SgFront::Sg, nothing, false, None), "time to transfer data: 0.000005 secs\n");
}

#[test]
fn the_remaining_time_is_known_after_the_first_block() {
    let left = time_left(25, 100, Duration::from_secs(1251));
    assert_eq!(left.as_deref(), Some("25% complete, estimated time remaining: 1:02:33\n"));
    assert_eq!(time_left(0, 100, Duration::from_secs(5)), None);
    assert_eq!(time_left(100, 100, Duration::from_secs(5)), None);
}

#[test]
fn the_continue_command_begins_after_the_copied_blocks_and_is_quoted() {
    let mut sg = plan(SgFront::Sg);
    sg.records.source.skip = Amount { records: 5, bytes: 0 };
    sg.records.dest.skip = Amount { records: 7, bytes: 0 };
    let called = at(&["if=it's $here", "of=b", "skip=5", "count=100", "seek=7", "-v", "of2=x", "bs=512"]);
    let expected = "haul sg_dd if='it'\\''s $here' of=b -v bs=512 skip=15 seek=17 count=90";
    assert_eq!(command(&sg, &called), expected);
}

#[test]
fn appending_continues_at_the_end() {
    let mut sg = plan(SgFront::Sgp);
    sg.records.dest.words.append = true;
    let mut called = at(&["if=a", "of=b", "oflag=append,direct", "append=1"]);
    called.dest_file_bytes = Some(1024);
    assert_eq!(command(&sg, &called), "haul sg_dd if=a of=b oflag=direct skip=10 seek=12 count=90");
    called.dest_file_bytes = Some(1000);
    assert!(continue_command(&sg, &called).is_err());
}

#[test]
fn the_continue_command_omits_excl() {
    let called = Continuation { dest_file_bytes: Some(0), ..at(&["if=a", "of=b", "oflag=excl"]) };
    assert_eq!(command(&plan(SgFront::Sg), &called), "haul sg_dd if=a of=b skip=10 seek=10 count=90");
    let device = at(&["if=a", "of=/dev/sdb", "oflag=excl"]);
    assert!(command(&plan(SgFront::Sg), &device).contains("oflag=excl"));
}

#[test]
fn only_address_patterns_continue_with_skip() {
    let mut sg = plan(SgFront::Sg);
    sg.records.pattern = Some(Pattern::Random);
    assert!(command(&sg, &at(&["iflag=random", "of=b"])).contains(" skip=0 seek=10 "));
    sg.records.pattern = Some(Pattern::Addresses);
    assert!(command(&sg, &at(&["iflag=00,ff", "of=b"])).contains(" skip=10 seek=10 "));
}

#[test]
fn streams_cannot_be_continued() {
    let source = Continuation { source_streams: true, ..at(&["of=b"]) };
    let dest = Continuation { dest_streams: true, ..at(&["if=a"]) };
    for called in [source, dest] {
        assert!(continue_command(&plan(SgFront::Sg), &called).is_err());
    }
}
