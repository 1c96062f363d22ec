//! Every run ends with a JSON document, and no other text appears between lines of JSON.
use crate::support::{
    FailingDisk, Fails, LoopDevice, Running, copied_bytes, haul, memory_dir, name, scratch, stderr_lines, write_noise,
};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::process::Stdio;

const MIB: usize = 1 << 20;
const SIGUSR1: i32 = 10;
const SIGTERM: i32 = 15;

/// Standard error, each line of which must be JSON.
#[track_caller]
fn lines(messages: &str) -> Vec<Value> {
    let read =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?} in\n{messages}"));
    messages.lines().map(read).collect()
}

#[test]
fn a_signal_before_the_first_request_prints_the_report() {
    let dir = scratch();
    let [fifo, dest] = ["fifo", "dest"].map(|name| dir.path().join(name));
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("the test directory supports FIFOs");
    // No process opens the FIFO for writing: the copy waits for its source.
    for verb in ["copy", "verify"] {
        fs::write(&dest, "what was there").expect("the file can be written");
        let words = [verb, "--json", "--progress", "json", name(&fifo), name(&dest)];
        let mut copy = Running::start(&words, Stdio::null(), Stdio::piped());
        copy.wait_for_handler(SIGTERM);
        copy.signal(Signal::USR1);
        copy.signal(Signal::TERM);
        let printed: Value = serde_json::from_str(&copy.end_by(SIGTERM)).expect("the report is JSON");
        assert_eq!((&printed["report"], &printed["status"]), (&verb.into(), &"interrupted".into()));
        let messages = lines(&copy.messages);
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert_eq!((&messages[0]["type"], &messages[0]["signal"]), (&"summary".into(), &SIGTERM.into()));
        assert_eq!(fs::read(&dest).expect("it exists"), b"what was there");
    }
}

#[test]
fn usr1_before_the_first_request_prints_text_but_no_json() {
    let dir = scratch();
    let [fifo, dest] = ["fifo", "dest"].map(|name| dir.path().join(name));
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("the test directory supports FIFOs");
    let mut copy = Running::start(&["copy", name(&fifo), name(&dest)], Stdio::null(), Stdio::null());
    copy.wait_for_handler(SIGUSR1);
    copy.signal(Signal::USR1);
    copy.read_until(|line| line.contains("no data copied yet"));
}

#[test]
fn digests_of_a_copy_to_standard_output_are_in_the_summary() {
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, MIB, 3);
    let words = ["copy", "--progress", "json", "--hash", "md5", name(&source), "-"];
    let assert = haul().args(words).assert().success();
    let messages = lines(&stderr_lines(&assert));
    let summary = messages.last().expect("there are lines");
    assert_eq!((&summary["type"], &summary["digests"][0]["hash"]), (&"summary".into(), &"md5".into()));
}

#[test]
fn a_dropped_dest_has_a_line_of_json() {
    let dir = memory_dir();
    let [source, small, other] = ["source", "small", "other"].map(|name| dir.path().join(name));
    let bytes = write_noise(&source, 4 * MIB, 4);
    fs::write(&small, vec![0; 4 * MIB]).expect("the directory in memory is writable");
    let bad = 2 * MIB as u64..2 * MIB as u64 + 4096;
    let Some(disk) = FailingDisk::over(dir.path(), &small, Fails::Writes, bad) else { return };
    let Some(device) = LoopDevice::over(&disk.path()) else { return };
    let words = ["copy", "--yes", "--progress", "json", name(&source), name(&other), "--also", name(device.path())];
    let assert = haul().args(words).assert().code(1);
    let messages = lines(&stderr_lines(&assert));
    let is_reported =
        |line: &Value| line["type"] == "warning" && line["message"].to_string().contains("haul drops this destination");
    assert!(messages.iter().any(is_reported), "{messages:?}");
    assert_eq!(fs::read(&other).expect("it exists"), bytes);
}

#[test]
fn a_record_file_that_cannot_be_written_is_in_the_summary() {
    let dir = scratch();
    let [source, dest, manifest] = ["source", "dest", "manifest"].map(|name| dir.path().join(name));
    write_noise(&source, 4 * MIB, 5);
    let slow = ["copy", "--limit", "3M", "--block-size", "64K", "--progress", "json", "--manifest", name(&manifest)];
    let words = [&slow[..], &[name(&source), name(&dest)]].concat();
    let mut copy = Running::start(&words, Stdio::null(), Stdio::null());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    // Another process creates a file of that name meanwhile.
    fs::write(&manifest, "mine").expect("the file can be written");
    let (status, _) = copy.end();
    let messages = lines(&copy.messages);
    let summary = messages.last().expect("there are lines");
    assert_eq!((status.code(), &summary["type"]), (Some(1), &"summary".into()));
    assert!(summary["notes"].to_string().contains("manifest"), "{}", summary["notes"]);
    assert_eq!(fs::read(&manifest).expect("it exists"), b"mine");
}

#[test]
fn progress_counts_the_bytes_of_a_compressed_file_on_either_side() {
    let dir = scratch();
    let [source, packed, unpacked] = ["source", "packed.gz", "unpacked"].map(|name| dir.path().join(name));
    write_noise(&source, 3 * MIB, 4);
    for (options, from, to, side) in
        [(&["--compress", "gz:1"][..], &source, &packed, "dest"), (&["--decompress"], &packed, &unpacked, "source")]
    {
        let words = [&["copy", "--progress", "json"], options, &[name(from), name(to)]].concat();
        let done = haul().args(words).assert().success();
        let lines = lines(&stderr_lines(&done));
        let last = lines.iter().rev().find(|line| line["type"] == "progress").expect("progress is printed at the end");
        let size = fs::metadata(&packed).expect("it was written").len();
        assert_eq!((&last["stored"]["side"], last["stored"]["bytes"].as_u64()), (&side.into(), Some(size)), "{last}");
        let total = (side == "source").then_some(size);
        assert_eq!(last["stored"]["total_bytes"].as_u64(), total, "{last}");
        assert_eq!(last["copied_bytes"], 3 * MIB);
    }
}
