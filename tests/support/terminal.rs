//! Programs on a terminal: a pty, whose other end the test reads and types on.
//!
//! Messages of haul are wrapped to the width of the terminal, so their line breaks depend on the length of the paths
//! of test directories. Waiting for words therefore ignores the kind of white space between them, and text is
//! returned on one line. No other file opens terminals (`tests/tidy`), so no test can match the raw output by
//! accident.
//!
//! The program is started by setsid(1), which makes the terminal its own: without it, starting would need a fork of
//! this process, whose memory is large and whose other threads hold locks.
use super::abilities::found;
use super::running::{ends_within, haul_path, in_one_line, state_home};
use regex::bytes::Regex;
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// A program that takes this long has hung. Long enough for a busy machine; no test depends on it otherwise.
const HANGS_AFTER: Duration = Duration::from_secs(120);
/// What may be between two words: white space, and escape sequences that set a colour or move the cursor.
const BETWEEN_WORDS: &str = r"(?:\s|\x1b\[[0-9;?]*[A-Za-z])+";

/// A program that runs on a terminal.
pub struct Terminal {
    program: Child,
    keyboard: File,
    /// What a thread reads from the terminal; ends when no program has it open.
    screen: Receiver<Vec<u8>>,
    /// What was read and not returned yet.
    unread: Vec<u8>,
}

/// Both ends of a new pty, ours first, with this size and without echo.
fn pty(columns: u16, rows: u16) -> (File, OwnedFd) {
    let flags = libc::O_NOCTTY | libc::O_CLOEXEC;
    let ours =
        File::options().read(true).write(true).custom_flags(flags).open("/dev/ptmx").expect("ptys are available");
    let unlocked: libc::c_int = 0;
    // SAFETY: the request reads an int, which lives as long as the call.
    let done = unsafe { libc::ioctl(ours.as_raw_fd(), libc::TIOCSPTLCK, &raw const unlocked) };
    assert_eq!(done, 0, "a new pty can be unlocked");
    // SAFETY: the request takes the flags as a number, and touches no memory.
    let other = unsafe { libc::ioctl(ours.as_raw_fd(), libc::TIOCGPTPEER, libc::O_RDWR | flags) };
    assert!(other >= 0, "the other end of a pty can be opened");
    // SAFETY: it is a new descriptor, which nothing else owns.
    let other = unsafe { OwnedFd::from_raw_fd(other) };
    let mut modes = tcgetattr(&other).expect("it is a terminal");
    modes.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&other, OptionalActions::Now, &modes).expect("it is a terminal");
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&other, size).expect("it is a terminal");
    (ours, other)
}

