//! Options that contradict each other.
use super::checksum::checksum;
use crate::core::{EndpointKind, EngineKind, Error, Kind, Result};
use crate::plan::numbers::{BLOCK_BYTES_ASKABLE, DEPTH_ASKABLE, IN_FLIGHT_BYTES_ASKABLE};
use crate::plan::plan_input::PlanInput;
use crate::plan::{When, words as sizes};

fn usage(what: impl Into<String>, advice: impl Into<String>) -> Error {
    Error::new(Kind::Usage, what).advise(advice)
}

/// Refuses options that contradict each other or the kind of an endpoint.
pub(crate) fn words(asked: &PlanInput) -> Result<()> {
    let options = asked.options;
    numbers(asked)?;
    checksum(asked)?;
    match options.engine {
        Some(EngineKind::Reflink) => {
            return Err(usage("reflink is not a selectable engine", "Use --reflink always."));
        }
        Some(EngineKind::Offload) => {
            return Err(usage("offload is not a selectable engine", "Use --offload."));
        }
        Some(EngineKind::Sync) if options.depth.is_some_and(|depth| depth != 1) => {
            let what = "--engine sync keeps one block in flight, but --depth requests more";
            return Err(usage(what, "Omit --depth, or use --engine threads."));
        }
        _ => {}
    }
    if options.sparse == When::Always && asked.dest.kind.is_stream() {
        let what = format!("--sparse always: destination {} is a stream and cannot have holes", asked.dest.address);
        return Err(usage(what, "Omit --sparse: holes of the source are still not read."));
    }
    if options.reflink == When::Always {
        reflink(asked)?;
    }
    Ok(())
}

/// Limits that the command line checks too; other callers of the library may not.
fn numbers(asked: &PlanInput) -> Result<()> {
    let options = asked.options;
    let block = options.block_bytes.unwrap_or(1);
    let depth = options.depth.unwrap_or(1);
    if block == 0 || block > BLOCK_BYTES_ASKABLE {
        let most = sizes::size(BLOCK_BYTES_ASKABLE.into());
        return Err(usage(format!("--block-size {block}: a block has 1 byte to {most}"), "Omit --block-size."));
    }
    if depth == 0 || depth > DEPTH_ASKABLE {
        let what = format!("--depth {depth}: from 1 to {DEPTH_ASKABLE} blocks can be in flight");
        return Err(usage(what, "Omit --depth."));
    }
    let both = u64::from(block) * u64::from(depth);
    if both > IN_FLIGHT_BYTES_ASKABLE {
        let (asked, most) = (sizes::block(both), sizes::block(IN_FLIGHT_BYTES_ASKABLE));
        let what = format!("--block-size times --depth needs {asked} of memory, more than {most}");
        return Err(usage(what, "Omit one of them."));
    }
    if options.limit_bytes_per_s == Some(0) {
        return Err(usage("--limit 0 would never finish", "Omit --limit for no limit."));
    }
    Ok(())
}

/// Refuses options that contradict `--reflink always`, because no byte is transferred to haul.
fn reflink(asked: &PlanInput) -> Result<()> {
    let conflict = |option: &str, why: &str| {
        let what = format!("--reflink always shares extents and reads no data; {option} {why}");
        Err(usage(what, format!("Omit --reflink or {option}.")))
    };
    if let Some(option) = asked.options.needs_bytes() {
        return conflict(option, "needs the data");
    }
    if asked.options.sparse != When::Auto {
        return conflict("--sparse", "would have to change the data");
    }
    for (side, facts) in [("source", asked.source), ("dest", asked.dest)] {
        if facts.kind != EndpointKind::File {
            let what = format!("--reflink always: {side} {} is a {}, not a file", facts.address, facts.kind.name());
            return Err(usage(what, "Only files of one file system can share extents. Omit --reflink."));
        }
    }
    Ok(())
}
