//! Kernels, containers and limits that forbid features: haul copies without them, and reports how.
use crate::support;
use crate::support::{
    cmp, copy_program, has, haul_path, in_one_line, is_root, scratch, skip, without_io_uring, write_noise,
};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const MIB: usize = 1 << 20;

/// `haul` in a process that may not use io_uring.
fn haul_without_io_uring() -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(without_io_uring());
    command.arg(haul_path());
    command
}

#[test]
fn threads_replace_a_forbidden_io_uring_with_a_note() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 3 * MIB + 5, 121);
    let mut command = haul_without_io_uring();
    let assert = command.args(["copy", "--json", "--reflink", "never"]).args([&source, &dest]).assert().success();
    cmp(&source, &dest);
    let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
    assert_eq!(report["engine"], "threads", "{report:#}");
    assert!(report.to_string().contains("io_uring"), "the reason is missing:\n{report:#}");
}

#[test]
fn engine_ring_fails_where_io_uring_is_forbidden() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 4096, 122);
    let mut command = haul_without_io_uring();
    let assert = command.args(["copy", "--engine", "ring"]).args([&source, &dest]).assert().code(1);
    let messages = support::stderr(&assert);
    assert!(messages.contains("io_uring") && messages.contains("--engine"), "no reason or no advice in:\n{messages}");
    assert!(!dest.exists(), "the dest was made before it was known that there is no ring");
}

/// Runs a copy as an ordinary user with `limits` for prlimit(1); the copy must be equal.
fn copies_as_nobody(limits: &[&str]) {
    if !is_root() || !has("setpriv") || !has("prlimit") {
        return skip("becoming another user needs root, setpriv and prlimit");
    }
    // In a directory accessible to every user: the build directory and the binary in it may not be.
    let dir = crate::support::ScratchDir::below(std::env::temp_dir()).expect("a directory for temporary files exists");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).expect("this test created it");
    let [binary, source, dest] = ["haul", "source", "dest"].map(|name| dir.path().join(name));
    copy_program(&haul_path(), &binary);
    write_noise(&source, 5 * MIB + 9, 123);
    let as_nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "prlimit"];
    let mut command = assert_cmd::Command::new("setpriv");
    command.args(as_nobody).args(limits).arg("--").arg(&binary).arg("copy");
    // That user may not write coverage data to its usual directory.
    command.env("LLVM_PROFILE_FILE", "/dev/null").args([&source, &dest]);
    command.assert().success();
    cmp(&source, &dest);
}

#[test]
fn an_unprivileged_user_copies() {
    copies_as_nobody(&[]);
}

#[test]
fn a_user_without_locked_memory_copies() {
    copies_as_nobody(&["--memlock=65536"]);
    copies_as_nobody(&["--memlock=0"]);
}

#[test]
fn a_user_with_few_descriptors_and_threads_copies() {
    copies_as_nobody(&["--nofile=24"]);
}

#[test]
fn a_copy_that_cannot_start_threads_transfers_without_them() {
    if !is_root() || !has("setpriv") || !has("prlimit") {
        return skip("becoming another user needs root, setpriv and prlimit");
    }
    let dir = crate::support::ScratchDir::below(std::env::temp_dir()).expect("a directory for temporary files exists");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).expect("this test created it");
    let [binary, source, dest, second] = ["haul", "source", "dest", "second"].map(|name| dir.path().join(name));
    copy_program(&haul_path(), &binary);
    write_noise(&source, 3 * MIB, 124);
    let second = second.to_str().expect("the name is UTF-8");
    let copy = |more: &[&str], dest: &Path| {
        let mut command = assert_cmd::Command::new("setpriv");
        // A separate user, because the limit counts all threads of a user; two are the main thread and that for
        // signals.
        command.args(["--reuid=64123", "--regid=64123", "--clear-groups", "prlimit", "--nproc=2", "--"]).arg(&binary);
        command.args(["copy", "--reflink", "never", "--progress", "none", "--yes"]).args(more).args([&source, dest]);
        command.env("LLVM_PROFILE_FILE", "/dev/null").timeout(std::time::Duration::from_secs(60));
        let output = command.output().expect("it runs");
        let messages = in_one_line(&output.stderr);
        assert!(output.status.success() && !messages.contains("panicked"), "{more:?}: {messages}");
    };
    for more in [&["--engine", "threads"][..], &["--also", second]] {
        copy(more, &dest);
        cmp(&source, &dest);
        fs::remove_file(&dest).expect("it was written");
    }
    let packed = dir.path().join("packed.gz");
    copy(&["--compress", "gzip:1"], &packed);
    let unpacked = Command::new("gzip").arg("-dc").stdin(fs::File::open(&packed).expect("it was written")).output();
    assert!(unpacked.expect("gzip runs").stdout == fs::read(&source).expect("it was written"));
}

