//! Options about the rate and the output, shared by commands whose reports list extents.
use super::defaults::Defaults;
use super::words::{self, LimitChoice};
use crate::core::Units;
use crate::plan::{Options, ProgressStyle, Verbosity};
use clap::{Arg, ArgAction, ArgMatches, Args};

/// The name of `--units` among all options.
const UNITS: &str = "units";

/// The command and its subcommands with `--units`, which every command has that prints sizes.
pub(crate) fn with_units(command: clap::Command) -> clap::Command {
    let units = Arg::new(UNITS).long(UNITS).value_name("SYSTEM").value_parser(words::units()).global(true);
    let units = units.help("Units of sizes and rates: si (kB, MB), iec (KiB, MiB)").help_heading("Output");
    let long = "Units in which sizes and rates are shown. si, the default: powers of 1000, as disks are sold. iec: \
                powers of 1024. The other system follows in parentheses where that helps. Blocks and buffers are \
                powers of two and are shown as such; JSON and CSV have bytes.";
    command.arg(units.long_help(long).hide_possible_values(true).hide_short_help(true))
}

/// Sets the units that the command line requests, else those of `defaults`.
pub(crate) fn lead_units(matches: &ArgMatches, defaults: &Defaults) {
    // `haul generate` has no such option.
    let asked = matches.try_get_one::<Units>(UNITS).ok().flatten();
    asked.copied().unwrap_or(defaults.units).lead();
}

/// The amount of output.
#[derive(Debug, Args)]
pub(crate) struct VerbosityArguments {
    /// Print the full report; -vv: and the plan's reasons
    ///
    /// Print everything that was measured: requests and their latency, what was tried, processor time, memory, page
    /// cache. By default the report has three lines (what, how fast and durable, and the bottleneck or what to do
    /// next) and a row for each problem. -vv adds each choice of the plan with its reason.
    #[arg(long, short = 'v', action = ArgAction::Count, help_heading = "Output")]
    verbose: u8,

    /// Print nothing but errors
    ///
    /// Print nothing but errors: no progress, unless --progress names a style, no warnings, and a report only where
    /// the exit status is not 0. The output of --hash and --json stays the same.
    #[arg(long, short = 'q', conflicts_with = "verbose", help_heading = "Output")]
    quiet: bool,
}

impl VerbosityArguments {
    /// The amount of detail in the report.
    pub(crate) fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, 0) => Verbosity::Short,
            (_, 1) => Verbosity::Full,
            _ => Verbosity::Everything,
        }
    }

    /// Applies the configured progress style if none is given; with -q it counts as none.
    pub(crate) fn take_default(&self, progress: &mut Option<ProgressStyle>, defaults: &Defaults) {
        if !self.quiet {
            progress.get_or_insert(defaults.progress);
        }
    }

    /// The progress style, if `asked` was given or is the default.
    pub(crate) fn progress(&self, asked: ProgressStyle) -> ProgressStyle {
        match asked {
            ProgressStyle::Auto | ProgressStyle::None if self.quiet => ProgressStyle::Silent,
            asked => asked,
        }
    }
}

/// The maximum rate, and the output during and after the run.
#[derive(Debug, Args)]
pub(crate) struct ShownArguments {
    /// No more than this many bytes a second
    ///
    /// Limit each side to this many bytes per second: --limit 50M. none: no limit, even if one is configured.
    #[arg(long, short = 'l', value_name = "RATE", value_parser = words::limit, allow_hyphen_values = true)]
    #[arg(help_heading = "Method")]
    limit: Option<LimitChoice>,

    /// auto, bar, plain, json, none
    ///
    /// Progress display on standard error. auto: a bar on a terminal, a line every few seconds otherwise. SIGUSR1
    /// prints a line at any time in any style.
    #[arg(long, value_name = "STYLE", value_parser = words::progress(), help_heading = "Output")]
    #[arg(hide_possible_values = true)]
    progress: Option<ProgressStyle>,

    #[command(flatten)]
    verbosity: VerbosityArguments,

    /// Print the report as JSON on standard output
    ///
    /// Print the report, with every run of wrong or unreadable bytes, or with --dry-run the plan, as one JSON
    /// document on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl ShownArguments {
    /// Applies `defaults` for omitted options.
    pub(crate) fn take_defaults(&mut self, defaults: &Defaults) {
        self.limit.get_or_insert(defaults.limit);
        self.verbosity.take_default(&mut self.progress, defaults);
    }

    /// The options that these arguments set; all others have their defaults.
    pub(crate) fn options(&self) -> Options {
        Options {
            limit_bytes_per_s: self.limit.flatten(),
            progress: self.verbosity.progress(self.progress.unwrap_or_default()),
            verbosity: self.verbosity.verbosity(),
            json: self.json,
            ..Options::default()
        }
    }
}
