//! `haul profile` as users run it. No measured value is checked, because the machine may be busy.
use crate::support::{FailingDisk, Fails, Terminal, haul, haul_command, in_one_line, scratch, write_noise};
use serde_json::Value;
use std::fs;

#[test]
fn a_file_is_profiled_in_all_parts_and_unchanged() {
    let dir = scratch();
    let file = dir.path().join("disk.img");
    let bytes = write_noise(&file, 32 << 20, 1);
    let run = haul().args(["profile", "--json", "--time", "2", "--positions", "6"]).arg(&file).assert().success();
    let report: Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
    assert_eq!((&report["report"], &report["ended"]), (&"profile".into(), &"complete".into()));
    let positions = report["positions"].as_array().unwrap();
    assert_eq!(positions.len(), 6);
    assert!(positions.iter().all(|place| place["offset_bytes"].as_u64() < Some(32 << 20)));
    assert!(report["whole_read_s"].as_f64() > Some(0.0) && report["fit"]["latency_s"].as_f64() >= Some(0.0));
    assert!(report["commands"].as_array().unwrap().len() > 8);
    let ways: Vec<&str> = report["ways"].as_array().unwrap().iter().map(|way| way["way"].as_str().unwrap()).collect();
    assert!(ways.ends_with(&["buffered", "mmap"]), "{ways:?}");
    assert!(fs::read(&file).unwrap() == bytes, "profile wrote to what it measured");
}

#[test]
fn the_system_impact_is_reported_or_why_it_is_unknown_and_no_file_is_left() {
    let dir = scratch();
    let file = dir.path().join("disk.img");
    write_noise(&file, 8 << 20, 6);
    let mut command = haul();
    // A twentieth of the time is for each read method, and a busy machine starts slowly.
    command.env("TMPDIR", dir.path()).args(["profile", "--json", "--time", "8"]).arg(&file);
    let run = command.assert().success();
    let report: Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
    let impact = &report["system_impact"];
    let reads = impact["reads"].as_array().unwrap();
    if impact["left_out"].is_null() {
        let ways: Vec<&str> = reads.iter().map(|read| read["way"].as_str().unwrap()).collect();
        assert!(ways.starts_with(&["nothing", "buffered"]), "{ways:?}");
        for read in reads {
            let share = |name: &str| read[name].as_f64().unwrap();
            for name in ["cached_before", "cached_least", "cached_after"] {
                assert!((0.0..=1.0).contains(&share(name)), "{name}: {read}");
            }
            assert!(share("start_before_s") > 0.0 && share("start_during_s") > 0.0 && share("start_after_s") > 0.0);
            assert!(read["starts"].as_u64() >= Some(1));
            assert_eq!(read["read_bytes"].as_u64() > Some(0), read["way"] != "nothing", "{read}");
        }
        assert!(["group", "machine"].contains(&impact["memory"].as_str().unwrap()), "{impact}");
        assert_eq!(impact["memory"] == "machine", impact["no_group"].is_string(), "{impact}");
    } else {
        assert!(reads.is_empty(), "{impact}");
    }
    let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["disk.img"]);
    assert_eq!(groups_of_the_dead(), Vec::<std::path::PathBuf>::new());
}

/// Memory control groups of haul processes that have ended.
fn groups_of_the_dead() -> Vec<std::path::PathBuf> {
    let parents = ["/sys/fs/cgroup", "/sys/fs/cgroup/memory"].into_iter().filter_map(|path| fs::read_dir(path).ok());
    let dead = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.strip_prefix("haul-profile-").is_some_and(|process| !fs::exists(format!("/proc/{process}")).unwrap())
    };
    parents.flatten().map(|entry| entry.unwrap().path()).filter(dead).collect()
}

