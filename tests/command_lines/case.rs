//! One random run of haul: the files in its directory, its command line, and its faults and signals.
use super::lists::Lists;
use std::fmt;
use std::ops::Range;

/// The source of the copy.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A regular file with this name in the directory.
    File { by: By, holes: bool },
    /// Standard input is a pipe, fed in pieces; `stalls_at`: after that many bytes it stays open without data.
    Pipe { stalls_at: Option<usize> },
    /// Standard input is the file.
    Redirected,
    /// A FIFO in the directory.
    Fifo,
    /// A loop device.
    Loop,
    /// /dev/zero.
    Zero,
    /// A file on FUSE with these unreadable ranges; `device`: a loop device over it.
    Failing { bad: Vec<Range<u64>>, device: bool },
}

/// The destination of the copy.
#[derive(Clone, Debug, PartialEq)]
pub enum Dest {
    /// A regular file of this name; `None`: it does not exist yet.
    File { by: By, name: &'static str, before: Option<Before> },
    /// Standard output is a pipe; `closes_after`: its reader closes it after that many bytes.
    Pipe { closes_after: Option<u64> },
    /// Standard output is an empty file.
    Redirected,
    /// A FIFO in the directory.
    Fifo,
    /// A loop device, larger than the source by this number, or smaller.
    Loop { more: i64 },
    /// /dev/null.
    Null,
    /// /dev/full.
    Full,
    /// A new file on a file system with this much free space.
    Small { room: u64 },
    /// A file on FUSE with an unwritable range.
    Failing { bad: Range<u64> },
    /// The source itself.
    Same,
}

/// The kind of name of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum By {
    Name,
    Symlink,
    HardLink,
    Absolute,
}

/// The contents of a dest before the copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Before {
    /// This number of other bytes.
    Other(usize),
    /// The bytes of the copy, except for a few; longer by this number, or shorter.
    Nearly(i64),
}

/// A fault while haul runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    Signals(Vec<Sent>),
    /// The maximum size of a file.
    FileSize(u64),
}

/// A signal and its moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    pub signal: i32,
    /// Not before haul handles SIGINT.
    pub when_ready: bool,
    pub after_us: u64,
}

/// How an unfinished copy is continued.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Then {
    /// By the command that haul prints.
    PrintedCommand,
    /// By the same command with --resume.
    Resume,
    /// The same, killed at these moments, until it completes.
    ResumeAgain([u64; 2]),
    /// By the same command with --restart.
    Restart,
}

/// The command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verb {
    Copy,
    Verify,
    /// haul pattern write.
    Pattern,
    /// haul dd, or sg_dd and its variants on plain files.
    Dd(&'static str),
}

/// One option with its value, as arguments of the command line.
pub type Words = Vec<String>;

/// A random run.
#[derive(Clone, Debug)]
pub struct Case {
    /// The seed from which it was drawn.
    pub seed: u64,
    pub number: u64,
    pub verb: Verb,
    /// Size of the source.
    pub len: usize,
    pub source: Source,
    /// With more than one: `--also`.
    pub dests: Vec<Dest>,
    pub skip: Option<u64>,
    pub seek: Option<u64>,
    pub count: Option<u64>,
    pub lists: Lists,
    pub options: Vec<Words>,
    pub fault: Option<Fault>,
    pub then: Then,
    /// Options that would only be refused were removed.
    pub is_mended: bool,
    /// In memory instead of on a disk.
    pub in_memory: bool,
}

impl Case {
    /// Whether the option is given.
    pub fn has(&self, name: &str) -> bool {
        self.option(name).is_some()
    }

    /// The arguments of an option; `--delta=m` is also `--delta`.
    pub fn option(&self, name: &str) -> Option<&Words> {
        self.options.iter().find(|words| words[0] == name || words[0].starts_with(&format!("{name}=")))
    }

    /// The value of an option.
    pub fn value(&self, name: &str) -> Option<&str> {
        let words = self.option(name)?;
        words.get(1).map(String::as_str).or_else(|| words[0].split_once('=').map(|(_, value)| value))
    }

    /// Whether a range was requested, outside of which nothing may change.
    pub fn is_range(&self) -> bool {
        self.skip.is_some() || self.seek.is_some() || self.count.is_some() || !self.lists.is_empty()
    }

    /// Whether its range consists of whole sectors of 512 bytes.
    pub fn is_range_of_sectors(&self) -> bool {
        [self.skip, self.seek, self.count].into_iter().flatten().all(|bytes| bytes % 512 == 0)
    }

    /// The signals that are sent.
    pub fn signals(&self) -> &[Sent] {
        match &self.fault {
            Some(Fault::Signals(sent)) => sent,
            _ => &[],
        }
    }
}

impl fmt::Display for Case {
    /// The number of the case, and its properties besides its command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { seed, number, len, source, dests, fault, then, in_memory, .. } = self;
        writeln!(
            f,
            "HAUL_FUZZ_SEED={seed} HAUL_FUZZ_CASE={number} cargo test --test command_lines random -- --nocapture"
        )?;
        writeln!(f, "  source: {len} bytes, {source:?}{}", if *in_memory { ", in memory" } else { "" })?;
        writeln!(f, "  dests: {dests:?}")?;
        write!(f, "  fault: {fault:?}; then {then:?}")
    }
}
