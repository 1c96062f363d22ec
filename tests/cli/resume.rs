//! `--resume`: the copies that it resumes, and everything that it refuses before a byte is written.
use crate::support;
use crate::support::{
    LoopDevice, Running, ScratchDir, cmp, copied_bytes, filled, has, haul, haul_path, memory_dir, name, scratch, skip,
    stderr, traced_calls, write_noise,
};
use assert_cmd::assert::Assert;
use rustix::process::Signal;
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MIB: usize = 1 << 20;
const LEN: usize = 12 * MIB + 345;
const SIGINT: i32 = 2;

/// A copy that ended early, with its journal.
struct Interrupted {
    dir: ScratchDir,
    source: PathBuf,
    dest: PathBuf,
}

/// Starts a copy with a limit, and interrupts it once bytes are copied.
fn interrupt(options: &[&str], source: &Path, dest: &Path) -> String {
    let slow = ["copy", "--limit", "3M", "--block-size", "64K", "--progress", "json"];
    let arguments = [&slow[..], options, &[name(source), name(dest)]].concat();
    let mut copy = Running::start(&arguments, Stdio::null(), Stdio::null());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 0));
    copy.signal(Signal::INT);
    copy.end_by(SIGINT);
    copy.messages.clone()
}

impl Interrupted {
    fn new(options: &[&str]) -> Self {
        let dir = scratch();
        let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
        write_noise(&source, LEN, 81);
        interrupt(options, &source, &dest);
        Interrupted { dir, source, dest }
    }

    fn journal(&self) -> PathBuf {
        self.dir.path().join(".dest.haul-journal")
    }

    fn resume(&self, options: &[&str]) -> Assert {
        let arguments = [&["copy", "--resume"], options, &[name(&self.source), name(&self.dest)]].concat();
        haul().args(arguments).assert()
    }

    /// Asserts that it is refused with this status and these words, and that nothing was written.
    #[track_caller]
    fn refuses(&self, options: &[&str], status: i32, words: &[&str]) {
        let before = (fs::read(&self.dest).ok(), fs::read(self.journal()).ok());
        let messages = stderr(&self.resume(options).code(status));
        for word in words {
            assert!(messages.contains(word), "no '{word}' in:\n{messages}");
        }
        assert!(messages.contains('→'), "no advice in:\n{messages}");
        assert!(
            before == (fs::read(&self.dest).ok(), fs::read(self.journal()).ok()),
            "something was written:\n{messages}"
        );
    }
}

#[test]
fn resume_copies_the_rest_and_removes_the_journal() {
    let copy = Interrupted::new(&[]);
    let printed = copy.resume(&["--json"]).success();
    let report: Value = serde_json::from_slice(&printed.get_output().stdout).expect("the report is JSON");
    let already = report["journal"]["already_bytes"].as_u64().expect("it is reported");
    assert!(already > 0, "{report}");
    assert_eq!(report["bytes"]["written_bytes"].as_u64(), Some(LEN as u64 - already), "{report}");
    assert_eq!((&report["journal"]["path"], &report["claimed"]["len_bytes"]), (&Value::Null, &Value::from(LEN)));
    cmp(&copy.source, &copy.dest);
    assert!(!copy.journal().exists());
    copy.refuses(&[], 3, &["nothing to resume", ".dest.haul-journal"]);
}

#[test]
fn the_report_of_an_interrupted_copy_names_the_journal_and_the_command() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, LEN, 82);
    let messages = interrupt(&[], &source, &dest);
    let report: Value = serde_json::from_str(messages.lines().last().unwrap()).expect("the last line is the report");
    assert!(report["continue_command"].as_str().unwrap().starts_with("haul copy --resume "), "{report}");
    assert!(report["journal"]["path"].as_str().unwrap().ends_with("/.dest.haul-journal"), "{report}");
    assert_eq!(report["journal"]["durable_bytes"], report["claimed"]["len_bytes"]);
}

#[test]
fn without_a_journal_the_printed_command_has_the_range_of_the_rest() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, LEN, 83);
    let messages = interrupt(&["--no-journal"], &source, &dest);
    assert!(messages.contains("haul copy --skip "), "{messages}");
    assert!(!dir.path().join(".dest.haul-journal").exists());
}

