//! Exports of NBD servers as source and destination, with independent servers: nbdkit and qemu-nbd.
use crate::support::{
    Breaking, NbdServer, Way, cmp, cmp_ranges, engines, filled, has, haul, in_one_line, name, scratch, state_home,
    stderr, write_noise,
};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

const MIB: usize = 1 << 20;

/// Runs a copy that must succeed.
fn copy(arguments: &[&str]) {
    haul().args(["copy", "-q", "--yes"]).args(arguments).assert().success();
}

/// Data, a hole, data, and a length that is not a multiple of the block size.
fn sparse_file(path: &Path) {
    write_noise(path, 3 * MIB + 12_345, 5);
    let file = File::options().write(true).open(path).unwrap();
    file.set_len(40 * MIB as u64).unwrap();
    file.write_all_at(&crate::support::noise(MIB + 512, 6), 20 * MIB as u64).unwrap();
    file.set_len(40 * MIB as u64 + 512).unwrap();
}

#[test]
fn an_export_is_copied_to_a_file_and_a_file_to_an_export_by_every_engine() {
    let dir = scratch();
    let (source, exported, back) = (dir.path().join("source"), dir.path().join("there"), dir.path().join("back"));
    write_noise(&source, 9 * MIB + 333, 1);
    let size = format!("{}", 10 * MIB);
    let Some(server) = NbdServer::nbdkit(dir.path(), &["memory", &size]) else { return };
    for engine in engines() {
        copy(&["--engine", engine, name(&source), &server.address("any")]);
        server.saved_to(&exported);
        cmp_ranges(&source, 0, &exported, 0, (9 * MIB + 333) as u64);
        copy(&["--engine", engine, "--count", "9437517", &server.address(""), name(&back)]);
        cmp(&source, &back);
        fs::remove_file(&back).unwrap();
        copy(&["--engine", engine, "/dev/zero", &server.address("any")]);
    }
}

#[test]
fn an_export_is_reached_by_tcp_under_its_host_and_port() {
    let dir = scratch();
    let (source, back) = (dir.path().join("source"), dir.path().join("back"));
    write_noise(&source, 5 * MIB, 2);
    let Some(server) = NbdServer::nbdkit(dir.path(), &["memory", "5M"]) else { return };
    let export = server.address_by_tcp("a%20disk");
    copy(&[name(&source), &export]);
    copy(&[&export, name(&back)]);
    cmp(&source, &back);
    let messages = stderr(&haul().args(["copy", "nbd://127.0.0.1:1/x", name(&back)]).assert().code(1));
    assert!(messages.contains("Check whether the server runs"), "{messages}");
}

