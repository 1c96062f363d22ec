//! Corner cases of `--resume`: full disks, bad sectors on the dest, disks that are released late, journals that
//! cannot be written; the claims of the journal are true after each of them.
use crate::support;
use crate::support::{
    FailingDisk, Fails, LoopDevice, Mount, Running, cmp, copied_bytes, filled, has, haul, haul_path, memory_dir, name,
    scratch, stderr, stderr_lines, traced_calls, write_noise,
};
use rustix::fs::OFlags;
use rustix::process::Signal;
use serde_json::Value;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

const MIB: usize = 1 << 20;

/// Asserts that every claimed byte of the dest equals the source; returns their number.
#[track_caller]
fn claims_truly(journal: &Path, source: &Path, dest: &Path) -> u64 {
    let text = fs::read_to_string(journal).expect("there is a journal");
    let [source, dest] = [source, dest].map(|path| File::open(path).expect("it exists"));
    let mut claimed = 0;
    for line in text.lines().skip(1) {
        let line: Value = serde_json::from_str(line).expect("each line is JSON");
        for extent in line["durable"].as_array().expect("a list") {
            let [offset, len] = [0, 1].map(|at| extent[at].as_u64().expect("a number"));
            let (mut theirs, mut ours) = (vec![0; len as usize], vec![0; len as usize]);
            source.read_exact_at(&mut ours, offset).expect("the source is whole");
            dest.read_exact_at(&mut theirs, offset).expect("claimed data exists");
            assert!(ours == theirs, "{len} bytes at byte {offset} are claimed and are not there");
            claimed += len;
        }
    }
    claimed
}

#[test]
fn a_disk_released_within_a_moment_is_awaited_and_a_disk_in_use_is_refused() {
    let dir = memory_dir();
    let [source, backing] = ["source", "backing"].map(|name| dir.path().join(name));
    write_noise(&source, MIB, 501);
    filled(&backing, MIB, 0);
    let Some(disk) = LoopDevice::over(&backing) else { return };
    // Closed in programs that other tests start meanwhile.
    let flags = OFlags::EXCL | OFlags::CLOEXEC;
    let held = rustix::fs::open(disk.path(), flags, rustix::fs::Mode::empty()).unwrap();
    let messages = stderr(&haul().args(["copy", "--yes"]).args([&source, disk.path()]).assert().code(3));
    assert!(messages.contains("another program has opened it exclusively"), "{messages}");
    let release = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        drop(held);
    });
    haul().args(["copy", "--yes"]).args([&source, disk.path()]).assert().success();
    release.join().unwrap();
    cmp(&source, disk.path());
}

#[test]
fn a_copy_to_a_disk_can_be_resumed_right_after_a_kill() {
    let dir = memory_dir();
    let [source, backing, state] = ["source", "backing", "state"].map(|name| dir.path().join(name));
    write_noise(&source, 24 * MIB, 502);
    filled(&backing, 24 * MIB, 0xAA);
    let Some(disk) = LoopDevice::over(&backing) else { return };
    let copy = |options: &[&str]| {
        let mut command = Command::new(haul_path());
        command.args(["copy", "--yes", "--progress", "none", "--checkpoint", "0.05"]).args(options);
        command.args([&source, disk.path()]).env("XDG_STATE_HOME", &state).stderr(Stdio::null());
        command
    };
    let lines = || {
        let files = fs::read_dir(state.join("haul")).into_iter().flatten().flatten();
        let journal = files.map(|file| file.path()).find(|path| name(path).ends_with(".journal"));
        journal.and_then(|path| fs::read_to_string(path).ok()).map_or(0, |text| text.lines().count())
    };
    let mut resume: &[&str] = &["--limit", "16M"];
    for _ in 0..4 {
        let before = lines();
        let mut running = copy(resume).spawn().unwrap();
        while lines() < before.max(1) + 1 {
            assert!(running.try_wait().unwrap().is_none(), "it ended by itself");
            thread::sleep(Duration::from_millis(2));
        }
        running.kill().unwrap();
        running.wait().unwrap();
        resume = &["--resume", "--limit", "16M"];
    }
    assert_eq!(copy(&["--resume"]).status().unwrap().code(), Some(0));
    cmp(&source, disk.path());
}

