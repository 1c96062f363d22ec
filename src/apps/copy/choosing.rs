//! Options about the disks that are offered where no destination is named.
use crate::cli::words;
use crate::plan::ChooseFrom;
use clap::Args;

/// Which disks may be chosen.
#[derive(Debug, Args)]
pub(super) struct ChooseArguments {
    /// Disks offered without DST: removable, all
    ///
    /// Which disks are offered where DST is left out. removable: those that can be taken out while the machine runs, as
    /// sticks, cards and disks on USB. all: every disk that is not in use.
    #[arg(long = "choose", value_name = "KIND", value_parser = words::choose_from(), conflicts_with = "destination")]
    #[arg(hide_possible_values = true, help_heading = "Safety", hide_short_help = true)]
    pub(super) from: Option<ChooseFrom>,

    /// Largest disk offered without DST
    ///
    /// Where DST is left out, disks that are larger than this are not offered, 300GB by default: they are rarely the
    /// stick that is intended. They can be named as DST.
    #[arg(long = "choose-max", value_name = "SIZE", value_parser = words::amount, conflicts_with = "destination")]
    #[arg(allow_hyphen_values = true, help_heading = "Safety", hide_short_help = true)]
    pub(super) max: Option<u64>,
}
