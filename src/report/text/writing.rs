//! Sentences about measuring by writing: what is to be put back after.
use crate::report::printable::printable;
use crate::report::units;

/// What an earlier run left on the device was put back.
pub fn put_back_earlier(address: &str, kept_bytes: u64, written_bytes: u64) -> String {
    let kept = units::size(kept_bytes);
    let rest = match written_bytes {
        0 => "none of it had been written over".to_owned(),
        bytes => format!("{} had been written over, and are as they were", units::size(bytes)),
    };
    format!("measuring {address} by writing was cut off; of the {kept} that were kept, {rest}")
}

/// What is done, while a signal ends the measuring.
pub fn putting_back(address: &str) -> String {
    format!("haul: putting back what stood on {}; a second signal leaves that to the next run\n", printable(address))
}

/// There was nothing to be put back.
pub fn nothing_to_put_back(address: &str) -> String {
    format!("nothing is to be put back on {address}")
}
