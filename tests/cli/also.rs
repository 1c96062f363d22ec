//! `haul copy --also`: one read, several dests, each checked and reported separately.
use crate::support;
use crate::support::{
    FailingDisk, Fails, LoopDevice, cmp, engines, haul, in_one_line, memory_dir, name, noise, scratch, stderr,
    with_haul_in_path,
};
use crate::support::{Running, cmp_ranges, copied_bytes, write_noise};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;

/// The report of `haul copy --json`, the messages, and the status.
fn copy(words: &[&str]) -> (Value, String, i32) {
    let output = haul().args(["copy", "--json", "--progress", "none"]).args(words).output().expect("haul runs");
    let messages = in_one_line(&output.stderr);
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}\n{messages}"));
    (report, messages, output.status.code().expect("no signal ended it"))
}

#[test]
fn files_and_a_disk_become_the_source_with_one_read() {
    let dir = memory_dir();
    let [source, one, backing] = ["source", "one", "backing"].map(|name| dir.path().join(name));
    let real = scratch();
    let other = real.path().join("other");
    write_noise(&source, 5 * MIB + 777, 21);
    for engine in engines() {
        fs::write(&backing, noise(8 * MIB, 22)).expect("the directory in memory is writable");
        fs::write(&one, noise(9 * MIB, 23)).expect("the directory in memory is writable");
        let Some(disk) = LoopDevice::over(&backing) else { return };
        let device = name(disk.path());
        let words = ["--yes", "--engine", engine, name(&source), name(&one), "--also", name(&other), "--also", device];
        let (report, messages, status) = copy(&words);
        assert_eq!((status, &report["status"]), (0, &"complete".into()), "{engine}: {messages}");
        cmp(&source, &one);
        cmp(&source, &other);
        drop(disk);
        cmp_ranges(&source, 0, &backing, 0, 5 * MIB as u64 + 777);
        assert_eq!(fs::read(&backing).expect("it exists")[5 * MIB + 777..], noise(8 * MIB, 22)[5 * MIB + 777..]);
        assert_eq!(report["bytes"]["read_bytes"], 5 * MIB + 777, "{engine}: it was read once");
        let dests = report["dests"].as_array().expect("a list");
        assert_eq!(dests.len(), 3);
        for dest in dests {
            assert_eq!(dest["status"], "complete", "{engine}: {dest}");
            assert!(dest["durability"] == "medium" || dest["durability"] == "memory", "{engine}: {dest}");
            assert_eq!(dest["claimed_bytes"], 5 * MIB + 777, "{engine}: {dest}");
        }
        fs::remove_file(&other).expect("it was created");
    }
}

#[test]
fn holes_are_holes_in_new_files_and_zeros_on_a_disk() {
    let dir = memory_dir();
    let [source, one, backing] = ["source", "one", "backing"].map(|name| dir.path().join(name));
    let file = fs::File::create(&source).expect("the directory in memory is writable");
    std::os::unix::fs::FileExt::write_all_at(&file, &noise(MIB, 24), 2 * MIB as u64).expect("it accepts bytes");
    file.set_len(6 * MIB as u64).expect("it can be longer");
    fs::write(&backing, noise(6 * MIB, 25)).expect("the directory in memory is writable");
    let Some(disk) = LoopDevice::over(&backing) else { return };
    let (report, messages, status) = copy(&["--yes", name(&source), name(&one), "--also", name(disk.path())]);
    assert_eq!(status, 0, "{messages}");
    drop(disk);
    cmp(&source, &one);
    cmp(&source, &backing);
    assert_eq!(report["dests"][0]["hole_bytes"], 5 * MIB, "{report}");
    assert_eq!(report["bytes"]["read_bytes"], MIB, "holes are not read");
    use std::os::unix::fs::MetadataExt;
    assert!(fs::metadata(&one).expect("it exists").blocks() * 512 <= MIB as u64 + 65536, "no holes in the new file");
}

