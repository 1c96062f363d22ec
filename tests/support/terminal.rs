//! Programs on a terminal: a pty, whose other end the test reads and types on.
//!
//! Messages of haul are wrapped to the width of the terminal, so their line breaks depend on the length of the paths
//! of test directories. Waiting for words therefore ignores the kind of white space between them, and text is
//! returned on one line. No other file names rexpect (`tests/tidy`), so no test can match the raw output by
//! accident.
use super::running::{haul_path, in_one_line, state_home};
use rexpect::process::WaitStatus;
use rexpect::session::{PtySession, spawn_command};
use std::path::Path;
use std::process::Command;

/// A program that takes this long has hung. Long enough for a busy machine; no test depends on it otherwise.
const HANGS_AFTER_MS: u64 = 120_000;
/// What may be between two words: white space, and escape sequences that set a colour or move the cursor.
const BETWEEN_WORDS: &str = r"(?:\s|\x1b\[[0-9;?]*[A-Za-z])+";

/// A program that runs on a terminal.
pub struct Terminal {
    session: PtySession,
}

/// The output on a terminal.
pub struct Shown {
    /// Without escape sequences, on one line: each run of white space is one space.
    pub text: String,
    /// As it was sent: for tests of bars and charts, and of escape sequences.
    pub raw: Vec<u8>,
}

impl Shown {
    /// From rexpect's text, which has a character for each byte.
    fn new(text: &str) -> Self {
        let raw: Vec<u8> = text.chars().map(|byte| byte as u8).collect();
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
    pub fn start(mut command: Command) -> Self {
        let explicit: Vec<_> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
        let is_inherited = |name: &&str| !explicit.iter().any(|set| set == name);
        ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"].iter().filter(|name| is_inherited(name)).for_each(|name| {
            command.env_remove(name);
        });
        if is_inherited(&"TERM") {
            command.env("TERM", "xterm-256color");
        }
        Terminal { session: spawn_command(command, Some(HANGS_AFTER_MS)).expect("ptys are available") }
    }

    /// Starts `command` on a terminal of this size.
    pub fn sized(columns: u16, rows: u16, command: Command) -> Self {
        let mut sized = Command::new("sh");
        let script = format!("stty cols {columns} rows {rows}; exec \"$@\"");
        sized.args(["-c", &script, "sh"]).arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => sized.env(name, value),
                None => sized.env_remove(name),
            };
        }
        Terminal::start(sized)
    }

    /// Waits for these words, with any white space between them; returns the output before them.
    #[track_caller]
    pub fn wait_for(&mut self, words: &str) -> Shown {
        assert!(words.is_ascii(), "{words:?}: other characters are several to rexpect");
        let escaped = |c: char| if c.is_ascii_punctuation() { format!("\\{c}") } else { c.to_string() };
        let words: Vec<String> = words.split_whitespace().map(|word| word.chars().map(escaped).collect()).collect();
        self.wait_for_match(&words.join(BETWEEN_WORDS))
    }

    /// Waits for a match of this regular expression; returns the output before it. `wait_for` is for words.
    #[track_caller]
    pub fn wait_for_match(&mut self, pattern: &str) -> Shown {
        Shown::new(&self.session.exp_regex(pattern).unwrap_or_else(|error| panic!("{error}")).0)
    }

    /// Types a line.
    pub fn answer(&mut self, line: &str) {
        self.session.send_line(line).expect("it listens");
    }

    /// Types text without a newline.
    pub fn type_text(&mut self, text: &str) {
        self.session.send(text).and_then(|_| self.session.flush()).expect("it listens");
    }

    /// Types a key together with Ctrl.
    pub fn control(&mut self, key: char) {
        self.session.send_control(key).expect("it listens");
    }

    /// Waits for its end; returns the output since then, and its status.
    #[track_caller]
    pub fn end(mut self) -> (Shown, i32) {
        match self.wait() {
            (shown, WaitStatus::Exited(_, status)) => (shown, status),
            (shown, other) => panic!("{other:?}: {}", shown.text),
        }
    }

    /// Waits for its end, which must be by `signal`; returns the output since then.
    #[track_caller]
    pub fn end_by(mut self, signal: i32) -> Shown {
        match self.wait() {
            (shown, WaitStatus::Signaled(_, by, _)) if by as i32 == signal => shown,
            (shown, other) => panic!("{other:?}: {}", shown.text),
        }
    }

    #[track_caller]
    fn wait(&mut self) -> (Shown, WaitStatus) {
        let shown = self.session.exp_eof().unwrap_or_else(|error| panic!("{error}"));
        (Shown::new(&shown), self.session.process().wait().expect("it is a child of this process"))
    }
}
