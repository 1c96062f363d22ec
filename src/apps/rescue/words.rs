//! The arguments of `haul rescue`.
use crate::apps::advice::of_command;
use crate::apps::command::{Call, UsageError, Words};
use crate::apps::exit::Exit;
use crate::apps::not_started::{RESCUE, report_not_started};
use crate::apps::rescue::fill::fill;
use crate::apps::rescue::options::{FillOptions, RescueOptions};
use crate::apps::rescue::values::{
    Reconnect, Retries, SkipSize, fill_statuses, read_limits, reconnect, retries, skip_size,
};
use crate::cli::defaults::Defaults;
use crate::cli::expect;
use crate::cli::help::{self, ENVIRONMENT, FILES, SIZES};
use crate::cli::shown::VerbosityArguments;
use crate::cli::words;
use crate::cli::words::address;
use crate::core::Error;
use crate::core::rescue::ReadLimits;
use crate::job::Care;
use crate::ledger::RescueLogKind;
use crate::plan::{Decompress, Expectation, JournalChoice, Options, PassthroughMode, ProgressStyle, When};
use clap::error::ErrorKind;
use clap::{Parser, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = include_str!("help/examples.txt");
const GUIDE: &str = include_str!("help/guide.txt");
const STATUS: &str = include_str!("help/status.txt");
const SEE_ALSO: &str = "# SEE ALSO\nhaul(1), haul-copy(1), haul-map(1), ddrescue(1), ddrescuelog(1), smartctl(8)\n";

/// Options about reading, which `--fill` does not do.
const NOT_WITH_FILL: [&str; 19] = [
    "retries",
    "reverse",
    "no_scrape",
    "no_trim",
    "try_again",
    "retrim",
    "skip_size",
    "min_slow_rate",
    "passthrough",
    "read_timeout",
    "reconnect",
    "max_temperature",
    "max_read_rate",
    "max_error_rate",
    "stop_after",
    "log_events",
    "log_rates",
    "log_reads",
    "report",
];

/// The properties of one `--expect`. An alias, so that clap treats it as one value.
type Expectations = Vec<Expectation>;

/// Rescue a failing disk: what is readable first
///
/// Copy what can be read from a failing disk or file SRC to DST: first what is easy to read, at full speed, then, in
/// several passes, the areas around unreadable sectors. The map MAP records the state of each sector, in the format of
/// GNU ddrescue; the same command continues an interrupted rescue. Bytes of DST that could not be read from SRC are not
/// changed.
#[derive(Debug, Parser)]
#[command(name = "rescue")]
#[command(
    after_help = "Exit status: 0 everything rescued, 1 something missing or failed, 2 usage, 3 refused.",
    after_long_help = help::text(&[EXAMPLES, SIZES, STATUS])
)]
pub(crate) struct RescueArguments {
    /// The failing source: block device or file
    #[arg(value_name = "SRC", value_hint = ValueHint::AnyPath)]
    source: OsString,

    /// Destination: file or block device
    #[arg(id = "destination", value_name = "DST", value_hint = ValueHint::AnyPath)]
    dest: OsString,

    /// The map; default: DST.map beside a file, by its identity for a disk
    ///
    /// The map. By default it is beside a file, with .map after its name, and for a disk in the directory where haul
    /// stores the journals of devices, named by its WWN or serial number. To continue with a map of a disk, name it:
    /// the disk may have been used since. Required for a device that has neither.
    #[arg(value_name = "MAP", value_hint = ValueHint::FilePath)]
    map: Option<OsString>,

    /// Passes over unreadable sectors, or endless
    ///
    /// Number of passes over sectors that remain unreadable, 0 by default, or endless. Each pass reads every one of
    /// them once, in the other direction than the pass before.
    #[arg(long, short = 'r', value_name = "N", value_parser = retries, default_value = "0", help_heading = "Method")]
    #[arg(hide_default_value = true)]
    retries: Retries,

