//! Connections to NBD servers that break, and servers that restart or are slow when the copy is stopped.
use crate::support::{
    Breaking, NbdServer, Running, Way, cmp, copied_bytes, engines, filled, haul, in_one_line, name, scratch, stderr,
    write_noise,
};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Stdio;

const MIB: usize = 1 << 20;

/// Runs a copy that must succeed.
fn copy(arguments: &[&str]) {
    haul().args(["copy", "-q", "--yes"]).args(arguments).assert().success();
}

#[test]
fn a_source_whose_connections_break_is_read_on_when_they_are_back() {
    let dir = scratch();
    let (source, back) = (dir.path().join("source"), dir.path().join("back"));
    write_noise(&source, 24 * MIB, 3);
    let file = format!("file={}", name(&source));
    // With more threads nbdkit 1.32 fails an assertion when a connection breaks.
    let Some(server) = NbdServer::nbdkit(dir.path(), &["-t", "1", "-r", "file", &file]) else { return };
    for engine in engines() {
        let _ = fs::remove_file(dir.path().join("breaking"));
        let breaking =
            Breaking::new(dir.path(), &server, Way::FromServer, |number| (number % 2 == 1).then_some(1_500_001));
        let args = ["copy", "--yes", "--engine", engine, &breaking.address(""), name(&back)];
        let messages = stderr(&haul().args(args).args(["-v"]).assert().success());
        assert!(messages.contains("that were lost and restored"), "{engine}: {messages}");
        cmp(&source, &back);
        fs::remove_file(&back).unwrap();
    }
}

#[test]
fn a_source_whose_connections_break_at_each_request_ends_the_copy() {
    let dir = scratch();
    let (source, back) = (dir.path().join("source"), dir.path().join("back"));
    write_noise(&source, 4 * MIB, 3);
    let file = format!("file={}", name(&source));
    let Some(server) = NbdServer::nbdkit(dir.path(), &["-t", "1", "-r", "file", &file]) else { return };
    let breaking = Breaking::new(dir.path(), &server, Way::FromServer, |number| (number > 0).then_some(5000));
    for engine in engines() {
        let args = ["copy", "--yes", "--restart", "--engine", engine, &breaking.address(""), name(&back)];
        let messages = stderr(&haul().args(args).assert().code(1));
        assert!(
            messages.contains("cannot read it at byte 0: the connection to the NBD server was lost"),
            "{engine}: {messages}"
        );
    }
}

#[test]
fn a_destination_that_is_lost_ends_the_copy_and_only_what_was_flushed_is_resumed_from() {
    let dir = scratch();
    let (source, store, exported) = (dir.path().join("source"), dir.path().join("store"), dir.path().join("there"));
    write_noise(&source, 24 * MIB, 4);
    filled(&store, 24 * MIB, 0);
    let file = format!("file={}", name(&store));
    // One thread, as above.
    let Some(server) = NbdServer::nbdkit(dir.path(), &["-t", "1", "file", &file]) else { return };
    // The first connection is for probing.
    let breaking = Breaking::new(dir.path(), &server, Way::ToServer, |number| (number > 0).then_some(2 * MIB + 77));
    let journal = dir.path().join("journal");
    let args =
        ["copy", "--yes", "--block-size", "256K", "--journal", name(&journal), name(&source), &breaking.address("")];
    let failed = haul().args(args).assert().code(1);
    let messages = stderr(&failed);
    assert!(messages.contains("has disappeared: cannot write it") && messages.contains("was lost"), "{messages}");
    // Another address of the same export counts as another export.
    let resume = ["copy", "--yes", "--resume", "--journal", name(&journal), name(&source), &server.address("")];
    if journal.exists() {
        haul().args(resume).assert().code(3);
    }
    copy(&["--restart", "--no-journal", name(&source), &server.address("")]);
    server.saved_to(&exported);
    cmp(&source, &exported);
}

