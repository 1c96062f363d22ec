//! Running the binary: to its end, or watched while it runs.
use assert_cmd::Command;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, ChildStderr, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// A copy in a test takes seconds; one that takes this long has hung.
const HANGS_AFTER: Duration = Duration::from_secs(120);

/// The binary under test; HAUL_TEST_BINARY names another, for example an installed one.
pub fn haul_path() -> PathBuf {
    std::env::var_os("HAUL_TEST_BINARY").map_or_else(|| env!("CARGO_BIN_EXE_haul").into(), PathBuf::from)
}

/// Copies a program, by cp(1): if this process had it open for writing, a program that another test starts at that
/// moment would have it open too, and it could not be executed ("Text file busy").
pub fn copy_program(from: &Path, to: &Path) {
    let copied = process::Command::new("cp").arg(from).arg(to).status();
    assert!(copied.expect("cp runs").success(), "cp {from:?} {to:?}");
}

/// Waits for the end of `child`; false: it took longer than `within`.
pub fn ends_within(child: &mut Child, within: Duration) -> bool {
    let until = Instant::now() + within;
    while child.try_wait().is_ok_and(|ended| ended.is_none()) {
        if Instant::now() > until {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Ends a server by SIGTERM, because nbdkit and libnbd leave a directory in /tmp if they are killed. One that does not
/// end is killed.
pub fn terminate(child: &mut Child) {
    let _ = rustix::process::kill_process(Pid::from_child(child), Signal::TERM);
    if !ends_within(child, Duration::from_secs(30)) {
        let _ = child.kill();
    }
    let _ = child.wait();
}

/// The depth to request: `sync` accepts only 1.
pub fn depth_of<'a>(engine: &str, depth: &'a str) -> &'a str {
    if engine == "sync" { "1" } else { depth }
}

/// `haul`, without a terminal, to be run to its end.
pub fn haul() -> Command {
    let mut command = Command::new(haul_path());
    command.timeout(HANGS_AFTER).env_remove("RUST_BACKTRACE").env("XDG_STATE_HOME", state_home());
    // Independent of the configuration of the user who runs the tests.
    command.env("XDG_CONFIG_HOME", state_home());
    command
}

/// `haul` under a limit of prlimit(1), as `--fsize=4096`, to be run to its end.
pub fn haul_limited(limit: &str) -> Command {
    let mut command = Command::new("prlimit");
    command.arg(limit).arg("--").arg(haul_path()).timeout(HANGS_AFTER).env("XDG_STATE_HOME", state_home());
    // An instrumented haul would exceed the limit again when it writes its coverage data, and print an error.
    command.env("LLVM_PROFILE_FILE", "/dev/null");
    command
}

thread_local! {
    static STATE_HOME: tempfile::TempDir = tempfile::tempdir().expect("a temporary directory can be created");
}

/// The directory for journals of devices, one for each test, because `/dev/loop0` is another disk in the next one.
pub fn state_home() -> PathBuf {
    STATE_HOME.with(|dir| dir.path().to_owned())
}

/// The text with each run of white space as one space. Reports are always wrapped to 80 columns, so their line
/// breaks depend on the length of the paths in them.
pub fn in_one_line(text: impl AsRef<[u8]>) -> String {
    String::from_utf8_lossy(text.as_ref()).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Its standard error, on one line.
pub fn stderr(assert: &assert_cmd::assert::Assert) -> String {
    in_one_line(stderr_lines(assert))
}

/// Its standard error, unchanged: for tests of lines.
pub fn stderr_lines(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

/// A PATH in which `haul` is the binary under test, for commands that it printed.
pub fn with_haul_in_path() -> String {
    let dir = haul_path().parent().expect("it is in a directory").to_string_lossy().into_owned();
    format!("{dir}:{}", std::env::var("PATH").unwrap_or_default())
}

/// The copied bytes in a line of `--progress json`, at any depth of nesting.
pub fn copied_bytes(line: &str) -> Option<u64> {
    fn search(value: &Value) -> Option<u64> {
        let object = value.as_object()?;
        let here = ["copied_bytes", "copied"].iter().find_map(|key| object.get(*key)?.as_u64());
        here.or_else(|| object.values().find_map(search))
    }
    search(&serde_json::from_str(line).ok()?)
}

/// A running `haul`; ended when it goes out of scope.
pub struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    /// Everything that it printed on standard error so far.
    pub messages: String,
    /// Dropping it ends the watchdog.
    _watched: mpsc::Sender<()>,
}

/// Kills `child` if it hangs: otherwise the test would wait forever for its output, its end, or its reads.
fn watch(child: &Child) -> mpsc::Sender<()> {
    let (watched, ended) = mpsc::channel();
    // A descriptor, because the number may belong to another process later.
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).expect("it is a child of this process");
    thread::spawn(move || {
        if ended.recv_timeout(HANGS_AFTER) == Err(RecvTimeoutError::Timeout) {
            let _ = pidfd_send_signal(process, Signal::KILL);
        }
    });
    watched
}

impl Running {
    /// Starts it; standard output goes to `stdout`.
    pub fn start(arguments: &[&str], stdin: Stdio, stdout: Stdio) -> Self {
        let mut command = process::Command::new(haul_path());
        command.env("XDG_STATE_HOME", state_home()).args(arguments).stdin(stdin).stdout(stdout).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let watched = watch(&child);
        Running { child, stderr, messages: String::new(), _watched: watched }
    }

    /// The process, for its standard input and output.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Reads standard error up to a line accepted by `wanted`; fails the test at the end.
    #[track_caller]
    pub fn read_until(&mut self, wanted: impl Fn(&str) -> bool) -> String {
        loop {
            let mut line = String::new();
            let read = self.stderr.read_line(&mut line).expect("standard error is UTF-8");
            assert_ne!(read, 0, "it ended before the expected line; standard error:\n{}", self.messages);
            self.messages.push_str(&line);
            if wanted(&line) {
                return line;
            }
        }
    }

    /// Waits until it handles `signal`: sent before, the signal would end it.
    pub fn wait_for_handler(&mut self, signal: i32) {
        let path = format!("/proc/{}/status", self.child.id());
        loop {
            let status = std::fs::read_to_string(&path).unwrap_or_default();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim();
            if u64::from_str_radix(caught, 16).unwrap_or(0) & (1 << (signal - 1)) != 0 {
                return;
            }
            let ended = self.child.try_wait().expect("it is a child of this process");
            assert!(ended.is_none(), "it ended before it handled signal {signal}: {ended:?}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it is a child of this process and was not waited for");
    }

    /// Waits for its end; the rest of standard error goes to `messages`, standard output is returned.
    pub fn end(&mut self) -> (ExitStatus, String) {
        drop(self.child.stdin.take());
        let mut printed = String::new();
        if let Some(mut stdout) = self.child.stdout.take() {
            stdout.read_to_string(&mut printed).expect("its output is UTF-8");
        }
        self.stderr.read_to_string(&mut self.messages).expect("standard error is UTF-8");
        (self.child.wait().expect("it is a child of this process"), printed)
    }

    /// Waits for its end, which must be by `signal`.
    #[track_caller]
    pub fn end_by(&mut self, signal: i32) -> String {
        let (status, printed) = self.end();
        assert_eq!(status.signal(), Some(signal), "{status}; standard error:\n{}", self.messages);
        printed
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It is still running only after a failed test.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command that haul printed, in a shell; returns its standard error.
#[track_caller]
pub fn run_in_shell(line: &str) -> String {
    let mut shell = process::Command::new("/bin/sh");
    let output = shell
        .args(["-c", line])
        .env("PATH", with_haul_in_path())
        .env("XDG_STATE_HOME", state_home())
        .stdin(Stdio::null())
        .output();
    let output = output.expect("a shell is installed");
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{line}\n{messages}");
    messages
}

/// Waits until the process `id` handles `signal`.
pub fn wait_for_handler(id: u32, signal: u32) {
    loop {
        let status = fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim();
        if u64::from_str_radix(caught, 16).unwrap_or(0) & (1 << (signal - 1)) != 0 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
