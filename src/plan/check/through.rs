//! Decides which sides are reached by passthrough commands, and checks that they can be.
use crate::core::{EndpointKind, Error, Kind, Result, Side};
use crate::plan::plan_input::{PlanInput, named};
use crate::plan::{PassthroughMode, When};

/// Refuses passthrough for devices that do not support it, and options that contradict it.
pub(crate) fn through(asked: &PlanInput) -> Result<()> {
    let options = asked.options;
    let possible = Side::BOTH.map(|side| asked.through(side).is_some());
    for side in Side::BOTH {
        if options.passthrough.must(side) && !possible[side.index()] {
            return Err(no_node(asked, side));
        }
    }
    if options.passthrough == PassthroughMode::WherePossible && possible == [false, false] {
        let disk = |side: &Side| asked.facts(*side).kind == EndpointKind::Block;
        return Err(no_node(asked, Side::BOTH.into_iter().find(disk).unwrap_or(Side::Source)));
    }
    let Some(side) = Side::BOTH.into_iter().find(|side| possible[side.index()]) else {
        if options.command_timeout_s.is_some() {
            let what = "--command-timeout: no side uses passthrough";
            let advice = "Add --passthrough, or omit --command-timeout.";
            return Err(Error::new(Kind::Usage, what).advise(advice));
        }
        return Ok(());
    };
    if options.direct == When::Never {
        let what =
            format!("--direct never: {} uses passthrough, which has no page cache", named(side, asked.facts(side)));
        let advice = "Omit --direct, or name the block device without --passthrough.";
        return Err(Error::new(Kind::Usage, what).on(side).advise(advice));
    }
    Ok(())
}

fn no_node(asked: &PlanInput, side: Side) -> Error {
    let facts = asked.facts(side);
    let what = match facts.kind {
        EndpointKind::Block => format!("--passthrough: {} has no passthrough node", named(side, facts)),
        kind => format!("--passthrough: {} is a {}, which does not support it", named(side, facts), kind.name()),
    };
    let advice = "SCSI, SATA, USB and NVMe disks have a passthrough node, which 'haul list --json' shows; SCSI needs \
        the kernel module sg (modprobe sg). Otherwise omit --passthrough.";
    Error::new(Kind::Unsupported, what).on(side).advise(advice)
}
