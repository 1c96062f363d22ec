//! Runs one command line with one input by /usr/bin/dd and by haul under the name dd, and compares the results.
mod script;
pub mod words;

pub use script::{same_in_both, shell};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The reference.
pub const GNU: &str = "/usr/bin/dd";

/// The path of the reference; `None`, with a message, if it is not GNU dd.
pub fn reference() -> Option<PathBuf> {
    let version = Command::new(GNU).arg("--version").output().ok()?;
    let is_gnu = String::from_utf8_lossy(&version.stdout).contains("coreutils");
    if !is_gnu {
        super::support::skip("there is no GNU dd to compare with");
    }
    is_gnu.then(|| GNU.into())
}

/// Standard input, for command lines without `if=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    Nothing,
    /// The file `in`, from this offset.
    File(u64),
    /// The bytes of `in` through a pipe, in pieces of these lengths, each written after the previous one was read.
    Pipe(Vec<usize>),
}

/// Standard output, for command lines without `of=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdout {
    Pipe,
    File,
    /// A file with contents, opened for appending.
    Append,
    Full,
}

/// One command line and its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub words: Vec<String>,
    /// The file `in`.
    pub input: Vec<u8>,
    /// The file `out`, if it exists before.
    pub output: Option<Vec<u8>>,
    pub stdin: Stdin,
    pub stdout: Stdout,
}

/// The result of a command.
#[derive(Clone, PartialEq, Eq)]
pub struct CommandResult {
    pub status: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: Vec<u8>,
    /// Standard error without time and rate.
    pub stderr: String,
    /// Every file in its directory, and whether its blocks are allocated.
    pub files: BTreeMap<String, (Vec<u8>, bool)>,
    /// The final offset of standard input, if it is a file.
    pub stdin_at: Option<u64>,
}

impl std::fmt::Debug for CommandResult {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sizes: Vec<_> = self.files.iter().map(|(name, (bytes, holes))| (name, bytes.len(), holes)).collect();
        let (stdout, at) = (self.stdout.len(), self.stdin_at);
        write!(out, "{:?}/{:?} {stdout} printed, stdin at {at:?}, files {sizes:?}", self.status, self.signal)?;
        write!(out, "\n{}", self.stderr)
    }
}

/// Removes from the line about the transfer what differs between runs.
pub fn without_times(text: &str) -> String {
    let line = |line: &str| match line.split_once(" copied, ") {
        Some((size, _)) => format!("{size} copied\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Runs `program` as `dd` in a separate directory below `above`.
pub fn run(program: &Path, case: &Case, above: &Path) -> CommandResult {
    let dir = crate::support::ScratchDir::below(above).expect("the test directory is writable");
    let at = |name: &str| dir.path().join(name);
    fs::write(at("in"), &case.input).expect("the file can be written");
    if let Some(bytes) = &case.output {
        fs::write(at("out"), bytes).expect("the file can be written");
    }
    let mut command = Command::new(program);
    command.arg0("dd").args(&case.words).current_dir(dir.path()).env_clear().env("LC_ALL", "C");
    // An instrumented program would write its profile to the directory.
    command.envs(std::env::var_os("LLVM_PROFILE_FILE").map(|path| ("LLVM_PROFILE_FILE", path)));
    command.stderr(Stdio::piped());
    let mut file = None;
    let mut feeder = None;
    match &case.stdin {
        Stdin::Nothing => drop(command.stdin(Stdio::null())),
        Stdin::File(offset) => {
            let mut opened = File::open(at("in")).expect("it was written");
            opened.seek(SeekFrom::Start(*offset)).expect("it is a file");
            command.stdin(opened.try_clone().expect("descriptors are available"));
            file = Some(opened);
        }
        Stdin::Pipe(lengths) => {
            let (reader, writer) = std::io::pipe().expect("descriptors are available");
            command.stdin(reader);
            let (bytes, lengths) = (case.input.clone(), lengths.clone());
            feeder = Some(move || feed(writer, &bytes, &lengths));
        }
    }
    let printed = match case.stdout {
        Stdout::Pipe => Stdio::piped(),
        Stdout::File => File::create(at("stdout")).expect("the file can be written").into(),
        Stdout::Append => {
            fs::write(at("stdout"), "before").expect("the file can be written");
            OpenOptions::new().append(true).open(at("stdout")).expect("it was written").into()
        }
        Stdout::Full => OpenOptions::new().write(true).open("/dev/full").expect("Linux has it").into(),
    };
    let child = command.stdout(printed).spawn().expect("it can be run");
    // The command holds the reading end of the pipe; a writer gets EPIPE only after it is closed.
    drop(command);
    let feeding = feeder.map(thread::spawn);
    let output = child.wait_with_output().expect("it is a child of this process");
    if let Some(feeding) = feeding {
        feeding.join().expect("it only writes");
    }
    let entries = fs::read_dir(dir.path())
        .expect("this test created it")
        .map(|entry| entry.expect("this test created it").path());
    let described = entries.map(|path| {
        let (bytes, stat) = (fs::read(&path).expect("it is a file"), fs::metadata(&path).expect("it is a file"));
        let sparse = std::os::unix::fs::MetadataExt::blocks(&stat) * 512 < stat.len();
        (path.file_name().expect("it has a name").to_string_lossy().into_owned(), (bytes, sparse))
    });
    CommandResult {
        status: output.status.code(),
        signal: output.status.signal(),
        stdout: output.stdout,
        stderr: without_times(&String::from_utf8_lossy(&output.stderr)),
        files: described.collect(),
        stdin_at: file.map(|mut file| file.stream_position().expect("it is a file")),
    }
}

/// Writes a piece, waits until it was read, and a little longer, so that the next read does not return two pieces.
fn feed(mut writer: std::io::PipeWriter, mut bytes: &[u8], lengths: &[usize]) {
    let mut lengths = lengths.iter().copied().cycle();
    while !bytes.is_empty() {
        let len = lengths.next().unwrap_or(bytes.len()).clamp(1, bytes.len());
        if writer.write_all(&bytes[..len]).is_err() {
            return;
        }
        bytes = &bytes[len..];
        let give_up = Instant::now() + Duration::from_secs(60);
        while rustix::io::ioctl_fionread(writer.as_fd()).unwrap_or(0) > 0 && Instant::now() < give_up {
            if has_no_reader(&writer) {
                return;
            }
            thread::sleep(Duration::from_micros(200));
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Whether the reading end is closed, so that data in the pipe is never read.
fn has_no_reader(writer: &std::io::PipeWriter) -> bool {
    let mut ends = [PollFd::new(writer, PollFlags::empty())];
    poll(&mut ends, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

/// Runs both, and compares the results.
pub fn compare(case: &Case, above: &Path) -> Result<(), String> {
    let theirs = run(Path::new(GNU), case, above);
    let ours = run(&super::support::haul_path(), case, above);
    if theirs == ours {
        return Ok(());
    }
    let differ: Vec<_> = theirs.files.keys().filter(|name| theirs.files.get(*name) != ours.files.get(*name)).collect();
    let words = case.words.join(" ");
    Err(format!("dd {words}\nGNU dd: {theirs:?}\nhaul:   {ours:?}\nfiles that differ: {differ:?}"))
}
