//! One made-up run of haul: what is in its folder, what its command line says, what happens to it meanwhile.
use std::fmt;
use std::ops::Range;

/// What the copy reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A regular file, reached by this name in the folder.
    File { by: By, holes: bool },
    /// Standard input is a pipe, fed in pieces; `stalls_at`: the rest never comes, and the pipe stays open.
    Pipe { stalls_at: Option<usize> },
    /// Standard input is the file.
    Redirected,
    /// A FIFO in the folder.
    Fifo,
    /// A loop device.
    Loop,
    /// /dev/zero.
    Zero,
    /// A file on FUSE of which these ranges cannot be read; `device`: a loop device over it.
    Failing { bad: Vec<Range<u64>>, device: bool },
}

/// What the copy writes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Dest {
    /// A regular file of this name; `None`: it is not there yet.
    File { by: By, name: &'static str, before: Option<Before> },
    /// Standard output is a pipe; `closes_after`: its reader goes after so many bytes.
    Pipe { closes_after: Option<u64> },
    /// Standard output is an empty file.
    Redirected,
    /// A FIFO in the folder.
    Fifo,
    /// A loop device, larger than the source by this or smaller.
    Loop { more: i64 },
    /// /dev/null.
    Null,
    /// /dev/full.
    Full,
    /// A new file on a file system that has room for so many bytes.
    Small { room: u64 },
    /// A file on FUSE of which a range cannot be written.
    Failing { bad: Range<u64> },
    /// The source itself.
    Same,
}

/// By which name a file is reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum By {
    Name,
    Symlink,
    HardLink,
    Absolute,
}

/// What a dest held before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Before {
    /// So many bytes of something else.
    Other(usize),
    /// The bytes of the copy, but for a few; so much longer or shorter.
    Nearly(i64),
}

/// What happens to haul while it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    Signals(Vec<Sent>),
    /// No file may be longer than this.
    FileSize(u64),
}

/// A signal and its moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    pub signal: i32,
    /// Not before haul has a handler for SIGINT.
    pub when_ready: bool,
    pub after_us: u64,
}

/// What is done with what an unfinished copy left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Then {
    /// The command that haul itself tells.
    Told,
    /// The same command with --resume.
    Resume,
    /// The same, killed at these moments, until it gets to its end.
    ResumeAgain([u64; 2]),
    /// The same command with --restart.
    Restart,
}

/// What the command does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verb {
    Copy,
    Verify,
    /// haul pattern write.
    Pattern,
    /// haul dd, or the sg family on plain files.
    Dd(&'static str),
}

/// One option with its value, as words of the command line.
pub type Words = Vec<String>;

/// A made-up run.
#[derive(Clone, Debug)]
pub struct Case {
    /// What made it up.
    pub seed: u64,
    pub number: u64,
    pub verb: Verb,
    /// Bytes that the source has.
    pub len: usize,
    pub source: Source,
    /// More than one: `--also`.
    pub dests: Vec<Dest>,
    pub skip: Option<u64>,
    pub seek: Option<u64>,
    pub count: Option<u64>,
    pub options: Vec<Words>,
    pub fault: Option<Fault>,
    pub then: Then,
    /// What would only be refused was taken out.
    pub is_mended: bool,
    /// In memory, not on a disk.
    pub in_memory: bool,
}

impl Case {
    /// The option is there.
    pub fn has(&self, name: &str) -> bool {
        self.option(name).is_some()
    }

    /// The words of an option; `--delta=m` is also `--delta`.
    pub fn option(&self, name: &str) -> Option<&Words> {
        self.options.iter().find(|words| words[0] == name || words[0].starts_with(&format!("{name}=")))
    }

    /// The value of an option.
    pub fn value(&self, name: &str) -> Option<&str> {
        let words = self.option(name)?;
        words.get(1).map(String::as_str).or_else(|| words[0].split_once('=').map(|(_, value)| value))
    }

    /// A range was asked for: only it may change.
    pub fn is_range(&self) -> bool {
        self.skip.is_some() || self.seek.is_some() || self.count.is_some()
    }

    /// Its range is of whole sectors of 512 bytes.
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
    /// Which case it is, and what is in it beside its command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { seed, number, len, source, dests, fault, then, in_memory, .. } = self;
        writeln!(
            f,
            "HAUL_FUZZ_SEED={seed} HAUL_FUZZ_CASE={number} cargo test --test command_lines made_up -- --nocapture"
        )?;
        writeln!(f, "  source: {len} bytes, {source:?}{}", if *in_memory { ", in memory" } else { "" })?;
        writeln!(f, "  dests: {dests:?}")?;
        write!(f, "  fault: {fault:?}; then {then:?}")
    }
}
