//! Objects as source and destination, with a store that others wrote: versitygw.
use crate::support::{
    Fate, ObjectServer, SECRET, StoreProxy, cmp, engines, in_one_line, name, scratch, state_home, wait_until,
    write_noise,
};
use assert_cmd::Command as Run;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

const MIB: usize = 1 << 20;

/// Three parts of 8 MiB and a shorter one.
const LEN: usize = 25 * MIB + 333;

/// The status of a command and everything that it printed, which has no secret.
#[track_caller]
fn ran(command: &mut Run) -> (i32, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = in_one_line([stdout, stderr].concat());
    assert!(!text.contains(SECRET) && !text.contains("X-Amz-Signature"), "{text}");
    (status.code().unwrap_or(-1), text)
}

#[track_caller]
fn copy(server: &ObjectServer, arguments: &[&str]) -> String {
    let (status, text) = ran(server.haul().args(["copy", "-v"]).args(arguments));
    assert_eq!(status, 0, "{text}");
    text
}

#[test]
fn memory_does_not_grow_with_the_object() {
    let dir = scratch();
    let Some(server) = ObjectServer::start(dir.path()) else { return };
    let (small, large) = (dir.path().join("small"), dir.path().join("large"));
    write_noise(&small, 1000, 1);
    write_noise(&large, 120 * MIB, 1);
    let peak = |from: &str, to: &str| {
        let output = server.haul().args(["copy", "--json", "--yes", "--no-journal", from, to]).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["status"], "complete", "{report}");
        report["peak_resident_bytes"].as_u64().unwrap() as usize
    };
    let least = peak(name(&small), "s3://vault/small");
    // Blocks of the copy, one part that is collected, and three on their way.
    let up = peak(name(&large), "s3://vault/large");
    assert!(up < least + (16 + 4 * 8 + 6) * MIB, "{} MiB and {} MiB", least / MIB, up / MIB);
    let down = peak("s3://vault/large", name(&dir.path().join("back")));
    assert!(down < least + (32 + 6) * MIB, "{} MiB and {} MiB", least / MIB, down / MIB);
}

/// The journal of an unfinished copy to this object.
fn journal_of(key: &str) -> PathBuf {
    let directory = state_home().join("haul");
    let start = format!("s3___vault_{key}-");
    let files = fs::read_dir(&directory).into_iter().flatten().flatten();
    let found = files
        .map(|file| file.path())
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start)));
    found.unwrap_or_else(|| directory.join("none"))
}

/// Bytes that a journal claims.
fn claimed_bytes(journal: &Path) -> u64 {
    let text = fs::read_to_string(journal).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let bytes = |extent: &Value| extent[1].as_u64().unwrap();
    lines.filter_map(|line| Some(line["durable"].as_array()?.iter().map(bytes).sum::<u64>())).sum()
}

/// A copy that waits in its fourth part; ends with the test.
struct StuckCopy {
    child: Child,
    _proxy: StoreProxy,
}

impl StuckCopy {
    /// Copies `source` to s3://vault/`key`, until the journal has a part.
    fn start(server: &ObjectServer, source: &Path, key: &str) -> StuckCopy {
        let proxy = StoreProxy::start(server, |passing| match passing.is_part() && passing.earlier >= 3 {
            true => Fate::Hangs,
            false => Fate::Answered,
        });
        let mut command = server.command_at(proxy.port());
        command.env("HAUL_HTTP_TIMEOUT", "600").args(["copy", "--checkpoint", "0.2", "--limit", "4M", name(source)]);
        let child = command.arg(format!("s3://vault/{key}")).stderr(Stdio::piped()).spawn().unwrap();
        let stuck = StuckCopy { child, _proxy: proxy };
        wait_until(|| claimed_bytes(&journal_of(key)) > 0);
        stuck
    }

    /// Ends it with this signal, and returns what it printed.
    fn end(mut self, signal: Signal) -> String {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let mut text = String::new();
        self.child.stderr.take().expect("it is piped").read_to_string(&mut text).unwrap();
        in_one_line(text)
    }
}

