//! Sentences about restoring data after a write measurement.
use crate::report::printable::printable;
use crate::report::units;

/// The bytes that an earlier run overwrote were restored.
pub fn put_back_earlier(address: &str, kept_bytes: u64, written_bytes: u64) -> String {
    let kept = units::size(kept_bytes);
    let rest = match written_bytes {
        0 => "no data had been overwritten".to_owned(),
        bytes => format!("{} had been overwritten and are restored", units::size(bytes)),
    };
    format!("a write measurement of {address} was interrupted; of the {kept} saved, {rest}")
}

/// The message when a signal ends a measurement.
pub fn putting_back(address: &str) -> String {
    format!(
        "haul: restoring the original data of {}; after a second signal the next run restores it\n",
        printable(address)
    )
}

/// There was nothing to restore.
pub fn nothing_to_put_back(address: &str) -> String {
    format!("nothing to restore on {address}")
}
