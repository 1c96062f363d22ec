//! `--ranges`: parts of both sides, and nothing between them.
use crate::core::{EndpointKind, Error, Kind, Portion, Result, Side};
use crate::plan::plan_input::{PlanInput, named};
use crate::plan::{When, words};

/// Refuses ranges that a side does not have, and what is not available of ranges.
pub(crate) fn ranges(asked: &PlanInput) -> Result<()> {
    let Some(ranges) = &asked.options.ranges else { return Ok(()) };
    goes_together(asked)?;
    let sides = [(Side::Source, &[EndpointKind::File, EndpointKind::Block, EndpointKind::Memory][..])];
    let dest = (Side::Dest, &[EndpointKind::File, EndpointKind::Block, EndpointKind::Memory, EndpointKind::Null][..]);
    for (side, kinds) in sides.into_iter().chain([dest]) {
        let facts = asked.facts(side);
        let name = named(side, facts);
        if !kinds.contains(&facts.kind) {
            let what = format!("--ranges: {name} is a {}, which has no offsets", facts.kind.name());
            return Err(Error::new(Kind::Usage, what).on(side).advise("Omit --ranges, or name a file or device."));
        }
        // A file that is written to grows.
        let grows = side == Side::Dest && facts.kind != EndpointKind::Block;
        let Some(size) = facts.size.filter(|_| !grows) else { continue };
        if let Some(beyond) = ranges.extents().iter().find(|range| range.end() > size) {
            let what = format!(
                "--ranges {}: the range from byte {} to byte {} is beyond the end: {name} has {}",
                ranges.file,
                beyond.offset,
                beyond.end() - 1,
                words::exact(size)
            );
            return Err(Error::new(Kind::Usage, what).on(side).advise("Nothing was written. Correct the list."));
        }
    }
    Ok(())
}

/// Refuses options that tell of one run of bytes.
fn goes_together(asked: &PlanInput) -> Result<()> {
    let options = asked.options;
    let unmet = [
        (options.resume && options.verify.is_some(), "--verify with --resume", "earlier runs kept no digests"),
        (options.delta.is_some(), "--delta", "it compares the whole destination"),
        (matches!(options.verify, Some(Portion::Sample { .. })), "--verify=sample", "it samples one contiguous range"),
        (options.manifest.is_some(), "--manifest", "a manifest describes one contiguous range"),
        (options.reflink == When::Always, "--reflink always", "it shares one contiguous range"),
        (options.offload, "--offload", "a drive copies one contiguous range"),
        (!options.also.is_empty(), "--also", "it supports only one destination"),
    ];
    let Some((_, option, why)) = unmet.into_iter().find(|(given, ..)| *given) else { return Ok(()) };
    let what = format!("{option} cannot be combined with --ranges: {why}");
    Err(Error::new(Kind::Usage, what).advise(format!("Omit {option}, or copy each range with --skip and --count.")))
}