impl Drop for StuckCopy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_object_is_written_and_read_by_every_engine() {
    let dir = scratch();
    let Some(server) = ObjectServer::start(dir.path()) else { return };
    let (source, back) = (dir.path().join("source"), dir.path().join("back"));
    for len in [0, 1000, 8 * MIB, LEN] {
        write_noise(&source, len, 1);
        for engine in engines() {
            copy(&server, &["--engine", engine, "--verify", name(&source), "s3://vault/a/disk image.img"]);
            cmp(&source, server.file("a/disk image.img"));
            copy(&server, &["--engine", engine, "s3://vault/a/disk image.img", name(&back)]);
            cmp(&source, &back);
        }
    }
    let compared = ran(server.haul().args(["verify", name(&source), "s3://vault/a/disk image.img"]));
    assert!(compared.0 == 0 && compared.1.contains("equal"), "{compared:?}");
    fs::write(&back, "x").unwrap();
    let compared = ran(server.haul().args(["verify", name(&back), "s3://vault/a/disk image.img", "--count", "1"]));
    assert_eq!(compared.0, 1, "{compared:?}");
}

#[test]
fn a_stream_of_unknown_length_and_holes_become_an_object() {
    let dir = scratch();
    let Some(server) = ObjectServer::start(dir.path()) else { return };
    let source = dir.path().join("source");
    let bytes = write_noise(&source, LEN, 2);
    let output = server.haul().args(["copy", "-q", "-", "s3://vault/piped"]).write_stdin(bytes).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    cmp(&source, server.file("piped"));
    let file = fs::File::options().write(true).open(&source).unwrap();
    file.set_len(3 * LEN as u64).unwrap();
    copy(&server, &[name(&source), "s3://vault/sparse"]);
    cmp(&source, server.file("sparse"));
    copy(&server, &[name(&source), "s3://vault/one", "--also", "s3://vault/two"]);
    cmp(&source, server.file("one"));
    cmp(&source, server.file("two"));
}

#[test]
fn a_dry_run_reports_what_the_server_has() {
    let dir = scratch();
    let Some(server) = ObjectServer::start(dir.path()) else { return };
    let source = dir.path().join("source");
    write_noise(&source, LEN, 3);
    let (status, text) = ran(server.haul().args(["copy", "--dry-run", name(&source), "s3://vault/new"]));
    let expected = ["new object", "S3 by HTTP/1.1", "VERSITYGW", "8 MiB each", "created at the end", "journal"];
    assert!(status == 0 && expected.iter().all(|words| text.contains(words)), "{text}");
    assert!(!server.file("new").exists());
    copy(&server, &[name(&source), "s3://vault/new"]);
    let json = server.haul().args(["copy", "--dry-run", "--json", "s3://vault/new", "/dev/null"]).output().unwrap();
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let side = &json["source"];
    assert_eq!((side["kind"].as_str(), side["size_bytes"].as_u64()), (Some("object"), Some(LEN as u64)), "{side}");
    let etag = side["http"]["etag"].as_str().unwrap().to_owned();
    copy(&server, &["--expect", &format!("etag={etag}"), "s3://vault/new", "/dev/null"]);
    let (status, text) = ran(server.haul().args(["copy", "--expect", "etag=other", "s3://vault/new", "/dev/null"]));
    assert!(status != 0 && text.contains("is not the expected resource"), "{text}");
}

