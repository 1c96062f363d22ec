//! Running the binary: to its end, or watched while it runs.
use assert_cmd::Command;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{self, Child, ChildStderr, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// A copy in a test takes seconds; one that takes this long hangs.
const HANGS_AFTER: Duration = Duration::from_secs(120);

/// The binary under test; HAUL_TEST_BINARY names another, an installed one for example.
pub fn haul_path() -> PathBuf {
    std::env::var_os("HAUL_TEST_BINARY").map_or_else(|| env!("CARGO_BIN_EXE_haul").into(), PathBuf::from)
}

/// The depth to ask for: the plain loop takes no other than 1.
pub fn depth_of<'a>(engine: &str, depth: &'a str) -> &'a str {
    if engine == "sync" { "1" } else { depth }
}

/// `haul`, with no terminal, to be run to its end.
pub fn haul() -> Command {
    let mut command = Command::new(haul_path());
    command.timeout(HANGS_AFTER).env_remove("RUST_BACKTRACE").env("XDG_STATE_HOME", state_home());
    // Nor the configuration of whoever runs the tests.
    command.env("XDG_CONFIG_HOME", state_home());
    command
}

/// `haul` under a limit of prlimit(1), as `--fsize=4096`, to be run to its end.
pub fn haul_limited(limit: &str) -> Command {
    let mut command = Command::new("prlimit");
    command.arg(limit).arg("--").arg(haul_path()).timeout(HANGS_AFTER).env("XDG_STATE_HOME", state_home());
    // An instrumented haul would meet the limit once more when it writes its coverage data, and say so.
    command.env("LLVM_PROFILE_FILE", "/dev/null");
    command
}

thread_local! {
    static STATE_HOME: tempfile::TempDir = tempfile::tempdir().expect("there is room for a folder");
}

/// The folder for journals of devices, one for each test: `/dev/loop0` is another disk in the next one.
pub fn state_home() -> PathBuf {
    STATE_HOME.with(|dir| dir.path().to_owned())
}

/// The text with each run of white space as one space. Reports are wrapped to 80 columns wherever they go, so where
/// their lines break depends on how long the paths in them are.
pub fn in_one_line(text: impl AsRef<[u8]>) -> String {
    String::from_utf8_lossy(text.as_ref()).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What it said on standard error, in one line.
pub fn stderr(assert: &assert_cmd::assert::Assert) -> String {
    in_one_line(stderr_lines(assert))
}

/// What it said on standard error as it said it: for tests of lines, not of words.
pub fn stderr_lines(assert: &assert_cmd::assert::Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stderr).into_owned()
}

/// A PATH in which `haul` is the binary under test, for commands that it printed.
pub fn with_haul_in_path() -> String {
    let dir = haul_path().parent().expect("it is in a directory").to_string_lossy().into_owned();
    format!("{dir}:{}", std::env::var("PATH").unwrap_or_default())
}

/// The copied bytes that a line of `--progress json` tells, wherever they stand in it.
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
    /// All that it said on standard error so far.
    pub said: String,
    /// Dropped with this, which tells the watchdog to go home.
    _watched: mpsc::Sender<()>,
}

/// Kills `child` when it hangs: the test would wait for its words, its end or its appetite for ever.
fn watch(child: &Child) -> mpsc::Sender<()> {
    let (watched, gone) = mpsc::channel();
    // A descriptor, as the number may be somebody else's by then.
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).expect("it is our child");
    thread::spawn(move || {
        if gone.recv_timeout(HANGS_AFTER) == Err(RecvTimeoutError::Timeout) {
            let _ = pidfd_send_signal(process, Signal::KILL);
        }
    });
    watched
}

impl Running {
    /// Starts it; standard output goes where `stdout` says.
    pub fn start(arguments: &[&str], stdin: Stdio, stdout: Stdio) -> Self {
        let mut command = process::Command::new(haul_path());
        command.env("XDG_STATE_HOME", state_home()).args(arguments).stdin(stdin).stdout(stdout).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let watched = watch(&child);
        Running { child, stderr, said: String::new(), _watched: watched }
    }

    /// The process, for its standard input and output.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Reads standard error up to a line that `wanted` likes; fails the test at its end.
    #[track_caller]
    pub fn read_until(&mut self, wanted: impl Fn(&str) -> bool) -> String {
        loop {
            let mut line = String::new();
            let read = self.stderr.read_line(&mut line).expect("standard error is text");
            assert_ne!(read, 0, "it ended before it said what was waited for; it said:\n{}", self.said);
            self.said.push_str(&line);
            if wanted(&line) {
                return line;
            }
        }
    }

    /// Waits until it has a handler for `signal`: sent before, the signal would end it.
    pub fn wait_for_handler(&mut self, signal: i32) {
        let path = format!("/proc/{}/status", self.child.id());
        loop {
            let status = std::fs::read_to_string(&path).unwrap_or_default();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim();
            if u64::from_str_radix(caught, 16).unwrap_or(0) & (1 << (signal - 1)) != 0 {
                return;
            }
            let ended = self.child.try_wait().expect("it is our child");
            assert!(ended.is_none(), "it ended before it handled signal {signal}: {ended:?}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it is our child and was not waited for");
    }

    /// Waits for its end; the rest of what it said goes to `said`, what it printed is returned.
    pub fn end(&mut self) -> (ExitStatus, String) {
        drop(self.child.stdin.take());
        let mut printed = String::new();
        if let Some(mut stdout) = self.child.stdout.take() {
            stdout.read_to_string(&mut printed).expect("it prints text");
        }
        self.stderr.read_to_string(&mut self.said).expect("standard error is text");
        (self.child.wait().expect("it is our child"), printed)
    }

    /// Waits for its end, which has to be by `signal`.
    #[track_caller]
    pub fn end_by(&mut self, signal: i32) -> String {
        let (status, printed) = self.end();
        assert_eq!(status.signal(), Some(signal), "{status}; it said:\n{}", self.said);
        printed
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Only after a failed test is it still there.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command that haul printed as a user would, by pasting it into a shell; what it says on standard error.
#[track_caller]
pub fn run_in_shell(line: &str) -> String {
    let mut shell = process::Command::new("sh");
    let output = shell
        .args(["-c", line])
        .env("PATH", with_haul_in_path())
        .env("XDG_STATE_HOME", state_home())
        .stdin(Stdio::null())
        .output();
    let output = output.expect("there is a shell");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{line}\n{said}");
    said
}

/// Waits until the process `id` catches `signal`.
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
