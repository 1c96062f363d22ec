//! `haul profile --random` as users run it. No measured value is checked, because the machine may be busy.
use crate::support::{engines, haul, in_one_line, memory_dir, scratch, stderr, write_noise};
use serde_json::Value;
use std::fs;
use std::path::Path;

const MIB: usize = 1 << 20;

fn random(words: &[&str], file: &Path) -> Value {
    let mut command = haul();
    command.args(["profile", "--random", "--json"]).args(words).arg(file);
    let run = command.assert().success();
    serde_json::from_slice(&run.get_output().stdout).expect("the report is JSON")
}

#[test]
fn random_reads_have_a_distribution_and_report_their_seed() {
    let dir = scratch();
    let file = dir.path().join("disk.img");
    let bytes = write_noise(&file, 8 * MIB, 41);
    for engine in engines() {
        let words = ["--requests", "300", "--block-size", "8K", "--depth", "4", "--range", "1M+4M", "--engine", engine];
        let more = ["--seed", "18446744073709551615", "--label", "night", "--slower-than", "1us"];
        let report = random(&[&words[..], &more[..]].concat(), &file);
        assert_eq!((&report["report"], &report["ended"]), (&"random".into(), &"complete".into()), "{report}");
        assert_eq!((&report["label"], &report["seed"]), (&"night".into(), &u64::MAX.into()), "{report}");
        assert_eq!((&report["requests"], &report["bytes"]), (&300.into(), &(300 * 8192).into()), "{report}");
        assert_eq!((&report["block_bytes"], &report["depth"]), (&8192.into(), &4.into()), "{report}");
        let range = &report["range"];
        assert_eq!((&range["offset_bytes"], &range["len_bytes"]), (&MIB.into(), &(4 * MIB).into()), "{report}");
        let classes = report["latencies"].as_array().expect("it is a list");
        let counted: u64 = classes.iter().filter_map(|class| class["requests"].as_u64()).sum();
        assert_eq!(counted, 300, "{report}");
        let slow = report["slow"].as_array().expect("it is a list");
        let slow_count = report["slow_requests"].as_u64().expect("it is a number");
        assert_eq!(slow.len() as u64, slow_count.min(64), "{report}");
        for one in slow {
            let offset = one["offset_bytes"].as_u64().expect("it is a number") as usize;
            assert!(offset.is_multiple_of(8192) && (MIB..5 * MIB).contains(&offset), "{one}");
        }
        let [low, high] = ["p50_us", "p99_us"].map(|name| report["latency"][name].as_f64().expect("it is a number"));
        assert!(low <= high && report["requests_per_s"].as_f64() > Some(0.0), "{report}");
    }
    assert!(fs::read(&file).expect("it exists") == bytes, "it was only to be read");
}

#[test]
fn cached_pages_are_kept_and_reported() {
    // On tmpfs nothing bypasses the page cache, which contains the whole file.
    let dir = memory_dir();
    let file = dir.path().join("disk.img");
    let bytes = write_noise(&file, 2 * MIB, 44);
    let report = random(&["--requests", "50"], &file);
    assert_eq!(report["way"], "buffered", "{report}");
    assert!(report["cached"].is_boolean(), "{report}");
    assert!(fs::read(&file).expect("it exists") == bytes);
}

#[test]
fn random_reads_print_text_of_80_columns_and_csv_of_the_distribution() {
    let dir = scratch();
    let file = dir.path().join("disk.img");
    write_noise(&file, 4 * MIB, 42);
    let words = ["profile", "--random", "--requests", "100", "--seed", "7", "--slower-than", "3600s"];
    let run = haul().args(words).arg(&file).assert().success();
    let text = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
    let place = dir.path().to_str().expect("paths of test directories are UTF-8");
    assert!(text.lines().all(|line| line.contains(place) || line.chars().count() <= 80), "{text}");
    let text = in_one_line(text.as_bytes());
    for words in ["4.00 KiB × 1", "seed 7", "reads/s", "p99.9 ", "no read took longer than"] {
        assert!(text.replace("4 KiB", "4.00 KiB").contains(words), "{words}: {text}");
    }
    let run = haul().args(["profile", "--random", "--requests", "100", "--csv"]).arg(&file).assert().success();
    let text = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
    let counted: u64 = text.lines().skip(1).filter_map(|line| line.split(',').nth(1)?.parse::<u64>().ok()).sum();
    assert!(text.starts_with("up_to_us,reads\n") && counted == 100, "{text}");
}

#[test]
fn invalid_options_of_random_reads_are_refused() {
    let dir = scratch();
    let file = dir.path().join("disk.img");
    write_noise(&file, 2 * MIB, 43);
    for words in [
        &["--random", "--range", "1M+2M"][..],
        &["--random", "--range", "1M"],
        &["--random", "--slower-than", "10"],
        &["--random", "--timing"],
        &["--random", "--requests", "0"],
        &["--seed", "7"],
        &["--random", "--block-size", "64M", "--depth", "9"],
    ] {
        let assert = haul().arg("profile").args(words).arg(&file).assert().code(2);
        assert!(stderr(&assert).starts_with("haul: "), "{words:?}: {}", stderr(&assert));
    }
}
