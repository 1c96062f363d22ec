//! Options about the rate, and about what is shown, that commands share which report runs of bytes.
use super::words;
use crate::plan::{Options, ProgressStyle};
use clap::Args;

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
    /// How progress is shown on standard error. auto: a bar on a terminal, a line periodically elsewhere. SIGUSR1
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
