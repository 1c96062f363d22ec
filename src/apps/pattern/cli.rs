//! The arguments of `haul pattern`, and their conversion to [`Options`].
use crate::apps::command::UsageError;
use crate::cli::defaults::Defaults;
use crate::cli::expect;
use crate::cli::help::{self, ENVIRONMENT, EXIT_STATUS, FILES, SIZES};
use crate::cli::method::{PaceArguments, ReachArguments};
use crate::cli::shown::ShownArguments;
use crate::cli::words;
use crate::cli::words::address;
use crate::core::PatternAct;
use crate::plan::{Expectation, Options, PassthroughMode};
use clap::{Args, Parser, Subcommand, ValueHint};
use std::ffi::OsString;

/// The kinds of damage.
const DAMAGE: &str = include_str!("help/damage.txt");
const EXAMPLES: &str = include_str!("help/examples.txt");

/// Sections of the man page.
pub(super) const PAGE: &[&str] = &[
    DAMAGE,
    SIZES,
    include_str!("help/page-status.txt"),
    ENVIRONMENT,
    FILES,
    EXAMPLES,
    "# SEE ALSO\nhaul(1), haul-copy(1), haul-verify(1), badblocks(8), f3write(1)\n",
];

/// The properties of one `--expect`. An alias, so that clap treats it as one value.
type Expectations = Vec<Expectation>;

/// Test a disk: write a pattern, then verify it
///
/// Test a disk: write a pattern of self-describing blocks, and verify it, immediately or later, on this machine or
/// another.
#[derive(Debug, Parser)]
#[command(name = "pattern", subcommand_required = true, arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct PatternArguments {
    #[command(subcommand)]
    pub(super) verb: PatternVerb,
}

/// The operation on the pattern.
#[derive(Debug, Subcommand)]
pub(super) enum PatternVerb {
    /// Fill a disk or a file with self-describing blocks
    ///
    /// Fill DST with the test pattern: every block contains its offset, the number of this run and a checksum, and
    /// looks random, so that no disk can compress or deduplicate it. All data on DST is lost. haul refuses and asks as
    /// haul copy does.
    Write(Box<WriteArguments>),

    /// Verify the pattern and classify damage
    ///
    /// Read SRC, bypassing every cache, and check each block of the test pattern: damage is reported with kind, offset
    /// and extent. Unreadable sectors are skipped and listed. haul detects a disk that reports a false capacity.
    Check(Box<CheckArguments>),
}

/// The arguments after `haul pattern write`.
#[derive(Debug, Args)]
#[command(after_long_help = help::text(&[EXAMPLES, SIZES, EXIT_STATUS]))]
pub(super) struct WriteArguments {
    /// Destination: block device or file; all data on it is lost
    #[arg(id = "destination", value_name = "DST", value_hint = ValueHint::AnyPath)]
    dest: OsString,

    #[command(flatten)]
    place: PlaceArguments,

    /// Overwrite a device without asking
    ///
    /// Overwrite a block device without asking, for scripts. haul still refuses a destination that is mounted, held or
    /// used as swap.
    #[arg(long, short = 'y', help_heading = "Safety")]
    yes: bool,

    /// Refuse unless DST has this serial, model, wwn, size
    ///
    /// Refuse to write unless the destination is the intended device, as for haul copy: serial=, model=, wwn= or size=.
    #[arg(long, value_name = "KEYS", value_parser = expect::parse, help_heading = "Safety")]
    expect: Vec<Expectations>,

    /// Exit before the data is on the medium
    ///
    /// Exit when everything is written, without waiting until the device or file system reports that the data is on the
    /// medium. Write errors that occur after that are not reported.
    #[arg(long, help_heading = "Safety")]
    no_flush: bool,

    #[command(flatten)]
    way: WayArguments,
}

/// The arguments after `haul pattern check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 clean, 1 damaged or not readable, 2 usage. See --help for all details.",
    after_long_help = help::text(&[DAMAGE, EXAMPLES, SIZES, include_str!("help/status.txt")])
)]
pub(super) struct CheckArguments {
    /// Source: the disk or file with the pattern; haul only reads it
    #[arg(value_name = "SRC", value_hint = ValueHint::AnyPath)]
    source: OsString,

