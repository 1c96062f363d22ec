//! `--on-error` and `--mapfile` on disks with bad sectors.
use crate::support::{
    FailingDisk, Fails, LoopDevice, cmp_ranges, engines, has, haul, memory_dir, noise, stderr, write_noise,
};
use serde_json::Value;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

const MIB: usize = 1 << 20;
const SIZE: usize = MIB;

/// Bad ranges of 4096 bytes, because the page cache reads at least that: in the first block, two adjacent ones,
/// across the border of two blocks of 64 KiB, and the last ones.
const BAD: [Range<u64>; 4] =
    [4096..8192, 499_712..507_904, 524_288 - 4096..524_288 + 4096, SIZE as u64 - 4096..SIZE as u64];

/// The contents of `backing`, with zeros in place of unreadable bytes.
fn with_zeros(backing: &Path) -> Vec<u8> {
    let mut bytes = fs::read(backing).expect("it exists");
    BAD.into_iter().for_each(|bad| bytes[bad.start as usize..bad.end as usize].fill(0));
    bytes
}

fn report(assert: &assert_cmd::assert::Assert) -> Value {
    let printed = &assert.get_output().stdout;
    serde_json::from_slice(printed).unwrap_or_else(|error| panic!("{error}: no report\n{}", stderr(assert)))
}

fn runs(side: &Value) -> Vec<Range<u64>> {
    let run = |run: &Value| {
        let [offset, len] = ["offset_bytes", "len_bytes"].map(|key| run[key].as_u64().expect("a number"));
        offset..offset + len
    };
    side["unread"]["runs"].as_array().expect("runs are listed").iter().map(run).collect()
}

/// Copies from `source`, which must leave zeros exactly in place of the bad ranges.
#[track_caller]
fn skips_bad_sectors(engine: &str, more: &[&str], source: &Path, dest: &Path, backing: &Path) {
    let options =
        ["copy", "--json", "--block-size", "64K", "--on-error", "skip", "--hash", "sha256", "--engine", engine];
    let assert = haul().args(options).args(more).args([source, dest]).assert().code(1);
    let report = report(&assert);
    assert_eq!(report["status"], "complete", "{engine} {more:?}: {report:#}");
    assert_eq!(runs(&report["source"]), BAD, "{engine} {more:?}");
    let sector_bytes = report["source"]["unread"]["sector_bytes"].as_u64().expect("a number");
    let bad_bytes: u64 = BAD.iter().map(|bad| bad.end - bad.start).sum();
    assert_eq!(report["unread_sectors"], bad_bytes / sector_bytes, "{engine} {more:?}");
    let arrived = fs::read(dest).expect("it was created");
    assert!(arrived == with_zeros(backing), "{engine} {more:?}: other bytes were copied");
    let digest = <sha2::Sha256 as sha2::Digest>::digest(&arrived);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(report["digests"][0]["hex"], hex.as_str(), "{engine} {more:?}");
}

#[test]
fn the_copy_of_a_file_has_zeros_exactly_at_unreadable_sectors() {
    let dir = memory_dir();
    let (backing, dest) = (dir.path().join("backing"), dir.path().join("dest"));
    write_noise(&backing, SIZE, 301);
    let Some(disk) = FailingDisk::with(dir.path(), &backing, Fails::Reads, &BAD) else { return };
    for engine in engines() {
        // The old file is longer, and its data must not remain.
        fs::write(&dest, noise(SIZE + 5000, 302)).expect("the file can be written");
        skips_bad_sectors(engine, &[], &disk.path(), &dest, &backing);
    }
}

