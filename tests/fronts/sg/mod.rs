//! Command lines of sg_dd, sgp_dd and sgm_dd, run by haul under these names and, if installed, by the originals of
//! sg3_utils.
use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The three programs.
pub const FRONTS: [&str; 3] = ["sg_dd", "sgp_dd", "sgm_dd"];

/// The path of the original program `name`; `None`, with a message, if it is not installed.
pub fn original(name: &str) -> Option<PathBuf> {
    let path = Path::new("/usr/bin").join(name);
    if !path.exists() {
        super::support::skip(&format!("there is no {name} of sg3_utils to compare with"));
        return None;
    }
    Some(path)
}

/// The result of a command line.
#[derive(Clone, PartialEq, Eq)]
pub struct CommandResult {
    pub status: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl std::fmt::Debug for CommandResult {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let CommandResult { status, signal, stdout, stderr } = self;
        write!(out, "{status:?}/{signal:?}, {} bytes printed\n{stderr}", stdout.len())
    }
}

impl CommandResult {
    /// The lines about records.
    pub fn records(&self) -> Vec<&str> {
        self.stderr.lines().filter(|line| line.contains(" records ")).collect()
    }

    /// Asserts that it ended with `status` and printed `words`.
    #[track_caller]
    pub fn assert_ended(&self, status: i32, words: &[&str]) {
        assert_eq!(self.status, Some(status), "{self:?}");
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is missing: {self:?}");
        }
    }
}

/// Runs `program` under the name `front` in `dir`.
pub fn run(program: &Path, front: &str, line: &str, dir: &Path, stdin: Stdio) -> CommandResult {
    let mut command = Command::new(program);
    command.arg0(front).args(line.split_whitespace()).current_dir(dir).env("LC_ALL", "C").stdin(stdin);
    let output = command.output().expect("it can be run");
    CommandResult {
        status: output.status.code(),
        signal: output.status.signal(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// haul under the name `front`, with nothing on standard input.
pub fn haul_as(front: &str, line: &str, dir: &Path) -> CommandResult {
    run(&super::support::haul_path(), front, line, dir, Stdio::null())
}

/// haul as sg_dd.
pub fn sg_dd(line: &str, dir: &Path) -> CommandResult {
    haul_as("sg_dd", line, dir)
}

/// The file `name` in `dir`.
pub fn read(dir: &Path, name: &str) -> Vec<u8> {
    fs::read(dir.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}
