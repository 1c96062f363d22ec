//! Checks `--ranges` and related options, which select parts of both sides.
use crate::core::{EndpointKind, Error, Kind, Result, Side};
use crate::plan::plan_input::{PlanInput, named};
use crate::plan::{Delta, When, words};

/// Refuses ranges beyond the end of a side, lists of different lengths, and options that do not support ranges.
/// `grows`: the dest is a file to be written, which need not contain its ranges yet.
pub(crate) fn ranges(asked: &PlanInput, grows: bool) -> Result<()> {
    if !asked.options.is_listed() {
        return Ok(());
    }
    goes_together(asked)?;
    same_length(asked)?;
    Side::BOTH.into_iter().try_for_each(|side| on_side(asked, side, grows))
}

/// Refuses two lists of different lengths.
fn same_length(asked: &PlanInput) -> Result<()> {
    let [Some(source), Some(dest)] = &asked.options.ranges else { return Ok(()) };
    let (from, to) = (source.listed_bytes().unwrap_or(0), dest.listed_bytes().unwrap_or(0));
    if from == to {
        return Ok(());
    }
    let [source, dest] = [source, dest].map(|map| map.file().unwrap_or_default());
    let what = format!(
        "--source-ranges {source} has {}, --destination-ranges {dest} has {}: both must have the same number of bytes",
        words::exact(from),
        words::exact(to)
    );
    Err(Error::new(Kind::Usage, what).advise("Nothing was written. Correct one of the lists."))
}

/// Refuses ranges beyond the end of `side`.
fn on_side(asked: &PlanInput, side: Side, grows: bool) -> Result<()> {
    let Some(map) = &asked.options.ranges[side.index()] else { return Ok(()) };
    let (facts, option) = (asked.facts(side), asked.options.ranges_option(side));
    let name = named(side, facts);
    let has_offsets = match facts.kind {
        EndpointKind::Memory | EndpointKind::Fill => true,
        EndpointKind::Null => side == Side::Dest,
        // Its ranges ascend, and what lies between them is decompressed and discarded.
        EndpointKind::Compressed => asked.options.block_map.is_some(),
        kind => kind.is_storage(),
    };
    if !has_offsets {
        let what = format!("{option}: {name} is a {}, which has no offsets", facts.kind.name());
        return Err(Error::new(Kind::Usage, what).on(side).advise(format!("Omit {option}, or name a file or device.")));
    }
    let any_size = side == Side::Dest && (facts.kind == EndpointKind::Null || grows && asked.dest_is_file());
    let Some(size) = facts.size.filter(|_| !any_size) else { return Ok(()) };
    let Some(beyond) = map.ranges().and_then(|mut ranges| ranges.find(|range| range.end() > size)) else {
        return Ok(());
    };
    let what = format!(
        "{option} {}: the range from byte {} to byte {} is beyond the end: {name} has {}",
        map.file().unwrap_or_default(),
        beyond.offset,
        beyond.end() - 1,
        words::exact(size)
    );
    Err(Error::new(Kind::Usage, what).on(side).advise("Nothing was written. Correct the list."))
}

/// Refuses options that require one run of bytes.
fn goes_together(asked: &PlanInput) -> Result<()> {
    let options = asked.options;
    let by_manifest = matches!(options.delta, Some(Delta::Manifest(_)));
    let unmet = [
        (by_manifest, "--delta=MANIFEST", "it compares one contiguous range with the manifest"),
        (options.reflink == When::Always, "--reflink always", "it shares one contiguous range"),
        (options.offload, "--offload", "a drive copies one contiguous range"),
    ];
    let Some((_, option, why)) = unmet.into_iter().find(|(given, ..)| *given) else { return Ok(()) };
    let side = if options.ranges[0].is_some() { Side::Source } else { Side::Dest };
    let list = options.ranges_option(side);
    let what = format!("{option} cannot be combined with {list}: {why}");
    Err(Error::new(Kind::Usage, what).advise(format!("Omit {option}, or copy each range with --skip and --count.")))
}
