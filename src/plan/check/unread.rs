//! Checks whether unreadable sectors can be skipped.
use crate::core::{EndpointKind, Error, Kind, Order, Result};
use crate::plan::plan_input::PlanInput;

/// Refuses `--on-error` and `--mapfile` for sources without offsets: after a failed read of a stream neither
/// that data nor the rest can be read.
pub(crate) fn unread(asked: &PlanInput) -> Result<()> {
    let source = asked.source;
    let refused = |option: &str, why: &str| {
        let what = format!("{option}: source {} is a {}, {why}", source.address, source.kind.name());
        Err(Error::new(Kind::Usage, what).advise(format!("Omit {option}.")))
    };
    if asked.options.on_error.reads_around() && matches!(source.kind, EndpointKind::Http | EndpointKind::Object) {
        return refused(
            "--on-error",
            "which haul requests again by itself, and zeros do not replace what a server lacks",
        );
    }
    if asked.options.on_error.reads_around() && source.order != Order::Any {
        return refused("--on-error", "where haul cannot read again or skip");
    }
    if asked.options.mapfile.is_some() && (source.size.is_none() || source.kind == EndpointKind::Compressed) {
        return refused("--mapfile", "which has no offsets");
    }
    Ok(())
}
