//! Options about the rate, and about what is shown, that commands share which report runs of bytes.
use super::words;
use crate::core::Units;
use crate::plan::{Options, ProgressStyle};
use clap::{Arg, ArgMatches, Args};

/// The name of `--units` among all options.
const UNITS: &str = "units";

/// The command with `--units`, which every command has that shows sizes, and those below it.
pub(crate) fn with_units(command: clap::Command) -> clap::Command {
    let units = Arg::new(UNITS).long(UNITS).value_name("SYSTEM").value_parser(words::units()).global(true);
    let units = units.help("Units of sizes and rates: si (kB, MB), iec (KiB, MiB)").help_heading("Output");
    let long = "Units in which sizes and rates are shown. si, the default: powers of 1000, as disks are sold. iec: \
                powers of 1024. Where both help, the others follow in parentheses. Blocks and buffers are powers of two \
                and are shown as such; JSON and CSV have bytes.";
    command.arg(units.long_help(long).hide_possible_values(true).hide_short_help(true))
}

/// Lets the units lead that were asked for, if any were.
pub(crate) fn lead_units(matches: &ArgMatches) {
    // `haul generate` has no such option.
    if let Ok(Some(units)) = matches.try_get_one::<Units>(UNITS) {
        units.lead();
    }
}

/// How fast at most, and what is shown on the way and at the end.
#[derive(Debug, Args)]
pub(crate) struct ShownArguments {
    /// No more than this many bytes a second
    ///
    /// No more than this many bytes a second on each side: --limit 50M.
    #[arg(long, value_name = "RATE", value_parser = words::rate, allow_hyphen_values = true, help_heading = "Method")]
    limit: Option<u64>,

    /// auto, bar, plain, json, none
    ///
    /// How progress is shown on standard error. auto: a bar on a terminal, a line now and then elsewhere. SIGUSR1
    /// prints a line at any time, whatever the style.
    #[arg(long, value_name = "STYLE", value_parser = words::progress(), default_value = "auto")]
    #[arg(hide_possible_values = true, hide_default_value = true, help_heading = "Output")]
    progress: ProgressStyle,

    /// Print the report as JSON on standard output
    ///
    /// Print the report, with every run of bytes that is not as it should be, or with --dry-run the plan, as one JSON
    /// document on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl ShownArguments {
    /// The options that these words mean; all others have their defaults.
    pub(crate) fn options(&self) -> Options {
        Options { limit_bytes_per_s: self.limit, progress: self.progress, json: self.json, ..Options::default() }
    }
}