#[test]
fn zeros_are_neither_read_nor_sent_and_replace_old_data() {
    let dir = scratch();
    let (source, exported) = (dir.path().join("source"), dir.path().join("there"));
    sparse_file(&source);
    let file = format!("file={}", name(&source));
    let Some(from) = NbdServer::nbdkit(dir.path(), &["-r", "file", &file]) else { return };
    let old = dir.path().join("old");
    filled(&old, 40 * MIB + 512, 0xaa);
    let to = NbdServer::nbdkit(dir.path(), &["file", &format!("file={}", name(&old))]).unwrap();
    let output = haul().args(["copy", "--yes", "--json", &from.address(""), &to.address("")]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let written = report["bytes"]["written_bytes"].as_u64();
    assert!(output.status.success(), "{report}");
    assert!(written.is_some_and(|bytes| bytes < 8 * MIB as u64), "{report}");
    to.saved_to(&exported);
    cmp(&source, &exported);
}

#[test]
fn zeros_are_sent_as_fast_zeroes_until_the_server_refuses_and_then_in_smaller_pieces() {
    let dir = scratch();
    let (source, exported, log) = (dir.path().join("source"), dir.path().join("there"), dir.path().join("log"));
    sparse_file(&source);
    let logfile = format!("logfile={}", name(&log));
    let has_fast = |line: &&str| line.contains("fast=1");
    // The filter behind the log; the fastest and the largest request for zeros that succeeds; whether others fail.
    for (filter, fast, most, refused) in [
        (&["fastzeromode=default", "zeromode=plugin"][..], true, 32 << 20, false),
        (&["fastzeromode=none", "zeromode=plugin"], false, 32 << 20, false),
        (&["fastzeromode=slow", "zeromode=plugin"], false, 2 << 20, true),
    ] {
        for engine in engines() {
            let _ = fs::remove_file(&log);
            let words = ["--filter=log", "--filter=nozero", "memory", "64M", &logfile];
            let Some(server) = NbdServer::nbdkit(dir.path(), &[&words[..], filter].concat()) else { return };
            copy(&["/dev/zero", &server.address(""), "--sparse", "never", "--count", "1M"]);
            copy(&["--engine", engine, name(&source), &server.address("")]);
            server.saved_to(&exported);
            cmp_ranges(&source, 0, &exported, 0, (40 * MIB + 512) as u64);
            drop(server);
            let text = fs::read_to_string(&log).unwrap();
            let zeros = text.lines().filter(|line| line.contains(" Zero id="));
            assert_eq!(zeros.clone().any(|line| has_fast(&line)), fast || refused, "{filter:?} {engine}: {text}");
            let plain = zeros.clone().filter(|line| fast == has_fast(line));
            let len = |line: &str| u64::from_str_radix(line.split("count=0x").nth(1)?.split(' ').next()?, 16).ok();
            let largest = plain.clone().filter_map(len).max().unwrap();
            assert!(largest <= most && largest >= 1 << 20, "{filter:?} {engine}: {largest} {text}");
            let failed = text.lines().any(|line| line.contains("...Zero") && line.contains("return=-1"));
            assert_eq!(failed, refused, "{filter:?} {engine}: {text}");
        }
    }
}

#[test]
fn a_server_gets_no_request_that_it_does_not_take() {
    let dir = scratch();
    let (source, exported, back) = (dir.path().join("source"), dir.path().join("there"), dir.path().join("back"));
    write_noise(&source, 3 * MIB + 777, 2);
    let sizes = ["blocksize-minimum=4096", "blocksize-preferred=8192", "blocksize-maximum=65536"];
    let mut words = vec!["--filter=blocksize-policy", "memory", "4M", "blocksize-error-policy=error"];
    words.extend(sizes);
    let Some(server) = NbdServer::nbdkit(dir.path(), &words) else { return };
    for engine in engines() {
        let output = haul().args(["copy", "--dry-run", name(&source), &server.address("")]).output().unwrap();
        let text = in_one_line(output.stdout);
        assert!(text.contains("requests from 4 KiB to 64 KiB, preferred 8 KiB"), "{text}");
        copy(&["--engine", engine, name(&source), &server.address("")]);
        copy(&[
            "--engine",
            engine,
            "--skip",
            "1",
            "--seek",
            "99",
            "--count",
            "5000",
            name(&source),
            &server.address(""),
        ]);
        server.saved_to(&exported);
        cmp_ranges(&source, 5099, &exported, 5099, (3 * MIB + 777 - 5099) as u64);
        cmp_ranges(&source, 0, &exported, 0, 99);
        cmp_ranges(&source, 1, &exported, 99, 5000);
        let _ = fs::remove_file(&back);
        copy(&["--engine", engine, "--skip", "7", "--count", "100001", &server.address(""), name(&back)]);
        cmp_ranges(&exported, 7, &back, 0, 100_001);
    }
}

#[test]
fn one_connection_does_everything_where_the_server_allows_no_more() {
    let dir = scratch();
    let (source, exported) = (dir.path().join("source"), dir.path().join("there"));
    sparse_file(&source);
    let words = ["--filter=multi-conn", "memory", "64M", "multi-conn-mode=disable"];
    let Some(server) = NbdServer::nbdkit(dir.path(), &words) else { return };
    let breaking = Breaking::new(dir.path(), &server, Way::ToServer, |_| None);
    copy(&[name(&source), &breaking.address("")]);
    // One for probing, one for copying.
    assert_eq!(breaking.made(), 2);
    server.saved_to(&exported);
    cmp_ranges(&source, 0, &exported, 0, (40 * MIB + 512) as u64);
}

#[test]
fn an_image_behind_qemu_nbd_is_copied_as_the_disk_that_it_holds() {
    let dir = scratch();
    let (raw, image, back) = (dir.path().join("raw"), dir.path().join("image.qcow2"), dir.path().join("back"));
    sparse_file(&raw);
    let Some(server) = has("qemu-img").then(|| {
        let make = ["convert", "-f", "raw", "-O", "qcow2", name(&raw), name(&image)];
        assert!(Command::new("qemu-img").args(make).status().unwrap().success());
        NbdServer::qemu(dir.path(), &["-f", "qcow2", "-x", "a disk", name(&image)])
    }) else {
        return;
    };
    let Some(server) = server else { return };
    copy(&[&server.address("a%20disk"), name(&back)]);
    cmp(&raw, &back);
    let raw_bytes = write_noise(&raw, 5 * MIB, 9);
    copy(&["--verify", name(&raw), &server.address("a%20disk")]);
    drop(server);
    let unpack = ["convert", "-f", "qcow2", "-O", "raw", name(&image), name(&back)];
    assert!(Command::new("qemu-img").args(unpack).status().unwrap().success());
    cmp_ranges(&raw, 0, &back, 0, raw_bytes.len() as u64);
}

#[test]
fn a_stopped_copy_to_an_export_is_resumed_from_its_durable_part() {
    let dir = scratch();
    let (source, exported) = (dir.path().join("source"), dir.path().join("there"));
    write_noise(&source, 24 * MIB, 4);
    let Some(server) = NbdServer::nbdkit(dir.path(), &["memory", "32M"]) else { return };
    let args = ["copy", "--yes", "--time", "1s", "--limit", "4M", name(&source), &server.address("x")];
    haul().args(args).assert().code(4);
    assert!(fs::read_dir(state_home().join("haul")).is_ok_and(|mut all| all.next().is_some()), "there is a journal");
    let output = haul().args(["copy", "--yes", "--resume", "--json", name(&source), &server.address("x")]).output();
    let report: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    assert_eq!(report["status"], "complete", "{report}");
    server.saved_to(&exported);
    cmp_ranges(&source, 0, &exported, 0, 24 * MIB as u64);
    // Another export of that server is another destination.
    haul().args(args).assert().code(4);
    let other = ["copy", "--yes", "--resume", name(&source), &server.address("y")];
    let messages = stderr(&haul().args(other).assert().failure());
    assert!(messages.contains("journal"), "{messages}");
}

#[test]
fn a_read_error_of_the_server_names_its_offset_and_is_skipped_on_request() {
    let dir = scratch();
    let (source, back) = (dir.path().join("source"), dir.path().join("back"));
    write_noise(&source, 2 * MIB, 7);
    let script = "pread) if [ $4 -lt 1052672 ] && [ $(($4 + $3)) -gt 1048576 ]; then echo EIO bad >&2; exit 1; fi
        dd if=$SOURCE iflag=skip_bytes,count_bytes skip=$4 count=$3 status=none;;";
    let script = format!("case $1 in get_size) stat -c %s $SOURCE;; {script} *) exit 2;; esac")
        .replace("$SOURCE", name(&source));
    let plugin = dir.path().join("plugin.sh");
    fs::write(&plugin, format!("#!/bin/sh\n{script}\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&plugin, mode).unwrap();
    let Some(server) = NbdServer::nbdkit(dir.path(), &["sh", name(&plugin)]) else { return };
    let messages = stderr(&haul().args(["copy", "--yes", &server.address(""), name(&back)]).assert().code(1));
    assert!(messages.contains("cannot read source") && messages.contains("error 5 (input/output error)"), "{messages}");
    haul()
        .args(["copy", "--yes", "--on-error", "skip", "--restart", &server.address(""), name(&back)])
        .assert()
        .code(1);
    cmp_ranges(&source, 0, &back, 0, MIB as u64);
    cmp_ranges(&source, 1_052_672, &back, 1_052_672, (2 * MIB - 1_052_672) as u64);
}

#[test]
fn unusable_exports_and_addresses_are_refused_before_the_first_write() {
    let dir = scratch();
    let file = dir.path().join("file");
    write_noise(&file, 2 * MIB, 8);
    let Some(small) = NbdServer::nbdkit(dir.path(), &["memory", "1M"]) else { return };
    let read_only = NbdServer::nbdkit(dir.path(), &["-r", "memory", "4M"]).unwrap();
    let writable = NbdServer::nbdkit(dir.path(), &["memory", "4M"]).unwrap();
    let nowhere = format!("nbd+unix:///?socket={}", dir.path().join("nothing").display());
    for (source, dest, status, words) in [
        (name(&file), &small.address("")[..], 3, "is too small by"),
        (name(&file), &read_only.address(""), 1, "for reading only"),
        (&writable.address("x"), &writable.address("x"), 3, "are the same data"),
        (&nowhere, name(&file), 1, "Check the path of the socket"),
        ("nbds://localhost/x?tls-psk-file=keys", name(&file), 2, "(PSK) is not supported"),
        ("nbd://me:secret@localhost/x", name(&file), 2, "shared keys"),
    ] {
        let messages = stderr(&haul().args(["copy", "--yes", source, dest]).assert().code(status));
        assert!(messages.contains(words) && !messages.contains("secret"), "{source} {dest}: {messages}");
    }
    // An export is never overwritten without confirmation.
    let messages = stderr(&haul().args(["copy", name(&file), &writable.address("")]).assert().code(3));
    assert!(messages.contains("--yes"), "{messages}");
    haul().args(["copy", "--yes", "--expect", "size=4194304", name(&file), &writable.address("")]).assert().success();
    let other = ["copy", "--yes", "--expect", "size=4194305", name(&file), &writable.address("")];
    assert!(stderr(&haul().args(other).assert().code(3)).contains("is not the expected device"));
}

#[test]
fn a_path_that_looks_like_an_address_is_reached_as_a_path() {
    let dir = scratch();
    let directory = dir.path().join("nbd:/host");
    fs::create_dir_all(&directory).unwrap();
    write_noise(&directory.join("disk"), 5000, 1);
    let mut command = haul();
    command.current_dir(dir.path()).args(["copy", "-q", "./nbd://host/disk", "copy"]).assert().success();
    cmp(directory.join("disk"), dir.path().join("copy"));
    let from = format!("file://{}", name(&directory.join("disk")));
    haul().current_dir(dir.path()).args(["copy", "-q", &from, "again"]).assert().success();
    cmp(directory.join("disk"), dir.path().join("again"));
    // The operands of dd are paths.
    haul().current_dir(dir.path()).args(["dd", "if=nbd://host/disk", "of=by-dd"]).assert().success();
    cmp(directory.join("disk"), dir.path().join("by-dd"));
}

#[test]
fn exports_are_verified_listed_and_filled_with_patterns_like_disks() {
    let dir = scratch();
    let source = dir.path().join("source");
    write_noise(&source, 4 * MIB, 2);
    let Some(server) = NbdServer::nbdkit(dir.path(), &["memory", "4M"]) else { return };
    let export = server.address("");
    let manifest = dir.path().join("manifest");
    copy(&["--verify", "--manifest", name(&manifest), name(&source), &export]);
    haul().args(["verify", "-q", name(&source), &export]).assert().success();
    haul().args(["verify", "-q", "--manifest", name(&manifest), &export]).assert().success();
    haul().args(["pattern", "write", "--yes", "-q", &export]).assert().success();
    haul().args(["pattern", "check", "-q", &export]).assert().success();
    haul().args(["verify", "-q", name(&source), &export]).assert().code(1);
    copy(&["--delta", name(&source), &export]);
    haul().args(["verify", "-q", &export, name(&source)]).assert().success();
    let second = NbdServer::nbdkit(dir.path(), &["memory", "4M"]).unwrap();
    copy(&["--also", &second.address(""), &export, name(&dir.path().join("copy"))]);
    haul().args(["verify", "-q", name(&source), &second.address("")]).assert().success();
    cmp(&source, dir.path().join("copy"));
}