#[test]
fn only_the_unreadable_sectors_of_a_file_are_lost_with_direct_io() {
    let dir = memory_dir();
    let (backing, dest) = (dir.path().join("backing"), dir.path().join("dest"));
    write_noise(&backing, SIZE, 305);
    let bad = [512..1024, 45_056..45_568, 524_288 - 512..524_288 + 512, SIZE as u64 - 512..SIZE as u64];
    let Some(disk) = FailingDisk::with(dir.path(), &backing, Fails::Reads, &bad) else { return };
    let mut wanted = fs::read(&backing).expect("it exists");
    bad.iter().for_each(|bad| wanted[bad.start as usize..bad.end as usize].fill(0));
    for engine in engines() {
        let _ = fs::remove_file(&dest);
        let options = ["copy", "--json", "--on-error", "skip", "--engine", engine];
        let assert = haul().args(options).args([&disk.path(), &dest]).assert().code(1);
        let report = report(&assert);
        assert_eq!(runs(&report["source"]), bad, "{engine}");
        assert_eq!(report["unread_sectors"], 5, "{engine}");
        assert!(fs::read(&dest).expect("it was created") == wanted, "{engine}: other bytes were copied");
    }
}

#[test]
fn the_copy_of_a_disk_has_zeros_exactly_at_unreadable_sectors_direct_and_buffered() {
    let dir = memory_dir();
    let (backing, dest) = (dir.path().join("backing"), dir.path().join("dest"));
    write_noise(&backing, SIZE, 303);
    let Some(disk) = FailingDisk::with(dir.path(), &backing, Fails::Reads, &BAD) else { return };
    let Some(source) = LoopDevice::with_sectors(&disk.path(), 4096) else { return };
    for engine in engines() {
        for direct in ["auto", "never"] {
            let _ = fs::remove_file(&dest);
            skips_bad_sectors(engine, &["--direct", direct], source.path(), &dest, &backing);
        }
    }
}

#[test]
fn the_report_and_the_mapfile_list_unreadable_sectors() {
    let dir = memory_dir();
    let [backing, dest, map] = ["backing", "dest", "map"].map(|name| dir.path().join(name));
    write_noise(&backing, SIZE, 304);
    let Some(disk) = FailingDisk::with(dir.path(), &backing, Fails::Reads, &BAD) else { return };
    let words = ["copy", "--on-error", "retry:1,skip", "--engine", "threads", "--mapfile"];
    let assert = haul().args(words).arg(&map).args([&disk.path(), &dest]).assert().code(1);
    let messages = stderr(&assert);
    assert!(messages.contains("48 sectors could not be read"), "{messages}");
    assert!(messages.contains("4096+4096"), "{messages}");
    assert!(
        messages.contains("warning:") && messages.contains("at byte 4096"),
        "no warning during the copy:\n{messages}"
    );
    let reported = fs::read_to_string(&map).expect("a mapfile was written");
    assert!(reported.contains("0x00001000  0x00001000  -"), "{reported}");
    if has("ddrescuelog") {
        let log = Command::new("ddrescuelog").args(["-b", "4096", "-l-"]).arg(&map).output().expect("it runs");
        let listed = String::from_utf8(log.stdout).expect("numbers");
        let expected = BAD.into_iter().flatten().step_by(4096).map(|byte| format!("{}\n", byte / 4096));
        assert_eq!(listed, expected.collect::<String>());
        let done = Command::new("ddrescuelog").arg("-D").arg(&map).status().expect("it runs");
        assert_eq!(done.code(), Some(1), "ddrescue takes it for finished");
    }
}