#[test]
fn a_short_copy_never_has_a_journal() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, LEN, 84);
    if !has("strace") {
        return skip("strace shows which files are made, and is not there");
    }
    let log = dir.path().join("log");
    let files = |options: &[&str]| {
        let mut command = Command::new("strace");
        command.args(["-f", "-e", "trace=openat", "-o", name(&log)]).arg(haul_path()).args([
            "copy",
            "--progress",
            "none",
        ]);
        assert!(command.args(options).args([&source, &dest]).status().unwrap().success());
        let log = traced_calls(&log);
        log.lines().filter(|line| line.contains("haul-journal") && line.contains("O_CREAT")).count()
    };
    assert_eq!(files(&[]), 0);
    assert_eq!(files(&["--checkpoint", "0"]), 1, "a journal is made otherwise");
    cmp(&source, &dest);
}

#[test]
fn a_range_of_a_file_with_holes_is_resumed() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    let file = File::create(&source).unwrap();
    let bytes = support::noise(MIB, 85);
    for mib in [1, 3, 4, 9, 13] {
        file.write_all_at(&bytes, mib * MIB as u64).unwrap();
    }
    file.set_len(16 * MIB as u64 + 77).unwrap();
    interrupt(&[], &source, &dest);
    haul().args(["copy", "--resume", name(&source), name(&dest)]).assert().success();
    cmp(&source, &dest);

    filled(&dest, 20 * MIB, 0xAA);
    let range = ["--skip", "1M", "--seek", "3M", "--count", "10M"];
    interrupt(&range, &source, &dest);
    let arguments = [&["copy", "--resume"], &range[..], &[name(&source), name(&dest)]].concat();
    haul().args(arguments).assert().success();
    support::cmp_ranges(&source, MIB as u64, &dest, 3 * MIB as u64, 10 * MIB as u64);
    let whole = fs::read(&dest).unwrap();
    assert!(whole.len() == 20 * MIB && whole[..3 * MIB].iter().chain(&whole[13 * MIB..]).all(|&byte| byte == 0xAA));
}

#[test]
fn changed_sides_are_refused_with_the_difference() {
    let copy = Interrupted::new(&[]);
    let (source, dest) = (fs::read(&copy.source).unwrap(), fs::read(&copy.dest).unwrap());
    let written = fs::metadata(&copy.dest).unwrap().modified().unwrap();
    fs::write(&copy.dest, &dest[..70_000]).unwrap();
    copy.refuses(
        &[],
        3,
        &["does not match", "the destination has 70000 bytes, fewer than the journal lists as durable"],
    );
    fs::remove_file(&copy.dest).unwrap();
    copy.refuses(&[], 3, &["the destination has 0 bytes"]);
    filled(&copy.dest, dest.len(), 0);
    copy.refuses(&[], 3, &["the destination at byte 0 no longer match the source"]);
    fs::write(&copy.dest, &dest).unwrap();
    File::options().write(true).open(&copy.dest).unwrap().set_modified(written).unwrap();

    fs::write(&copy.source, &source[..source.len() - 1]).unwrap();
    copy.refuses(&[], 3, &["source was", "the length of the copy changed"]);
    let mut other = source.clone();
    let end = other.len() - 1;
    other[end] ^= 1;
    fs::write(&copy.source, &other).unwrap();
    copy.refuses(&[], 3, &["of the source at byte", "changed"]);
    fs::write(&copy.source, &source).unwrap();

    copy.refuses(&["--skip", "1M"], 3, &["first byte of the source was 0 and is 1048576"]);
    let moved = copy.dir.path().join("moved");
    fs::rename(&copy.source, &moved).unwrap();
    let arguments = ["copy", "--resume", name(&moved), name(&copy.dest)];
    assert!(stderr(&haul().args(arguments).assert().code(3)).contains("source was"));
    fs::rename(&moved, &copy.source).unwrap();
    copy.resume(&[]).success();
    cmp(&copy.source, &copy.dest);
}

#[test]
fn a_damaged_journal_is_refused() {
    let copy = Interrupted::new(&["--checkpoint", "0.1"]);
    let whole = fs::read_to_string(copy.journal()).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    assert!(lines.len() > 1);
    let put = |text: &str| fs::write(copy.journal(), text).unwrap();

    put("");
    copy.refuses(&[], 3, &["an empty file", "→"]);
    put(&whole[..100]);
    copy.refuses(&[], 1, &["journal", "is truncated"]);
    put(&whole.replacen("\"haul_journal\":1", "\"haul_journal\":2", 1));
    copy.refuses(&[], 2, &["newer than this version of haul", "→ Use the haul that wrote it"]);
    put(&whole.replacen("12583257", "12583258", 1));
    copy.refuses(&[], 1, &["line 1", "damaged"]);
    let lost_first = lines[0].to_owned() + &"{\"durable\":[[0,9]],\"check\":\"0123456789abcdef\"}\n".repeat(2);
    put(&lost_first);
    copy.refuses(&[], 1, &["line 2", "damaged", "unknown which data is durable"]);
    put("#!/bin/sh\n");
    copy.refuses(&[], 3, &[", not a journal"]);
    // A file that is not a journal is never removed, nor is a journal of a later version of haul.
    let arguments = ["copy", name(&copy.source), name(&copy.dest)];
    assert!(stderr(&haul().args(arguments).assert().code(3)).contains(", not a journal"));

    // A crash leaves a torn last line.
    put(&(whole.clone() + "{\"durable\":[[0,12583"));
    copy.resume(&[]).success();
    cmp(&copy.source, &copy.dest);
}