    /// Start at the end of the source
    ///
    /// Reverse the direction of the passes of copying and retrying: the first one begins at the end of the source.
    #[arg(long, short = 'R', help_heading = "Method")]
    reverse: bool,

    /// Do not read failed blocks sector by sector
    ///
    /// Omit scraping: only the edges of failed blocks are read sector by sector, until a bad one.
    #[arg(long, short = 'n', help_heading = "Method")]
    no_scrape: bool,

    /// Do not read the edges of failed blocks
    ///
    /// Omit trimming: failed blocks are left for a later run.
    #[arg(long, short = 'N', help_heading = "Method")]
    no_trim: bool,

    /// Try what failed as new: trimmed and scraped blocks
    ///
    /// Mark all failed blocks that are not trimmed or not scraped as not tried, so that they are read as large blocks.
    #[arg(long, short = 'A', help_heading = "Method")]
    try_again: bool,

    /// Trim all failed blocks again
    ///
    /// Mark all failed blocks and bad sectors as not trimmed, so that every one of them is tried once more.
    #[arg(long, short = 'M', help_heading = "Method")]
    retrim: bool,

    /// Rescue only what this map lists as finished
    ///
    /// Rescue only the bytes that the map FILE lists as finished, such as the used blocks of a file system. Nothing
    /// outside of them is read.
    #[arg(long, short = 'm', value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Method")]
    domain: Option<OsString>,

    /// Rescue nothing: fill what was not rescued with data
    ///
    /// Rescue nothing, and read no disk: write copies of the data in SRC, a file or - for standard input, to the areas
    /// of DST that have one of these statuses in the map: ? not tried, * not trimmed, / not scraped, - bad sectors.
    /// With l, each sector begins with its position and status. Rescued areas are never written to, and the map is
    /// not changed, so that the rescue can continue.
    #[arg(long, short = 'F', value_name = "STATUSES", value_parser = fill_statuses, help_heading = "Method")]
    #[arg(allow_hyphen_values = true, conflicts_with_all = NOT_WITH_FILL)]
    fill: Option<FillOptions>,

    /// Bytes to skip after a failed read: FIRST, FIRST,MOST or ,MOST
    ///
    /// Bytes to skip in the first pass of copying after a failed or slow read. FIRST, a hundred-thousandth of the
    /// source but at least 64 KiB by default, doubles with each further one in a row up to MOST, 1 % of the source by
    /// default. 0: none are skipped.
    #[arg(long, short = 'K', value_name = "SIZE", value_parser = skip_size, help_heading = "Method")]
    #[arg(allow_hyphen_values = true)]
    skip_size: Option<SkipSize>,

    /// A slower read is left for later
    ///
    /// Reads below this rate in bytes per second are slow: haul leaves the area and reads it after the others. By
    /// default a read is slow if it takes ten times as long as those before it, and half a second, or as long together
    /// with others in a row.
    #[arg(long, short = 'a', value_name = "RATE", value_parser = words::rate, help_heading = "Method")]
    #[arg(allow_hyphen_values = true)]
    min_slow_rate: Option<u64>,

    /// Send commands to SRC, with time limits of their own
    ///
    /// Read SRC by SCSI or NVMe commands through its passthrough node (/dev/sgN, /dev/ngXnY), bypassing the block
    /// layer: each read has the limit of --read-timeout, and the disk reports the bad sector, for which haul then does
    /// not search. A node given as SRC needs no option.
    #[arg(long, help_heading = "Method")]
    passthrough: bool,

    /// Time limit of a read: COPYING or COPYING,LATER
    ///
    /// Seconds that a read may take, 3 while copying and 10 in the phases after it by default. A read that takes longer
    /// has failed and is tried again later. Applies to reads by commands (--passthrough, or a node as SRC), and to the
    /// disk's own recovery of a bad sector (SCT ERC of ATA disks), which haul limits to one second less and restores at
    /// the end.
    #[arg(long, value_name = "TIMES", value_parser = read_limits, help_heading = "Method")]
    read_timeout: Option<ReadLimits>,