#[test]
fn a_failed_dest_is_dropped_and_the_printed_command_completes_it() {
    let dir = memory_dir();
    let [source, good, backing] = ["source", "good", "backing"].map(|name| dir.path().join(name));
    write_noise(&source, 4 * MIB, 26);
    for engine in engines() {
        fs::write(&backing, vec![0; 4 * MIB]).expect("the directory in memory is writable");
        let _ = fs::remove_file(&good);
        let bad = 2 * MIB as u64..2 * MIB as u64 + 4096;
        let Some(disk) = FailingDisk::over(dir.path(), &backing, Fails::Writes, bad.clone()) else { return };
        let failing = disk.path();
        let range = ["--skip", "0", "--count", "4M", "--seek", "0", "--block-size", "64k", "--engine", engine];
        let words = [&range[..], &[name(&source), name(&failing), "--also", name(&good)]].concat();
        let (report, messages, status) = copy(&words);
        assert_eq!((status, &report["status"]), (1, &"complete".into()), "{engine}: {messages}");
        cmp(&source, &good);
        let [lost, kept] = [&report["dests"][0], &report["dests"][1]];
        assert_eq!((&lost["status"], &kept["status"]), (&"failed".into(), &"complete".into()), "{engine}");
        assert_eq!(lost["error"]["side"], "dest");
        let claimed = lost["claimed_bytes"].as_u64().expect("a number");
        assert!(claimed <= bad.start, "{engine}: {claimed} bytes are claimed, byte {} is bad", bad.start);
        cmp_ranges(&source, 0, &backing, 0, claimed);
        assert!(
            messages.contains(name(&failing)) && messages.contains("drops this destination"),
            "{engine}: {messages}"
        );

        let command = lost["continue_command"].as_str().expect("there is one");
        assert!(kept["continue_command"].is_null());
        drop(disk);
        let command = command.replace(name(&failing), name(&backing));
        let path = with_haul_in_path();
        let run = Command::new("sh").args(["-c", &command]).env("PATH", path).stderr(Stdio::null()).status();
        assert!(run.expect("a shell runs").success(), "{command}");
        cmp(&source, &backing);
    }
}

#[test]
fn a_stream_is_copied_to_a_file_and_to_another_program() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let bytes = write_noise(&source, 3 * MIB + 5, 27);
    for engine in engines() {
        let _ = fs::remove_file(&dest);
        let input = fs::File::open(&source).expect("it exists");
        let words = ["copy", "--engine", engine, "-", name(&dest), "--also", "-", "--hash", "md5"];
        let output = Command::new(support::haul_path()).args(words).stdin(input).output().expect("haul runs");
        assert!(output.status.success(), "{engine}: {}", in_one_line(&output.stderr));
        assert!(output.stdout == bytes, "{engine}: the other program got something else");
        cmp(&source, &dest);
    }
}

#[test]
fn invalid_destinations_are_refused_before_any_is_written() {
    let dir = memory_dir();
    let [source, one, two, backing] = ["source", "one", "two", "backing"].map(|name| dir.path().join(name));
    write_noise(&source, MIB, 28);
    fs::write(&one, noise(MIB, 29)).expect("the directory in memory is writable");
    fs::write(&backing, noise(MIB, 30)).expect("the directory in memory is writable");
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&one, &link).expect("the directory in memory supports links");
    let (source_name, one_name, two_name) = (name(&source), name(&one), name(&two));
    let mut cases: Vec<(Vec<&str>, i32, &str)> = vec![
        (vec![source_name, one_name, "--also", name(&link)], 3, "the same data"),
        (vec![source_name, two_name, "--also", two_name], 3, "the same data"),
        (vec![source_name, one_name, "--also", source_name], 3, "the same data"),
        (vec![source_name, one_name, "--also", "/dev/haul-no-such-disk"], 3, "no such device"),
        (vec![source_name, one_name, "--also", two_name, "--reflink", "always"], 2, "--reflink"),
        (vec![source_name, one_name, "--also", two_name, "--expect", "size=1M"], 2, "--expect"),
        (vec!["--json", source_name, one_name, "--also", "-"], 2, "--json"),
    ];
    let disk = LoopDevice::over(&backing);
    if let Some(disk) = &disk {
        cases.push((vec![source_name, one_name, "--also", name(disk.path())], 3, "no terminal to confirm"));
        cases.push((
            vec!["--yes", source_name, one_name, "--also", name(&backing), "--also", name(disk.path())],
            3,
            "backing",
        ));
    }
    for (words, status, messages) in cases {
        let assert = haul().arg("copy").args(&words).assert().code(status);
        assert!(stderr(&assert).contains(messages), "{words:?}: no {messages:?} in {}", stderr(&assert));
        assert!(!two.exists(), "{words:?} made a file");
        assert!(fs::read(&one).expect("it exists") == noise(MIB, 29), "{words:?} wrote to the first dest");
        assert!(fs::read(&backing).expect("it exists") == noise(MIB, 30), "{words:?} wrote to the disk");
    }
}

