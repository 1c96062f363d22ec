//! Reads the lists of ranges to copy or compare.
mod list;

use crate::core::{AddressMap, Error, Kind, Result, Side};
use crate::files;
use crate::plan::Options;
use list::{Order, parse};
use std::path::Path;

/// The options with the ranges of their lists; unchanged without a list.
///
/// # Errors
/// `Open` for a file that cannot be read, `Usage` for one that is not a list of ranges.
pub(super) fn read(options: &Options) -> Result<Options> {
    let lists = &options.range_lists;
    let unit_bytes = lists.unit_bytes.unwrap_or(1);
    let ranges = match &lists.both {
        Some(file) => {
            let both = read_list(file, "--ranges", unit_bytes, Order::Ascending)?;
            [Some(both.clone()), Some(both)]
        }
        None => {
            let of_side = |side: Side, order| {
                let file = lists.of_side[side.index()].as_ref();
                file.map(|file| read_list(file, options.ranges_option(side), unit_bytes, order)).transpose()
            };
            [of_side(Side::Source, Order::Overlapping)?, of_side(Side::Dest, Order::Listed)?]
        }
    };
    let start = |side: Side| ranges[side.index()].as_ref().map(AddressMap::start);
    let (skip_bytes, seek_bytes) = (start(Side::Source), start(Side::Dest));
    let listed_bytes = ranges.iter().flatten().find_map(AddressMap::listed_bytes);
    Ok(Options {
        skip_bytes: skip_bytes.or(options.skip_bytes),
        seek_bytes: seek_bytes.or(options.seek_bytes),
        count_bytes: listed_bytes.or(options.count_bytes),
        ranges,
        ..options.clone()
    })
}

fn read_list(file: &str, option: &str, unit_bytes: u64, order: Order) -> Result<AddressMap> {
    let text = files::read_text(Path::new(file)).map_err(|cause| {
        let error = Error::new(Kind::Open, format!("cannot read {option} {file}")).because(cause);
        error.advise("Name a file of lines 'OFFSET LENGTH', or a mapfile of GNU ddrescue.")
    })?;
    parse(file, option, &text, unit_bytes, order)
}
