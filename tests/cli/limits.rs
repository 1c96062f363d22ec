//! Kernels, containers and limits that forbid what haul would like to use: it copies all the same, and says how.
use crate::support;
use crate::support::{cmp, has, haul_path, in_one_line, is_root, scratch, skip, without_io_uring, write_noise};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const MIB: usize = 1 << 20;

/// `haul` in a process that may not use io_uring.
fn haul_without_io_uring() -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(without_io_uring());
    command.arg(haul_path());
    command
}

#[test]
fn where_io_uring_is_forbidden_threads_copy_and_that_is_said() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 3 * MIB + 5, 121);
    let mut command = haul_without_io_uring();
    let assert = command.args(["copy", "--json", "--reflink", "never"]).args([&source, &dest]).assert().success();
    cmp(&source, &dest);
    let report: Value = serde_json::from_slice(&assert.get_output().stdout).expect("the report is JSON");
    assert_eq!(report["engine"], "threads", "{report:#}");
    assert!(report.to_string().contains("io_uring"), "why is not said:\n{report:#}");
}

#[test]
fn a_ring_that_was_asked_for_by_name_and_is_forbidden_is_a_failure() {
    let dir = scratch();
    let (source, dest) = (dir.path().join("source"), dir.path().join("dest"));
    write_noise(&source, 4096, 122);
    let mut command = haul_without_io_uring();
    let assert = command.args(["copy", "--engine", "ring"]).args([&source, &dest]).assert().code(1);
    let said = support::stderr(&assert);
    assert!(said.contains("io_uring") && said.contains("--engine"), "no reason or no advice in:\n{said}");
    assert!(!dest.exists(), "the dest was made before it was known that there is no ring");
}

/// Runs a copy as an ordinary user with `limits` for prlimit(1); the copy has to be equal.
fn copies_as_nobody(limits: &[&str]) {
    if !is_root() || !has("setpriv") || !has("prlimit") {
        return skip("becoming somebody else needs root, setpriv and prlimit");
    }
    // Where everybody may go: neither the build directory nor the binary in it need be.
    let dir = crate::support::Folder::below(std::env::temp_dir()).expect("there is a directory for temporary files");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).expect("it is ours");
    let [binary, source, dest] = ["haul", "source", "dest"].map(|name| dir.path().join(name));
    fs::copy(haul_path(), &binary).expect("there is room for the binary");
    write_noise(&source, 5 * MIB + 9, 123);
    let as_nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "prlimit"];
    let mut command = assert_cmd::Command::new("setpriv");
    command.args(as_nobody).args(limits).arg("--").arg(&binary).arg("copy");
    // Coverage data could not be written to where it belongs.
    command.env("LLVM_PROFILE_FILE", "/dev/null").args([&source, &dest]);
    command.assert().success();
    cmp(&source, &dest);
}

#[test]
fn an_ordinary_user_copies() {
    copies_as_nobody(&[]);
}

#[test]
fn a_user_who_may_lock_no_memory_copies() {
    copies_as_nobody(&["--memlock=65536"]);
    copies_as_nobody(&["--memlock=0"]);
}

#[test]
fn a_user_with_few_descriptors_and_threads_copies() {
    copies_as_nobody(&["--nofile=24"]);
}

#[test]
fn where_no_thread_can_be_started_the_copy_fails_and_says_so_instead_of_trying_for_ever() {
    if !is_root() || !has("setpriv") || !has("prlimit") {
        return skip("becoming somebody else needs root, setpriv and prlimit");
    }
    let dir = crate::support::Folder::below(std::env::temp_dir()).expect("there is a directory for temporary files");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).expect("it is ours");
    let [binary, source, dest] = ["haul", "source", "dest"].map(|name| dir.path().join(name));
    fs::copy(haul_path(), &binary).expect("there is room for the binary");
    write_noise(&source, MIB, 124);
    let mut command = assert_cmd::Command::new("setpriv");
    // A user of its own, because the limit counts all threads of a user; two are the main one and that for signals.
    command.args(["--reuid=64123", "--regid=64123", "--clear-groups", "prlimit", "--nproc=2", "--"]).arg(&binary);
    command.args(["copy", "--engine", "threads", "--reflink", "never", "--progress", "none"]).args([&source, &dest]);
    command.env("LLVM_PROFILE_FILE", "/dev/null").timeout(std::time::Duration::from_secs(60));
    let said = support::stderr(&command.assert().code(1));
    assert!(said.contains("cannot start a") && !said.contains("panicked"), "{said}");
}

#[test]
fn a_file_beyond_the_limit_of_file_sizes_is_an_error_with_a_report_and_no_death_by_signal() {
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
            let said = support::stderr(&assert);
            assert!(said.contains("File too large") && said.contains("ulimit -f"), "{engine}: {said}");
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
    // Not enough for all that is in flight where there is plenty.
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
    for words in ["copy --verify S D", "verify S D", "dd if=S of=D", "--help", "tune --quick --time 1 S"] {
        let words = words.replace('S', source.to_str().unwrap()).replace('D', dest.to_str().unwrap());
        let script = format!("ulimit -s 64; exec \"$0\" {words}");
        let mut shell = assert_cmd::Command::new("sh");
        shell.arg("-c").arg(script).arg(haul_path()).assert().success();
    }
    cmp(&source, &dest);
}

#[test]
fn a_file_for_which_no_room_can_be_had_stays_as_it_was() {
    let dir = scratch();
    let [source, dest, other] = ["source", "dest", "other"].map(|name| dir.path().join(name));
    write_noise(&source, 8 << 20, 34);
    let haul = haul_path();
    for also in ["", "--also other"] {
        fs::write(&dest, "mine").expect("scratch takes files");
        let _ = fs::remove_file(&other);
        let script =
            format!("ulimit -f 1024; exec '{}' copy --seek 8192 --direct never source dest {also}", haul.display());
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).current_dir(dir.path()).env("LLVM_PROFILE_FILE", "/dev/null");
        let output = shell.output().expect("it runs");
        let said = in_one_line(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{also}: {said}");
        assert!(said.contains("File too large"), "{also}: {said}");
        assert_eq!(fs::read(&dest).expect("it is there"), b"mine", "{also}: {said}");
    }
}