#[test]
fn sigterm_leaves_a_resumable_journal() {
    let dir = scratch();
    let [source, dest, journal] = ["source", "dest", ".dest.haul-journal"].map(|name| dir.path().join(name));
    write_noise(&source, 12 * MIB, 503);
    let slow = ["copy", "--limit", "2M", "--block-size", "64K", "--progress", "json", name(&source), name(&dest)];
    let mut copy = Running::start(&slow, Stdio::null(), Stdio::null());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    copy.signal(Signal::TERM);
    copy.end_by(15);
    assert!(claims_truly(&journal, &source, &dest) > 0);
    haul().args(["copy", "--resume"]).args([&source, &dest]).assert().success();
    cmp(&source, &dest);
}

#[test]
fn a_full_file_system_leaves_a_valid_journal_and_the_copy_completes_once_there_is_space() {
    let dir = scratch();
    let [source, journal, at] = ["source", "journal", "at"].map(|name| dir.path().join(name));
    write_noise(&source, 12 * MIB + 77, 504);
    fs::create_dir(&at).unwrap();
    let Some(_mount) = Mount::tmpfs(&at, 14 * MIB as u64) else { return };
    let (dest, other) = (at.join("dest"), at.join("other"));
    let copy = |options: &[&str]| {
        let mut command = haul();
        command.args(["copy", "--block-size", "64K", "--journal", name(&journal)]).args(options);
        command.args([&source, &dest]).assert()
    };
    let slow = ["copy", "--limit", "1M", "--block-size", "64K", "--progress", "json", "--journal", name(&journal)];
    let arguments = [&slow[..], &[name(&source), name(&dest)]].concat();
    let mut running = Running::start(&arguments, Stdio::null(), Stdio::null());
    running.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    // There was space at the start; another file then takes what the copy has not yet.
    let taken = fs::write(&other, vec![1; 14 * MIB]).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::StorageFull);
    let (status, printed) = running.end();
    let messages = running.messages.clone() + &printed;
    assert_eq!(status.code(), Some(1), "{messages}");
    assert!(messages.contains("is full") && messages.contains("haul copy --resume"), "{messages}");
    let claimed = claims_truly(&journal, &source, &dest);
    assert!(claimed > 0);
    let messages = stderr(&copy(&["--resume"]).code(1));
    assert!(messages.contains("0 bytes free: the copy may not fit") && messages.contains("is full"), "{messages}");
    assert_eq!(claims_truly(&journal, &source, &dest), claimed);
    fs::remove_file(&other).unwrap();
    copy(&["--resume"]).success();
    cmp(&source, &dest);
    assert!(!journal.exists());
}

#[test]
fn a_journal_on_the_full_file_system_claims_nothing_false() {
    let dir = memory_dir();
    let [source, backing, at] = ["source", "backing", "at"].map(|name| dir.path().join(name));
    write_noise(&source, 12 * MIB, 505);
    filled(&backing, 8 * MIB, 0);
    fs::create_dir(&at).unwrap();
    if !has("mkfs.ext4") {
        return;
    }
    let Some(disk) = LoopDevice::over(&backing) else { return };
    let made = Command::new("mkfs.ext4").args(["-q", "-m", "0", "-O", "^has_journal"]).arg(disk.path()).status();
    assert!(made.is_ok_and(|status| status.success()));
    let Some(_mount) = Mount::device(&at, disk.path()) else { return };
    let (dest, journal) = (at.join("dest"), at.join(".dest.haul-journal"));
    // Zeros are detected, so that no space is preallocated before the first write.
    let copy = ["copy", "--sparse", "always", "--block-size", "64K", name(&source), name(&dest)];
    let messages = stderr(&haul().args(copy).assert().code(1));
    assert!(messages.contains("is full"), "{messages}");
    if journal.exists() {
        claims_truly(&journal, &source, &dest);
    } else {
        assert!(messages.contains("note:") && messages.contains("journal"), "no note about the journal:\n{messages}");
    }
    assert!(!at.join(".dest.haul-journal.new").exists(), "half a journal is left");
}

