//! `haul copy --also` with `--verify`, `--manifest` and `--on-error skip`: each dest is reported separately.
use crate::support::{FailingDisk, Fails, LoopDevice, Running, in_one_line, name};
use crate::support::{cmp, cmp_ranges, engines, haul, memory_dir, scratch, stderr, write_noise};
use serde_json::Value;
use std::fs;
use std::process::Stdio;

const MIB: usize = 1 << 20;
const BLOCK: u64 = 64 << 10;

/// The report of `haul copy --json` with digests of 64 KiB blocks, the messages, and the status.
fn copy(words: &[&str]) -> (Value, String, i32) {
    let ways = ["copy", "--yes", "--json", "--progress", "none", "--manifest-block", "64K"];
    let output = haul().args(ways).args(words).output().expect("haul runs");
    let messages = in_one_line(&output.stderr);
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}\n{messages}"));
    (report, messages, output.status.code().expect("no signal ended it"))
}

#[test]
fn every_dest_is_read_back_past_the_page_cache_and_verified() {
    let dir = memory_dir();
    let [source, backing] = ["source", "backing"].map(|name| dir.path().join(name));
    let real = scratch();
    let [one, other] = ["one", "other"].map(|name| real.path().join(name));
    let len = 3 * MIB + 777;
    write_noise(&source, len, 401);
    for engine in engines() {
        fs::write(&backing, vec![0x77; 4 * MIB]).expect("the directory in memory is writable");
        let Some(disk) = LoopDevice::over(&backing) else { return };
        let dests = [name(&one), "--also", name(&other), "--also", name(disk.path())];
        let words = [&["--verify", "--engine", engine, name(&source)], &dests[..]].concat();
        let (report, messages, status) = copy(&words);
        assert_eq!((status, &report["status"]), (0, &"complete".into()), "{engine}: {messages}");
        assert!(report["verified"].is_null(), "it is reported for each: {report}");
        for dest in report["dests"].as_array().expect("a list") {
            let verified = &dest["verified"];
            assert_eq!((&verified["right"], &verified["bytes"]), (&true.into(), &len.into()), "{engine}: {dest}");
            assert_eq!(verified["wrong"].as_array().map(Vec::len), Some(0), "{engine}: {dest}");
        }
        assert_eq!(report["dests"][2]["verified"]["cached_bytes"], 0, "{engine}: {report}");
        assert_eq!(report["bytes"]["read_bytes"], len, "{engine}: the source was read once");
        drop(disk);
        cmp(&source, &one);
        cmp(&source, &other);
        cmp_ranges(&source, 0, &backing, 0, len as u64);
        fs::remove_file(&one).and_then(|()| fs::remove_file(&other)).expect("they were created");
    }
}

#[test]
fn a_dest_that_loses_a_write_is_named_and_the_others_are_verified() {
    let dir = memory_dir();
    let [source, good, backing] = ["source", "good", "backing"].map(|name| dir.path().join(name));
    write_noise(&source, 2 * MIB, 402);
    fs::write(&backing, vec![0; 2 * MIB]).expect("the directory in memory is writable");
    let lost = 7 * BLOCK + 4096..7 * BLOCK + 8192;
    let Some(disk) = FailingDisk::losing(dir.path(), &backing, lost.clone()) else { return };
    let failing = disk.path();
    let ways = ["--verify", "--block-size", "64K", "--skip", "0", "--seek", "0", "--count", "2M"];
    let words = [&ways[..], &[name(&source), name(&failing), "--also", name(&good)]].concat();
    let (report, messages, status) = copy(&words);
    assert_eq!((status, &report["status"]), (1, &"complete".into()), "{messages}");
    let [wrong, right] = [&report["dests"][0]["verified"], &report["dests"][1]["verified"]];
    assert_eq!((&wrong["right"], &right["right"]), (&false.into(), &true.into()), "{report}");
    let runs = wrong["wrong"].as_array().expect("a list");
    assert_eq!(runs.len(), 1, "{report}");
    let run = (runs[0]["offset_bytes"].as_u64(), runs[0]["len_bytes"].as_u64());
    assert_eq!(run, (Some(7 * BLOCK), Some(BLOCK)), "{report}");
    cmp(&source, &good);

    let assert =
        haul().args(["copy", "--yes", "--progress", "none", "--manifest-block", "64K"]).args(&words).assert().code(1);
    let messages = stderr(&assert);
    assert!(messages.contains("but 1 of the 2 destinations read back have errors"), "{messages}");
    assert!(messages.contains("differ on the dest"), "{messages}");
    assert!(messages.contains("identical to the source data"), "{messages}");
}

