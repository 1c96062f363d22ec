//! What was measured: plain data, written as JSON. Nothing in here is worked out from anything else in here; that is
//! `numbers`.
//!
//! Must not know: how it was measured, how it is shown.
use serde::{Deserialize, Serialize};

/// Everything one call of the bench found out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Version of this format; grows when a field changes its meaning.
    pub format: u32,
    /// When it began, RFC 3339 with the zone's offset.
    pub started: String,
    /// How long it took.
    pub took_s: f64,
    /// Small sizes and few rounds: for seeing that everything works, not for quoting.
    pub quick: bool,
    /// A signal ended it early: what is here is what was finished.
    pub interrupted: bool,
    /// Where it ran.
    pub machine: Machine,
    /// Peers that were not there, and so are in no bed.
    pub missing: Vec<Missing>,
    /// The beds, in the order they were measured.
    pub beds: Vec<BedResult>,
    /// haul dd against GNU dd, point by point.
    #[serde(default)]
    pub sweeps: Vec<Sweep>,
    /// Today's versions of the seeds' tables.
    pub tables: Vec<Table>,
}

/// The machine that was measured on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `uname -r`.
    pub kernel: String,
    /// The processor's own name.
    pub processor: String,
    /// Processors online.
    pub processors: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Load average over a minute before the first run: above about 0.3 the machine was not idle.
    pub load_before: f64,
    /// The smallest resident memory that this bench can tell of a process, in bytes.
    pub resident_floor_bytes: u64,
    /// `haul --version`, and the commit it was built from where that is known.
    pub haul: String,
}

/// A peer that was not there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Missing {
    /// Its name in the tables.
    pub contender: String,
    /// What was looked for, and in which package it is.
    pub why: String,
}

/// One bed: the same copy, done by each contender in turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BedResult {
    /// Its short name, as in `SCENARIO=`.
    pub name: String,
    /// Its name in words.
    pub title: String,
    /// What is copied from where to where, in a sentence or two.
    pub what: String,
    /// Bytes copied in one run.
    pub bytes: u64,
    /// Rounds that were asked for.
    pub rounds: u32,
    /// How fast this bed can be, measured or worked out without any contender.
    pub limits: Vec<Limit>,
    /// Everyone who ran, haul first.
    pub contenders: Vec<ContenderResult>,
}

/// A bound on the speed of a bed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// What it is, for example `fio reads alone, io_uring, 1 MiB x 4`.
    pub what: String,
    /// Seconds that the bed's bytes take at least, by this bound.
    pub seconds: f64,
    /// The bed's limit is the slowest of its `binding` ones; the others are the tries that lost.
    pub binding: bool,
}

/// One contender on one bed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContenderResult {
    /// Its name in the tables.
    pub name: String,
    /// The command line that was run, as a shell would take it.
    pub command: String,
    /// What it says of its version.
    pub version: String,
    /// Shown, but not compared with haul's defaults: a forced engine of haul, or a front without safety.
    pub aside: bool,
    /// Its runs, in order.
    pub runs: Vec<Run>,
    /// Share of a cached file that a further run, with little memory for file data, left in the page cache, 0 to 1.
    /// `None` where that was not measured.
    #[serde(default)]
    pub witness_left: Option<f64>,
}

/// One run of one contender.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Which round, from 1.
    pub round: u32,
    /// Until the command had ended and the dest was flushed, in seconds.
    pub wall_s: f64,
    /// The flush's part of it, in seconds: time that the contender itself did not wait for.
    pub flush_s: f64,
    /// Processor time of the whole machine in between, kernel threads included, in seconds.
    pub machine_cpu_s: f64,
    /// Processor time of the command's processes, in seconds.
    pub process_cpu_s: f64,
    /// The largest of its processes at its largest, in bytes.
    pub resident_bytes: u64,
    /// Bytes of source and dest left in the page cache.
    pub cache_left_bytes: u64,
    /// How it ended.
    pub verdict: Verdict,
    /// `blocks` of haul's report, with every trial, where the pace is what is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<serde_json::Value>,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Verdict {
    /// Status 0, and each byte arrived.
    #[default]
    Right,
    /// Status 0, but the dest differs.
    CopiedWrongly {
        /// Offset of the first byte that differs.
        first_difference: u64,
    },
    /// Another status.
    Failed {
        /// How it ended, and the last line it wrote.
        why: String,
    },
}

/// The same copy at many points, each by GNU dd and by haul in its place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// Its short name, as in `SCENARIO=`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What is copied from where to where.
    pub what: String,
    /// What the other program says of its version.
    pub peer: String,
    /// Rounds that were asked for.
    pub rounds: u32,
    /// Its points, in the order they were measured.
    pub points: Vec<PointResult>,
}

/// One point of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointResult {
    /// What is different there: `bs=512`.
    pub name: String,
    /// Bytes that are read.
    pub bytes: u64,
    /// The line of the other program.
    pub peer_command: String,
    /// haul's line.
    pub haul_command: String,
    /// haul is to be at least this many times as fast.
    pub wanted: f64,
    /// Each round of both.
    pub runs: Vec<PairRun>,
    /// Who failed or made wrong bytes, and how; then nothing is worked out from the runs.
    pub wrong: Option<String>,
}

/// Both programs at one point in one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PairRun {
    /// Which round, from 1.
    pub round: u32,
    /// The other program's time, flush included, in seconds.
    pub peer_s: f64,
    /// haul's time, flush included, in seconds.
    pub haul_s: f64,
}

/// A table of numbers and words that is no bed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Its short name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Which document it comes from, and what was measured here.
    pub what: String,
    /// Headings, the first one being that of the rows' names.
    pub columns: Vec<String>,
    /// Rows; each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
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
