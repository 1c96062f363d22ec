//! Options about the rate, and about what is shown, that commands share which report runs of bytes.
use super::defaults::Defaults;
use super::words::{self, LimitChoice};
use crate::plan::{Options, ProgressStyle};
use clap::Args;

/// How fast at most, and what is shown on the way and at the end.
#[derive(Debug, Args)]
pub(crate) struct ShownArguments {
    /// No more than this many bytes a second
    ///
    /// No more than this many bytes a second on each side: --limit 50M. none: no limit, whatever the configuration
    /// says.
    #[arg(long, value_name = "RATE", value_parser = words::limit, allow_hyphen_values = true, help_heading = "Method")]
    limit: Option<LimitChoice>,

    /// auto, bar, plain, json, none
    ///
    /// How progress is shown on standard error. auto: a bar on a terminal, a line periodically elsewhere. SIGUSR1
    /// prints a line at any time, whatever the style.
    #[arg(long, value_name = "STYLE", value_parser = words::progress(), help_heading = "Output")]
    #[arg(hide_possible_values = true)]
    progress: Option<ProgressStyle>,

    /// Print the report as JSON on standard output
    ///
    /// Print the report, with every run of bytes that is not as it should be, or with --dry-run the plan, as one JSON
    /// document on standard output.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl ShownArguments {
    /// Takes `defaults` for what is not given.
    pub(crate) fn take_defaults(&mut self, defaults: &Defaults) {
        self.limit.get_or_insert(defaults.limit);
        self.progress.get_or_insert(defaults.progress);
    }

    /// The options that these words mean; all others have their defaults.
    pub(crate) fn options(&self) -> Options {
        let (limit_bytes_per_s, progress) = (self.limit.flatten(), self.progress.unwrap_or_default());
        Options { limit_bytes_per_s, progress, json: self.json, ..Options::default() }
    }
}