    /// Wait for a disk that disappears: TIME or never
    ///
    /// How long to wait for SRC if it disappears, 10m by default. haul finds the disk by its serial number or WWN, even
    /// under another name, and continues with it; the map is saved meanwhile. never: the rescue ends, and the same
    /// command continues.
    #[arg(long, value_name = "TIME", value_parser = reconnect, default_value = "10m", help_heading = "Method")]
    #[arg(hide_default_value = true)]
    reconnect: Reconnect,

    /// Pause above this temperature in °C
    ///
    /// Begin no read while SRC is warmer than this, and continue when it is 5 °C cooler. The temperature is that of the
    /// kernel's sensor (drivetemp for SATA disks), or what the disk reports by a command.
    #[arg(long, value_name = "C", value_parser = clap::value_parser!(u32).range(20..=100), help_heading = "Method")]
    max_temperature: Option<u32>,

    /// No more than this many bytes a second
    #[arg(long, short = 'Z', value_name = "RATE", value_parser = words::rate, help_heading = "Method")]
    #[arg(allow_hyphen_values = true)]
    max_read_rate: Option<u64>,

    /// End above this rate of errors
    ///
    /// End the rescue when the reads that failed within a second have more bytes than this.
    #[arg(long, short = 'E', value_name = "RATE", value_parser = words::rate, help_heading = "Method")]
    #[arg(allow_hyphen_values = true)]
    max_error_rate: Option<u64>,

    /// End after this time without a new byte
    ///
    /// End the rescue when nothing was read for this time, such as 90, 30m or 1.5d. A read that the kernel retries is
    /// waited for.
    #[arg(long, short = 'T', value_name = "TIME", value_parser = words::long_time, help_heading = "Method")]
    stop_after: Option<Duration>,

    /// Overwrite DST without asking
    ///
    /// Do not ask before overwriting a device, or a file for which there is no map.
    #[arg(long, short = 'y', help_heading = "Safety")]
    yes: bool,

    /// DST must be this one: serial=S,size=N,…
    ///
    /// Properties that the destination must have: serial, model, wwn or size in bytes, separated by commas.
    #[arg(long, value_name = "KEYS", value_parser = expect::parse, help_heading = "Safety")]
    expect: Vec<Expectations>,

    /// auto, bar, plain, json, none
    ///
    /// Progress display on standard error. auto: a bar on a terminal, with the phase, what failed, the time without a
    /// new byte and a picture in letters, of which haul-map(1) has a list; a line every few seconds otherwise. json:
    /// one object per line, the last with the result.
    #[arg(long, value_name = "STYLE", value_parser = words::progress(), help_heading = "Output")]
    #[arg(hide_possible_values = true)]
    progress: Option<ProgressStyle>,

    #[command(flatten)]
    verbosity: VerbosityArguments,

    /// Append the phases and the end to FILE
    ///
    /// Append a line for each phase and pass, and for the end, to FILE: time, rescued share, what begins. The format of
    /// each log is that of ddrescue; a FILE that exists and is not such a log is refused.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    log_events: Option<OsString>,

    /// Append the rates of each second to FILE
    ///
    /// Append a line each second to FILE: time, position, current and mean rate in bytes per second, number and size of
    /// bad areas. While a read takes longer there is no line.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    log_rates: Option<OsString>,

    /// Append each read to FILE
    ///
    /// Append a line for each read to FILE: position, size, bytes read, bytes that failed.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    log_reads: Option<OsString>,

    /// Write the report as a page with a picture of the map
    ///
    /// Write the report as one self-contained HTML page: a picture of the map in blocks, what was rescued over time,
    /// the areas that are missing, both sides and the machine; also of a rescue that failed or was interrupted. FILE
    /// must not exist, or be empty or another haul report: haul overwrites no other file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    report: Option<PathBuf>,

