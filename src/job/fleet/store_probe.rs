//! Whether a store keeps the promise on which workers depend: of two that create one name, one succeeds.
use crate::core::{Error, Kind, Result};
use crate::disks::object::SharedState;

/// Creates one name twice.
///
/// # Errors
/// Refused if the store lets it, or returns another text than the first; Io if it does not answer.
pub(super) fn check(state: &SharedState, unique: &str) -> Result<()> {
    let name = format!("probe-{unique}");
    let [first, second] = [state.create(&name, "first")?, state.create(&name, "second")?];
    let created = state.get(&name)?;
    state.replace(&name, "third")?;
    let replaced = state.get(&name)?;
    let removed = state.remove(&name);
    let why = if !first || second || created.as_deref() != Some("first") {
        "it lets one name be created twice, so that two workers could copy one shard at a time"
    } else if replaced.as_deref() != Some("third") {
        "it returns an older text than the last that was written"
    } else {
        return removed;
    };
    let what = format!("--state {} cannot be used: {why}", state.address());
    let advice = "Nothing was written. Name a bucket with conditional writes (If-None-Match), or a directory that all \
        workers share.";
    Err(Error::new(Kind::Refused, what).advise(advice))
}
