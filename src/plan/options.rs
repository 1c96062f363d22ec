//! The user's options, before any decision.
use crate::core::{AddressMap, BlockHash, BlockMap, Digest, Encoding, EngineKind, HashKind, OnError, Portion, Side};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// `auto|always|never`, as in cp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// If it is useful.
    #[default]
    Auto,
    /// Always; fail if it is not possible.
    Always,
    /// Never, even if it would be faster.
    Never,
}

/// Which sides are reached by passthrough commands, bypassing the block layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassthroughMode {
    /// Only those whose node is named.
    #[default]
    AsNamed,
    /// Every side that supports it, at least one.
    WherePossible,
    /// The source; fail if it is not possible.
    Source,
    /// The dest; fail if it is not possible.
    Dest,
    /// Both; fail if it is not possible.
    Both,
}

impl PassthroughMode {
    /// Whether passthrough is used for the side if it is supported.
    pub fn may(self, side: Side) -> bool {
        self == PassthroughMode::WherePossible || self.must(side)
    }

    /// Whether passthrough is required for the side.
    pub fn must(self, side: Side) -> bool {
        match self {
            PassthroughMode::AsNamed | PassthroughMode::WherePossible => false,
            PassthroughMode::Source => side == Side::Source,
            PassthroughMode::Dest => side == Side::Dest,
            PassthroughMode::Both => true,
        }
    }
}

/// The progress display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgressStyle {
    /// A bar on a terminal, plain lines elsewhere.
    #[default]
    Auto,
    /// A bar.
    Bar,
    /// A line every few seconds.
    Plain,
    /// One JSON object per line.
    Json,
    /// Only warnings.
    None,
    /// No warnings either.
    Silent,
}

/// The amount of detail in the final report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verbosity {
    /// Errors, and anything else for which the exit status is not 0.
    Quiet,
    /// What was copied, how fast, and the bottleneck or what to do next; also every problem.
    #[default]
    Short,
    /// All measurements.
    Full,
    /// The same, and each choice of the plan with its reason.
    Everything,
}

/// A property that the dest, or a source on a web server, must have, otherwise the copy is refused: `serial=…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// The complete serial number.
    Serial(String),
    /// The complete model.
    Model(String),
    /// The complete world wide name.
    Wwn(String),
    /// Size in bytes.
    Size(u64),
    /// What identifies the content of a source on a web server: its entity tag, or the time of its last change.
    Etag(String),
    /// The kernel's sequence number of the disk: its name does not refer to another disk now.
    Sequence(u64),
}

/// Which disks are offered if no destination is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChooseFrom {
    /// Those that can be removed while the machine runs.
    #[default]
    Removable,
    /// Every block device that is not in use.
    All,
}

/// Whether a journal is kept, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum JournalChoice {
    /// If one is useful, at the default path.
    #[default]
    Auto,
    /// At this path.
    At(PathBuf),
    /// No journal.
    Never,
}

/// How differences on the dest are found, if only they are to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// The dest is read along with the source.
    Read,
    /// A manifest describes the dest, which is not read.
    Manifest(String),
}

/// Files with lists of ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeLists {
    /// The list for both sides.
    pub both: Option<String>,
    /// The lists for one side, by [`Side::index`].
    pub of_side: [Option<String>; 2],
    /// The unit of numbers without a suffix, in bytes; `None`: bytes.
    pub unit_bytes: Option<u64>,
}

/// Whether the content of a compressed source is copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decompress {
    /// To a device.
    #[default]
    Auto,
    /// Or fail.
    Always,
    /// The file itself is copied.
    Never,
}

/// Whether a dest is compressed while it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compress {
    /// A file whose name says so.
    #[default]
    Auto,
    /// In this way.
    As(Encoding),
}

/// Which block map of the source is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BlockMapChoice {
    /// One that is found beside an image to be copied to a device.
    #[default]
    Auto,
    /// That in this file.
    At(String),
    /// None.
    Never,
}

/// What the source file has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checksum {
    /// As it was given.
    pub given: String,
    /// `None`: in the file of that name, which is not read yet.
    pub digest: Option<Digest>,
    /// It was found beside the source, and not requested.
    pub is_found: bool,
}

/// Which shard of a copy by many workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardChoice {
    /// This one of so many, from 1.
    Number(u64, u64),
    /// That of the task that the batch engine runs.
    Auto,
}

/// One shard of a copy by many workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardWish {
    /// Path of the plan, or its address in the shared state.
    pub plan: String,
    /// Which shard.
    pub choice: ShardChoice,
}