    #[command(flatten)]
    place: PlaceArguments,

    #[command(flatten)]
    way: WayArguments,
}

/// The range of bytes, and the run.
#[derive(Debug, Args)]
struct PlaceArguments {
    /// Start at this offset
    ///
    /// Start at this byte offset of the disk or file. Blocks contain their offset on the whole disk.
    #[arg(long, value_name = "SIZE", value_parser = words::offset, allow_hyphen_values = true, help_heading = "Range")]
    seek: Option<u64>,

    /// Only this many bytes
    ///
    /// Write or check this many bytes instead of everything to the end. Required for a new file.
    #[arg(long, short = 'c', value_name = "SIZE", value_parser = words::amount, allow_hyphen_values = true)]
    #[arg(help_heading = "Range")]
    count: Option<u64>,

    /// Number of the run; default: current time for write, newest for check
    ///
    /// The number in all blocks of one run, which distinguishes them from blocks of earlier runs. The default for write
    /// is the current time in milliseconds since 1970, and for check the newest run found in samples. If a disk lost a
    /// whole run, the samples show an older one, so scripts should give the number to both commands.
    #[arg(long, value_name = "N", help_heading = "Range")]
    run: Option<u64>,
}

/// How the pattern is transferred, and what is shown.
#[derive(Debug, Args)]
struct WayArguments {
    /// Show the plan and end
    ///
    /// Show the complete plan with the reason for each choice; write nothing.
    #[arg(long, short = 'n', help_heading = "Method")]
    dry_run: bool,

    #[command(flatten)]
    reach: ReachArguments,

    #[command(flatten)]
    pace: PaceArguments,

    #[command(flatten)]
    shown: ShownArguments,
}

/// The options and the run number, or why the command line is invalid.
pub(super) type Validated = Result<(Options, Option<u64>), UsageError>;

impl WriteArguments {
    pub(super) fn into_options(self) -> Validated {
        let dest = self.dest.clone();
        let options = Options {
            dest: address("DST", dest)?,
            yes: self.yes,
            expect: self.expect.into_iter().flatten().collect(),
            no_flush: self.no_flush,
            ..shared(&self.place, &self.way)
        };
        Ok((options, self.place.run))
    }
}

impl CheckArguments {
    pub(super) fn into_options(self) -> Validated {
        let mut options = Options { source: address("SRC", self.source.clone())?, ..shared(&self.place, &self.way) };
        // There is only one side, which each value selects.
        if matches!(options.passthrough, PassthroughMode::Dest | PassthroughMode::Both) {
            options.passthrough = PassthroughMode::Source;
        }
        Ok((options, self.place.run))
    }
}

fn shared(place: &PlaceArguments, way: &WayArguments) -> Options {
    Options {
        seek_bytes: place.seek,
        count_bytes: place.count,
        engine: way.pace.engine,
        block_bytes: way.pace.block_size,
        depth: way.pace.depth,
        direct: way.reach.direct,
        passthrough: way.reach.passthrough.unwrap_or_default(),
        command_timeout_s: way.reach.command_timeout,
        dry_run: way.dry_run,
        ..way.shown.options()
    }
}

/// The request of `haul pattern`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatternTask {
    pub(super) act: PatternAct,
    /// The options of the source or the dest.
    pub(super) options: Options,
    /// `None`: auto.
    pub(super) run: Option<u64>,
}

impl PatternTask {
    /// The name of its report.
    pub(super) fn report(&self) -> &'static str {
        if self.act == PatternAct::Write { "pattern write" } else { "pattern check" }
    }
}

impl PatternVerb {
    /// Applies `defaults` for omitted options.
    pub(super) fn take_defaults(&mut self, defaults: &Defaults) {
        let way = match self {
            PatternVerb::Write(words) => &mut words.way,
            PatternVerb::Check(words) => &mut words.way,
        };
        way.shown.take_defaults(defaults);
    }
}