#[test]
fn options_that_exclude_resume_are_refused() {
    let copy = Interrupted::new(&[]);
    copy.refuses(&["--reflink", "always"], 1, &["--reflink always"]);
    copy.refuses(&["--no-flush"], 2, &["--no-flush is given"]);
    haul().args(["copy", "--resume", "--no-journal", "a", "b"]).assert().code(2);
    let messages = stderr(&haul().args(["copy", "--resume", "-", name(&copy.dest)]).write_stdin("x").assert().code(2));
    assert!(messages.contains("the source is a stream"), "{messages}");
}

#[test]
fn a_restarted_copy_removes_the_old_journal_before_it_writes() {
    for option in [&[][..], &["--no-journal"]] {
        let copy = Interrupted::new(&[]);
        // A dest that cannot be opened is not written; its journal was removed before.
        let arguments = [&["copy", "--restart"], option, &[name(&copy.source), name(&copy.dest)]].concat();
        let messages = stderr(&haul().args(arguments).assert().success());
        assert!(messages.contains("unfinished copy") && messages.contains("removed its journal"), "{messages}");
        assert!(!copy.journal().exists());
        cmp(&copy.source, &copy.dest);
    }
}

#[test]
fn a_named_journal_is_discarded_only_with_restart() {
    let dir = scratch();
    let (source, dest, journal) = (dir.path().join("source"), dir.path().join("dest"), dir.path().join("journal"));
    write_noise(&source, LEN, 86);
    let option = ["--journal", name(&journal)];
    interrupt(&option, &source, &dest);
    let arguments = [&["copy"], &option[..], &[name(&source), name(&dest)]].concat();
    let messages = stderr(&haul().args(&arguments).assert().code(3));
    assert!(messages.contains("unfinished copy") && messages.contains("--resume"), "{messages}");
    haul().args(&arguments).arg("--resume").assert().success();
    cmp(&source, &dest);
    assert!(!journal.exists());
}

#[test]
fn a_journal_path_that_cannot_be_written_is_refused_before_the_first_write() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, LEN, 87);
    let nowhere = dir.path().join("nowhere/journal");
    let arguments = ["copy", "--journal", name(&nowhere), name(&source), name(&dest)];
    let messages = stderr(&haul().args(arguments).assert().code(1));
    assert!(messages.contains("nowhere/journal") && messages.contains("No such file or directory"), "{messages}");
    assert!(!dest.exists(), "the dest was created anyway");
}

#[test]
fn a_journal_that_another_copy_uses_is_refused() {
    let copy = Interrupted::new(&[]);
    let file = OpenOptions::new().write(true).open(copy.journal()).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    copy.refuses(&[], 3, &["another process is using it"]);
    let messages = stderr(&haul().args(["copy", name(&copy.source), name(&copy.dest)]).assert().code(3));
    assert!(messages.contains("another process is using it"), "{messages}");
}

