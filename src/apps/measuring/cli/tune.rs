//! The arguments of `haul tune`, and their conversion to [`TuneOptions`].
use crate::apps::command::{Call, UsageError, Words};
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
    /// Print the table as comma-separated values on standard output, with a header line: for a spreadsheet.
    #[arg(long, help_heading = "Output")]
    csv: bool,

    /// Label of this run in JSON
    ///
    /// Label of this run (`label` in JSON), to distinguish many runs.
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub(crate) label: Option<String>,

    /// Write a page with charts
    ///
    /// Write one self-contained HTML page: charts with error bars and the marked result, tables, and what was measured
    /// on which machine. FILE must not exist, or be empty or another haul report: haul overwrites no other file.
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

/// Find the best block size and queue depth for a disk
///
/// Read PATH with many block sizes and queue depths, with direct and buffered I/O, for about a minute, and report the
/// smallest block size and depth that reach 95 % of the best rate, with the confidence. haul writes nothing without
/// --write, and leaves the page cache unchanged.
///
/// Runs are short, spread over the whole disk, and repeated alternately, so that neither the position nor a disturbance
/// decides the result; block sizes that are clearly slower are dropped early. Use --quick for a first impression.
#[derive(Debug, Parser)]
#[command(name = "tune")]
#[command(after_help = "Exit status: 0 an answer was found, 1 not readable, 2 usage, 3 refused.")]
#[command(after_long_help = help::text(&[super::TUNE_EXAMPLES, super::STATUS, super::FILES]))]
pub(crate) struct TuneArguments {
    /// Device to measure: block device or file; only read without --write
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    path: OsString,

    /// Fewer block sizes and depths, in 8 seconds
    ///
    /// Fewer block sizes and depths, in 8 seconds. With --write this includes saving and restoring at most 32 MiB of
    /// original data; only a disk that writes less than about 10 MB/s takes longer.
    #[arg(long, help_heading = "Method")]
    quick: bool,

    /// Approximate duration; default 60 s
    ///
    /// Approximate duration of the measurement, in seconds, or with suffix m or h: 90, 5m. A longer measurement covers
    /// more sizes on a slow disk and gives higher confidence. The default is 60 seconds, 8 with --quick.
    #[arg(long, value_name = "TIME", value_parser = words::time, help_heading = "Method")]
    time: Option<Duration>,

    /// auto, ring (io_uring), threads, sync
    ///
    /// How to keep requests in flight, as for haul copy.
    #[arg(long, value_name = "ENGINE", value_parser = words::engine(), default_value = "auto", help_heading = "Method")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    engine: EngineChoice,

    /// Save the result: copies from this disk, or to it with --write, start with it
    ///
    /// Save the result for this disk, identified by world wide name or serial number, otherwise by path and size, in
    /// haul/tuned.toml of $XDG_CONFIG_HOME or ~/.config. haul copy starts with it when it reads from the disk, and
    /// auto-tunes from there; haul list shows it. With --write, which then requires a device, copies to the disk start
    /// with it.
    #[arg(long, help_heading = "Output")]
    save: bool,

    /// Measure nothing: restore the original data after an interrupted run
    ///
    /// Measure nothing, and restore the original data on the device after an interrupted haul tune --write or haul
    /// profile --write. haul overwrites only its own test data.
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

    fn into_options(self) -> Result<TuneOptions, UsageError> {
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