#[test]
fn a_write_error_of_the_dest_leaves_a_valid_journal() {
    let dir = scratch();
    let [source, backing, journal] = ["source", "backing", "journal"].map(|name| dir.path().join(name));
    write_noise(&source, 2 * MIB, 506);
    filled(&backing, 2 * MIB, 0xAA);
    let bad = MIB as u64 + 4096..MIB as u64 + 8192;
    for engine in support::engines() {
        fs::write(&backing, vec![0xAA; 2 * MIB]).unwrap();
        let Some(disk) = FailingDisk::over(dir.path(), &backing, Fails::Writes, bad.clone()) else { return };
        let copy = |disk: &FailingDisk, options: &[&str]| {
            let mut command = haul();
            command.args(["copy", "--block-size", "64K", "--engine", engine, "--journal", name(&journal)]);
            command.args(options).args([&source, &disk.path()]).assert()
        };
        let messages = stderr(&copy(&disk, &["--checkpoint", "0", "--count", "2M"]).code(1));
        assert!(messages.contains("Input/output error") && messages.contains("--resume"), "{engine}: {messages}");
        assert!(claims_truly(&journal, &source, &backing) > 0, "{engine}");
        drop(disk);
        let Some(disk) = FailingDisk::with(dir.path(), &backing, Fails::Writes, &[]) else { return };
        copy(&disk, &["--resume", "--count", "2M"]).success();
        drop(disk);
        cmp(&source, &backing);
    }
}

#[test]
fn a_journal_that_cannot_be_created_is_a_warning_and_the_copy_continues() {
    let dir = memory_dir();
    let [source, backing, directory] = ["source", "backing", "folder"].map(|name| dir.path().join(name));
    write_noise(&source, MIB, 507);
    filled(&backing, MIB, 0);
    let Some(disk) = LoopDevice::over(&backing) else { return };
    fs::write(&directory, "no directory").unwrap();
    let copy = |variables: &[(&str, &str)], options: &[&str]| {
        let mut command = haul();
        command.env_remove("XDG_STATE_HOME").env_remove("HOME").envs(variables.iter().copied());
        command.args(["copy", "--yes"]).args(options).args([&source, disk.path()]).assert()
    };
    let messages = stderr(&copy(&[("XDG_STATE_HOME", name(&directory))], &[]).success());
    assert!(messages.contains("no journal:") && messages.contains("use --journal to name another file"), "{messages}");
    let messages = stderr(&copy(&[], &[]).success());
    assert!(messages.contains("no journal: neither XDG_STATE_HOME nor HOME is set"), "{messages}");
    let messages = stderr(&copy(&[], &["--resume"]).code(3));
    assert!(messages.contains("nothing to resume"), "{messages}");
    cmp(&source, disk.path());
}

#[test]
fn a_journal_of_another_copy_is_refused() {
    let dir = scratch();
    let [one, other, dest, journal] = ["one", "other", "dest", "journal"].map(|name| dir.path().join(name));
    write_noise(&one, 12 * MIB, 508);
    write_noise(&other, 12 * MIB, 509);
    let slow = ["copy", "--limit", "2M", "--block-size", "64K", "--progress", "json", "--journal", name(&journal)];
    let mut copy = Running::start(&[&slow[..], &[name(&one), name(&dest)]].concat(), Stdio::null(), Stdio::null());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    copy.signal(Signal::INT);
    copy.end_by(2);
    let before = (fs::read(&dest).unwrap(), fs::read(&journal).unwrap());
    let words = ["copy", "--resume", "--journal", name(&journal), name(&other), name(&dest)];
    let messages = stderr(&haul().args(words).assert().code(3));
    assert!(messages.contains("does not match") && messages.contains("source was"), "{messages}");
    let elsewhere = dir.path().join("elsewhere");
    let words = ["copy", "--resume", "--journal", name(&journal), name(&one), name(&elsewhere)];
    let messages = stderr(&haul().args(words).assert().code(3));
    assert!(messages.contains("does not match") && messages.contains("destination was"), "{messages}");
    assert!(!elsewhere.exists() && before == (fs::read(&dest).unwrap(), fs::read(&journal).unwrap()));
}