#[test]
fn the_journal_of_a_device_is_in_the_state_directory() {
    let dir = memory_dir();
    let (from, to, state) = (dir.path().join("from"), dir.path().join("to"), dir.path().join("state"));
    let bytes = write_noise(&from, 12 * MIB, 88);
    filled(&to, 12 * MIB, 0xAA);
    let Some(dest) = LoopDevice::over(&to) else { return };
    let mut slow = Command::new(support::haul_path());
    slow.args(["copy", "--limit", "3M", "--block-size", "64K", "--checkpoint", "0.1", "--yes", "--progress", "none"]);
    let mut copy = slow.arg(&from).arg(dest.path()).env("XDG_STATE_HOME", &state).spawn().unwrap();
    let journals = || -> Vec<_> {
        fs::read_dir(state.join("haul")).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    };
    // Next to the journal there may be its replacement in progress.
    while !journals().iter().any(|path| name(path).ends_with(".journal")) {
        assert!(copy.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // The first line exists before the first claim.
    while fs::read_to_string(&journals()[0]).unwrap().lines().count() < 2 {
        assert!(copy.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    copy.kill().unwrap();
    copy.wait().unwrap();
    dest.wait_until_free();
    assert_eq!(fs::metadata(state.join("haul")).unwrap().permissions().mode() & 0o777, 0o700);
    let journals = journals();
    let [journal] = &journals[..] else { panic!("{journals:?}") };
    assert!(name(journal).ends_with(&format!("{}.journal", dest.path().file_name().unwrap().to_str().unwrap())));
    let resume = || {
        let mut command = haul();
        command.args(["copy", "--resume", "--yes", name(&from)]).arg(dest.path()).env("XDG_STATE_HOME", &state);
        command.assert()
    };
    // Another program wrote to the disk in the meantime.
    let mut disk = OpenOptions::new().write(true).open(dest.path()).unwrap();
    disk.write_all(b"mine").unwrap();
    disk.sync_all().unwrap();
    let messages = stderr(&resume().code(3));
    assert!(messages.contains("the destination at byte 0 no longer match the source"), "{messages}");
    disk.seek(SeekFrom::Start(0)).unwrap();
    disk.write_all(&bytes[..4]).unwrap();
    disk.sync_all().unwrap();
    drop(disk);
    resume().success();
    cmp(&from, dest.path());
    assert!(!journal.exists());
}

/// Another program writes a sector outside the samples.
#[test]
fn a_write_to_the_dest_under_another_name_is_detected() {
    let copy = Interrupted::new(&["--checkpoint", "0.1"]);
    let other = copy.dir.path().join("other");
    fs::hard_link(&copy.dest, &other).unwrap();
    // A link, another mode and a read do not change the data.
    fs::set_permissions(&copy.dest, fs::Permissions::from_mode(0o640)).unwrap();
    let kept = [copy.journal(), copy.dest.clone()].map(|path| fs::read(path).unwrap());
    let modified = fs::metadata(&copy.dest).unwrap().modified().unwrap();
    let to = format!("of={}", name(&other));
    haul().args(["dd", "if=/dev/zero", &to, "bs=512", "seek=200", "count=1", "conv=notrunc"]).assert().success();
    let before = fs::read(&copy.dest).unwrap();
    let refused = copy.resume(&[]).failure().code(3);
    let messages = stderr(&refused);
    for wanted in ["its modification time was", "--restart --delta", "touch -d"] {
        assert!(messages.contains(wanted), "no '{wanted}' in: {messages}");
    }
    assert!(fs::read(&copy.dest).unwrap() == before, "something was written");
    // If data and modification time are those of the copy, it continues.
    fs::write(&copy.dest, &kept[1]).unwrap();
    File::options().write(true).open(&copy.dest).unwrap().set_modified(modified).unwrap();
    assert!(fs::read(copy.journal()).unwrap() == kept[0], "the refusal changed the journal");
    copy.resume(&[]).success();
    cmp(&copy.source, &copy.dest);
}

#[test]
fn a_resumed_copy_that_is_killed_can_be_resumed_again() {
    let copy = Interrupted::new(&["--checkpoint", "0.1"]);
    let slow = ["copy", "--resume", "--limit", "2M", "--block-size", "64K", "--progress", "json", "--checkpoint", "60"];
    let arguments = [&slow[..], &[name(&copy.source), name(&copy.dest)]].concat();
    let written = fs::metadata(&copy.dest).unwrap().modified().unwrap();
    let mut killed = Running::start(&arguments, Stdio::null(), Stdio::null());
    // Bytes written after the last line of the journal.
    support::wait_until(|| fs::metadata(&copy.dest).unwrap().modified().unwrap() != written);
    killed.signal(Signal::KILL);
    killed.end_by(9);
    copy.resume(&[]).success();
    cmp(&copy.source, &copy.dest);
}

#[test]
fn a_dest_that_was_renamed_or_replaced_during_the_copy_is_reported() {
    for replaced in [false, true] {
        let dir = scratch();
        let [source, dest, moved] = ["source", "dest", "moved"].map(|name| dir.path().join(name));
        write_noise(&source, 6 * MIB, 82);
        let words = ["copy", "--limit", "2M", "--block-size", "64K", "--progress", "json", name(&source), name(&dest)];
        let mut copy = Running::start(&words, Stdio::null(), Stdio::null());
        copy.read_until(|line| line.contains("\"phase\":\"copying\""));
        fs::rename(&dest, &moved).unwrap();
        if replaced {
            fs::write(&dest, "another").unwrap();
        }
        let (status, _) = copy.end();
        assert_eq!(status.code(), Some(1), "{}", copy.messages);
        let wanted = if replaced { "now refers to another file" } else { "no longer exists" };
        assert!(copy.messages.contains(wanted), "{}", copy.messages);
        cmp(&source, &moved);
    }
}
