//! The estimate of the duration before the copy: it only reads, and is omitted if disabled or expensive.
use crate::support::{LoopDevice, cmp, filled, haul, memory_dir, noise, scratch, write_noise};
use serde_json::Value;
use std::path::Path;

const LEN: usize = 32 << 20;

/// The JSON output of haul with these words.
fn report(words: &[&str], sides: [&Path; 2]) -> Value {
    let done = haul().args(words).args(sides).assert().success();
    serde_json::from_slice(&done.get_output().stdout).unwrap()
}

/// The estimate in it.
fn estimate(words: &[&str], sides: [&Path; 2]) -> Value {
    report(words, sides)["estimate"].clone()
}

#[test]
fn a_plan_estimates_the_duration_from_reads_of_both_sides_and_writes_nothing() {
    let dir = memory_dir();
    let (from, to, before) = (dir.path().join("from"), dir.path().join("to"), dir.path().join("before"));
    write_noise(&from, LEN, 31);
    filled(&to, LEN, 0xAA);
    filled(&before, LEN, 0xAA);
    let (Some(source), Some(dest)) = (LoopDevice::over(&from), LoopDevice::over(&to)) else { return };
    let sides: [&Path; 2] = [source.as_ref(), dest.as_ref()];
    let reported = estimate(&["copy", "--dry-run", "--json"], sides);
    assert!(reported["at_least_s"].as_f64().unwrap() > 0.0, "{reported}");
    assert!(reported["places"].as_u64().unwrap() >= 2 && reported["took_s"].as_f64().unwrap() > 0.0, "{reported}");
    assert!(reported["source_bytes_per_s"].is_u64() && reported["dest_bytes_per_s"].is_null(), "{reported}");
    let unknown = reported["time_s"].is_null() && reported["at_most_s"].is_null() && reported["write_rate"].is_null();
    assert!(unknown && reported["doubt"] == "writing", "a loop device over memory is no hard disk: {reported}");
    assert_eq!(estimate(&["copy", "--dry-run", "--json", "--no-estimate"], sides), Value::Null);
    drop(dest);
    cmp(&to, &before);
}

#[test]
fn a_short_copy_is_not_estimated() {
    let dir = memory_dir();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    std::fs::write(&from, noise(1 << 20, 32)).unwrap();
    assert_eq!(estimate(&["copy", "--json"], [&from, &to]), Value::Null);
    cmp(&from, &to);
}

#[test]
fn a_plan_with_resume_estimates_the_rest_of_the_copy() {
    let (memory, dir) = (memory_dir(), scratch());
    let (image, to, map) = (memory.path().join("image"), dir.path().join("to"), dir.path().join("map"));
    write_noise(&image, LEN, 33);
    let Some(disk) = LoopDevice::over(&image) else { return };
    let from = disk.path().to_owned();
    // Three quarters are already copied.
    std::fs::write(&to, &noise(LEN, 33)[..LEN / 4 * 3]).unwrap();
    std::fs::write(&map, format!("0 ? 1\n0 {0} +\n{0} {1} ?\n", LEN / 4 * 3, LEN / 4)).unwrap();
    haul().args(["journal", "import"]).args([&map, &from, &to]).assert().success();
    // The limit is far below the rate of any disk, so that it alone determines the estimate: 32 s in total.
    let plan = ["copy", "--dry-run", "--json", "--limit", "1M"];
    let resumed = report(&[&plan[..], &["--resume"]].concat(), [&from, &to]);
    let restarted = report(&[&plan[..], &["--restart"]].concat(), [&from, &to]);
    let copied = |report: &Value| {
        let why = report["why"].as_array().unwrap().iter().find(|reason| reason["topic"] == "already copied");
        why.map(|reason| reason["choice"].clone())
    };
    assert_eq!((copied(&resumed), copied(&restarted)), (Some("25165824 bytes (25.2 MB)".into()), None));
    let [rest_s, all_s] = [resumed, restarted].map(|reported| reported["estimate"]["at_least_s"].as_f64().unwrap());
    assert!((all_s - 32.0).abs() < 0.5 && (rest_s - 8.0).abs() < 0.5, "{rest_s} of {all_s}");
}
