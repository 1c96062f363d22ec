//! The output of `haul`: digests, JSON, the plan, the list of devices.
use crate::support;
use crate::support::{
    LoopDevice, Mount, Running, cmp, engines, filled, haul, in_one_line, memory_dir, scratch, write_noise,
};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;

/// The digest of `path` by a tool of coreutils.
fn sum(tool: &str, path: &Path) -> String {
    let output = Command::new(tool).arg(path).output().expect("coreutils are installed");
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    words.split_whitespace().next().expect("a sum").to_owned()
}

fn messages(assert: &assert_cmd::assert::Assert) -> String {
    in_one_line(&assert.get_output().stdout) + &support::stderr(assert)
}

#[test]
fn digests_are_those_of_sha256sum_and_md5sum() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    for engine in engines() {
        for size in [0, 1, 4096, 3 * MIB + 7] {
            write_noise(&source, size, 91);
            let _ = fs::remove_file(&dest);
            let options = ["copy", "--engine", engine, "--hash", "sha256", "--hash", "md5", "--block-size", "64K"];
            let messages = messages(&haul().args(options).args([&source, &dest]).assert().success());
            for tool in ["sha256sum", "md5sum"] {
                let right = sum(tool, &source);
                assert!(messages.contains(&right), "{engine}, {size} bytes: {tool} prints {right}, haul:\n{messages}");
            }
            cmp(&source, &dest);
        }
    }
}

#[test]
fn digests_cover_holes_that_were_not_read() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let file = fs::File::create(&source).expect("the file can be written");
    file.set_len(5 * MIB as u64 + 3).expect("the test directory supports sparse files");
    std::os::unix::fs::FileExt::write_all_at(&file, b"in the middle", 2 * MIB as u64 + 1)
        .expect("this test created it");
    for engine in engines() {
        let options = ["copy", "--engine", engine, "--hash", "sha256"];
        let messages = messages(&haul().args(options).args([&source, &dest]).assert().success());
        let right = sum("sha256sum", &source);
        assert!(messages.contains(&right), "{engine}: sha256sum prints {right}, haul:\n{messages}");
    }
}

#[test]
fn digests_of_a_pipe_and_of_a_range_cover_the_copied_bytes() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let bytes = write_noise(&source, 2 * MIB + 5, 92);
    let right = sum("sha256sum", &source);
    let mut command = haul();
    command.args(["copy", "--hash", "sha256", "-"]).arg(&dest).write_stdin(bytes);
    assert!(messages(&command.assert().success()).contains(&right));
    let _ = fs::remove_file(&dest);
    let range = ["copy", "--hash", "sha256", "--skip", "1001", "--count", "1M"];
    let messages = messages(&haul().args(range).args([&source, &dest]).assert().success());
    let right = sum("sha256sum", &dest);
    assert!(messages.contains(&right), "{messages}");
}

#[test]
fn a_digest_of_a_range_is_labelled_with_the_range() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 5000, 93);
    let part = haul().args(["copy", "--hash", "md5", "--count", "1000"]).args([&source, &dest]).assert().success();
    let line = String::from_utf8_lossy(&part.get_output().stdout).into_owned();
    assert!(line.starts_with(&format!("MD5 ({} bytes 0+1000) = ", source.display())), "{line}");
}

#[test]
fn every_run_ends_with_json_also_if_it_is_refused() {
    let dir = scratch();
    let file = dir.path().join("file");
    let missing = dir.path().join("missing");
    write_noise(&file, 5000, 95);
    for verb in ["copy", "verify"] {
        let cases = [(&missing, &file, "failed", "open", "source"), (&file, &file, "refused", "refused", "dest")];
        for (source, dest, status, kind, side) in cases {
            if verb == "verify" && status == "refused" {
                continue;
            }
            let output = haul().args([verb, "--json"]).args([source, dest]).output().expect("haul runs");
            let text = in_one_line(&output.stderr);
            let report: Value = serde_json::from_slice(&output.stdout).expect("one document");
            assert_eq!((&report["report"], &report["status"]), (&verb.into(), &status.into()), "{report:#}");
            let error = &report["error"];
            assert_eq!((&error["kind"], &error["offset_bytes"]), (&kind.into(), &Value::Null), "{report:#}");
            assert_eq!(error["side"], side, "{report:#}");
            let message = error["message"].as_str().expect("it has a message");
            assert!(text.contains(message), "{message}\n{text}");
            let lines = haul().args([verb, "--progress", "json"]).args([source, dest]).output().expect("haul runs");
            assert_eq!(lines.status, output.status);
            assert!(lines.stdout.is_empty());
            let last = lines.stderr.trim_ascii_end().rsplit(|&byte| byte == b'\n').next().expect("a line");
            let messages = in_one_line(&lines.stderr);
            let summary: Value = serde_json::from_slice(last).expect("the last line is JSON");
            assert_eq!((&summary["type"], &summary["status"]), (&"summary".into(), &status.into()), "{messages}");
            assert_eq!(&summary["error"], error, "{messages}");
        }
    }
}