#[test]
fn compressed_objects_are_decompressed_to_devices_and_refused_where_they_would_not_be_compressed() {
    let dir = scratch();
    let Some(server) = ObjectServer::start(dir.path()) else { return };
    let [plain, packed, back] = ["plain", "plain.zst", "back"].map(|file| dir.path().join(file));
    write_noise(&plain, 3 * MIB + 5, 9);
    copy(&server, &[name(&plain), name(&packed)]);
    // A name that says so is not enough: the bytes of a disk would be named as if they were compressed.
    let address = "s3://vault/plain.zst";
    let (status, text) = ran(server.haul().args(["copy", name(&plain), address]));
    assert!(status == 3 && text.contains("does not compress objects") && text.contains("--as-is"), "{status}: {text}");
    // What is compressed already keeps its bytes, and comes back as they are, or as its content.
    copy(&server, &[name(&packed), address]);
    copy(&server, &[address, name(&back)]);
    cmp(&packed, &back);
    copy(&server, &["--decompress", "--verify", "--yes", address, name(&back)]);
    cmp(&plain, &back);
    copy(&server, &["--as-is", "--yes", name(&plain), address]);
    // The advice of the refusal.
    let compressed = server.haul().args(["copy", "--compress", "zstd", name(&plain), "-"]).output().unwrap().stdout;
    let (status, text) = ran(server.haul().args(["copy", "--yes", "-", address]).write_stdin(compressed));
    assert_eq!(status, 0, "{text}");
    copy(&server, &["--decompress", "--yes", address, name(&back)]);
    cmp(&plain, &back);
}

#[test]
fn a_copy_that_a_store_cannot_hold_is_refused_before_anything_is_written() {
    let dir = scratch();
    let Some(server) = ObjectServer::start(dir.path()) else { return };
    let source = dir.path().join("source");
    write_noise(&source, 1000, 4);
    let from = name(&source);
    copy(&server, &[from, "s3://vault/there"]);
    for (arguments, words) in [
        (&["copy", from, "s3://vault/x", "--seek", "1M"][..], "which stores replace only as a whole"),
        (&["copy", from, "s3://vault/x", "--delta"], "--delta"),
        (&["copy", from, "s3://nobucket/x"], "NoSuchBucket"),
        (&["copy", "s3://vault/missing", "/dev/null"], "the bucket has no such object"),
        (&["copy", from, "s3://vault/"], "names no object"),
        (&["pattern", "write", "s3://vault/x", "--yes"], "cannot hold a test pattern"),
        (&["copy", "--on-error", "skip", "s3://vault/there", "/dev/null"], "--on-error: source s3://vault/there"),
        (&["copy", "s3://vault/there", "s3://vault/there"], "are the same data"),
        (&["tune", "s3://vault/there"], "neither a disk nor a file"),
        (&["profile", "s3://vault/there"], "neither a disk nor a file"),
    ] {
        let (status, text) = ran(server.haul().args(arguments));
        assert!(status != 0 && text.contains(words), "{arguments:?}: {text}");
    }
    let mut wrong = server.haul();
    let (status, text) = ran(wrong.env("AWS_SECRET_ACCESS_KEY", "wrong").args(["copy", from, "s3://vault/x"]));
    assert!(status != 0 && text.contains("403") && text.contains("Check the credentials"), "{text}");
    let (status, text) = ran(server.haul().env_remove("AWS_ALLOW_HTTP").args(["copy", from, "s3://vault/x"]));
    assert!(status != 0 && text.contains("is not encrypted"), "{text}");
    let mut away = server.haul_at(1);
    let (status, text) = ran(away.env("HAUL_HTTP_RETRIES", "1").args(["copy", from, "s3://vault/x"]));
    assert!(status != 0 && text.contains("cannot connect"), "{text}");
    assert!(!server.file("x").exists());
}

