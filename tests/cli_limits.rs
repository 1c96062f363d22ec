//! Kernels, containers and limits that forbid what haul would like to use: it copies all the same, and says how.
mod support;

use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use support::{cmp, has, haul_path, is_root, scratch, skip, write_noise};

const MIB: usize = 1 << 20;

/// Makes io_uring_setup(2) fail with EPERM in this process and its children, as container runtimes do.
fn forbid_io_uring() -> std::io::Result<()> {
    let jump = |code: u32, yes, no, k| libc::sock_filter { code: code as u16, jt: yes, jf: no, k };
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut filter = [
        // The number of the system call is the first field of struct seccomp_data.
        jump(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        jump(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_io_uring_setup as u32),
        jump(libc::BPF_RET | libc::BPF_K, 0, 0, refuse),
        jump(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: `program` and the filter it points to live until both calls have returned; the kernel copies them.
    let failed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) != 0
    };
    if failed { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

/// `haul` in a process that may not use io_uring.
fn haul_without_io_uring() -> assert_cmd::Command {
    let mut command = Command::new(haul_path());
    // SAFETY: between fork and exec it only makes two system calls, on memory of its own stack.
    unsafe { command.pre_exec(forbid_io_uring) };
    assert_cmd::Command::from_std(command)
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
    let dir = tempfile::tempdir().expect("there is a directory for temporary files");
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
    let dir = tempfile::tempdir().expect("there is a directory for temporary files");
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
    assert!(said.contains("no thread can be started") && !said.contains("panicked"), "{said}");
}