#[test]
fn a_copy_into_memory_is_not_reported_as_durable() {
    let dir = memory_dir();
    if !dir.path().starts_with("/dev/shm") {
        return support::skip("there is no file system in memory");
    }
    let [source, dest, backing] = ["source", "dest", "backing"].map(|name| dir.path().join(name));
    write_noise(&source, MIB, 97);
    filled(&backing, MIB, 0);
    let disk = LoopDevice::over(&backing);
    let dests = [Some(dest.as_path()), disk.as_ref().map(LoopDevice::path)];
    for dest in dests.into_iter().flatten() {
        let assert = haul().args(["copy", "--yes", "--json"]).args([source.as_path(), dest]).assert().success();
        let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
        assert_eq!((&report["durable"], &report["durability"]), (&false.into(), &"memory".into()), "{report:#}");
        let messages =
            support::stderr(&haul().args(["copy", "--yes"]).args([source.as_path(), dest]).assert().success());
        assert!(
            messages.contains("in memory") && messages.contains("tmpfs") && !messages.contains(", durable"),
            "{messages}"
        );
    }
    let scratch = scratch();
    let assert = haul().args(["copy", "--json"]).arg(&source).arg(scratch.path().join("dest")).assert().success();
    let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
    assert_eq!(report["durable"] == true, report["durability"] == "medium", "{report:#}");
}

#[test]
fn the_free_space_of_a_file_system_without_a_size_is_not_reported() {
    let dir = scratch();
    let [source, at] = ["source", "at"].map(|name| dir.path().join(name));
    write_noise(&source, MIB, 98);
    fs::create_dir(&at).expect("the test directory is writable");
    let Some(_mount) = Mount::ramfs(&at) else { return };
    let dest = at.join("dest");
    let plan = messages(&haul().args(["copy", "--dry-run"]).args([&source, &dest]).assert().success());
    assert!(plan.contains("new file on ramfs range"), "{plan}");
    let done = messages(&haul().args(["copy", "-vv"]).args([&source, &dest]).assert().success());
    assert!(!done.contains("free") && !done.contains("may not fit"), "{done}");
    cmp(&source, &dest);
}

#[test]
fn a_digest_is_printed_once_on_standard_output_or_in_the_report_if_that_is_the_dest() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 5000, 94);
    let right = sum("md5sum", &source);
    let to_file = haul().args(["copy", "--hash", "md5"]).args([&source, &dest]).assert().success();
    assert_eq!(messages(&to_file).matches(&right).count(), 1, "{}", messages(&to_file));
    assert!(String::from_utf8_lossy(&to_file.get_output().stdout).contains(&right));
    let to_stream = haul().args(["copy", "--hash", "md5"]).arg(&source).arg("-").assert().success();
    let reported = support::stderr(&to_stream);
    assert_eq!(reported.matches(&right).count(), 1, "{reported}");
}

#[test]
fn known_digests_of_blake3_and_xxh3_are_computed() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    // The digests of no bytes, as published by their authors.
    write_noise(&source, 0, 0);
    let options = ["copy", "--hash", "blake3", "--hash", "xxh3"];
    let messages = messages(&haul().args(options).args([&source, &dest]).assert().success());
    assert!(messages.contains("af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"), "{messages}");
    assert!(messages.contains("99aa06d3014798d86001c324468d497f"), "{messages}");
}

