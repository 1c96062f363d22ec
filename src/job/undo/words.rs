//! What users are told of originals that are not back.
use std::path::Path;

/// The device still has what a run wrote that was cut off.
pub(super) fn not_put_back(address: &str, store: &Path) -> String {
    format!(
        "measuring {address} by writing was cut off: some places have what haul wrote, and what stood there is in {}; \
         put it back with haul tune {address} --restore",
        store.display()
    )
}

/// The same of one that shares bytes with the device: its disk, or a partition of it.
pub(super) fn kin_not_put_back(address: &str, kin: &str, store: &Path) -> String {
    format!("{address} shares bytes with {kin}: {}", not_put_back(kin, store))
}

/// The same of a dest, in a dry run.
pub(super) fn to_be_put_back(address: &str, store: &Path) -> String {
    format!(
        "measuring {address} by writing was cut off: some places have what haul wrote; what stood there is in {}, and \
         is put back before anything else is written",
        store.display()
    )
}

/// A warning about a dest that is written to all the same.
pub(crate) fn stays(warning: &str) -> String {
    format!("{warning}; what is written now stays then")
}

/// Advice where a dry run found a journal that does not fit.
pub(super) fn may_fit_later(address: &str, store: &Path) -> String {
    format!(
        "It may fit all the same: measuring {address} by writing was cut off, and a dry run puts nothing back. What \
         stood there is in {}; without --dry-run it is put back first.",
        store.display()
    )
}

/// Somebody is writing to it.
pub(super) fn being_measured(address: &str) -> String {
    format!("{address} is being measured by writing just now: some places have what haul writes until that is over")
}
