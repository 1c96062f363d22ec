//! Whether a block map of the source is used, and whether it suits both sides.
use super::plan_input::{PlanInput, named};
use super::{BlockMapChoice, Decompress, Delta, Options, When, words};
use crate::core::{AddressMap, BlockMap, EndpointKind, Error, Facts, Kind, Result, Side};
use std::sync::Arc;

/// Whether a block map beside `source` is used without an option: for copies of whole images to devices, unless an
/// option concerns bytes that the map leaves out.
pub fn uses_block_map(options: &Options, source: &Facts, dests: &[Facts]) -> bool {
    let is_whole = options.skip_bytes.is_none()
        && options.seek_bytes.is_none()
        && options.count_bytes.is_none()
        && !options.is_listed();
    // Whether a file is compressed, and the map that of its content, is then not known.
    let is_image = options.decompress != Decompress::Never && has_offsets(source);
    let is_of_all = !options.hashes.is_empty()
        || options.manifest.is_some()
        || options.mapfile.is_some()
        || options.checksum.is_some() && source.compressed.is_none()
        || matches!(options.delta, Some(Delta::Manifest(_)));
    let is_other = options.on_error.skip || options.offload || options.reflink == When::Always || options.independent;
    options.bmap == BlockMapChoice::Auto
        && is_whole
        && is_image
        && !(is_of_all || is_other)
        && dests.iter().all(|dest| dest.kind.is_fixed_size())
}

/// Whether ranges of the source can be read, in ascending order.
fn has_offsets(source: &Facts) -> bool {
    match source.kind {
        EndpointKind::Compressed => true,
        kind => kind.is_storage() || kind == EndpointKind::Memory,
    }
}

/// The same options with the ranges of `map` on both sides.
///
/// # Errors
/// Usage where it has no range.
pub fn with_block_map(options: Options, map: BlockMap) -> Result<Options> {
    let ranges = map.ranges.iter().map(|range| range.extent).collect();
    let Ok(both) = AddressMap::listed(&map.address, ranges, false) else {
        let what = format!("block map {} maps no block: nothing would be copied", map.address);
        let advice = "Nothing was written. Use --no-bmap to copy all of the image.";
        return Err(Error::new(Kind::Usage, what).advise(advice));
    };
    Ok(Options {
        skip_bytes: Some(both.start()),
        seek_bytes: Some(both.start()),
        count_bytes: both.listed_bytes(),
        ranges: [Some(both.clone()), Some(both)],
        block_map: Some(Arc::new(map)),
        ..options
    })
}

/// Refuses a block map of another image, and sides that cannot have its ranges.
pub(super) fn check(asked: &PlanInput) -> Result<()> {
    let Some(map) = &asked.options.block_map else { return Ok(()) };
    let (source, dest) = (asked.source, asked.dest);
    let image = words::exact(map.image_bytes);
    if !has_offsets(source) {
        let what = format!(
            "block map {}: {} is a {}, which has no offsets",
            map.address,
            named(Side::Source, source),
            source.kind.name()
        );
        return Err(Error::new(Kind::Usage, what).on(Side::Source).advise("Nothing was written. Omit --bmap."));
    }
    if !dest.kind.is_fixed_size() && !matches!(dest.kind, EndpointKind::Null | EndpointKind::Memory) {
        let what = format!(
            "block map {}: {} is a {}, and haul uses block maps for devices",
            map.address,
            named(Side::Dest, dest),
            dest.kind.name()
        );
        let advice = "Nothing was written. Omit --bmap to copy all of the image; --sparse always leaves its zeros out.";
        return Err(Error::new(Kind::Usage, what).on(Side::Dest).advise(advice));
    }
    let least = source.compressed.as_ref().map_or(0, |content| content.least_bytes);
    if source.size.is_some_and(|size| size != map.image_bytes) || least > map.image_bytes {
        let has = source.size.map_or_else(|| format!("at least {}", words::exact(least)), words::exact);
        let what = format!(
            "block map {} is that of an image of {image}, but {} has {has}",
            map.address,
            named(Side::Source, source)
        );
        let advice =
            "Nothing was written. Obtain image and block map again, or use --no-bmap to copy all of the image.";
        return Err(Error::new(Kind::Corrupt, what).on(Side::Source).advise(advice));
    }
    if dest.size.is_some_and(|size| size < map.image_bytes) && dest.kind.is_fixed_size() {
        let what = format!(
            "{} is too small: it has {}, and the image of block map {} has {image}",
            named(Side::Dest, dest),
            words::exact(dest.size.unwrap_or(0)),
            map.address
        );
        return Err(Error::new(Kind::Refused, what).on(Side::Dest).advise("Nothing was written. Use a larger device."));
    }
    Ok(())
}