#[test]
fn the_text_fits_80_columns_without_colour() {
    let dir = scratch();
    let file = dir.path().join("disk.img");
    write_noise(&file, 8 << 20, 2);
    let run = haul().args(["profile", "--time", "1", "--positions", "5"]).arg(&file).assert().success();
    let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    let place = dir.path().to_str().unwrap();
    assert!(text.lines().all(|line| line.contains(place) || line.chars().count() <= 80), "{text}");
    assert!(!text.contains('\u{1b}'));
    for words in [
        "position",
        "of disk",
        "512 bytes",
        "left in cache",
        "\nrate by position\n",
        "\nwhole ",
        "\ncommand ",
        "fixed latency",
    ] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
}

/// The output on a terminal of 80 columns.
fn shown_on_a_terminal(words: &[&str], colour: bool) -> String {
    let mut command = haul_command(words);
    command.env("LC_ALL", "C.UTF-8");
    if !colour {
        command.env("NO_COLOR", "1");
    }
    Terminal::sized(80, 24, command).end().0.lines()
}

#[test]
fn charts_on_a_terminal_use_block_characters_and_plain_ones_without_colour() {
    let dir = scratch();
    let file = dir.path().join("disk.img");
    write_noise(&file, 8 << 20, 5);
    let name = file.to_str().unwrap();
    for (words, title) in [
        (["profile", "--time", "1", name].as_slice(), "rate by position"),
        (&["tune", "--quick", "--time", "1", name], "rate by block size, direct"),
    ] {
        for colour in [true, false] {
            let messages = shown_on_a_terminal(words, colour);
            let (_, chart) = messages.split_once(title).unwrap_or_else(|| panic!("no chart in {messages}"));
            // The sentences below it have no block characters.
            assert_eq!(chart.contains('█'), colour, "{messages}");
            assert_eq!(chart.contains("##"), !colour, "{messages}");
        }
    }
}

#[test]
fn timing_prints_one_line() {
    let dir = scratch();
    let file = dir.path().join("disk.img");
    write_noise(&file, 8 << 20, 3);
    let run = haul().args(["profile", "--timing", "--time", "1"]).arg(&file).assert().success();
    let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    assert!(text.lines().count() == 1 && text.contains("B/s") && text.contains("median of 3 reads of 1.0 s"), "{text}");
}

#[test]
fn failed_reads_are_reported_also_without_a_table() {
    let dir = scratch();
    let backing = dir.path().join("backing");
    write_noise(&backing, 8 << 20, 7);
    // Everything except the part that is probed: then every run reaches a bad sector, even a short one.
    let bad = 8192..8 << 20;
    let Some(disk) = FailingDisk::over(dir.path(), &backing, Fails::Reads, bad) else { return };
    for words in [["profile", "--timing"].as_slice(), &["profile", "--csv"], &["tune", "--csv", "--quick"]] {
        // A busy machine may serve no request in such a short time; then it gets more.
        let mut messages = Vec::new();
        let found = ["1", "5", "25"].iter().any(|seconds| {
            let run = haul().args(words).args(["--time", seconds]).arg(disk.path()).output().expect("haul runs");
            let text = in_one_line(&run.stderr);
            let found = run.status.code() == Some(1) && text.contains("requests failed") && text.contains("at byte");
            messages.push(format!("{seconds} s, {}: {text}", run.status));
            found
        });
        assert!(found, "{words:?}: {messages:#?}");
    }
}

#[test]
fn csv_has_the_same_fields_in_every_line() {
    let dir = scratch();
    let file = dir.path().join("disk.img");
    write_noise(&file, 8 << 20, 4);
    let run = haul().args(["profile", "--csv", "--time", "1"]).arg(&file).assert().success();
    let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    let fields = text.lines().next().unwrap().split(',').count();
    assert!(text.lines().all(|line| line.split(',').count() == fields), "{text}");
    for part in ["part", "position", "command", "way"] {
        assert!(text.lines().any(|line| line.starts_with(&format!("{part},"))), "{part}: {text}");
    }
    // The share is processor seconds per GiB times the rate.
    for way in text.lines().filter(|line| line.starts_with("way,")) {
        let fields: Vec<&str> = way.split(',').collect();
        let number = |at: usize| fields[at].parse::<f64>().unwrap();
        let share = number(5) * number(6) / f64::from(1 << 30);
        assert!((share - number(14)).abs() < 0.05 * share.max(0.1), "{share}: {way}");
    }
}