/// Sends what appears on the terminal, until no program has it open: then reading fails.
fn read(mut screen: File) -> Receiver<Vec<u8>> {
    let (seen, read) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = vec![0; 4096];
        while let Ok(count @ 1..) = screen.read(&mut bytes) {
            if seen.send(bytes[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    read
}

/// The output on a terminal.
pub struct Shown {
    /// Without escape sequences, on one line: each run of white space is one space.
    pub text: String,
    /// As it was sent: for tests of bars and charts, and of escape sequences.
    pub raw: Vec<u8>,
}

impl Shown {
    fn new(raw: Vec<u8>) -> Self {
        Shown { text: in_one_line(without_escapes(&raw)), raw }
    }

    /// The lines without escape sequences, each ended by a newline.
    pub fn lines(&self) -> String {
        without_escapes(&self.raw).replace('\r', "")
    }
}

fn without_escapes(raw: &[u8]) -> String {
    String::from_utf8_lossy(&anstream::adapter::strip_bytes(raw).into_vec()).into_owned()
}

/// haul with these arguments, to be started on a terminal.
pub fn haul_command(arguments: &[&str]) -> Command {
    let mut command = Command::new(haul_path());
    command.env("XDG_STATE_HOME", state_home()).env("XDG_CONFIG_HOME", state_home()).args(arguments);
    command
}

/// haul with these arguments on a terminal of 80 columns.
pub fn on_a_terminal(arguments: &[&str]) -> Terminal {
    Terminal::sized(80, 24, haul_command(arguments))
}

/// `haul copy` from `source` to `dest` on a terminal of 80 columns.
pub fn copy_on_a_terminal(options: &[&str], source: &Path, dest: &Path) -> Terminal {
    let [source, dest] = [source, dest].map(|path| path.to_str().expect("paths of test directories are UTF-8"));
    on_a_terminal(&[&["copy"], options, &[source, dest]].concat())
}

impl Terminal {
    /// Starts `command` on a terminal of unknown size. It is an xterm with colours, unless `command` specifies
    /// otherwise.
    pub fn start(command: Command) -> Self {
        Terminal::sized(0, 0, command)
    }

    /// Starts `command` on a terminal of this size.
    pub fn sized(columns: u16, rows: u16, command: Command) -> Self {
        let (ours, other) = pty(columns, rows);
        let mut on_it = Command::new(found("setsid").expect("setsid is a part of util-linux"));
        on_it.args(["--ctty", "--"]).arg(command.get_program()).args(command.get_args());
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
            on_it.env_remove(name);
        }
        on_it.env("TERM", "xterm-256color");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => on_it.env(name, value),
                None => on_it.env_remove(name),
            };
        }
        command.get_current_dir().into_iter().for_each(|directory| {
            on_it.current_dir(directory);
        });
        let end = || other.try_clone().expect("a descriptor can be copied");
        let program = on_it.stdin(end()).stdout(end()).stderr(end()).spawn().expect("setsid runs");
        let screen = read(ours.try_clone().expect("a descriptor can be copied"));
        Terminal { program, keyboard: ours, screen, unread: Vec::new() }
    }

    /// Waits for these words, with any white space between them; returns the output before them.
    #[track_caller]
    pub fn wait_for(&mut self, words: &str) -> Shown {
        let words: Vec<String> = words.split_whitespace().map(regex::escape).collect();
        self.wait_for_match(&words.join(BETWEEN_WORDS))
    }

    /// Waits for a match of this regular expression; returns the output before it. `wait_for` is for words.
    #[track_caller]
    pub fn wait_for_match(&mut self, pattern: &str) -> Shown {
        let pattern = Regex::new(pattern).expect("the pattern is valid");
        let until = Instant::now() + HANGS_AFTER;
        loop {
            if let Some(found) = pattern.find(&self.unread) {
                let (start, end) = (found.start(), found.end());
                let shown = Shown::new(self.unread[..start].to_vec());
                self.unread.drain(..end);
                return shown;
            }
            match self.screen.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.unread.extend(bytes),
                Err(reason) => panic!("{pattern} was not shown: {reason}: {}", without_escapes(&self.unread)),
            }
        }
    }

    /// Types a line.
    pub fn answer(&mut self, line: &str) {
        self.type_text(&format!("{line}\n"));
    }

    /// Types text without a newline.
    pub fn type_text(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).expect("it listens");
    }

    /// Types a key together with Ctrl.
    pub fn control(&mut self, key: char) {
        let code = key.to_ascii_uppercase() as u8 ^ 0x40;
        self.keyboard.write_all(&[code]).expect("it listens");
    }

    /// Waits for its end; returns the output since then, and its status.
    #[track_caller]
    pub fn end(mut self) -> (Shown, i32) {
        let (shown, status) = self.wait();
        let code = status.code().unwrap_or_else(|| panic!("{status}: {}", shown.text));
        (shown, code)
    }

    /// Waits for its end, which must be by `signal`; returns the output since then.
    #[track_caller]
    pub fn end_by(mut self, signal: i32) -> Shown {
        let (shown, status) = self.wait();
        assert_eq!(status.signal(), Some(signal), "{status}: {}", shown.text);
        shown
    }

    #[track_caller]
    fn wait(&mut self) -> (Shown, ExitStatus) {
        let until = Instant::now() + HANGS_AFTER;
        while let Ok(bytes) = self.screen.recv_timeout(until.saturating_duration_since(Instant::now())) {
            self.unread.extend(bytes);
        }
        let shown = Shown::new(std::mem::take(&mut self.unread));
        assert!(Instant::now() < until, "it hangs: {}", shown.text);
        (shown, self.program.wait().expect("it is a child of this process"))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It is still running only after a failed test, or if that did not wait for its end.
        if self.program.try_wait().is_ok_and(|ended| ended.is_none()) {
            let _ = kill_process(Pid::from_child(&self.program), Signal::HUP);
            if !ends_within(&mut self.program, Duration::from_secs(30)) {
                let _ = self.program.kill();
            }
            let _ = self.program.wait();
        }
    }
}
