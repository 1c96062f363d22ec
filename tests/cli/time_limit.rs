//! `haul copy --time`: it ends in an orderly way at the time limit, and is never reported as complete.
use crate::support::{Running, cmp, cmp_ranges, engines, haul, in_one_line, name, scratch, stderr, write_noise};
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const OUT_OF_TIME: i32 = 4;

#[test]
fn a_copy_beyond_the_time_limit_has_status_4_and_is_resumable() {
    let dir = scratch();
    let [source, dest, manifest] = ["source", "dest", "manifest"].map(|name| dir.path().join(name));
    let len = 64 * MIB + 5;
    write_noise(&source, len, 31);
    for engine in engines() {
        let _ = fs::remove_file(&dest);
        let _ = fs::remove_file(dir.path().join(".dest.haul-journal"));
        // Without --time it would take more than a minute.
        let slow = ["copy", "--time", "1s", "--limit", "1M", "--block-size", "64K", "--engine", engine, "--json"];
        let more = ["--verify", "--label", "night 3", "--manifest", name(&manifest), name(&source), name(&dest)];
        let output = haul().args(slow).args(more).output().expect("haul runs");
        let messages = in_one_line(&output.stderr);
        assert_eq!(output.status.code(), Some(OUT_OF_TIME), "{engine}: {messages}");
        let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
        assert_eq!((&report["status"], &report["signal"]), (&"out_of_time".into(), &Value::Null), "{report}");
        assert_eq!((&report["label"], &report["verified"]), (&"night 3".into(), &Value::Null), "{report}");
        let claimed = report["claimed"]["len_bytes"].as_u64().expect("it is a number");
        assert!(claimed > 0 && claimed < len as u64, "{engine}: {claimed}");
        cmp_ranges(&source, 0, &dest, 0, claimed);
        assert!(!manifest.exists(), "a manifest is of a whole copy");
        let command = report["continue_command"].as_str().expect("the rest can be copied");
        assert!(command.contains("--resume") && command.contains("--time 1s"), "{command}");
    }
    haul().args(["copy", "--resume", "--time", "24h", name(&source), name(&dest)]).assert().success();
    cmp(&source, &dest);
}

#[test]
fn a_copy_within_the_time_limit_has_status_0_and_is_verified() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 3 * MIB, 32);
    let assert = haul().args(["copy", "--time", "24h", "--verify", name(&source), name(&dest)]).assert().success();
    let messages = stderr(&assert);
    assert!(messages.contains("verified") && !messages.contains("incomplete"), "{messages}");
    cmp(&source, &dest);
}

#[test]
fn waiting_for_a_stream_ends_at_the_time_limit() {
    let dir = scratch();
    let (fifo, dest) = (dir.path().join("fifo"), dir.path().join("dest"));
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("coreutils are installed").success());
    for engine in engines() {
        // Both ends are open, and no process writes.
        let _open = OpenOptions::new().read(true).write(true).open(&fifo).expect("a FIFO opens");
        let words = ["copy", "--time", "1s", "--engine", engine, name(&fifo), name(&dest)];
        let mut copy = Running::start(&words, Stdio::null(), Stdio::null());
        let (status, _) = copy.end();
        assert_eq!(status.code(), Some(OUT_OF_TIME), "{engine}: {}", copy.messages);
        let messages = in_one_line(copy.messages.as_bytes());
        assert!(messages.contains("stopped by --time, incomplete"), "{engine}: {messages}");
    }
}

#[test]
fn a_time_limit_and_independent_destinations_exclude_each_other() {
    let dir = scratch();
    let [source, dest, other] = ["source", "dest", "other"].map(|name| dir.path().join(name));
    write_noise(&source, 4096, 33);
    let words = ["copy", "--time", "9s", "--also", name(&other), "--independent", name(&source), name(&dest)];
    let assert = haul().args(words).assert().code(2);
    assert!(stderr(&assert).contains("cannot be combined with --time"), "{}", stderr(&assert));
    assert!(!dest.exists() && !other.exists());
}
