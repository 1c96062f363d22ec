//! Whether a checksum of the whole source can be compared.
use crate::core::{EndpointKind, Error, Kind, Result, Side};
use crate::plan::plan_input::PlanInput;

/// Refuses `--checksum` where not all of the source is read, from its first byte to its last.
pub(crate) fn checksum(asked: &PlanInput) -> Result<()> {
    let options = asked.options;
    if options.checksum.is_none() {
        return Ok(());
    }
    let to_the_end = |count: u64| asked.source.size == Some(options.skip_bytes.unwrap_or(0).saturating_add(count));
    if asked.source.kind == EndpointKind::Compressed && options.block_map.is_some() {
        return Ok(());
    }
    if asked.source.kind == EndpointKind::Compressed
        && options.count_bytes.is_none_or(to_the_end)
        && !options.is_listed()
    {
        // All of the file is read for a part of its content up to the end.
        return Ok(());
    }
    let parts = [
        // Which sets the other two.
        (options.ranges_option(Side::Source), options.is_listed()),
        ("--skip", options.skip_bytes.is_some()),
        ("--count", options.count_bytes.is_some()),
    ];
    let Some((option, _)) = parts.into_iter().find(|(_, given)| *given) else { return Ok(()) };
    let what = format!("--checksum with {option}: the checksum is that of the whole source");
    Err(Error::new(Kind::Usage, what).advise(format!("Nothing was written. Omit {option} or --checksum.")))
}
