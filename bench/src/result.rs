//! The measurements: plain data, written as JSON. Derived values are not in here but in `numbers`.
//!
//! Independent of how it was measured, and how it is shown.
use serde::{Deserialize, Serialize};

/// The results of one run of the bench.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Version of this format; grows when a field changes its meaning.
    pub format: u32,
    /// Start time, RFC 3339 with the zone's offset.
    pub started: String,
    /// Duration.
    pub took_s: f64,
    /// Small sizes and few rounds: to check that everything works, not for publication.
    pub quick: bool,
    /// A signal ended it early: these are the completed measurements.
    pub interrupted: bool,
    /// The machine.
    pub machine: Machine,
    /// Peers that are not installed, and so are in no bed.
    pub missing: Vec<Missing>,
    /// The beds, in the order of measurement.
    pub beds: Vec<BedResult>,
    /// haul dd compared with GNU dd, point by point.
    #[serde(default)]
    pub sweeps: Vec<Sweep>,
    /// Present versions of the old documents' tables.
    pub tables: Vec<Table>,
}

/// The machine used for the measurements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `uname -r`.
    pub kernel: String,
    /// The name of the processor.
    pub processor: String,
    /// Processors online.
    pub processors: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Load average over a minute before the first run: above about 0.3 the machine was not idle.
    pub load_before: f64,
    /// The smallest resident memory that this bench can measure, in bytes.
    pub resident_floor_bytes: u64,
    /// `haul --version`, and the commit from which it was built if known.
    pub haul: String,
}

/// A peer that is not installed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Missing {
    /// Its name in the tables.
    pub contender: String,
    /// The missing command, and the package that contains it.
    pub why: String,
}

/// One bed: the same copy by each contender in turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BedResult {
    /// Its short name, as in `SCENARIO=`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// A description of the copy, in a sentence or two.
    pub what: String,
    /// Bytes copied in one run.
    pub bytes: u64,
    /// Rounds that were requested.
    pub rounds: u32,
    /// The speed limits of this bed, measured or calculated without any contender.
    pub limits: Vec<Limit>,
    /// All contenders that ran, haul first.
    pub contenders: Vec<ContenderResult>,
}

/// A limit of the speed of a bed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// A description, for example `fio reads alone, io_uring, 1 MiB x 4`.
    pub what: String,
    /// Minimum duration for the bed's bytes, by this limit, in seconds.
    pub seconds: f64,
    /// The bed's limit is the slowest of its `binding` ones; the others are slower trials.
    pub binding: bool,
}

/// One contender on one bed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContenderResult {
    /// Its name in the tables.
    pub name: String,
    /// The command line, quoted for a shell.
    pub command: String,
    /// The version that it prints.
    pub version: String,
    /// Shown, but not compared with haul's defaults: a forced engine of haul, or a front without safety checks.
    pub aside: bool,
    /// Its runs, in order.
    pub runs: Vec<Run>,
    /// Share of a cached file that a further run, with little memory for file data, left in the page cache, 0 to 1.
    /// `None` if that was not measured.
    #[serde(default)]
    pub test_file_left: Option<f64>,
}

/// One run of one contender.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Which round, from 1.
    pub round: u32,
    /// Time until the command had ended and the dest was flushed, in seconds.
    pub wall_s: f64,
    /// The part of it for the flush, in seconds: time for which the contender itself did not wait.
    pub flush_s: f64,
    /// Processor time of the whole machine during the run, including kernel threads, in seconds.
    pub machine_cpu_s: f64,
    /// Processor time of the command's processes, in seconds.
    pub process_cpu_s: f64,
    /// The maximum size of the largest of its processes, in bytes.
    pub resident_bytes: u64,
    /// Bytes of source and dest left in the page cache.
    pub cache_left_bytes: u64,
    /// How it ended.
    pub verdict: Verdict,
    /// `blocks` of haul's report, with every trial, if the pace is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<serde_json::Value>,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Verdict {
    /// Status 0, and all bytes are correct.
    #[default]
    Right,
    /// Status 0, but the dest differs.
    CopiedWrongly {
        /// Offset of the first difference.
        first_difference: u64,
    },
    /// Another status.
    Failed {
        /// How it ended, and its last line of output.
        why: String,
    },
}

/// The same copy at many points, each by GNU dd and by haul.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// Its short name, as in `SCENARIO=`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// A description of the copy.
    pub what: String,
    /// The version that the other program prints.
    pub peer: String,
    /// Rounds that were requested.
    pub rounds: u32,
    /// Its points, in the order of measurement.
    pub points: Vec<PointResult>,
}

/// One point of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointResult {
    /// The parameters of the point: `bs=512`.
    pub name: String,
    /// Bytes that are read.
    pub bytes: u64,
    /// The command line of the other program.
    pub peer_command: String,
    /// haul's command line.
    pub haul_command: String,
    /// haul must be at least this many times as fast.
    pub wanted: f64,
    /// Each round of both.
    pub runs: Vec<PairRun>,
    /// The program that failed or wrote wrong data, and how; then nothing is computed from the runs.
    pub wrong: Option<String>,
}

/// Both programs at one point in one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PairRun {
    /// Which round, from 1.
    pub round: u32,
    /// The other program's time, including the flush, in seconds.
    pub peer_s: f64,
    /// haul's time, including the flush, in seconds.
    pub haul_s: f64,
}

/// A table that is not a bed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Its short name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The document from which it comes, and what was measured here.
    pub what: String,
    /// Headings, the first being that of the rows' names.
    pub columns: Vec<String>,
    /// Rows; each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
    /// Charts below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Curves>,
}

/// Bytes over time, for several programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    /// What they show.
    pub what: String,
    /// The name of each, and its points: seconds and bytes.
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
}

/// One cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number, with its unit after it in the table: `s`, `MB/s`, `%`.
    Number {
        /// The number.
        value: f64,
        /// Its unit.
        unit: String,
    },
    /// Words.
    Text(String),
}
