//! The options of `haul copy` and `haul verify` that name lists of ranges.
use super::words::{self, address};
use crate::plan::RangeLists;
use clap::error::ErrorKind;
use clap::{Args, ValueHint};
use std::ffi::OsString;

/// Lists of ranges.
#[derive(Debug, Args)]
pub(crate) struct RangeArguments {
    /// Only the ranges that FILE lists
    ///
    /// Only these ranges, each at the same offset of both sides. Nothing between them is read or written, and an
    /// existing destination file is not truncated. Each line of FILE has an offset and a length, or several pairs: 1M
    /// 64K, or 2048s,8s in sectors; # starts a comment. FILE may also be a mapfile of GNU ddrescue, of which haul takes
    /// the finished parts, as --domain-mapfile does. Ranges may be in any order, but must not overlap or exceed the end
    /// of either side.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Range")]
    #[arg(conflicts_with_all = ["skip", "seek", "count", "source_ranges", "destination_ranges"])]
    ranges: Option<OsString>,

    /// Gather these ranges of the source
    ///
    /// Read these ranges of the source in the order of FILE, as ddpt does with skip=@FILE; --ranges describes FILE.
    /// Ranges may overlap. They go to consecutive offsets of the destination from --seek on, or to the ranges of
    /// --destination-ranges; then both lists must have the same number of bytes. If source and destination are the same
    /// file or disk, no byte may be in ranges of both.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Range")]
    #[arg(conflicts_with_all = ["skip", "count"], hide_short_help = true)]
    source_ranges: Option<OsString>,

    /// Scatter to these ranges of the destination
    ///
    /// The data goes to these ranges of the destination in the order of FILE, as with seek=@FILE of ddpt; --ranges
    /// describes FILE. It comes from consecutive offsets of the source from --skip on, or from the ranges of
    /// --source-ranges. Ranges must not overlap.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Range")]
    #[arg(conflicts_with_all = ["seek", "count"], hide_short_help = true)]
    destination_ranges: Option<OsString>,

    /// Unit of numbers without suffix in lists of ranges
    ///
    /// Unit in bytes of numbers without suffix in lists of ranges, 1 by default: --ranges-unit 512 for the
    /// scatter-gather lists of ddpt, which count blocks.
    #[arg(long, value_name = "SIZE", value_parser = words::amount, help_heading = "Range")]
    #[arg(allow_hyphen_values = true, hide_short_help = true)]
    ranges_unit: Option<u64>,
}

impl RangeArguments {
    /// The lists, before their files are read.
    pub(crate) fn into_options(self) -> Result<RangeLists, (ErrorKind, String)> {
        let RangeArguments { ranges, source_ranges, destination_ranges, ranges_unit } = self;
        let file = |option, file: Option<OsString>| file.map(|file| address(option, file)).transpose();
        let both = file("--ranges", ranges)?;
        let of_side = [file("--source-ranges", source_ranges)?, file("--destination-ranges", destination_ranges)?];
        if ranges_unit.is_some() && both.is_none() && of_side.iter().all(Option::is_none) {
            let what = "--ranges-unit is the unit of a list: give --ranges, --source-ranges or --destination-ranges";
            return Err((ErrorKind::MissingRequiredArgument, what.to_owned()));
        }
        Ok(RangeLists { both, of_side, unit_bytes: ranges_unit })
    }
}