#[test]
fn one_manifest_serves_every_dest() {
    let dir = scratch();
    let [source, one, two, manifest] = ["source", "one", "two", "manifest"].map(|name| dir.path().join(name));
    write_noise(&source, MIB + 5, 403);
    let words = ["--manifest", name(&manifest), name(&source), name(&one), "--also", name(&two)];
    let (report, messages, status) = copy(&words);
    assert_eq!((status, &report["manifest"]), (0, &name(&manifest).into()), "{messages}");
    for dest in [&one, &two, &source] {
        let assert = haul().args(["verify", "--manifest", name(&manifest), name(dest)]).assert().success();
        assert!(!stderr(&assert).contains("is neither"), "{}", stderr(&assert));
    }
    let shown = haul().args(["manifest", "show", name(&manifest)]).assert().success();
    let shown = in_one_line(&shown.get_output().stdout);
    assert!(shown.contains(name(&one)) && shown.contains(name(&two)), "{shown}");
    let again = ["copy", "--manifest", name(&two), name(&source), name(&one), "--also", name(&two)];
    let assert = haul().args(again).assert().code(3);
    assert!(stderr(&assert).contains("is the destination "), "{}", stderr(&assert));
}

#[test]
fn a_dest_that_was_left_behind_is_read_back_in_both_parts() {
    let dir = memory_dir();
    let [source, fast, backing, gate] = ["source", "fast", "backing", "gate"].map(|name| dir.path().join(name));
    write_noise(&source, 48 * MIB, 404);
    fs::write(&backing, vec![0; 48 * MIB]).expect("the directory in memory is writable");
    fs::write(&gate, "").expect("the directory in memory is writable");
    let Some(disk) = FailingDisk::slow(dir.path(), &backing, &gate) else { return };
    let slow = disk.path();
    let ways = ["copy", "-v", "--independent", "--verify", "--manifest-block", "1M", "-b", "256K", "--depth", "8"];
    let range = ["--skip", "0", "--seek", "0", "--count", "48M"];
    let words = [&ways[..], &range, &[name(&source), name(&fast), "--also", name(&slow)]].concat();
    let mut running = Running::start(&words, Stdio::null(), Stdio::null());
    running.read_until(|line| line.contains("was left behind"));
    fs::remove_file(&gate).expect("it exists");
    let (status, _) = running.end();
    assert!(status.success(), "{status}: {}", running.messages);
    let messages = in_one_line(&running.messages);
    assert_eq!(messages.matches("identical to the source data").count(), 3, "{}", running.messages);
    let from: u64 = messages
        .split("haul completes it now, from byte ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .map_or(u64::MAX, |byte| byte.parse().expect("a number"));
    assert_eq!(from % MIB as u64, 0, "the rest begins with a whole block: {messages}");
    drop(disk);
    cmp(&source, &backing);
}

#[test]
fn unreadable_sectors_are_zeros_on_every_dest_and_listed_once() {
    let dir = memory_dir();
    let [source, one, backing] = ["source", "one", "backing"].map(|name| dir.path().join(name));
    let bytes = write_noise(&source, MIB, 405);
    let bad = 5 * BLOCK + 4096..5 * BLOCK + 12288;
    let Some(disk) = FailingDisk::over(dir.path(), &source, Fails::Reads, bad.clone()) else { return };
    let mut expected = bytes;
    expected[bad.start as usize..bad.end as usize].fill(0);
    for engine in engines() {
        fs::write(&backing, vec![0x77; MIB]).expect("the directory in memory is writable");
        fs::write(&one, vec![0x77; 2 * MIB]).expect("the directory in memory is writable");
        let Some(device) = LoopDevice::over(&backing) else { return };
        let from = disk.path();
        let ways = ["--on-error", "skip", "--verify", "--block-size", "64K", "--engine", engine];
        let words = [&ways[..], &[name(&from), name(&one), "--also", name(device.path())]].concat();
        let (report, messages, status) = copy(&words);
        assert_eq!((status, &report["status"]), (1, &"complete".into()), "{engine}: {messages}");
        let unread = &report["source"]["unread"]["runs"];
        assert_eq!(unread.as_array().map(Vec::len), Some(1), "{engine}: {unread}");
        let run = (unread[0]["offset_bytes"].as_u64(), unread[0]["len_bytes"].as_u64());
        assert_eq!(run, (Some(bad.start), Some(bad.end - bad.start)), "{engine}");
        for dest in report["dests"].as_array().expect("a list") {
            assert_eq!((&dest["status"], &dest["verified"]["right"]), (&"complete".into(), &true.into()), "{dest}");
        }
        drop(device);
        assert!(fs::read(&one).expect("it exists") == expected, "{engine}: the file got other bytes");
        assert!(fs::read(&backing).expect("it exists") == expected, "{engine}: the disk got other bytes");
    }
}