#[test]
fn a_copy_continues_from_its_checkpoint_when_the_server_of_its_destination_restarts() {
    // With the second interval there is no checkpoint before the server ends.
    for checkpoint in ["0.2", "60"] {
        let dir = scratch();
        let (source, store, there) = (dir.path().join("source"), dir.path().join("store"), dir.path().join("there"));
        write_noise(&source, 24 * MIB, 5);
        filled(&store, 24 * MIB, 0);
        let file = format!("file={}", name(&store));
        let caching = ["--filter=cache", "file", &file, "cache=writeback"];
        let Some(mut server) = NbdServer::nbdkit(dir.path(), &caching) else { return };
        let paced = ["copy", "--yes", "--limit", "6M", "--progress", "json", "--checkpoint", checkpoint];
        let address = server.address("");
        let args = [&paced[..], &["--hash", "blake3", name(&source), &address]].concat();
        let mut copy = Running::start(&args, Stdio::null(), Stdio::null());
        copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 4 << 20));
        // The copy must not complete before the server ends.
        copy.signal(Signal::STOP);
        server.restart();
        copy.signal(Signal::CONT);
        let (status, _) = copy.end();
        let report: Value = serde_json::from_str(copy.messages.lines().last().unwrap()).unwrap();
        assert!(status.success(), "{}", copy.messages);
        assert!(copy.messages.contains("was lost and restored"), "{}", copy.messages);
        let resumed = report["journal"]["already_bytes"].as_u64().unwrap_or(0);
        assert_eq!(resumed > 0, checkpoint == "0.2", "{report}");
        let digest = blake3::hash(&fs::read(&source).unwrap()).to_hex();
        assert_eq!(report["digests"][0]["hex"], digest.as_str(), "{report}");
        server.saved_to(&there);
        cmp(&source, &there);
    }
}

/// A copy of 24 MiB of noise that is stopped (SIGSTOP) after 4 MiB, and whose server was killed then.
fn copy_whose_server_ended(dir: &Path, source: &Path, store: &Path) -> Option<(NbdServer, Running)> {
    write_noise(source, 24 * MIB, 6);
    filled(store, 24 * MIB, 0);
    let mut server = NbdServer::nbdkit(dir, &["file", &format!("file={}", name(store))])?;
    let address = server.address("");
    let args = ["copy", "--yes", "--limit", "6M", "--progress", "json", "--checkpoint", "0.2", name(source), &address];
    let mut copy = Running::start(&args, Stdio::null(), Stdio::null());
    copy.read_until(|line| copied_bytes(line).is_some_and(|bytes| bytes > 4 << 20));
    copy.signal(Signal::STOP);
    server.stop();
    Some((server, copy))
}

#[test]
fn a_signal_ends_the_wait_for_a_lost_server_and_the_copy_can_be_continued() {
    let dir = scratch();
    let (source, store) = (dir.path().join("source"), dir.path().join("store"));
    let Some((mut server, mut copy)) = copy_whose_server_ended(dir.path(), &source, &store) else { return };
    copy.signal(Signal::CONT);
    copy.read_until(|line| line.contains("waiting up to 30 s"));
    copy.signal(Signal::INT);
    copy.end_by(libc::SIGINT);
    server.restart();
    haul().args(["copy", "-q", "--yes", "--resume", name(&source), &server.address("")]).assert().success();
    cmp(&source, &store);
}

#[test]
fn a_server_that_returns_with_another_export_ends_the_copy_with_its_report() {
    let dir = scratch();
    let (source, store) = (dir.path().join("source"), dir.path().join("store"));
    let Some((mut server, mut copy)) = copy_whose_server_ended(dir.path(), &source, &store) else { return };
    filled(&store, 8 * MIB, 0);
    server.restart();
    copy.signal(Signal::CONT);
    let (status, _) = copy.end();
    let report: Value = serde_json::from_str(copy.messages.lines().last().unwrap()).unwrap();
    // Not 3, which would mean that nothing was written.
    assert_eq!((status.code(), &report["status"]), (Some(1), &"failed".into()), "{report}");
    assert!(report["notes"].to_string().contains("could not be continued"), "{report}");
}

#[test]
fn a_stop_while_the_last_blocks_are_in_flight_leaves_the_digest_right() {
    let dir = scratch();
    let (source, store) = (dir.path().join("source"), dir.path().join("store"));
    let digest = blake3::hash(&write_noise(&source, 16 * MIB, 10)).to_hex();
    filled(&store, 16 * MIB, 0);
    let file = format!("file={}", name(&store));
    let Some(server) = NbdServer::nbdkit(dir.path(), &["--filter=delay", "file", &file, "wdelay=1500ms"]) else {
        return;
    };
    // The last writes are in flight for longer than a second, and the time is up meanwhile.
    for options in [&["--hash", "blake3"][..], &["--verify", "--hash", "blake3"]] {
        let args = [&["copy", "--yes", "--restart", "--json", "--time", "1s"], options].concat();
        let output = haul().args(args).args([name(&source), &server.address("")]).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        if report["status"] == "complete" {
            assert_eq!(report["digests"][0]["hex"], digest.as_str(), "{report}");
            assert!(output.status.success(), "{}", in_one_line(&output.stderr));
            cmp(&source, &store);
        }
    }
}
