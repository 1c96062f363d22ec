//! The command line.
use crate::bed::Size;
use clap::Parser;
use std::ops::Range;
use std::path::PathBuf;

/// Measures haul against its peers, against the limit of the disks, and compares the bytes after each run.
///
/// Needs root: it creates loop devices and mounts, in a separate mount namespace. docs/developer/measuring.md
/// describes
/// how to read the output.
#[derive(Debug, Parser)]
#[command(name = "haul-bench", version)]
pub struct Arguments {
    /// Beds or tables to measure, by name or by the start of it; default: all except `unlike`, which takes
    /// hours. `seeds` selects all tables of the documents, `known` those of disks with known parameters.
    #[arg(value_name = "SCENARIO")]
    pub scenarios: Vec<String>,

    /// Small sizes and few rounds: to check that everything works, not for publication.
    #[arg(long)]
    pub quick: bool,

    /// Sizes for the tests of the bench itself.
    #[arg(long, hide = true)]
    pub tiny: bool,

    /// Number of rounds; default: that of each bed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: Option<u32>,

    /// Only contenders whose name contains this, and haul. May be repeated.
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,

    /// Seeds of the pairs in `zoo`, for example 400..406; each gives other disks.
    #[arg(long, value_name = "FROM..TO", default_value = "400..406", value_parser = seeds)]
    pub seeds: Range<u64>,

    /// MiB that each copy in `zoo` copies.
    #[arg(long = "zoo-size", value_name = "MIB", default_value_t = 1024)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub zoo_mib: u64,

    /// The program to measure; default: haul next to this program.
    #[arg(long, value_name = "PATH")]
    pub haul: Option<PathBuf>,

    /// Seed of the disk pairs of the beds `unlike`: eight for each seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Directory for the file beds, on the file system to be measured.
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    pub dir: PathBuf,

    /// Directory for the results: a JSON file and a page, named by the date.
    #[arg(long, value_name = "DIR", default_value = "bench/results")]
    pub out: PathBuf,

    /// Make one bed, start a shell in which SOURCE and DEST are its sides, and measure nothing. The counters of
    /// modelled
    /// disks are printed at the end.
    #[arg(long)]
    pub hold: bool,

    /// List the beds and tables, and measure nothing.
    #[arg(long)]
    pub list: bool,

    /// Show the results of an earlier run, a JSON file, and measure nothing; writes the page next to it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scenarios", "quick", "rounds", "only", "list"])]
    pub show: Option<PathBuf>,
}

impl Arguments {
    /// The requested size.
    pub fn size(&self) -> Size {
        match (self.tiny, self.quick) {
            (true, _) => Size::Tiny,
            (false, true) => Size::Quick,
            (false, false) => Size::Full,
        }
    }
}

/// Parses `FROM..TO`, at least one seed.
fn seeds(text: &str) -> Result<Range<u64>, String> {
    let number = |part: &str| part.trim().parse::<u64>().ok();
    let range = text.split_once("..").and_then(|(from, to)| Some(number(from)?..number(to)?));
    range.filter(|range| !range.is_empty()).ok_or_else(|| "not a range of seeds such as 400..406".to_owned())
}
