//! Devices without an end or without a beginning: /dev/zero, /dev/urandom, /dev/full, and /dev/null.
//!
//! This room must not know what is done with their bytes.
#![forbid(unsafe_code)]
mod probe;

pub use probe::probe;