/// The options of `haul copy`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Address of the source.
    pub source: String,
    /// Address of the dest; empty: it is chosen on the terminal.
    pub dest: String,
    /// Which disks are offered then.
    pub choose_from: ChooseFrom,
    /// The largest disk offered, in bytes; `None`: auto.
    pub choose_max_bytes: Option<u64>,
    /// Addresses of further dests.
    pub also: Vec<String>,
    /// Instead of source and dest: a shard of the copy of this plan.
    pub shard_of: Option<ShardWish>,
    /// It is one shard of a copy: other workers write the rest of the dest at the same time.
    pub is_shard: bool,
    /// Each block is digested, for the tree of a whole in which the copy begins at this byte.
    pub digests_from_bytes: Option<u64>,
    /// A slow dest does not delay the others: it is left behind and completed afterwards.
    pub independent: bool,
    /// Offset on the source; `None`: not given, 0.
    pub skip_bytes: Option<u64>,
    /// Offset on the dest; `None`: not given, 0.
    pub seek_bytes: Option<u64>,
    /// Bytes to copy; `None`: to the end of the source.
    pub count_bytes: Option<u64>,
    /// Lists of ranges to copy, before their files are read.
    pub range_lists: RangeLists,
    /// Which block map is used.
    pub bmap: BlockMapChoice,
    /// The block map, whose ranges are those of both sides.
    pub block_map: Option<Arc<BlockMap>>,
    /// Whether data is repeated in the areas of a map (`haul rescue --fill`), which are the ranges of both sides.
    pub fills: bool,
    /// The ranges of each side, by [`Side::index`], which are all that is copied; `None`: one run of bytes.
    pub ranges: [Option<AddressMap>; 2],
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
    /// Sides to be reached by passthrough commands.
    pub passthrough: PassthroughMode,
    /// Seconds after which the kernel aborts a command; `None`: auto.
    pub command_timeout_s: Option<u32>,
    /// Let a device that contains both sides copy internally, if it can.
    pub offload: bool,
    /// Exit before the data is durable.
    pub no_flush: bool,
    /// Digests of the source stream.
    pub hashes: Vec<HashKind>,
    /// They are configured defaults, because of which no copy is refused.
    pub hashes_are_defaults: bool,
    /// Path of the mapfile to write; `None`: none.
    pub mapfile: Option<String>,
    /// How unreadable sectors are handled.
    pub on_error: OnError,
    /// Whether a journal is kept, and its path.
    pub journal: JournalChoice,
    /// Resume the copy that the journal describes.
    pub resume: bool,
    /// Rescue a failing source: in a changing order, into a dest whose bytes are kept.
    pub rescue: bool,
    /// Copy from the start, even if there is an unfinished copy to the dest.
    pub restart: bool,
    /// Time between two checkpoints; `None`: auto.
    pub checkpoint: Option<Duration>,
    /// Write only what differs on the dest; `None`: write everything.
    pub delta: Option<Delta>,
    /// How much of the dest is read back afterwards; `None`: nothing.
    pub verify: Option<Portion>,
    /// Whether the content of a compressed source is copied.
    pub decompress: Decompress,
    /// Whether the dests are compressed.
    pub compress: Compress,
    /// The digest that the source has to have, as it is stored.
    pub checksum: Option<Checksum>,
    /// No checksum is searched beside the source.
    pub no_checksum: bool,
    /// Path of the manifest to write, or to compare with.
    pub manifest: Option<String>,
    /// Block size of digests, a power of two; `None`: auto.
    pub manifest_block_bytes: Option<u64>,
    /// Algorithm of block digests; `None`: the default. A manifest that is updated keeps its own.
    pub manifest_hash: Option<BlockHash>,
    /// Maximum bytes per second; `None`: no limit.
    pub limit_bytes_per_s: Option<u64>,
    /// Time after which the copy ends, complete or not; `None`: no limit.
    pub time_limit: Option<Duration>,
    /// The user's label for this run in the report.
    pub label: Option<String>,
    /// Do not ask before overwriting a device.
    pub yes: bool,
    /// The expected properties of the dest.
    pub expect: Vec<Expectation>,
    /// Show the plan and exit.
    pub dry_run: bool,
    /// Do not make sample reads to estimate the duration.
    pub no_estimate: bool,
    /// The progress display.
    pub progress: ProgressStyle,
    /// The amount of detail in the report.
    pub verbosity: Verbosity,
    /// Print the report as JSON on standard output.
    pub json: bool,
    /// The file for the report as a page with charts.
    pub report: Option<PathBuf>,
}

impl Options {
    /// Whether a side has a list of ranges.
    pub fn is_listed(&self) -> bool {
        self.ranges.iter().any(Option::is_some)
    }

    /// The option that lists the ranges of `side`.
    pub(crate) fn ranges_option(&self, side: Side) -> &'static str {
        if self.fills {
            return "--fill";
        }
        if self.block_map.is_some() {
            return "--bmap";
        }
        match (&self.range_lists.both, side) {
            (Some(_), _) => "--ranges",
            (None, Side::Source) => "--source-ranges",
            (None, Side::Dest) => "--destination-ranges",
        }
    }
}
