//! Block devices and partitions: exclusive opens, zeroing by the device, and telling a pulled-out disk from an end.
//!
//! This room must not know files, mounts, engines or plans beyond the side it is given.
#![forbid(unsafe_code)]
mod probe;

pub use probe::probe;