#[test]
fn a_file_beyond_the_file_size_limit_is_an_error_with_a_report_not_a_signal() {
    if !has("prlimit") {
        return skip("limits need prlimit");
    }
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 3 * MIB, 126);
    for engine in support::engines() {
        for more in [&[][..], &["--direct", "never", "--sparse", "never"]] {
            let _ = fs::remove_file(&dest);
            let mut command = support::haul_limited(&format!("--fsize={MIB}"));
            command.args(["copy", "--json", "--reflink", "never", "--no-journal", "--engine", engine]).args(more);
            let assert = command.args([&source, &dest]).assert().code(1);
            let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
            assert_eq!((&report["status"], &report["error"]["errno"]), (&"failed".into(), &27.into()), "{engine}");
            let messages = support::stderr(&assert);
            assert!(messages.contains("File too large") && messages.contains("ulimit -f"), "{engine}: {messages}");
        }
    }
}

#[test]
fn a_disk_is_measured_where_memory_is_short() {
    if !has("prlimit") {
        return skip("limits need prlimit");
    }
    let dir = scratch();
    let file = dir.path().join("disk.img");
    write_noise(&file, 8 * MIB, 125);
    // Not enough for all requests that are normally in flight.
    let mut command = support::haul_limited(&format!("--as={}", 200 * MIB));
    command.args(["tune", "--quick", "--time", "1", "--json"]).arg(&file);
    let run = command.assert().success();
    let report: Value = serde_json::from_slice(&run.get_output().stdout).expect("it is JSON");
    assert!(report["answer"]["bytes_per_s"].as_f64() > Some(0.0), "{report}");
}

#[test]
fn a_small_stack_is_enough_for_every_command() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 3 * MIB + 5, 123);
    for words in ["copy --verify $S $D", "verify $S $D", "dd if=$S of=$D", "--help", "tune --quick --time 1 $S"] {
        let script = format!("ulimit -s 64; exec \"$0\" {words}");
        let mut shell = assert_cmd::Command::new("sh");
        shell.env("S", &source).env("D", &dest).arg("-c").arg(script).arg(haul_path()).assert().success();
    }
    cmp(&source, &dest);
}

#[test]
fn a_file_is_unchanged_if_its_space_cannot_be_allocated() {
    let dir = scratch();
    let [source, dest, other] = ["source", "dest", "other"].map(|name| dir.path().join(name));
    write_noise(&source, 8 << 20, 34);
    let haul = haul_path();
    for also in ["", "--also other"] {
        fs::write(&dest, "mine").expect("the file can be written");
        let _ = fs::remove_file(&other);
        let script =
            format!("ulimit -f 1024; exec '{}' copy --seek 8192 --direct never source dest {also}", haul.display());
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).current_dir(dir.path()).env("LLVM_PROFILE_FILE", "/dev/null");
        let output = shell.output().expect("it runs");
        let messages = in_one_line(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{also}: {messages}");
        assert!(messages.contains("File too large"), "{also}: {messages}");
        assert_eq!(fs::read(&dest).expect("it exists"), b"mine", "{also}: {messages}");
    }
}