    /// Print the result as JSON on standard output
    ///
    /// Print the result, with all areas of the map, as one JSON document on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Words for RescueArguments {
    type Options = RescueOptions;

    const PAGE: &'static [&'static str] = &[GUIDE, SIZES, STATUS, ENVIRONMENT, FILES, EXAMPLES, SEE_ALSO];

    fn into_options(self) -> Result<RescueOptions, UsageError> {
        let path = |name: &str, words: Option<OsString>| -> Result<Option<PathBuf>, UsageError> {
            let path = words.map(|words| address(name, words)).transpose()?.map(PathBuf::from);
            match path {
                Some(path) if path.as_os_str() == "-" => {
                    let what = format!("{name} - is not a file; ./- is one of this name");
                    Err((ErrorKind::InvalidValue, what))
                }
                path => Ok(path),
            }
        };
        let kinds = [RescueLogKind::Events, RescueLogKind::Rates, RescueLogKind::Reads];
        let named =
            [("--log-events", self.log_events), ("--log-rates", self.log_rates), ("--log-reads", self.log_reads)];
        let mut logs = Vec::new();
        for (kind, (name, words)) in kinds.into_iter().zip(named) {
            logs.extend(path(name, words)?.map(|path| (kind, path)));
        }
        let copy = Options {
            source: address("SRC", self.source)?,
            dest: address("DST", self.dest)?,
            rescue: true,
            // The map takes the place of the journal of an earlier copy.
            restart: true,
            sparse: When::Never,
            reflink: When::Never,
            journal: JournalChoice::Never,
            decompress: Decompress::Never,
            no_estimate: true,
            json: self.json,
            report: self.report,
            passthrough: if self.passthrough { PassthroughMode::Source } else { PassthroughMode::AsNamed },
            limit_bytes_per_s: self.max_read_rate,
            yes: self.yes,
            expect: self.expect.into_iter().flatten().collect(),
            progress: self.verbosity.progress(self.progress.unwrap_or_default()),
            verbosity: self.verbosity.verbosity(),
            ..Options::default()
        };
        let skip = self.skip_size;
        Ok(RescueOptions {
            copy,
            map: path("MAP", self.map)?,
            domain: path("--domain", self.domain)?,
            retries: self.retries.0,
            reverse: self.reverse,
            trim: !self.no_trim,
            scrape: !self.no_scrape,
            try_again: self.try_again,
            retrim: self.retrim,
            skip_bytes: [skip.and_then(|skip| skip.0), skip.and_then(|skip| skip.1)],
            slow_bytes_per_s: self.min_slow_rate,
            error_bytes_per_s_max: self.max_error_rate,
            care: Care {
                reads: self.read_timeout.unwrap_or_default(),
                reconnect: self.reconnect.0,
                celsius_max: self.max_temperature,
            },
            stop_after: self.stop_after,
            fill: self.fill,
            logs,
        })
    }

    fn with_defaults(mut self, defaults: &Defaults) -> Self {
        self.verbosity.take_default(&mut self.progress, defaults);
        self
    }

    fn refuse(options: &RescueOptions, call: &Call<'_>, error: Error) -> crate::core::Result<Exit> {
        report_not_started(Err(of_command::<Self>(error)), report_of(options), &options.copy, call.words, call.out)
    }

    fn run(options: &RescueOptions, call: &Call<'_>) -> crate::core::Result<Exit> {
        let result = match &options.fill {
            Some(how) => fill(options, how, call),
            None => super::rescue(options, call),
        };
        report_not_started(result.map_err(of_command::<Self>), report_of(options), &options.copy, call.words, call.out)
    }
}

/// The name of the JSON report: filling is a copy of data to the areas of a map.
fn report_of(options: &RescueOptions) -> &'static str {
    if options.fill.is_some() { "copy" } else { RESCUE }
}