#[test]
fn a_stopped_copy_leaves_a_mapfile_with_unreadable_and_untried_extents() {
    let dir = memory_dir();
    let [backing, dest, map] = ["backing", "dest", "map"].map(|name| dir.path().join(name));
    write_noise(&backing, SIZE, 305);
    let bad = 524_288..528_384;
    let Some(disk) = FailingDisk::with(dir.path(), &backing, Fails::Reads, std::slice::from_ref(&bad)) else { return };
    let words = ["copy", "--json", "--on-error", "retry:1", "--engine", "threads", "--block-size", "64K", "--mapfile"];
    let assert = haul().args(words).arg(&map).args([&disk.path(), &dest]).assert().code(1);
    let report = report(&assert);
    assert_eq!((&report["error"]["side"], &report["error"]["offset_bytes"]), (&"source".into(), &bad.start.into()));
    let claimed = report["claimed"]["len_bytes"].as_u64().expect("a number");
    assert_eq!(claimed, bad.start, "{report:#}");
    cmp_ranges(&backing, 0, &dest, 0, claimed);
    let reported = fs::read_to_string(&map).expect("a mapfile was written");
    let lines: Vec<&str> = reported.lines().filter(|line| !line.starts_with('#')).collect();
    let expected = [
        "0x00080200     ?               1",
        "0x00000000  0x00080000  +",
        "0x00080000  0x00000200  -",
        "0x00080200  0x0007FE00  ?",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn an_existing_or_impossible_mapfile_is_refused_before_the_first_write() {
    let dir = memory_dir();
    let [source, dest, map] = ["source", "dest", "map"].map(|name| dir.path().join(name));
    write_noise(&source, 5000, 306);
    fs::write(&map, "days of work").expect("the file can be written");
    let beyond = dir.path().join("no/such/directory/map");
    for (mapfile, status, words) in
        [(&map, 3, "it already exists"), (&beyond, 1, "cannot read or write it"), (&dest, 3, "is the destination")]
    {
        let assert = haul().args(["copy", "--mapfile"]).arg(mapfile).args([&source, &dest]).assert().code(status);
        let messages = stderr(&assert);
        assert!(messages.contains(words) && messages.contains(mapfile.to_str().expect("text")), "{messages}");
        assert!(!dest.exists(), "{mapfile:?}: something was written");
    }
    assert_eq!(fs::read_to_string(&map).expect("it exists"), "days of work");
    let names = || fs::read_dir(dir.path()).expect("it exists").count();
    assert_eq!(names(), 2, "something stays behind");
    // Everything was read, also according to the mapfile, and the status is 0.
    let other = dir.path().join("other");
    haul().args(["copy", "--mapfile"]).arg(&other).args([&source, &dest]).assert().code(0);
    assert!(fs::read_to_string(&other).expect("it was created").contains("0x00000000  0x00001388  +"));
    assert_eq!(names(), 4, "something stays behind");
}

#[test]
fn unreadable_sectors_of_a_stream_cannot_be_skipped() {
    let dir = memory_dir();
    let dest = dir.path().join("dest");
    for option in [["--on-error", "skip"], ["--on-error", "retry:2"], ["--mapfile", "map"]] {
        let mut command = haul();
        command.current_dir(dir.path()).arg("copy").args(option).arg("-").arg(&dest).write_stdin("data");
        let messages = stderr(&command.assert().code(2));
        assert!(messages.contains(option[0]) && messages.contains("pipe"), "{messages}");
        assert!(!dest.exists() && !dir.path().join("map").exists(), "something was written");
    }
}

#[test]
fn verify_counts_unreadable_sectors_as_neither_equal_nor_different() {
    let dir = memory_dir();
    let [backing, same, other] = ["backing", "same", "other"].map(|name| dir.path().join(name));
    write_noise(&backing, SIZE, 307);
    let mut bytes = noise(SIZE, 307);
    // Unreadable bytes may have any value.
    bytes[4096..8192].fill(7);
    fs::write(&same, &bytes).expect("the file can be written");
    bytes[700_005] ^= 1;
    fs::write(&other, &bytes).expect("the file can be written");
    let Some(disk) = FailingDisk::with(dir.path(), &backing, Fails::Reads, &BAD) else { return };
    for engine in engines() {
        for sides in [[&disk.path(), &same], [&same, &disk.path()]] {
            let words = ["verify", "--on-error", "skip", "--engine", engine];
            let messages = stderr(&haul().args(words).args(sides).assert().code(1));
            assert!(messages.contains("equal in everything that could be read"), "{engine}: {messages}");
            assert!(messages.contains("could not be read") && messages.contains("not compared"), "{messages}");
        }
        let words = ["verify", "--json", "--on-error", "skip", "--engine", engine];
        let report = report(&haul().args(words).args([&other, &disk.path()]).assert().code(1));
        assert_eq!(runs(&report["dest"]), BAD, "{engine}");
        assert_eq!(report["differences"]["differing_bytes"], 1, "{engine}: {report:#}");
        assert_eq!(report["differences"]["first_offset_bytes"], 700_005, "{engine}");
        // By default the first bad sector ends the run.
        haul().args(["verify", "--engine", engine]).args([&disk.path(), &same]).assert().code(1);
    }
}
