//! `haul copy --verify`: the dest is read back bypassing all caches, and equals the source.
use crate::support::{
    LoopDevice, cmp, cmp_ranges, direct_works, engines, haul, in_one_line, memory_dir, name, noise, scratch, stderr,
    write_noise,
};
use serde_json::Value;
use std::fs;
use std::path::Path;

const MIB: usize = 1 << 20;

/// The report of `haul copy --verify --json` with these options.
fn copy(words: &[&str], stdin: &[u8]) -> Value {
    let given = ["copy", "--yes", "--json", "--progress", "plain", "--manifest-block", "64K"];
    let output = haul().args(given).args(words).write_stdin(stdin).output().expect("haul runs");
    assert!(output.status.success(), "{words:?}: {}", in_one_line(&output.stderr));
    let messages = in_one_line(&output.stderr);
    assert!(!messages.contains("during the comparison"), "our own writes are no news: {messages}");
    serde_json::from_slice(&output.stdout).expect("the report is JSON")
}

#[track_caller]
fn assert_right(report: &Value, bytes: usize) {
    let verified = &report["verified"];
    assert_eq!((&verified["right"], &verified["bytes"]), (&true.into(), &bytes.into()), "{report}");
    for list in ["misread", "rewritten", "wrong", "source_changed"] {
        assert_eq!(verified[list].as_array().map(Vec::len), Some(0), "{list}: {report}");
    }
}

#[test]
fn intact_copies_of_every_kind_verify() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    for (seed, len) in [0, 1, 65_536, 65_537, 3 * MIB + 77].into_iter().enumerate() {
        let mut bytes = noise(len, seed as u64);
        if len > MIB {
            bytes[MIB - 5..2 * MIB + 5].fill(0);
        }
        fs::write(&source, &bytes).expect("the file can be written");
        for engine in engines() {
            for sparse in ["auto", "always", "never"] {
                let report =
                    copy(&["--verify", "--engine", engine, "--sparse", sparse, name(&source), name(&dest)], b"");
                assert_right(&report, len);
                cmp(&source, &dest);
            }
        }
        let report = copy(&["--verify", "-", name(&dest)], &bytes);
        assert_right(&report, len);
    }
}

#[test]
fn a_disk_is_read_back_past_the_page_cache() {
    let dir = memory_dir();
    let (source, disk) = (dir.path().join("source"), dir.path().join("disk"));
    let len = 5 * MIB + 512 + 100;
    write_noise(&source, len, 91);
    fs::write(&disk, vec![0x77; 8 * MIB]).expect("the file can be written");
    let Some(dest) = LoopDevice::over(&disk) else { return };
    for direct in ["auto", "never"] {
        for seek in ["0", "1000", "4096"] {
            let words = ["--verify", "--direct", direct, "--seek", seek, name(&source), name(dest.path())];
            let report = copy(&words, b"");
            assert_right(&report, len);
            assert_eq!(report["verified"]["cached_bytes"], 0, "{words:?}: {report}");
            cmp_ranges(&source, 0, dest.path(), seek.parse().expect("it is a number"), len as u64);
        }
    }
}

#[test]
fn pages_that_cannot_be_evicted_are_reported() {
    let dir = memory_dir();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 2 * MIB, 92);
    if !dest.starts_with("/dev/shm") {
        return;
    }
    let report = copy(&["--verify", name(&source), name(&dest)], b"");
    assert_right(&report, 2 * MIB);
    assert_eq!(report["verified"]["cached_bytes"], 2 * MIB);
    let assert = haul().args(["copy", "--verify", name(&source), name(&dest)]).assert().success();
    assert!(stderr(&assert).contains("2.10 MB were in the page cache and"), "{}", stderr(&assert));
    assert!(stderr(&assert).contains("a power loss erases it, verified"), "{}", stderr(&assert));
}

#[test]
fn a_file_written_direct_is_read_back_direct() {
    let dir = scratch();
    if !direct_works(dir.path()) {
        return;
    }
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 3 * MIB + 333, 93);
    let report = copy(&["--verify", "--direct", "always", name(&source), name(&dest)], b"");
    assert_right(&report, 3 * MIB + 333);
    assert_eq!(report["verified"]["cached_bytes"], 0, "{report}");
}

#[test]
fn verify_sample_reads_back_a_part() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 8 * MIB, 94);
    let report = copy(&["--verify=sample:10%", name(&source), name(&dest)], b"");
    let verified = &report["verified"];
    assert_eq!((&verified["right"], &verified["sampled"]), (&true.into(), &true.into()), "{report}");
    let blocks = verified["blocks"].as_u64().expect("it is a number");
    assert!((13..=15).contains(&blocks), "{blocks} of 128 blocks");
}

