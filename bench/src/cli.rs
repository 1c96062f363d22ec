//! Words → what to measure.
use crate::bed::Size;
use clap::Parser;
use std::ops::Range;
use std::path::PathBuf;

/// Measures haul against its peers, against the limit of the disks, and compares the bytes after each run.
///
/// Needs root: it makes loop devices and mounts, in a mount namespace of its own. docs/developer/measuring.md says
/// how to read what it prints.
#[derive(Debug, Parser)]
#[command(name = "haul-bench", version)]
pub struct Arguments {
    /// Beds or tables to measure, by name or by the start of it; all when none is given, but for `unlike`, which takes
    /// hours. `seeds` is all tables of the documents, `known` those of disks whose numbers are known.
    #[arg(value_name = "SCENARIO")]
    pub scenarios: Vec<String>,

    /// Small sizes and few rounds: to see that everything works, not to quote.
    #[arg(long)]
    pub quick: bool,

    /// Sizes for the tests of the bench itself.
    #[arg(long, hide = true)]
    pub tiny: bool,

    /// Rounds, instead of each bed's own number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: Option<u32>,

    /// Only contenders with this in their name; haul is always there. May be given several times.
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,

    /// Seeds of the pairs in `zoo`, for example 400..406: any others give other disks.
    #[arg(long, value_name = "FROM..TO", default_value = "400..406", value_parser = seeds)]
    pub seeds: Range<u64>,

    /// MiB that each copy in `zoo` copies.
    #[arg(long = "zoo-size", value_name = "MIB", default_value_t = 1024)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub zoo_mib: u64,

    /// The program to measure; by default the one beside this one.
    #[arg(long, value_name = "PATH")]
    pub haul: Option<PathBuf>,

    /// Which pairs of disks the beds `unlike` draw: eight for each seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Where the file beds are made: a directory on the file system to be measured.
    #[arg(long, value_name = "DIR", default_value = "/var/tmp")]
    pub dir: PathBuf,

    /// Where the results are written: a JSON file and a page, named by the date.
    #[arg(long, value_name = "DIR", default_value = "bench/results")]
    pub out: PathBuf,

    /// Make one bed, start a shell in which SOURCE and DEST are its sides, and measure nothing. What modelled disks did
    /// is told at the end.
    #[arg(long)]
    pub hold: bool,

    /// Name the beds and tables, and measure nothing.
    #[arg(long)]
    pub list: bool,

    /// Show the results of an earlier run, a JSON file, and measure nothing; writes the page beside it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scenarios", "quick", "rounds", "only", "list"])]
    pub show: Option<PathBuf>,
}

impl Arguments {
    /// The size that was asked for.
    pub fn size(&self) -> Size {
        match (self.tiny, self.quick) {
            (true, _) => Size::Tiny,
            (false, true) => Size::Quick,
            (false, false) => Size::Full,
        }
    }
}

/// `FROM..TO`, at least one seed.
fn seeds(text: &str) -> Result<Range<u64>, String> {
    let number = |part: &str| part.trim().parse::<u64>().ok();
    let range = text.split_once("..").and_then(|(from, to)| Some(number(from)?..number(to)?));
    range.filter(|range| !range.is_empty()).ok_or_else(|| "not a range of seeds such as 400..406".to_owned())
}
