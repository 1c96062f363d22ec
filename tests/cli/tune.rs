//! `haul tune` as users run it: what it reads, prints and refuses. No measured value is checked, because the
//! machine may be busy.
use crate::support::{LoopDevice, haul, in_one_line, memory_dir, scratch, write_noise};
use serde_json::Value;
use std::fs;

fn json(arguments: &[&str]) -> Value {
    let assert = haul().arg("tune").args(arguments).arg("--json").assert().success();
    serde_json::from_slice(&assert.get_output().stdout).expect("it is one JSON document")
}

#[test]
fn a_file_is_measured_and_unchanged() {
    let dir = scratch();
    let file = dir.path().join("disk.img");
    let bytes = write_noise(&file, 24 << 20, 1);
    let report = json(&["--quick", "--time", "2", file.to_str().unwrap()]);
    assert_eq!((&report["report"], &report["ended"]), (&"tune".into(), &"complete".into()));
    let points = report["points"].as_array().unwrap();
    assert!(points.iter().any(|point| point["way"] == "buffered" && point["block_bytes"] == 512));
    let answer = &report["answer"];
    assert!(answer["block_bytes"].as_u64() >= Some(512) && answer["depth"].as_u64() >= Some(1), "{answer}");
    assert!(answer["bytes_per_s"].as_f64() > Some(0.0) && answer["dd_bytes_per_s"].as_f64() > Some(0.0));
    assert!(fs::read(&file).unwrap() == bytes, "tune wrote to what it measured");
}

#[test]
fn direct_reads_of_a_disk_are_whole_logical_blocks() {
    let dir = memory_dir();
    let image = dir.path().join("image");
    write_noise(&image, 16 << 20, 2);
    let Some(disk) = LoopDevice::with_sectors(&image, 4096) else { return };
    let report = json(&["--quick", "--time", "2", disk.path().to_str().unwrap()]);
    let points = report["points"].as_array().unwrap();
    let direct: Vec<&Value> = points.iter().filter(|point| point["way"] == "direct").collect();
    assert!(!direct.is_empty() && direct.iter().all(|point| point["block_bytes"].as_u64() >= Some(4096)));
    assert_eq!(report["failed_requests"], 0);
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("loop device"), "{warnings}");
}

#[test]
fn the_table_has_a_line_for_each_point_and_fits_80_columns_without_colour() {
    let dir = scratch();
    let file = dir.path().join("disk.img");
    write_noise(&file, 8 << 20, 3);
    let assert = haul().args(["tune", "--quick", "--time", "1"]).arg(&file).assert().success();
    let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    assert!(!text.contains('\u{1b}'), "there is colour in a pipe: {text:?}");
    let short = |line: &&str| line.contains(dir.path().to_str().unwrap()) || line.chars().count() <= 80;
    assert!(text.lines().all(|line| short(&line)), "{text}");
    for words in ["direct   512 bytes     1 ", "buffered", "\nresult ", "\nconfidence ", "\ndd  "] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
    let (_, chart) = text.split_once("\nrate by block size, direct\n").expect("there is a chart");
    let (chart, _) = chart.split_once(": 95 % of ").expect("it has a legend");
    assert!(chart.is_ascii() && chart.contains("512 B ") && chart.ends_with("\n#"), "{chart}");
    assert!(text.contains("larger than the measured device"), "{text}");
    // Table, chart and answer have the same rate for a point.
    let (_, answer) = text.split_once("\nresult ").expect("there is an answer");
    let words: Vec<&str> = answer.split_whitespace().collect();
    // 1 MiB blocks, 4 in flight: 23.4 GB/s ...
    let (block, depth, rate) = (words[..2].join(" "), words[3], words[6..8].join(" "));
    let row = |line: &&str| line.starts_with("direct ") && line.contains(&format!(" {block} {depth:>5} "));
    let row = text.lines().find(row).unwrap_or_else(|| panic!("{block} {depth} is not in {text}"));
    assert!(row.contains(&format!(" {rate} ")), "{row}\n{text}");
    let bars = chart.lines().find(|line| line.trim_start().starts_with(&format!("{depth} "))).expect("it has a row");
    let best_row = bars.split_whitespace().rev().take(2).collect::<Vec<_>>();
    assert!(best_row.len() == 2 && best_row[0].ends_with("B/s"), "{bars}");
}

