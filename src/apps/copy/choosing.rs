//! Options that select the disks offered when no destination is named.
use crate::cli::words;
use crate::plan::ChooseFrom;
use clap::Args;

/// Which disks are offered.
#[derive(Debug, Args)]
pub(super) struct ChooseArguments {
    /// Disks offered without DST: removable, all
    ///
    /// Disks to offer if DST is omitted. removable: disks that can be removed while the machine runs, such as USB
    /// sticks, memory cards and USB disks. all: every disk that is not in use.
    #[arg(long = "choose", value_name = "KIND", value_parser = words::choose_from(), conflicts_with = "destination")]
    #[arg(hide_possible_values = true, help_heading = "Safety", hide_short_help = true)]
    pub(super) from: Option<ChooseFrom>,

    /// Largest disk offered without DST
    ///
    /// Do not offer disks larger than this if DST is omitted, 300GB by default: larger disks are rarely the intended
    /// stick. They can still be given as DST.
    #[arg(long = "choose-max", value_name = "SIZE", value_parser = words::amount, conflicts_with = "destination")]
    #[arg(allow_hyphen_values = true, help_heading = "Safety", hide_short_help = true)]
    pub(super) max: Option<u64>,
}
