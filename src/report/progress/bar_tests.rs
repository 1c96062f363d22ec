use super::*;
use crate::core::Side;
use crate::report::progress::view::{Speed, StoredView};
use std::time::Duration;

const MIB: u64 = 1 << 20;

/// Halfway through 2 GiB.
fn view() -> View {
    let speed = |now_per_s, mean_per_s| Speed { now_per_s, mean_per_s };
    View {
        comparing: false,
        elapsed: Duration::from_millis(2_100),
        phase: Phase::Copying,
        flushing: None,
        copied_bytes: 840 * MIB,
        total_bytes: Some(2048 * MIB),
        read_bytes: 848 * MIB,
        written_bytes: 840 * MIB,
        zeroed_bytes: 0,
        hole_bytes: 0,
        already_bytes: 0,
        stored: None,
        unread_sectors: 0,
        read: speed(412 * MIB, 398 * MIB),
        write: speed(410 * MIB, 395 * MIB),
        left: Some(Duration::from_millis(2_900)),
        slower: Some(Side::Dest),
        slower_part: None,
        limited: false,
        stalled: None,
        idle: None,
        block_bytes: 256 << 10,
        queue_depth: [4, 2],
        pool_bytes: 8 << 20,
    }
}

/// The lines at a width, without colour; asserts that each fits.
fn at(view: &View, width: usize) -> String {
    let text = anstream::adapter::strip_str(&lines(view, "/dev/disk/by-id/usb-stick", &[], width)).to_string();
    for line in text.lines() {
        assert!(columns(line) < width, "{} columns of {width}: {line}", columns(line));
    }
    assert_eq!(text.split('\n').count(), 2);
    text
}

fn at_all_widths(view: &View) -> String {
    [120, 80, 60, 40, 20].map(|width| format!("{width}:\n{}\n", at(view, width))).concat()
}

