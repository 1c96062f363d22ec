//! Every end has its JSON, and between its lines stands nothing else.
use crate::support::{
    FailingDisk, Fails, LoopDevice, Running, copied_bytes, haul, memory_dir, scratch, stderr_lines, write_noise,
};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Stdio;

const MIB: usize = 1 << 20;
const SIGUSR1: i32 = 10;
const SIGTERM: i32 = 15;

fn name(path: &Path) -> &str {
    path.to_str().expect("scratch names are text")
}

/// What was said on standard error, each line of which has to be JSON.
#[track_caller]
fn lines(said: &str) -> Vec<Value> {
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?} in\n{said}"));
    said.lines().map(read).collect()
}

#[test]
fn a_signal_before_the_first_request_has_its_report_too() {
    let dir = scratch();
    let [fifo, dest] = ["fifo", "dest"].map(|name| dir.path().join(name));
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("scratch takes FIFOs");
    // Nobody ever opens the FIFO to write: the copy waits for its source.
    for verb in ["copy", "verify"] {
        fs::write(&dest, "what was there").expect("scratch takes files");
        let words = [verb, "--json", "--progress", "json", name(&fifo), name(&dest)];
        let mut copy = Running::start(&words, Stdio::null(), Stdio::piped());
        copy.wait_for_handler(SIGTERM);
        copy.signal(Signal::USR1);
        copy.signal(Signal::TERM);
        let printed: Value = serde_json::from_str(&copy.end_by(SIGTERM)).expect("the report is JSON");
        assert_eq!((&printed["report"], &printed["status"]), (&verb.into(), &"interrupted".into()));
        let said = lines(&copy.said);
        assert_eq!(said.len(), 1, "{said:?}");
        assert_eq!((&said[0]["type"], &said[0]["signal"]), (&"summary".into(), &SIGTERM.into()));
        assert_eq!(fs::read(&dest).expect("it is there"), b"what was there");
    }
}

#[test]
fn who_asks_before_the_first_request_is_told_so_in_words_only() {
    let dir = scratch();
    let [fifo, dest] = ["fifo", "dest"].map(|name| dir.path().join(name));
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("scratch takes FIFOs");
    let mut copy = Running::start(&["copy", name(&fifo), name(&dest)], Stdio::null(), Stdio::null());
    copy.wait_for_handler(SIGUSR1);
    copy.signal(Signal::USR1);
    copy.read_until(|line| line.contains("no data copied yet"));
}

#[test]
fn digests_of_what_goes_to_standard_output_are_in_the_summary() {
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, MIB, 3);
    let words = ["copy", "--progress", "json", "--hash", "md5", name(&source), "-"];
    let assert = haul().args(words).assert().success();
    let said = lines(&stderr_lines(&assert));
    let summary = said.last().expect("there are lines");
    assert_eq!((&summary["type"], &summary["digests"][0]["hash"]), (&"summary".into(), &"md5".into()));
}

#[test]
fn a_dest_that_is_dropped_is_a_line_of_json() {
    let dir = memory_dir();
    let [source, small, other] = ["source", "small", "other"].map(|name| dir.path().join(name));
    let bytes = write_noise(&source, 4 * MIB, 4);
    fs::write(&small, vec![0; 4 * MIB]).expect("memory takes files");
    let bad = 2 * MIB as u64..2 * MIB as u64 + 4096;
    let Some(disk) = FailingDisk::over(dir.path(), &small, Fails::Writes, bad) else { return };
    let Some(device) = LoopDevice::over(&disk.path()) else { return };
    let words = ["copy", "--yes", "--progress", "json", name(&source), name(&other), "--also", name(device.path())];
    let assert = haul().args(words).assert().code(1);
    let said = lines(&stderr_lines(&assert));
    let is_told =
        |line: &Value| line["type"] == "warning" && line["message"].to_string().contains("haul drops this destination");
    assert!(said.iter().any(is_told), "{said:?}");
    assert_eq!(fs::read(&other).expect("it is there"), bytes);
}

#[test]
fn a_file_beside_the_copy_that_cannot_be_written_is_told_in_the_summary() {
    let dir = scratch();
    let [source, dest, manifest] = ["source", "dest", "manifest"].map(|name| dir.path().join(name));
    write_noise(&source, 4 * MIB, 5);
    let slow = ["copy", "--limit", "3M", "--block-size", "64K", "--progress", "json", "--manifest", name(&manifest)];
    let words = [&slow[..], &[name(&source), name(&dest)]].concat();
    let mut copy = Running::start(&words, Stdio::null(), Stdio::null());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    // Somebody takes the name meanwhile.
    fs::write(&manifest, "mine").expect("scratch takes files");
    let (status, _) = copy.end();
    let said = lines(&copy.said);
    let summary = said.last().expect("there are lines");
    assert_eq!((status.code(), &summary["type"]), (Some(1), &"summary".into()));
    assert!(summary["notes"].to_string().contains("manifest"), "{}", summary["notes"]);
    assert_eq!(fs::read(&manifest).expect("it is there"), b"mine");
}