#[test]
fn csv_has_the_same_fields_in_every_line() {
    let dir = scratch();
    let file = dir.path().join("disk.img");
    write_noise(&file, 8 << 20, 4);
    let assert = haul().args(["tune", "--quick", "--time", "1", "--csv"]).arg(&file).assert().success();
    let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    let mut lines = text.lines();
    let names = lines.next().unwrap();
    assert!(names.starts_with("way,block_bytes,depth,state,runs,bytes_per_s,"));
    let fields = names.split(',').count();
    assert!(names.ends_with(",cpu_share,bytes_per_s_low,bytes_per_s_high"), "{names}");
    assert!(lines.clone().count() > 10 && lines.all(|line| line.split(',').count() == fields), "{text}");
}

#[test]
fn sources_that_cannot_be_measured_are_refused_with_the_reason() {
    let dir = scratch();
    let small = dir.path().join("small");
    fs::write(&small, [0; 4096]).unwrap();
    let dir_name = dir.path().to_str().unwrap();
    for (path, status, words) in [
        (small.to_str().unwrap(), 3, "4096 bytes (4.1 kB): too small to measure"),
        (dir_name, 2, "is a directory"),
        ("/dev/zero", 2, "neither a disk nor a file"),
        ("/dev/there-is-no-such-disk", 1, "No such file or directory"),
    ] {
        let assert = haul().args(["tune", path]).assert().code(status);
        let reported = in_one_line(&assert.get_output().stderr);
        assert!(reported.contains(words) && reported.contains('→'), "{path}: {reported}");
        assert!(assert.get_output().stdout.is_empty(), "{path}");
        assert!(path != dir_name || (reported.contains("--write") && !reported.contains("cp -a")), "{reported}");
    }
}

#[test]
fn invalid_times_are_usage_errors() {
    for time in ["0", "-1", "x", "25h", "1.5", ""] {
        haul().args(["tune", "--time", time, "/dev/null"]).assert().code(2);
    }
}

#[test]
fn saved_settings_are_the_start_of_later_copies() {
    let dir = scratch();
    let (file, config) = (dir.path().join("disk.img"), dir.path().join("config"));
    write_noise(&file, 24 << 20, 5);
    let with = |arguments: &[&str]| {
        let mut command = haul();
        command.env("XDG_CONFIG_HOME", &config).args(arguments);
        command
    };
    let name = file.to_str().unwrap();
    with(&["tune", "--quick", "--time", "1", name]).assert().success();
    assert!(!config.exists(), "it was not asked to save");
    let plan = ["copy", "--dry-run", "--direct", "never", "--reflink", "never", name, "/dev/null"];
    let before = with(&plan).assert().success();
    assert!(!String::from_utf8_lossy(&before.get_output().stdout).contains("haul tune"));

    let saved = with(&["tune", "--quick", "--time", "1", "--save", name]).assert().success();
    let reported = in_one_line(&saved.get_output().stderr);
    assert!(reported.contains("tuned.toml; copies from this disk start with these values"), "{reported}");
    let after = with(&plan).assert().success();
    let shown = in_one_line(&after.get_output().stdout);
    assert!(shown.contains("saved by haul tune on 20"), "{shown}");

    fs::write(config.join("haul/tuned.toml"), "nonsense").unwrap();
    let warned = with(&plan).assert().success();
    assert!(in_one_line(&warned.get_output().stderr).contains("not a list of tuned disks"));
}