#[test]
fn errors_are_printed_with_every_progress_mode() {
    let dir = scratch();
    let [backing, dest] = ["backing", "dest"].map(|name| dir.path().join(name));
    write_noise(&backing, 64 << 10, 510);
    let Some(disk) = FailingDisk::over(dir.path(), &backing, Fails::Reads, 4096..8192) else { return };
    for style in ["none", "plain", "json"] {
        let words = ["copy", "--no-journal", "--on-error", "skip", "--progress", style];
        let messages = stderr_lines(&haul().args(words).args([&disk.path(), &dest]).assert().code(1));
        let reported = messages.lines().filter(|line| line.contains("warning") && line.contains("at byte 4096"));
        assert_eq!(reported.count(), 1, "--progress {style}:\n{messages}");
    }
}

/// Number of flushes of files whose names have this suffix, by system calls.
fn flushes(log: &str, file: &str) -> usize {
    let calls = log.lines().filter(|line| line.contains("fsync(") || line.contains("fdatasync("));
    calls.filter(|line| line.contains(&format!("{file}>"))).count()
}

#[test]
fn a_journal_costs_one_flush_per_checkpoint_and_none_if_it_is_not_needed() {
    if !has("strace") {
        return;
    }
    let dir = scratch();
    let [source, dest, log] = ["source", "dest", "log"].map(|name| dir.path().join(name));
    write_noise(&source, 8 * MIB, 511);
    let run = |options: &[&str]| {
        let _ = fs::remove_file(&dest);
        let mut command = Command::new("strace");
        command.args(["-f", "-y", "-e", "trace=fsync,fdatasync,sync_file_range,syncfs,sync", "-o", name(&log)]);
        command.arg(haul_path()).args(["copy", "--json", "--block-size", "64K"]).args(options);
        let output = command.args([&source, &dest]).stderr(Stdio::null()).output().unwrap();
        assert!(output.status.success());
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        let log = traced_calls(&log);
        assert!(!log.contains("sync_file_range") && !log.contains("syncfs(") && !log.contains(" sync("), "{log}");
        (log, report["journal"]["checkpoints"].as_u64().unwrap_or(0) as usize)
    };
    // There is no checkpoint in the first seconds, so none of its cost.
    let (log, checkpoints) = run(&["--checkpoint", "3600"]);
    assert_eq!((flushes(&log, "/dest"), checkpoints), (1, 0), "{log}");
    assert_eq!(flushes(&log, "haul-journal") + flushes(&log, ".new"), 0, "{log}");
    let (log, _) = run(&["--no-journal"]);
    assert_eq!(flushes(&log, "/dest"), 1, "{log}");
    // With the maximum number of checkpoints: each is a flush of the dest and one of the journal, and another
    // at the end.
    let (log, checkpoints) = run(&["--checkpoint", "0", "--limit", "8M"]);
    assert!(checkpoints > 1, "{log}");
    assert_eq!(flushes(&log, "/dest"), checkpoints + 1, "{log}");
    let lines = flushes(&log, "haul-journal") + flushes(&log, ".new") + flushes(&log, ".compact");
    assert!((checkpoints..=checkpoints + 4).contains(&lines), "{lines} of {checkpoints}:\n{log}");
}