#[test]
fn a_killed_copy_is_resumed_with_its_stored_parts_and_nothing_is_visible_before() {
    let dir = scratch();
    let Some(server) = ObjectServer::start(dir.path()) else { return };
    let source = dir.path().join("source");
    write_noise(&source, LEN + 16 * MIB, 5);
    StuckCopy::start(&server, &source, "killed").end(Signal::KILL);
    assert!(!server.file("killed").exists(), "it is visible before it is complete");
    let stored = claimed_bytes(&journal_of("killed")) / (8 * MIB as u64);
    let journal = fs::read_to_string(journal_of("killed")).unwrap();
    assert!(!journal.contains(SECRET), "{journal}");
    let (_, listed) = ran(server.haul().args(["journal", "list"]));
    assert!(listed.contains("haul copy --resume") && listed.contains("s3://vault/killed"), "{listed}");
    let (status, text) = ran(server.haul().args(["copy", name(&source), "s3://vault/killed"]));
    assert!(status != 0 && text.contains("--resume"), "{text}");
    let proxy = StoreProxy::start(&server, |_| Fate::Answered);
    let mut resumed = server.haul_at(proxy.port());
    let (status, text) = ran(resumed.args(["copy", "--resume", "--verify", name(&source), "s3://vault/killed"]));
    assert_eq!(status, 0, "{text}");
    cmp(&source, server.file("killed"));
    let sent = proxy.passed().iter().filter(|passing| passing.is_part()).count();
    assert_eq!(sent as u64, 6 - stored, "parts that the journal has are not sent again");
    assert!(!journal_of("killed").exists());
}

#[test]
fn an_upload_without_some_of_its_parts_or_aborted_is_noticed_when_it_is_resumed() {
    let dir = scratch();
    let Some(server) = ObjectServer::start(dir.path()) else { return };
    let source = dir.path().join("source");
    write_noise(&source, LEN + 16 * MIB, 6);
    StuckCopy::start(&server, &source, "aborted").end(Signal::KILL);
    let (status, listed) = ran(server.haul().args(["journal", "uploads", "s3://vault"]));
    let words: Vec<&str> = listed.split(' ').collect();
    let [_, id, "s3://vault/aborted"] = words[..] else { panic!("{status}: {listed}") };
    let (_, other) = ran(server.haul().args(["journal", "uploads", "s3://vault/other"]));
    assert_eq!(other, "No incomplete uploads.");
    let (status, text) = ran(server.haul().args(["journal", "abort", "s3://vault/aborted", id]));
    assert!(status != 0 && text.contains("--yes"), "{text}");
    let (status, text) = ran(server.haul().args(["journal", "abort", "--yes", "s3://vault/aborted", id]));
    assert!(status == 0 && text.contains("is aborted"), "{text}");
    let (status, text) = ran(server.haul().args(["copy", "--resume", name(&source), "s3://vault/aborted"]));
    assert!(status != 0 && text.contains("does not exist") && text.contains("--restart"), "{text}");
    copy(&server, &["--restart", name(&source), "s3://vault/aborted"]);
    cmp(&source, server.file("aborted"));
}

#[test]
fn a_copy_that_begins_again_discards_the_upload_of_the_earlier_one() {
    let dir = scratch();
    let Some(server) = ObjectServer::start(dir.path()) else { return };
    let source = dir.path().join("source");
    write_noise(&source, LEN + 16 * MIB, 7);
    let output = StuckCopy::start(&server, &source, "again").end(Signal::INT);
    assert!(output.contains("stored in parts, not visible"), "{output}");
    assert!(
        output.contains("haul copy --resume") && output.contains("haul journal abort s3://vault/again"),
        "{output}"
    );
    copy(&server, &["--restart", name(&source), "s3://vault/again"]);
    let (_, listed) = ran(server.haul().args(["journal", "uploads", "s3://vault/again"]));
    assert_eq!(listed, "No incomplete uploads.");
}

#[test]
fn a_resumed_copy_refuses_another_source() {
    let dir = scratch();
    let Some(server) = ObjectServer::start(dir.path()) else { return };
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, LEN, 8);
    copy(&server, &[name(&source), "s3://vault/changing"]);
    let mut command = server.command_at(server.port());
    command.args(["copy", "--checkpoint", "1", "--limit", "4M", "s3://vault/changing", name(&dest)]);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let journal = dir.path().join(".dest.haul-journal");
    wait_until(|| claimed_bytes(&journal) > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    write_noise(&source, LEN, 9);
    copy(&server, &[name(&source), "s3://vault/changing"]);
    let (status, text) = ran(server.haul().args(["copy", "--resume", "s3://vault/changing", name(&dest)]));
    assert!(status != 0 && text.contains("does not match"), "{text}");
}
