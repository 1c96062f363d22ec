//! A copy begins with the result of `haul tune --save`.
use super::*;
use crate::core::SavedPace;

fn tuned(block_bytes: u32, depth: u32) -> Facts {
    let date = "2026-11-21".to_owned();
    Facts { saved: Some(SavedPace { block_bytes, depth, bytes_per_s: 1, date }), ..disk(1, GIB) }
}

fn pace(options: &Options, source: &Facts) -> (u32, [u32; 2], String) {
    let plan = made(options, source, &disk(2, 2 * GIB));
    let reason = plan.notes.why.iter().find(|reason| reason.topic == "block size").unwrap();
    (plan.tuning.limits.block_bytes, plan.tuning.limits.in_flight, reason.because.clone())
}

#[test]
fn a_copy_begins_with_the_saved_settings_of_its_source_and_reports_them() {
    // Nothing is saved for the dest: it has the default number of requests, and its blocks are the larger ones.
    let (block, depth, because) = pace(&Options::default(), &tuned(256 << 10, 4));
    assert_eq!((block, depth), (1 << 20, [2, 2]));
    let (block, depth, _) = pace(&Options::default(), &tuned(4 << 20, 3));
    assert_eq!((block, depth), (4 << 20, [3, 2]));
    assert_eq!(because, "saved by haul tune on 2026-11-21: 256 KiB × 4 for reading /dev/sdb");
    let plan = made(&Options::default(), &tuned(256 << 10, 4), &disk(2, 2 * GIB));
    assert!(plan.tuning.adaptive, "the dest may want another: it goes on looking");
}

#[test]
fn saved_settings_are_clamped_to_the_bounds_of_a_copy() {
    let (block, depth, _) = pace(&Options::default(), &tuned(512, 1));
    assert_eq!((block, depth), (1 << 20, [1, 2]));
    let plan = made(&Options::default(), &tuned(64 << 20, 64), &disk(2, 2 * GIB));
    let Tuning { limits, pool_bytes, .. } = plan.tuning;
    assert!(limits.in_flight.iter().sum::<u32>() * limits.block_bytes <= pool_bytes, "{:?}", plan.tuning);
}

#[test]
fn explicit_options_override_saved_settings() {
    let options = Options { block_bytes: Some(1 << 20), depth: Some(3), ..Options::default() };
    let (block, depth, because) = pace(&options, &tuned(256 << 10, 4));
    assert_eq!((block, depth, because.as_str()), (1 << 20, [3, 3], "--block-size"));
}

fn written(block_bytes: u32, depth: u32) -> Facts {
    let date = "2026-11-22".to_owned();
    Facts { saved_write: Some(SavedPace { block_bytes, depth, bytes_per_s: 1, date }), ..disk(2, 2 * GIB) }
}

#[test]
fn saved_settings_for_writing_the_dest_apply() {
    let start = |source: &Facts, dest: &Facts| {
        let plan = made(&Options::default(), source, dest);
        let reason = plan.notes.why.iter().find(|reason| reason.topic == "block size").unwrap();
        (plan.tuning.limits.block_bytes, plan.tuning.limits.in_flight, reason.because.clone())
    };
    let (block, depth, because) = start(&disk(1, GIB), &written(512 << 10, 3));
    assert_eq!((block, depth), (1 << 20, [2, 2]));
    assert_eq!(because, "saved by haul tune on 2026-11-22: 512 KiB × 3 for writing /dev/sdc");
    // 16 × 64 KiB are 2 × 512 KiB, and the dest has 3 of these.
    let (block, depth, because) = start(&tuned(64 << 10, 16), &written(512 << 10, 3));
    assert_eq!((block, depth), (512 << 10, [2, 3]));
    assert!(because.contains("64 KiB × 16 for reading /dev/sdb; saved"), "{because}");
    assert!(because.contains("512 KiB × 3 for writing /dev/sdc"), "{because}");
}

#[test]
fn saved_settings_for_reading_do_not_apply_to_writing() {
    let dest = Facts { saved: tuned(64 << 10, 16).saved, ..disk(2, 2 * GIB) };
    let plan = made(&Options::default(), &disk(1, GIB), &dest);
    assert!(plan.notes.why.iter().all(|reason| !reason.because.contains("saved by")), "{:?}", plan.notes.why);
}
