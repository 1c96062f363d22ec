//! `haul tune` as clap sees it, and as [`TuneOptions`].
use crate::apps::command::{Call, Unmeant, Words};
use crate::apps::exit::Exit;
use crate::apps::measuring::cli::write::WriteArguments;
use crate::apps::measuring::plan::{TableStyle, TuneOptions};
use crate::cli::help;
use crate::cli::words::address;
use crate::cli::words::{self, EngineChoice};
use clap::{Args, Parser, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// How a table is printed.
#[derive(Debug, Args)]
pub(crate) struct TableArguments {
    /// Print one JSON document on standard output
    #[arg(long, conflicts_with = "csv", help_heading = "Output")]
    json: bool,

    /// Print the table as comma-separated values
    ///
    /// Print the table as comma-separated values on standard output, the names of the columns first: for a spreadsheet.
    #[arg(long, help_heading = "Output")]
    csv: bool,

    /// What this run is called in JSON
    ///
    /// What this run is called, as `label` in its JSON: to tell many of them apart.
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub(crate) label: Option<String>,

    /// Write a page with charts
    ///
    /// Write one HTML page that needs nothing else: the curves, the tables under them, what was measured and on which
    /// machine. FILE must not be there, or be empty or another such page: no other file is overwritten.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
}

impl TableArguments {
    pub(crate) fn style(&self) -> TableStyle {
        match (self.json, self.csv) {
            (true, _) => TableStyle::Json,
            (_, true) => TableStyle::Csv,
            _ => TableStyle::Text,
        }
    }
}

/// Find the block size and depth that a disk needs
///
/// Read PATH with many block sizes and depths, direct and through the page cache, for about a minute, and tell the
/// smallest block size and depth that reach 95 % of the best rate, with how sure that is. Nothing is written
/// without --write, and the page cache is left as it was found.
///
/// Runs are short, spread over the whole disk, and repeated in turn, so that neither the place nor a disturbance
/// decides; a block size that clearly loses is dropped early. Use --quick for a first impression.
#[derive(Debug, Parser)]
#[command(name = "tune")]
#[command(after_help = "Exit status: 0 an answer was found, 1 not readable, 2 usage, 3 refused.")]
#[command(after_long_help = help::text(&[super::TUNE_EXAMPLES, super::STATUS, super::FILES]))]
pub(crate) struct TuneArguments {
    /// What is measured: block device or file; only read without --write
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    path: OsString,

    /// Fewer block sizes and depths, in 8 seconds
    ///
    /// Fewer block sizes and depths, in 8 seconds. With --write these include keeping and putting back, of 32 MiB at
    /// most; only a disk that writes less than some 10 MB a second takes longer.
    #[arg(long, help_heading = "Method")]
    quick: bool,

    /// About how long to measure; default 60 s
    ///
    /// About how long to measure, in seconds, or with m or h behind it: 90, 5m. The longer, the more sizes fit in on a
    /// slow disk and the surer the answer. By default 60 seconds, 8 with --quick.
    #[arg(long, value_name = "TIME", value_parser = words::time, help_heading = "Method")]
    time: Option<Duration>,

    /// auto, ring (io_uring), threads, sync
    ///
    /// How requests are kept in flight, as for haul copy.
    #[arg(long, value_name = "ENGINE", value_parser = words::engine(), default_value = "auto", help_heading = "Method")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    engine: EngineChoice,

    /// Keep the answer: copies from this disk, or to it with --write, begin with it
    ///
    /// Keep the answer for this disk, by its world wide name or serial number, else by its path and size, in
    /// haul/tuned.toml of $XDG_CONFIG_HOME or ~/.config. haul copy begins with it when it reads from the disk, and goes
    /// on looking for better from there; haul list shows it. With --write, which has to be on a device then, it begins
    /// with it when it writes to the disk.
    #[arg(long, help_heading = "Output")]
    save: bool,

    /// Measure nothing: put back what a run that was cut off left
    ///
    /// Measure nothing, and put back what a run of haul tune --write or haul profile --write that was cut off left on
    /// the device. Only what haul itself wrote there is written over.
    #[arg(long, conflicts_with_all = ["write", "quick", "time", "save", "json", "csv", "report"])]
    #[arg(help_heading = "Writing")]
    restore: bool,

    #[command(flatten)]
    write: WriteArguments,

    #[command(flatten)]
    table: TableArguments,
}

impl Words for TuneArguments {
    type Options = TuneOptions;

    const PAGE: &'static [&'static str] = super::TUNE_PAGE;

    fn into_options(self) -> Result<TuneOptions, Unmeant> {
        Ok(TuneOptions {
            path: address("PATH", self.path)?,
            quick: self.quick,
            time: self.time,
            save: self.save,
            write: self.write.into_options(self.save),
            restore: self.restore,
            engine: self.engine,
            style: self.table.style(),
            label: self.table.label,
            report: self.table.report,
        })
    }

    fn run(options: &TuneOptions, call: &Call<'_>) -> crate::core::Result<Exit> {
        crate::apps::measuring::tune::tune(options, call.words, call.out)
    }

    fn json_report(options: &TuneOptions) -> Option<&'static str> {
        (options.style == TableStyle::Json).then_some("tune")
    }
}