#[test]
fn a_copy_fits_every_width() {
    insta::assert_snapshot!(at_all_widths(&view()), @r"
    120:
    ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━────────────────────────────────────────────  41 %  880.8 MB of 2.15 GB  3 s left
    429.9 (mean 414.2) MB/s, destination is slower, queue depth 4+2, 256 KiB blocks
    80:
    ━━━━━━━━━━━━━─────────────────────  41 %  880.8 MB of 2.15 GB  3 s left
    429.9 (mean 414.2) MB/s, destination is slower, queue depth 4+2, 256 KiB blocks
    60:
    ━━━━━─────────  41 %  880.8 MB of 2.15 GB  3 s left
    429.9 (mean 414.2) MB/s, destination is slower
    40:
     41 %  880.8 MB of 2.15 GB  3 s left
    429.9 MB/s, destination is slower
    20:
     41 %  3 s left
    429.9 MB/s
    ");
}

#[test]
fn sides_that_differ_are_shown_separately() {
    let mut view = view();
    view.read = Speed { now_per_s: 902 * MIB, mean_per_s: 901 * MIB };
    view.read_bytes *= 2;
    insta::assert_snapshot!(at_all_widths(&view), @r"
    120:
    ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━────────────────────────────────────────────  41 %  880.8 MB of 2.15 GB  3 s left
    read 945.8 (mean 944.8) MB/s, write 429.9 (mean 414.2) MB/s, destination is slower, queue depth 4+2, 256 KiB blocks
    80:
    ━━━━━━━━━━━━━─────────────────────  41 %  880.8 MB of 2.15 GB  3 s left
    read 945.8 MB/s, write 429.9 MB/s, destination is slower
    60:
    ━━━━━─────────  41 %  880.8 MB of 2.15 GB  3 s left
    read 945.8 MB/s, write 429.9 MB/s, destination is slower
    40:
     41 %  880.8 MB of 2.15 GB  3 s left
    429.9 MB/s, destination is slower
    20:
     41 %  3 s left
    429.9 MB/s
    ");
}

#[test]
fn a_stream_shows_bytes_and_time() {
    let mut view = view();
    (view.total_bytes, view.left) = (None, None);
    insta::assert_snapshot!(at_all_widths(&view), @r"
    120:
    ⠙ 880.8 MB in 2 s
    429.9 (mean 414.2) MB/s, destination is slower, queue depth 4+2, 256 KiB blocks
    80:
    ⠙ 880.8 MB in 2 s
    429.9 (mean 414.2) MB/s, destination is slower, queue depth 4+2, 256 KiB blocks
    60:
    ⠙ 880.8 MB in 2 s
    429.9 (mean 414.2) MB/s, destination is slower
    40:
    ⠙ 880.8 MB in 2 s
    429.9 MB/s, destination is slower
    20:
    ⠙ 880.8 MB in 2 s
    429.9 MB/s
    ");
}

#[test]
fn flushing_is_a_phase_of_its_own() {
    let mut view = view();
    (view.phase, view.flushing) = (Phase::Flushing, Some(Duration::from_millis(3_200)));
    insta::assert_snapshot!(at_all_widths(&view), @r"
    120:
    ⠙ flushing /dev/disk/by-id/usb-stick: 3 s
    880.8 MB copied (mean 414.2 MB/s)
    80:
    ⠙ flushing /dev/disk/by-id/usb-stick: 3 s
    880.8 MB copied (mean 414.2 MB/s)
    60:
    ⠙ flushing /dev/disk/by-id/usb-stick: 3 s
    880.8 MB copied (mean 414.2 MB/s)
    40:
    ⠙ flushing: 3 s
    880.8 MB copied (mean 414.2 MB/s)
    20:
    ⠙ flushing: 3 s
    880.8 MB copied
    ");
}

#[test]
fn a_stall_is_shown_instead_of_a_rate() {
    let mut view = view();
    view.stalled = Some(Duration::from_secs(12));
    insta::assert_snapshot!(at(&view, 80), @r"
    ━━━━━━━━━━━━━─────────────────────  41 %  880.8 MB of 2.15 GB
    no progress for 12 s, waiting for the destination
    ");
}

#[test]
fn bad_sectors_are_shown_before_the_bottleneck_at_every_sufficient_width() {
    insta::assert_snapshot!(at_all_widths(&View { unread_sectors: 3, ..view() }));
}

fn dest(address: &str, state: DestState, copied_bytes: u64) -> DestView {
    let (address, name) = (address.to_owned(), address.to_owned());
    let total_bytes = Some(2048 * MIB);
    DestView { address, name, reading_back: false, in_memory: false, state, copied_bytes, total_bytes }
}

fn dests() -> Vec<DestView> {
    let long = dest("/dev/disk/by-id/usb-ACME_Stick_0123456789-0:0", DestState::Behind, 500 * MIB);
    let back = DestView { reading_back: true, ..dest("/dev/sde", DestState::Moving, 2000 * MIB) };
    let stream = DestView { total_bytes: None, ..dest("-", DestState::Flushing, 7 * MIB) };
    vec![dest("/dev/sdc", DestState::Moving, 840 * MIB), long, dest("/dev/sdd", DestState::Failed, 0), back, stream]
}

#[test]
fn each_of_several_dests_has_a_row_that_fits_every_width() {
    let at = |width| {
        let text = anstream::adapter::strip_str(&lines(&view(), "x", &dests(), width)).to_string();
        assert_eq!(text.lines().count(), 2 + dests().len());
        for line in text.lines() {
            assert!(columns(line) < width, "{} columns of {width}: {line}", columns(line));
        }
        text
    };
    (14..200).map(at).for_each(drop);
    insta::assert_snapshot!([120, 80, 60, 40, 20].map(|width| format!("{width}:\n{}\n", at(width))).concat());
}

#[test]
fn only_a_dest_that_survives_a_power_loss_is_shown_as_durable() {
    let on_disk = dest("/dev/sdc", DestState::Done, 2048 * MIB);
    let in_memory = DestView { in_memory: true, ..dest("/dev/shm/x", DestState::Done, 2048 * MIB) };
    assert_eq!(on_disk.line(), "haul: destination /dev/sdc: 100 %, 2.15 GB, durable\n");
    assert_eq!(in_memory.line(), "haul: destination /dev/shm/x: 100 %, 2.15 GB, in memory\n");
}

#[test]
fn extreme_widths_and_numbers_do_not_break_the_lines() {
    let mut huge = view();
    (huge.copied_bytes, huge.total_bytes) = (u64::MAX - 1, Some(u64::MAX));
    huge.read = Speed { now_per_s: u64::MAX, mean_per_s: 1 };
    huge.read_bytes = u64::MAX;
    huge.left = Some(Duration::from_secs(u64::MAX / 1000));
    let mut empty = view();
    (empty.copied_bytes, empty.total_bytes) = (0, Some(0));
    for width in 1..200 {
        at(&huge, width);
        at(&empty, width);
        at(&View { phase: Phase::Flushing, ..huge }, width);
        at(&View { total_bytes: None, ..huge }, width);
        at(&View { stalled: Some(Duration::from_secs(30)), ..huge }, width);
    }
}

#[test]
fn a_compressed_side_has_its_amount_and_rate() {
    let stored = |side, total_bytes| Some(StoredView { side, bytes: 15 * MIB, total_bytes, now_per_s: 3 * MIB });
    let source = View { total_bytes: None, stored: stored(Side::Source, Some(60 * MIB)), ..view() };
    let lines = at(&source, 120);
    assert!(lines.contains(" 25 %  ") && lines.contains("compressed 15.7 MB of 62.9 MB, 3.15 MB/s"), "{lines}");
    assert!(lines.contains("left") && !lines.contains("of 0"), "{lines}");
    let lines = at(&View { total_bytes: Some(2048 * MIB), ..source }, 120);
    assert!(lines.contains(" 41 %  ") && lines.contains("compressed 15.7 MB of 62.9 MB"), "{lines}");
    let lines = at(&View { stored: stored(Side::Dest, None), ..view() }, 120);
    assert!(lines.contains("compressed 15.7 MB, 3.15 MB/s"), "{lines}");
    for width in 1..200 {
        at(&source, width);
    }
}
