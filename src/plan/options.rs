//! What was asked for: not settled yet.
use crate::core::{EngineKind, HashKind, OnError, Portion, Ranges, Side};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// `auto|always|never`, as cp has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// Where it pays.
    #[default]
    Auto,
    /// Or fail.
    Always,
    /// Not even where it would pay.
    Never,
}

/// Which sides are to be reached by commands of their own, past the block layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassthroughMode {
    /// None but those whose node is named.
    #[default]
    AsNamed,
    /// Every side that can be, one at least.
    WherePossible,
    /// The source, or fail.
    Source,
    /// The dest, or fail.
    Dest,
    /// Both, or fail.
    Both,
}

impl PassthroughMode {
    /// The side is to be reached so, if it can be.
    pub fn may(self, side: Side) -> bool {
        self == PassthroughMode::WherePossible || self.must(side)
    }

    /// The side has to be reached so.
    pub fn must(self, side: Side) -> bool {
        match self {
            PassthroughMode::AsNamed | PassthroughMode::WherePossible => false,
            PassthroughMode::Source => side == Side::Source,
            PassthroughMode::Dest => side == Side::Dest,
            PassthroughMode::Both => true,
        }
    }
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgressStyle {
    /// A bar on a terminal, plain lines elsewhere.
    #[default]
    Auto,
    /// A bar.
    Bar,
    /// A line every few seconds.
    Plain,
    /// A JSON object a line.
    Json,
    /// Nothing but warnings.
    None,
    /// Not even these.
    Silent,
}

/// How much the report at the end says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verbosity {
    /// Errors, and whatever else makes the exit status other than 0.
    Quiet,
    /// What, how fast, and what held it back or what to do next; whatever is wrong besides.
    #[default]
    Short,
    /// Everything that was measured.
    Full,
    /// That, and each choice of the plan with its reason.
    Everything,
}

/// One thing that the dest must be, or the copy is refused: `serial=…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// Serial number, whole.
    Serial(String),
    /// Model, whole.
    Model(String),
    /// World wide name, whole.
    Wwn(String),
    /// Size in bytes.
    Size(u64),
    /// The kernel's sequence number of the disk: no other disk has come under its name.
    Sequence(u64),
}

/// Which disks are offered where no destination is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChooseFrom {
    /// Those that can be taken out while the machine runs.
    #[default]
    Removable,
    /// Every block device that is not in use.
    All,
}

/// Whether a journal is kept, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum JournalChoice {
    /// Where one makes sense, in the usual place.
    #[default]
    Auto,
    /// Here.
    At(PathBuf),
    /// None.
    Never,
}

/// How what differs on the dest is found, where nothing else is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// The dest is read beside the source.
    Read,
    /// A manifest tells what is on the dest, which is not read.
    Manifest(String),
}

/// A file that lists ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeList {
    /// The file.
    pub file: String,
    /// What a number without a suffix counts there, in bytes.
    pub unit_bytes: u64,
}

/// What `haul copy` was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Address of the source.
    pub source: String,
    /// Address of the dest; empty: it is chosen on the terminal.
    pub dest: String,
    /// Which disks are offered then.
    pub choose_from: ChooseFrom,
    /// The largest that are, in bytes; `None`: auto.
    pub choose_max_bytes: Option<u64>,
    /// Addresses of further dests.
    pub also: Vec<String>,
    /// A slow dest does not hold the others up: it is left behind and gets what it lacks afterwards.
    pub independent: bool,
    /// First byte on the source; `None`: not given, 0.
    pub skip_bytes: Option<u64>,
    /// First byte on the dest; `None`: not given, 0.
    pub seek_bytes: Option<u64>,
    /// Bytes to copy; `None`: to the end of the source.
    pub count_bytes: Option<u64>,
    /// The list of ranges to copy, not read yet; `None`: none was given.
    pub range_list: Option<RangeList>,
    /// Of the bytes from there to there, only those in these ranges; `None`: all.
    pub ranges: Option<Arc<Ranges>>,
    /// `None`: auto.
    pub engine: Option<EngineKind>,
    /// Bytes per request; `None`: auto.
    pub block_bytes: Option<u32>,
    /// Blocks in flight; `None`: auto.
    pub depth: Option<u32>,
    /// Direct I/O.
    pub direct: When,
    /// Holes in the dest.
    pub sparse: When,
    /// Sharing extents instead of copying.
    pub reflink: When,
    /// Sides to be reached by commands of their own.
    pub passthrough: PassthroughMode,
    /// Seconds after which the kernel gives a command up; `None`: auto.
    pub command_timeout_s: Option<u32>,
    /// Let a device that both sides lie on copy by itself, where it can.
    pub offload: bool,
    /// Exit before the data is durable.
    pub no_flush: bool,
    /// Digests of the source stream.
    pub hashes: Vec<HashKind>,
    /// They are defaults, and no copy is refused for them.
    pub hashes_are_defaults: bool,
    /// Where to write a mapfile of what could be read; `None`: nowhere.
    pub mapfile: Option<String>,
    /// What happens to a place that cannot be read.
    pub on_error: OnError,
    /// Where the journal is to be, if any.
    pub journal: JournalChoice,
    /// Go on with the copy of which the journal describes.
    pub resume: bool,
    /// Begin at the start, whatever unfinished copy to the dest waits.
    pub restart: bool,
    /// Time between two checkpoints; `None`: auto.
    pub checkpoint: Option<Duration>,
    /// Write only what differs on the dest; `None`: write everything.
    pub delta: Option<Delta>,
    /// Read the dest back afterwards, and how much of it.
    pub verify: Option<Portion>,
    /// Path of the manifest to write, or to compare with.
    pub manifest: Option<String>,
    /// Bytes of a digested block, a power of two; `None`: auto.
    pub manifest_block_bytes: Option<u64>,
    /// Most bytes a second; `None`: no limit.
    pub limit_bytes_per_s: Option<u64>,
    /// End after so much time, whole or not; `None`: when it is whole.
    pub time_limit: Option<Duration>,
    /// What the user calls this run, for the report.
    pub label: Option<String>,
    /// Do not ask before overwriting a device.
    pub yes: bool,
    /// What the dest must be.
    pub expect: Vec<Expectation>,
    /// Show the plan and end.
    pub dry_run: bool,
    /// Do not read here and there beforehand to estimate the time.
    pub no_estimate: bool,
    /// How progress is shown.
    pub progress: ProgressStyle,
    /// How much the report says.
    pub verbosity: Verbosity,
    /// The report as JSON on standard output.
    pub json: bool,
    /// The report as a page with charts, in this file.
    pub report: Option<PathBuf>,
}