#[test]
fn sources_that_cannot_be_measured_are_refused_with_the_reason() {
    haul().args(["profile", "--positions", "4", "/dev/null"]).assert().code(2);
    haul().args(["profile", "--positions", "201", "/dev/null"]).assert().code(2);
    haul().args(["profile", "--timing", "--positions", "9", "/dev/null"]).assert().code(2);
    let run = haul().args(["profile", "/dev/null"]).assert().code(2);
    assert!(in_one_line(&run.get_output().stderr).contains("neither a disk nor a file"));
}

#[test]
fn timing_begins_at_the_given_offset() {
    let dir = scratch();
    let file = dir.path().join("disk.img");
    write_noise(&file, 20 << 20, 7);
    let timed = |words: &[&str]| {
        let mut command = haul();
        command.args(["profile", "--timing", "--json", "--time", "1"]).args(words).arg(&file);
        let run = command.assert().success();
        let report: Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
        report["offset_bytes"].as_u64().unwrap()
    };
    assert_eq!(timed(&[]), 0);
    assert_eq!(timed(&["--offset", "5M"]), 5 << 20);
    assert_eq!(timed(&["--place", "11"]), 10 << 20);
    let run = haul().args(["profile", "--timing", "--time", "1", "--offset", "8192s"]).arg(&file).assert().success();
    let text = in_one_line(&run.get_output().stdout);
    assert!(text.contains("from byte 4194304;"), "{text}");
    for words in [["--offset", "20M"], ["--offset", "16000P"], ["--place", "21"], ["--place", "0"]] {
        haul().args(["profile", "--timing"]).args(words).arg(&file).assert().code(2);
    }
    haul().args(["profile", "--offset", "1M"]).arg(&file).assert().code(2);
}

#[test]
fn plan_list_and_profile_report_the_queue_of_a_disk_from_sysfs() {
    let run = haul().args(["list", "--json"]).assert().success();
    let report: Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
    assert!(report["scsi_devices"].is_array(), "{report}");
    for device in report["devices"].as_array().unwrap() {
        let queue = format!("/sys/block/{}/queue", device["name"].as_str().unwrap().replace('/', "!"));
        let read = |name: &str| fs::read_to_string(format!("{queue}/{name}")).unwrap_or_default();
        let ahead = read("read_ahead_kb").trim().parse::<u64>().ok().map(|kib| kib * 1024);
        assert_eq!(device["read_ahead_bytes"].as_u64(), ahead, "{device}");
        let named = device["scheduler"].as_str().unwrap_or_default();
        let text = read("scheduler");
        assert!(text.trim() == named || text.contains(&format!("[{named}]")), "{text}: {device}");
    }
}

#[test]
fn read_buffer_is_refused_without_scsi_commands() {
    let dir = scratch();
    let file = dir.path().join("disk.img");
    write_noise(&file, 1 << 20, 8);
    let run = haul().args(["profile", "--read-buffer"]).arg(&file).assert().code(2);
    let messages = in_one_line(&run.get_output().stderr);
    assert!(
        messages.contains("it needs a SCSI generic node") && messages.contains("as /dev/sg0; see 'haul list'"),
        "{messages}"
    );
    for words in [["--buffer-sizes", "4K"].as_slice(), &["--echo-buffer"], &["--read-buffer", "--timing"]] {
        haul().arg("profile").args(words).arg(&file).assert().code(2);
    }
    for sizes in ["0", "16M", "4K,x", ""] {
        haul().args(["profile", "--read-buffer", "--buffer-sizes", sizes]).arg(&file).assert().code(2);
    }
}
