//! Messages about original data that is not restored.
use std::path::Path;

/// The device still contains test data of an interrupted run.
pub(super) fn not_put_back(address: &str, store: &Path) -> String {
    format!(
        "a write measurement of {address} was interrupted: some places hold test data, and the original data is in \
         {}; restore it with haul tune {address} --restore",
        store.display()
    )
}

/// The same for a device that shares bytes with this one: its disk, or a partition of it.
pub(super) fn related_not_put_back(address: &str, kin: &str, store: &Path) -> String {
    format!("{address} shares bytes with {kin}: {}", not_put_back(kin, store))
}

/// The same for a dest, in a dry run.
pub(super) fn to_be_put_back(address: &str, store: &Path) -> String {
    format!(
        "a write measurement of {address} was interrupted: some places hold test data; the original data is in {} and \
         is restored before any other write",
        store.display()
    )
}

/// A warning about a dest that is written to anyway.
pub(crate) fn stays(warning: &str) -> String {
    format!("{warning}; data written now is kept then")
}

/// Advice if a dry run found a journal that does not fit.
pub(super) fn may_fit_later(address: &str, store: &Path) -> String {
    format!(
        "It may match anyway: a write measurement of {address} was interrupted, and a dry run restores nothing. The \
         original data is in {}; without --dry-run it is restored first.",
        store.display()
    )
}

/// Another process is measuring the device.
pub(super) fn being_measured(address: &str) -> String {
    format!("a write measurement of {address} is in progress: some places hold test data until it ends")
}