#[test]
fn a_dry_run_names_every_dest_and_writes_nothing() {
    let dir = scratch();
    let [source, one, two] = ["source", "one", "two"].map(|name| dir.path().join(name));
    write_noise(&source, MIB, 31);
    let assert = haul().args(["copy", "-n", name(&source), name(&one), "--also", name(&two)]).assert().success();
    let printed = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(printed.contains(name(&one)) && printed.contains(name(&two)), "{printed}");
    assert!(!one.exists() && !two.exists());
    let (report, _, status) = copy(&["-n", name(&source), name(&one), "--also", name(&two)]);
    assert_eq!((status, &report["dests"]), (0, &serde_json::json!([name(&one), name(&two)])), "{report}");
}

#[test]
fn an_old_journal_of_a_dest_is_removed_before_the_dest_is_written() {
    let dir = scratch();
    let [source, one, two] = ["source", "one", "two"].map(|name| dir.path().join(name));
    write_noise(&source, 12 * MIB, 32);
    let words = ["copy", "--limit", "3M", "--block-size", "64K", "--progress", "json", name(&source), name(&two)];
    let mut first = Running::start(&words, Stdio::null(), Stdio::null());
    first.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    first.signal(rustix::process::Signal::INT);
    first.end_by(libc::SIGINT);
    let journal = dir.path().join(".two.haul-journal");
    assert!(journal.exists(), "no journal was left: {}", first.messages);
    let refused = haul().args(["copy", "--resume", name(&source), name(&one), "--also", name(&two)]).assert().code(2);
    assert!(stderr(&refused).contains("--resume"), "{}", stderr(&refused));
    assert!(journal.exists() && !one.exists());
    let refused = haul().args(["copy", name(&source), name(&one), "--also", name(&two)]).assert().code(3);
    assert!(stderr(&refused).contains("--restart"), "{}", stderr(&refused));
    assert!(journal.exists() && !one.exists());
    let (_, messages, status) = copy(&["--restart", name(&source), name(&one), "--also", name(&two)]);
    assert_eq!(status, 0, "{messages}");
    assert!(!journal.exists(), "it claims bytes of another program");
    assert!(messages.contains("unfinished copy"), "{messages}");
    cmp(&source, &two);
}

#[test]
fn a_slow_dest_is_left_behind_and_completed_after_the_others() {
    let dir = memory_dir();
    let [source, fast, backing, gate] = ["source", "fast", "backing", "gate"].map(|name| dir.path().join(name));
    write_noise(&source, 48 * MIB, 33);
    fs::write(&backing, vec![0; 48 * MIB]).expect("the directory in memory is writable");
    fs::write(&gate, "").expect("the directory in memory is writable");
    let Some(disk) = FailingDisk::slow(dir.path(), &backing, &gate) else { return };
    let slow = disk.path();
    let ways = ["--block-size", "256K", "--depth", "8", "--skip", "0", "--seek", "0", "--count", "48M"];
    let words = [&["copy", "--independent"], &ways[..], &[name(&source), name(&fast), "--also", name(&slow)]].concat();
    let mut running = Running::start(&words, Stdio::null(), Stdio::null());
    running.read_until(|line| line.contains("was left behind"));
    // The first report is complete, the slow dest is not, and from now on it is fast.
    cmp(&source, &fast);
    fs::remove_file(&gate).expect("it exists");
    let (status, _) = running.end();
    assert!(status.success(), "{status}: {}", running.messages);
    assert!(running.messages.contains("copied 50.3 MB to 1 of 2 destinations"), "{}", running.messages);
    drop(disk);
    cmp(&source, &backing);
}

#[test]
fn a_slow_disk_is_left_behind_and_completed_after_the_others() {
    let dir = memory_dir();
    let [source, fast, backing, gate] = ["source", "fast", "backing", "gate"].map(|name| dir.path().join(name));
    write_noise(&source, 48 * MIB, 37);
    fs::write(&backing, vec![0; 48 * MIB]).expect("the directory in memory is writable");
    fs::write(&gate, "").expect("the directory in memory is writable");
    let Some(disk) = FailingDisk::slow(dir.path(), &backing, &gate) else { return };
    let Some(slow) = LoopDevice::over(&disk.path()) else { return };
    let ways = ["--yes", "--block-size", "256K", "--depth", "8"];
    let dests = [name(&source), name(&fast), "--also", name(slow.path())];
    let words = [&["copy", "--independent"], &ways[..], &dests].concat();
    let mut running = Running::start(&words, Stdio::null(), Stdio::null());
    running.read_until(|line| line.contains("was left behind"));
    fs::remove_file(&gate).expect("it exists");
    let (status, _) = running.end();
    assert!(status.success(), "{status}: {}", running.messages);
    assert!(running.messages.contains("was left behind; haul completes it now"), "{}", running.messages);
    drop((slow, disk));
    cmp(&source, &backing);
}

