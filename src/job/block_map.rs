//! The block map of an image: found, read, and applied to the copy.
use crate::core::{BlockMap, Ended, Error, Facts, Kind, Outcome, Plan, Result};
use crate::disks::{Beside, Neighbour};
use crate::files;
use crate::ledger::bmap;
use crate::plan::{self, BlockMapChoice, Options};
use std::path::Path;

/// What ends the name of a block map.
const ENDING: &str = ".bmap";

/// The same options with the ranges of the block map, if one is requested or found beside the image; also why none
/// could be looked for, as warnings. The source then has the size that the map states.
///
/// # Errors
/// Open where the requested map cannot be read; Corrupt where it is damaged, or none; Usage where it maps nothing.
pub(super) fn apply(options: Options, source: &mut Facts, dests: &[Facts]) -> Result<(Options, Vec<String>)> {
    let mut warnings = Vec::new();
    let map = match &options.bmap {
        BlockMapChoice::At(path) => Some(read(path)?),
        _ if !plan::uses_block_map(&options, source, dests) => None,
        _ => find(source, &mut warnings)?.filter(|map| is_checked(map, &mut warnings)),
    };
    let Some(map) = map else { return Ok((options, warnings)) };
    if let Some(compressed) = &mut source.compressed {
        source.size = source.size.or((compressed.least_bytes <= map.image_bytes).then_some(map.image_bytes));
        compressed.copied_to = map.ranges.last().map(|range| range.extent.end());
    }
    plan::with_block_map(options, map).map(|options| (options, warnings))
}

/// Whether a map that was found can be trusted: its checksums show if it is that of another image. Without them, data
/// outside its ranges would be left out silently.
fn is_checked(map: &BlockMap, warnings: &mut Vec<String>) -> bool {
    let is_checked = map.digested_ranges() == map.ranges.len();
    if !is_checked {
        let address = &map.address;
        warnings.push(format!(
            "block map {address} is not used, because it does not have a checksum of each range: all of the image is \
             copied; --bmap {address} uses the map"
        ));
    }
    is_checked
}

/// The same options before a block map was applied.
pub(super) fn forget(options: &Options) -> Options {
    let mut options = options.clone();
    if options.block_map.take().is_some() {
        (options.skip_bytes, options.seek_bytes, options.count_bytes) = (None, None, None);
        options.ranges = [None, None];
    }
    options
}

fn read(path: &str) -> Result<BlockMap> {
    let text = files::read_text(Path::new(path)).map_err(|cause| {
        let error = Error::new(Kind::Open, format!("cannot read --bmap {path}")).because(cause);
        error.advise("Nothing was written. Check the path, or use --no-bmap to copy all of the image.")
    })?;
    parse(path, &text)
}

fn parse(address: &str, text: &str) -> Result<BlockMap> {
    bmap::parse(address, text).map_err(|why| {
        let what = format!("block map {address} cannot be used: {why}");
        let advice = "Nothing was written. Obtain the block map again, or use --no-bmap to copy all of the image.";
        Error::new(Kind::Corrupt, what).advise(advice)
    })
}

/// The map beside the image: `disk.img.xz.bmap`, `disk.img.bmap` or `disk.bmap`.
fn find(source: &Facts, warnings: &mut Vec<String>) -> Result<Option<BlockMap>> {
    let stored = source.compressed.as_ref().map_or(source, |compressed| &compressed.stored);
    for mut beside in Beside::of(stored) {
        let name = beside.name().to_owned();
        let stem = |name: &str| Some(name.rsplit_once('.')?.0.to_owned()).filter(|stem| !stem.is_empty());
        for stem in std::iter::successors(Some(name), |name| stem(name)).take(3) {
            match beside.read(&format!("{stem}{ENDING}")) {
                Ok(Some(Neighbour { shown, text })) if bmap::is_bmap(&text) => return parse(&shown, &text).map(Some),
                Ok(_) => {}
                Err(error) => {
                    warnings.push(format!("cannot search for a block map of the source: {error}"));
                    if beside.is_remote() {
                        return Ok(None);
                    }
                }
            }
        }
    }
    Ok(None)
}

/// Notes of a complete copy that its ranges match the map.
pub(super) fn note(plan: &Plan, outcome: &mut Outcome) {
    let Some(map) = &plan.block_map else { return };
    let Some(algorithm) = map.algorithm.filter(|_| matches!(outcome.ended, Ended::Complete)) else { return };
    let (count, all) = (map.digested_ranges(), map.ranges.len());
    let of = if count == all { String::new() } else { format!(" of {all}") };
    let what = if all == 1 { "range of source" } else { "ranges of source" };
    let matches = if count == 1 { "matches its" } else { "match their" };
    outcome.notes.push(format!(
        "{count}{of} {what} {} {matches} {} checksums in {}",
        plan.source.address,
        algorithm.name(),
        map.address
    ));
}
