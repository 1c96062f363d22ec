//! How long it may take, told beforehand: by reading only, and not where nobody asked or it would cost too much.
use crate::support::{LoopDevice, cmp, filled, haul, memory_dir, noise, write_noise};
use serde_json::Value;
use std::path::Path;

const LEN: usize = 32 << 20;

/// The estimate of the JSON that haul prints with these words.
fn estimate(words: &[&str], sides: [&Path; 2]) -> Value {
    let done = haul().args(words).args(sides).assert().success();
    let report: Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    report["estimate"].clone()
}

#[test]
fn a_plan_tells_its_time_from_reading_both_sides_and_writes_nothing() {
    let dir = memory_dir();
    let (from, to, before) = (dir.path().join("from"), dir.path().join("to"), dir.path().join("before"));
    write_noise(&from, LEN, 31);
    filled(&to, LEN, 0xAA);
    filled(&before, LEN, 0xAA);
    let (Some(source), Some(dest)) = (LoopDevice::over(&from), LoopDevice::over(&to)) else { return };
    let sides: [&Path; 2] = [source.as_ref(), dest.as_ref()];
    let told = estimate(&["copy", "--dry-run", "--json"], sides);
    assert!(told["at_least_s"].as_f64().unwrap() > 0.0, "{told}");
    assert!(told["places"].as_u64().unwrap() >= 2 && told["took_s"].as_f64().unwrap() > 0.0, "{told}");
    assert!(told["source_bytes_per_s"].is_u64() && told["dest_bytes_per_s"].is_null(), "{told}");
    let unknown = told["time_s"].is_null() && told["at_most_s"].is_null() && told["write_rate"].is_null();
    assert!(unknown && told["doubt"] == "writing", "a loop device over memory is no hard disk: {told}");
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
