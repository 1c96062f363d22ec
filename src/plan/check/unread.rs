//! Where a place that cannot be read can be skipped.
use crate::core::{Error, Kind, Order, Result};
use crate::plan::plan_input::PlanInput;

/// Refuses `--on-error` and `--mapfile` for sources that have no places: what failed in a stream cannot be asked for
/// again, nor can what follows.
pub(crate) fn unread(asked: &PlanInput) -> Result<()> {
    let source = asked.source;
    let refused = |option: &str, why: &str| {
        let what = format!("{option}: source {} is a {}, {why}", source.address, source.kind.name());
        Err(Error::new(Kind::Usage, what).advise(format!("Omit {option}.")))
    };
    if asked.options.on_error.looks_closer() && source.order != Order::Any {
        return refused("--on-error", "where haul cannot read again or skip");
    }
    if asked.options.mapfile.is_some() && source.size.is_none() {
        return refused("--mapfile", "which has no offsets");
    }
    Ok(())
}
