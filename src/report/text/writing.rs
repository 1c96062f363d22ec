//! Sentences about measuring by writing: what is to be put back after.
use crate::report::printable::printable;
use crate::report::units;
use std::path::Path;

/// What an earlier run left on the device was put back.
pub fn put_back_earlier(address: &str, kept_bytes: u64, written_bytes: u64) -> String {
    let kept = units::size(kept_bytes);
    let rest = match written_bytes {
        0 => "none of it had been written over".to_owned(),
        bytes => format!("{} had been written over, and are as they were", units::size(bytes)),
    };
    format!("measuring {address} by writing was cut off; of the {kept} that were kept, {rest}")
}

/// The device still has what a run wrote that was cut off.
pub fn not_put_back(address: &str, store: &Path) -> String {
    format!(
        "measuring {address} by writing was cut off: some places have what haul wrote, and what stood there is in {}; \
         put it back with haul tune {address} --restore",
        store.display()
    )
}

/// The same of one that shares bytes with the device: its disk, or a partition of it.
pub fn kin_not_put_back(address: &str, kin: &str, store: &Path) -> String {
    format!("{address} shares bytes with {kin}: {}", not_put_back(kin, store))
}

/// The same of a dest, in a dry run.
pub fn to_be_put_back(address: &str, store: &Path) -> String {
    format!(
        "measuring {address} by writing was cut off: some places have what haul wrote; what stood there is in {}, and \
         is put back before anything else is written",
        store.display()
    )
}

/// A warning about a dest that is written to all the same.
pub fn stays(warning: &str) -> String {
    format!("{warning}; what is written now stays then")
}

/// Advice where a dry run found a journal that does not fit.
pub fn may_fit_later(address: &str, store: &Path) -> String {
    format!(
        "It may fit all the same: measuring {address} by writing was cut off, and a dry run puts nothing back. What \
         stood there is in {}; without --dry-run it is put back first.",
        store.display()
    )
}

/// Somebody is writing to it.
pub fn being_measured(address: &str) -> String {
    format!("{address} is being measured by writing just now: some places have what haul writes until that is over")
}

/// What is done, while a signal ends the measuring.
pub fn putting_back(address: &str) -> String {
    format!("haul: putting back what stood on {}; a second signal leaves that to the next run\n", printable(address))
}

/// There was nothing to be put back.
pub fn nothing_to_put_back(address: &str) -> String {
    format!("nothing is to be put back on {address}")
}