#[test]
fn a_plan_announces_the_read_back() {
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, 1000, 95);
    let dest = dir.path().join("dest");
    let assert = haul().args(["copy", "-n", "--verify", name(&source), name(&dest)]).assert().success();
    let plan = in_one_line(&assert.get_output().stdout);
    assert!(plan.contains("read back the whole destination"), "{plan}");
    assert!(plan.contains("after everything is written") && plan.contains("the destination is not a disk"), "{plan}");
    let assert = haul().args(["copy", "-n", "--verify=afterwards", name(&source), name(&dest)]).assert().success();
    let plan = in_one_line(&assert.get_output().stdout);
    assert!(plan.contains("after everything is written") && plan.contains("--verify=afterwards"), "{plan}");
    assert!(!dest.exists());
}

/// The bytes that `haul copy --json` with these options writes to a FIFO, and the report.
fn into_fifo(words: &[&str], source: &Path, fifo: &Path) -> (Vec<u8>, Value) {
    let status = std::process::Command::new("mkfifo").arg(fifo).status().expect("coreutils are installed");
    assert!(status.success());
    let reader = std::thread::spawn({
        let fifo = fifo.to_owned();
        move || fs::read(fifo).expect("a FIFO is read to its end")
    });
    let report = copy(&[words, &[name(source), name(fifo)]].concat(), b"");
    fs::remove_file(fifo).expect("this test created it");
    (reader.join().expect("the reader ends"), report)
}

#[test]
fn a_copy_to_a_pipe_is_reported_as_checked_in_memory_only() {
    let dir = scratch();
    let (source, fifo) = (dir.path().join("source"), dir.path().join("fifo"));
    let len = 3 * MIB + 77;
    let mut bytes = noise(len, 97);
    bytes[MIB..2 * MIB].fill(0);
    fs::write(&source, &bytes).expect("the file can be written");
    for engine in engines() {
        let (arrived, report) = into_fifo(&["--verify", "--engine", engine], &source, &fifo);
        assert!(arrived == bytes, "{engine}: other bytes were copied");
        assert_eq!(report["memory_check"]["unchanged_bytes"], len, "{engine}: {report}");
        assert_eq!(report["memory_check"]["changed_at_bytes"], Value::Null, "{engine}: {report}");
        assert_eq!(report["verified"], Value::Null, "nothing was read back: {report}");
    }
    let assert = haul().args(["copy", "--verify", name(&source), "-"]).assert().success();
    assert!(assert.get_output().stdout == bytes);
    let messages = stderr(&assert);
    assert!(messages.contains("unchanged in memory"), "{messages}");
    assert!(messages.contains("data received through the pipe was not checked"), "{messages}");
    let assert = haul().args(["copy", "-n", "--verify", name(&source), "-"]).assert().success();
    let messages = in_one_line(&assert.get_output().stderr) + &in_one_line(&assert.get_output().stdout);
    assert!(messages.contains("cannot be read back"), "{messages}");
}

#[test]
fn a_file_beside_a_pipe_is_read_back_and_the_pipe_is_checked_in_memory() {
    let dir = scratch();
    let [source, dest, fifo] = ["source", "dest", "fifo"].map(|name| dir.path().join(name));
    let bytes = write_noise(&source, 2 * MIB + 5, 98);
    for words in [["--verify", "--also", name(&dest)], ["--verify=sample:50%", "--also", name(&dest)]] {
        let (arrived, report) = into_fifo(&words, &source, &fifo);
        assert!(arrived == bytes);
        cmp(&source, &dest);
        assert_eq!(report["memory_check"]["unchanged_bytes"], bytes.len(), "{report}");
        assert_eq!(report["dests"][0]["verified"], Value::Null, "{report}");
        assert_eq!(report["dests"][1]["verified"]["right"], true, "{report}");
    }
}

#[test]
fn a_part_of_a_pipe_and_a_null_device_are_refused() {
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, 1000, 99);
    for verify in ["--verify=sample:1%", "--verify=afterwards"] {
        let assert = haul().args(["copy", verify, name(&source), "-"]).assert().code(2);
        assert!(stderr(&assert).contains("Give --verify without a value"), "{}", stderr(&assert));
        assert_eq!(assert.get_output().stdout, b"");
    }
    let assert = haul().args(["copy", "--verify", name(&source), "/dev/null"]).assert().code(2);
    assert!(stderr(&assert).contains("cannot be read back"), "{}", stderr(&assert));
}

#[test]
fn reflink_always_with_verify_is_refused_and_nothing_is_written() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 1000, 96);
    fs::write(&dest, b"before").expect("the file can be written");
    let words = ["copy", "--verify", "--reflink", "always", name(&source), name(&dest)];
    let assert = haul().args(words).assert().code(2);
    assert!(stderr(&assert).contains("--verify needs the data"), "{}", stderr(&assert));
    assert_eq!(fs::read(&dest).expect("it exists"), b"before");
}