#[test]
fn independent_copies_of_a_stream_are_refused() {
    let dir = scratch();
    let [one, two] = ["one", "two"].map(|name| dir.path().join(name));
    let assert = haul().args(["copy", "--independent", "-", name(&one), "--also", name(&two)]).assert().code(2);
    assert!(stderr(&assert).contains("--independent"), "{}", stderr(&assert));
    assert!(!one.exists() && !two.exists());
    haul().args(["copy", "--independent", name(&one), name(&two)]).assert().code(2);
}

#[test]
fn a_dropped_dest_claims_only_bytes_flushed_after_its_failure() {
    let dir = memory_dir();
    let [source, one, backing] = ["source", "one", "backing"].map(|name| dir.path().join(name));
    // Zeros after the data: the device fails to zero there. The bytes before are in the page cache.
    let mut bytes = noise(2 * MIB, 34);
    bytes[MIB..].fill(0);
    let file = fs::File::create(&source).expect("the directory in memory is writable");
    std::os::unix::fs::FileExt::write_all_at(&file, &bytes[..MIB], 0).expect("the directory in memory is writable");
    file.set_len(2 * MIB as u64).expect("it can grow");
    for flush in [&["--no-flush"][..], &[]] {
        let old = noise(2 * MIB, 35);
        fs::write(&backing, &old).expect("the directory in memory is writable");
        let bad = (MIB - 65_536) as u64..(MIB + 4096) as u64;
        let Some(disk) = FailingDisk::over(dir.path(), &backing, Fails::Writes, bad) else { return };
        let Some(device) = LoopDevice::over(&disk.path()) else { return };
        let words = ["--yes", "--direct", "never", name(&source), name(&one), "--also", name(device.path())];
        let (report, messages, status) = copy(&[flush, &words].concat());
        assert_eq!(status, 1, "{messages}");
        drop((device, disk));
        let claimed = report["dests"][1]["claimed_bytes"].as_u64().expect("it is a number");
        cmp_ranges(&source, 0, &backing, 0, claimed);
    }
}

#[test]
fn no_bytes_are_claimed_past_an_end_that_could_not_be_set() {
    let dir = memory_dir();
    let [source, one, two] = ["source", "one", "two"].map(|name| dir.path().join(name));
    let bytes = noise(MIB, 36);
    let file = fs::File::create(&source).expect("the directory in memory is writable");
    // A hole, followed by data for which no file system has space.
    std::os::unix::fs::FileExt::write_all_at(&file, &bytes, MIB as u64).expect("the directory in memory is writable");
    for dests in [&[name(&one)][..], &[name(&one), "--also", name(&two)]] {
        let words = ["copy", "--json", "--progress", "none", "--skip", "900K", "--seek", "900K", name(&source)];
        let words = [&words[..], dests].concat();
        let output = support::haul_limited("--fsize=131072").args(words).output().expect("util-linux is installed");
        assert_eq!(output.status.code(), Some(1), "{}", in_one_line(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
        let len = |path: &Path| fs::metadata(path).map_or(0, |file| file.len()).saturating_sub(900 << 10);
        let claims = report["dests"].as_array().expect("a list").iter().map(|dest| &dest["claimed_bytes"]);
        let claims: Vec<u64> = claims.chain([&report["claimed"]["len_bytes"]]).filter_map(Value::as_u64).collect();
        assert!(claims.iter().all(|claimed| *claimed <= len(&one)), "{claims:?}, and there are {}", len(&one));
    }
}

#[test]
fn the_durability_of_several_destinations_is_that_of_the_weakest() {
    let (memory, real) = (memory_dir(), scratch());
    let [source, volatile] = ["source", "volatile"].map(|name| memory.path().join(name));
    let stored = real.path().join("stored");
    write_noise(&source, 3 * MIB, 24);
    for [first, second] in [[&volatile, &stored], [&stored, &volatile]] {
        let (report, messages, status) = copy(&[name(&source), name(first), "--also", name(second)]);
        assert_eq!(
            (status, &report["durability"], &report["durable"]),
            (0, &"memory".into(), &false.into()),
            "{messages}"
        );
    }
}