#[test]
fn the_json_report_parses_and_counts_right() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let size = 2 * MIB + 9;
    write_noise(&source, size, 93);
    for engine in engines() {
        let _ = fs::remove_file(&dest);
        let options = ["copy", "--engine", engine, "--json", "--hash", "sha256", "--reflink", "never"];
        let assert = haul().args(options).args([&source, &dest]).assert().success();
        let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
        assert_eq!(report["status"], "complete", "{report:#}");
        assert_eq!(report["engine"], engine, "{report:#}");
        assert_eq!(report["durable"], true, "{report:#}");
        assert_eq!(report["bytes"]["copied_bytes"], size, "{report:#}");
        assert_eq!(report["claimed"]["len_bytes"], size, "{report:#}");
        assert!(report.to_string().contains(&sum("sha256sum", &source)), "{report:#}");
    }
}

#[test]
fn memory_stays_below_64_mib_however_long_the_copy() {
    let dir = memory_dir();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    write_noise(&from, 128 * MIB, 95);
    filled(&to, 128 * MIB, 0xAA);
    let (Some(source), Some(dest)) = (LoopDevice::over(&from), LoopDevice::over(&to)) else { return };
    for engine in engines() {
        let options = ["copy", "--yes", "--json", "--engine", engine];
        let assert = haul().args(options).arg(&source).arg(&dest).assert().success();
        let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
        let peak = report["peak_resident_bytes"].as_u64().expect("the peak is reported");
        assert!(peak <= 64 * MIB as u64, "{engine}: {peak} bytes resident");
    }
}

#[test]
fn every_line_of_json_progress_parses() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let size = 4 * MIB;
    write_noise(&source, size, 96);
    let names = [&source, &dest].map(|path| path.to_str().expect("text"));
    let options = ["copy", "--progress", "json", "--limit", "8M", "--block-size", "64K"];
    let mut copy = Running::start(&[&options[..], &names].concat(), Stdio::null(), Stdio::null());
    let (status, _) = copy.end();
    assert!(status.success(), "{}", copy.messages);
    let mut before = 0;
    for line in copy.messages.lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let copied = support::copied_bytes(line).unwrap_or(before);
        assert!(copied >= before && copied <= size as u64, "{before} was followed by {copied}:\n{}", copy.messages);
        before = copied;
    }
    assert_eq!(before, size as u64, "the last line does not have all bytes:\n{}", copy.messages);
}

#[test]
fn a_dry_run_prints_the_plan_as_text_and_as_json() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, MIB, 97);
    let words = messages(&haul().args(["copy", "--dry-run"]).args([&source, &dest]).assert().success());
    for part in ["source", "dest", "engine", "block size", "depth"] {
        assert!(words.to_lowercase().contains(part), "{part} is missing in:\n{words}");
    }
    let assert = haul().args(["copy", "--dry-run", "--json"]).args([&source, &dest]).assert().success();
    serde_json::from_slice::<Value>(&assert.get_output().stdout).expect("the plan is JSON");
    assert!(!dest.exists(), "the dest was made");
}

#[test]
fn progress_none_prints_only_the_report() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, MIB, 98);
    let options = ["copy", "--progress", "none", "--json"];
    let assert = haul().args(options).args([&source, &dest]).assert().success();
    assert_eq!(support::stderr(&assert), "");
    cmp(&source, &dest);
}

#[test]
fn the_list_has_a_new_disk_with_its_size() {
    let dir = memory_dir();
    let disk = dir.path().join("disk");
    filled(&disk, 3 * MIB + 512, 0);
    let Some(device) = LoopDevice::over(&disk) else { return };
    let name = device.path().to_string_lossy().into_owned();
    let list = haul().arg("list").output().expect("haul runs").stdout;
    let words = String::from_utf8(list).expect("it is UTF-8");
    // Kernel names, as in lsblk, at the beginning of a line.
    let kernel_name = format!("{} ", name.trim_start_matches("/dev/"));
    assert!(words.lines().any(|line| line.starts_with(&kernel_name)), "{kernel_name}is missing in:\n{words}");
    let assert = haul().args(["list", "--json"]).assert().success();
    let list: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the list is JSON");
    let entry = find(&list, &name).unwrap_or_else(|| panic!("{name} is missing in {list:#}"));
    assert!(entry.to_string().contains(&(3 * MIB + 512).to_string()), "its size is missing in {entry:#}");
}

/// The object in `value` that has `name` as one of its values.
fn find<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Array(values) => values.iter().find_map(|value| find(value, name)),
        Value::Object(fields) if fields.values().any(|field| field == name) => Some(value),
        Value::Object(fields) => fields.values().find_map(|value| find(value, name)),
        _ => None,
    }
}
